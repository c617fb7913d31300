package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/auth"
	"countersign/desk/bank/records"
	chromium "countersign/internal/browser"
)

// on fails the test unless the focus is on what has that name.
func (s *seat) on(name string) {
	s.office.t.Helper()
	if got := s.Focused(); !strings.HasPrefix(got, name) {
		s.office.t.Fatalf("the focus is on %q, want %s", got, name)
	}
}

// tabs presses Tab until the focus is on what has that name. It must be visible at every stop on the way.
func (s *seat) tabs(name string) {
	s.office.t.Helper()
	var passed []string
	for range 80 {
		s.Press("Tab")
		s.visibleFocus()
		at := s.Focused()
		if strings.HasPrefix(at, name) {
			return
		}
		passed = append(passed, at)
	}
	s.office.t.Fatalf("Tab does not lead to %s, but to %q", name, passed)
}

// visibleFocus fails the test unless something has the focus, in sight, with a line around it.
func (s *seat) visibleFocus() {
	s.office.t.Helper()
	var wrong string
	s.Eval(`(e => {
		if (!e || e === document.body) return 'nothing has the focus'
		const style = getComputedStyle(e), box = e.getBoundingClientRect()
		if (style.outlineStyle === 'none' || !parseFloat(style.outlineWidth)) return 'no line is around ' + e.outerHTML.slice(0, 80)
		if (!box.height || box.bottom < 0 || box.top > innerHeight) return 'out of sight is ' + e.outerHTML.slice(0, 80)
		return ''
	})(document.activeElement)`, &wrong)
	if wrong != "" {
		s.office.t.Error(wrong)
	}
}

// types enters a text into the field that has the focus already.
func (s *seat) types(field, text string) {
	s.office.t.Helper()
	s.on(field)
	s.Type(field, text)
}

// within waits until the focus is on, or in, an element of that selector which has these words, and the focus is visible.
func (s *seat) within(selector, words string) {
	s.office.t.Helper()
	s.Until(fmt.Sprintf("document.activeElement.closest(%s)?.textContent.includes(%s)", spelled(selector), spelled(words)))
	s.visibleFocus()
}

func TestACaseIsFoundReadAndApprovedByKeys(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := o.inReview("T-1")
	o.later(time.Hour)
	second := o.inReview("T-2", func(s *records.Set) { s.Customers[0].Name = "Emeka Eze" })
	s := o.sits(auth.Analyst, chromium.Options{})
	s.openLink()
	s.on(`button "Sign in as`)
	s.Press("Enter")
	s.At("/queue")

	// Down and up the queue, and the list of keys.
	s.Press("j")
	s.within("tr", string(first.ID))
	s.Press("j")
	s.within("tr", string(second.ID))
	s.Press("j")
	s.within("tr", string(second.ID))
	s.Press("?")
	s.See("next and previous claim, or case in the queue")
	s.on(`button "Close"`)
	s.Press("j", "Escape")
	s.Gone("next and previous claim")
	s.within("tr", string(second.ID))
	s.Press("k")
	s.within("tr", string(first.ID))

	// A search that is given up, and one that is not.
	s.Press("/")
	s.on("#find")
	s.Press("Escape")
	s.within("tr", string(first.ID))
	s.Press("/")
	s.types("#find", "emeka")
	s.Press("Enter")
	s.At("/queue?q=emeka")
	s.Press("j", "o")
	s.At("/cases/" + string(second.ID))

	// The claims, what one of them cites, and back to it.
	s.Press("j")
	s.within(".claim", "The full amount of NGN 24,500.00 was taken")
	s.Press("j")
	s.within(".claim", "The rail says that the transfer failed")
	s.Press("o")
	s.points("S3/status")
	s.within("tr", "failed")
	s.Press("Escape")
	s.within(".claim", "The rail says that the transfer failed")
	s.Press("k")
	s.within(".claim", "The full amount of NGN 24,500.00 was taken")

	// Asking for the act does nothing by itself: it is read, and then pressed.
	s.Press("a")
	s.At("/cases/*/approve")
	s.See("suspense:NGN reversal NGN 24,500.00 new")
	s.on("#decide-title")
	s.Press("Escape")
	s.At("/cases/" + string(second.ID))
	s.Press("a")
	s.At("/cases/*/approve")
	s.tabs(`button "Post reversal of NGN 24,500.00 to account ****6789"`)
	s.Press("Enter")
	s.At("/cases/" + string(second.ID))
	s.See("The reversal of NGN 24,500.00 was posted, and the case is closed.")

	// The next one is one key away.
	s.Press("n")
	s.At("/cases/" + string(first.ID))
	s.See("You have this case: others see it.")
	s.Press("Tab")
	s.on(`a "Skip to the page"`)
	s.Press("Enter")
	s.on("#main")
	s.goes()
}

