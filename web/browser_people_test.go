package web_test

import (
	"testing"

	"countersign/auth"
	chromium "countersign/internal/browser"
)

func TestTwoPeopleOnOneCase(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := o.inReview("T-1")
	amina, bola := o.seats(o.person("amina", auth.Analyst), chromium.Options{}), o.seats(o.person("bola", auth.Analyst), chromium.Options{})
	third := o.sits(auth.Approver, chromium.Options{})
	for _, s := range []*seat{amina, bola, third} {
		s.comesIn()
	}

	// One takes the case; the others see who has it, and may decide all the same.
	amina.ClickText("Take the next case")
	amina.At("/cases/" + string(c.ID))
	bola.opens("/queue")
	bola.See("Amina Obi")
	bola.ClickText(string(c.ID))
	bola.See("Amina Obi has had this case before them since")
	third.opens("/cases/" + string(c.ID))
	third.See("Amina Obi has had this case before them since")
	third.stays()

	// Both decide.
	amina.ClickText("Post reversal of NGN 24,500.00")
	bola.ClickText("Decide otherwise")
	bola.ClickText("Close as rejected")
	bola.Type("#reason", "the landlord says that he has the money")
	amina.ClickText("Post reversal of NGN 24,500.00 to account ****6789")
	amina.See("The reversal of NGN 24,500.00 was posted, and the case is closed.")
	bola.ClickText("Carry out what is chosen")

	// The second is told who was first, and has lost nothing.
	bola.See("The case changed while this page was open. Nothing of yours was carried out, and nothing that you typed is lost.")
	bola.See("Amina Obi approved the recommendation")
	bola.See("Posted the reversal of NGN 24,500.00 for Amina Obi")
	if got := bola.Value("#typed-reason"); got != "the landlord says that he has the money" {
		t.Errorf("the reason is %q now", got)
	}
	bola.ClickText("Read the case as it is now")
	bola.See("resolved by a person")

	// Whoever only reads is told too, and their page is not pulled away.
	third.See("This case has changed since you opened it.")
	third.See("Amina Obi approved the recommendation")
	third.stayed()
	third.ClickText("See what it says now")
	third.See("resolved by a person")
	for _, s := range []*seat{amina, bola, third} {
		s.goes()
	}
}
