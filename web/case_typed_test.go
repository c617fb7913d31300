package web_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/auth"
	"countersign/desk/merchant/report"
)

// TestWhatPeopleKnowIsTheirs: a delivery that somebody remembers goes into the report under their name, and changes nothing; a refund
// that somebody remembers stops the contest until the case was looked at again.
func TestWhatPeopleKnowIsTheirs(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	typed := func(change ...string) url.Values {
		form := url.Values{"revision": {strconv.FormatInt(o.latest(c.ID).Revision, 10)}, "kind": {"delivery"}, "text": {"Our driver <b>gave</b> it to the neighbour"}, "on": {"2026-11-03"}}
		for i := 0; i < len(change); i += 2 {
			form.Set(change[i], change[i+1])
		}
		return form
	}
	b.get(on).is(200, "What people know", "Type in a fact", "no recommendation rests on it")

	o.run(t, "what cannot be taken comes back with what was typed, and what is wrong with it", func(t *testing.T) {
		before := o.everything()
		for _, row := range []struct{ field, value, says string }{
			{"text", "", "Text is missing. Say what you know, and from where."},
			{"kind", "rumour", "is no kind of fact"},
			{"on", "2031-01-01", "The day has not come yet"},
			{"on", "03/11/2026", "is no day"},
			{"amount", "twelve", "“twelve ” is no amount"},
			{"text", "two\nlines", "cannot be printed"},
			{"revision", "0", "The case changed while this page was open"},
		} {
			status := 422
			if row.field == "revision" {
				status = 409
			}
			answer := b.post(on+"/typed", typed("reference", "A-77", row.field, row.value))
			if answer.status != status && answer.status != 400 {
				t.Errorf("%s %q answers %d", row.field, row.value, answer.status)
			}
			answer.is(answer.status, row.says)
			if !strings.Contains(answer.text, `value="A-77"`) {
				t.Errorf("after %s %q the reference is lost", row.field, row.value)
			}
		}
		if o.everything() != before {
			t.Error("something was changed")
		}
	})

	form := typed("reference", "Round 7")
	b.follow(b.post(on+"/typed", form)).is(200, "It is on the case, as yours.", "A delivery", "Our driver <b>gave</b> it to the neighbour", "3 Nov 2026", "Round 7", "by Analyst Obi", "Analyst Obi typed in a fact")
	b.follow(b.post(on+"/typed", form)).is(200, "What was sent is on the case.")
	b.get(on+"/approve").is(200, "Contest")

	o.run(t, "an amount that was put right and sent again from the page before is not said to be on the case", func(t *testing.T) {
		paid := typed("kind", "other", "text", "Bank transfer", "amount", "50.00", "currency", "USD")
		b.post(on+"/typed", paid).is(303)
		b.post(on+"/typed", paid).is(303)
		paid.Set("amount", "149.00")
		again := b.post(on+"/typed", paid).is(409, "The case changed while this page was open")
		b.follow(b.post(on+"/typed", with(again.form(on+"/typed"), "kind", "other"))).is(200, "It is on the case, as yours.", "USD 50.00", "USD 149.00")
		paid.Set("amount", "")
		b.post(on+"/typed", paid).is(409)
		all, err := o.Store.TypedFacts(t.Context(), c.ID)
		o.must(err)
		for _, fact := range all[1:] {
			b.post(on+"/typed/"+fact.ID+"/remove", typed()).is(303)
		}
	})

	b.follow(b.post(on+"/typed", typed("kind", "refund", "text", "I sent it back by bank transfer", "amount", "149.00", "currency", "usd"))).is(200, "The facts have changed since", "not there; now yes · USD 149.00", "USD 149.00")
	b.get(on+"/approve").is(200, "A person states a refund: was not there, is yes USD 149.00", "Investigate again")
	b.post(on+"/approve", typed()).is(409, "A person states a refund")

	all, err := o.Store.TypedFacts(t.Context(), c.ID)
	o.must(err)
	if len(all) != 2 {
		t.Fatalf("the case has %+v", all)
	}
	remove := on + "/typed/" + all[1].ID + "/remove"
	b.follow(b.post(remove, b.get(on).form(remove))).is(200, "It was taken back. The record keeps what it said.", "took a typed-in fact back")
	b.post(remove, typed()).is(404)

	b.follow(b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))).is(200, "contested")
	closed := b.get(on)
	if strings.Contains(closed.text, "Type in a fact") || strings.Contains(closed.text, "Take it back") {
		t.Error("a closed case offers to change what was typed in")
	}
	closed.is(200, "Our driver")
	b.post(on+"/typed", typed("reference", "REF-77", "amount", "12.00", "currency", "EUR")).is(409, "closed", "What you typed", "What it is about A delivery", "Our driver <b>gave</b> it to the neighbour", "2026-11-03", "12.00 EUR", "REF-77")
	b.post(on+"/deadline", url.Values{"revision": {"1"}, "seen": {"1"}, "due": {"2026-12-24T17:00"}}).is(409, "nothing that you typed is lost", "What you typed", "2026-12-24T17:00")
	b.attaches(on, 1, "Signed for at the door", document{"photo.png", photo(t)}).is(409, "What you typed", "Signed for at the door")
	kept, err := o.Store.Report(t.Context(), c.ID)
	o.must(err)
	sealed, err := report.Open(kept.Content)
	o.must(err)
	for _, e := range sealed.Content().Exhibits {
		if e.TypedBy == "Analyst Obi" && e.Rows[0][0] == "Our driver <b>gave</b> it to the neighbour" && e.Table == "" {
			b.get(on+"/report?format=html").is(200, "Stated by people", "typed in by Analyst Obi", "Our driver <b>gave</b>")
			return
		}
	}
	t.Errorf("the report has %+v", sealed.Content().Exhibits)
}