func TestEveryOtherDecisionIsMadeByKeys(t *testing.T) {
	t.Parallel()
	o := newOffice(t, silentAtFirst)
	c := o.inReview("T-1")
	s := o.sits(auth.Approver, chromium.Options{}) // who may decide what was raised
	s.comesIn()
	s.Press("n")
	s.At("/cases/" + string(c.ID))

	s.Press("r")
	s.At("/cases/*/retry")
	s.tabs(`button "Investigate again"`)
	s.Press("Enter")
	s.At("/cases/" + string(c.ID))
	s.See("Post reversal of NGN 24,500.00")

	s.Press("m")
	s.At("/cases/*/message")
	s.tabs("#text")
	s.types("#text", "Dear Adaeze, we look at it.")
	s.Press("Escape")
	s.visibleOrMain()
	if got := s.Value("#text"); got != "Dear Adaeze, we look at it." {
		t.Errorf("leaving the field left %q in it", got)
	}
	s.tabs(`button "Keep this draft"`)
	s.Press("Enter")
	s.At("/cases/" + string(c.ID))
	s.See("as edited by a person Dear Adaeze, we look at it.")

	s.Press("e")
	s.At("/cases/*/escalate")
	s.tabs("#reason")
	s.types("#reason", "I know this customer")
	s.tabs(`button "Escalate"`)
	s.Press("Enter")
	s.At("/cases/" + string(c.ID))
	s.See("The case was raised to the approvers. It stays open.")

	// The options of an override are walked with the arrows; the letters that are keys elsewhere do nothing here.
	s.Press("x")
	s.At("/cases/*/override")
	s.tabs("input[name=choice]")
	s.Press("ArrowDown", "n", "a")
	s.At("/cases/*/override")
	s.See("After that nothing is taken from the customer for T-1.")
	s.Press("ArrowDown")
	s.See("For what was put right elsewhere.")
	s.tabs("#reason")
	s.types("#reason", "an approver told me to")
	s.tabs(`button "Carry out what is chosen"`)
	s.Press("Enter")
	s.At("/cases/" + string(c.ID))
	s.See("The case is closed as resolved. No money moved.")
	s.goes()
}

// visibleOrMain: what nobody can see the focus on is the page itself, from which Tab goes to its first link.
func (s *seat) visibleOrMain() {
	s.office.t.Helper()
	if s.Focused() != "#main" {
		s.visibleFocus()
	}
}

// A page that is drawn anew under somebody who reads it leaves the focus where it was, or at the page's beginning.
func TestTheFocusOutlastsAPageThatIsDrawnAnew(t *testing.T) {
	t.Parallel()
	reviewer := make(leash)
	o := newOffice(t, reviewer.models)
	c := o.dispute("T-1")
	s := o.sits(auth.Analyst, chromium.Options{})
	s.comesIn()
	s.opens("/cases/" + string(c.ID))
	s.See("Investigation began")
	s.tabs(`a "Read and verify it row by row"`)
	for range 5 {
		reviewer.answers(t)
	}
	s.See("Post reversal of NGN 24,500.00")
	s.Until("document.activeElement !== document.body")
	s.goes()
}
