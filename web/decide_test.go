package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
)

// opened opens the page of an act and returns its address with the form as it stands there.
func (b *browser) opened(c countersign.Case, verb string) (address string, form url.Values) {
	b.t.Helper()
	address = "/cases/" + string(c.ID) + "/" + verb
	return address, b.get(address).is(http.StatusOK).form(address)
}

// decides carries an act out as somebody would who opens its page, enters that and presses.
func (b *browser) decides(c countersign.Case, verb string, entered ...string) page {
	b.t.Helper()
	address, form := b.opened(c, verb)
	return b.post(address, with(form, entered...))
}

func TestDeciding(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)

	o.run(t, "approving posts the fix, and says so once", func(t *testing.T) {
		c := o.inReview("T-approve")
		b.get("/cases/"+string(c.ID)+"/approve").is(http.StatusOK, "Post reversal of NGN 24,500.00 to account ****6789", "reversal NGN 24,500.00 new")
		p := b.follow(b.decides(c, "approve"))
		p.is(http.StatusOK, "The reversal of NGN 24,500.00 was posted, and the case is closed.", "resolved by a person", "Analyst Obi approved the recommendation",
			"Posted the reversal of NGN 24,500.00 for Analyst Obi", "✓ intact")
		if again := b.get("/cases/" + string(c.ID)).seen(); strings.Contains(again, "and the case is closed.") {
			t.Errorf("it is said again: %s", again)
		}
		if c = o.latest(c.ID); c.Fix.State != countersign.FixPosted || c.Outcome != countersign.Resolved {
			t.Errorf("the case is %s with a fix %s", c.Outcome, c.Fix.State)
		}
	})
	for _, option := range []struct {
		choice, title, said string
		outcome             countersign.Outcome
		fix                 countersign.FixState
	}{
		{"rejected", "Close as rejected", "The case is closed as rejected. No money moved.", countersign.Rejected, countersign.FixNone},
		{"resolved-none", "Close as resolved without moving money", "The case is closed as resolved. No money moved.", countersign.Resolved, countersign.FixNone},
		{"resolved-reversal", "Post a reversal of NGN 24,500.00 to account ****6789", "The reversal of NGN 24,500.00 was posted, and the case is closed.", countersign.Resolved, countersign.FixPosted},
		{"resolved-refund", "Post a refund of NGN 24,500.00 to account ****6789", "The refund of NGN 24,500.00 was posted, and the case is closed.", countersign.Resolved, countersign.FixPosted},
	} {
		o.run(t, "otherwise: "+option.title, func(t *testing.T) {
			c := o.inReview("T-" + option.choice)
			b.get("/cases/"+string(c.ID)+"/override").is(http.StatusOK, option.title)
			p := b.follow(b.decides(c, "override", "choice", option.choice, "reason", "  the branch knows them  "))
			p.is(http.StatusOK, option.said, "Analyst Obi decided otherwise", "the branch knows them")
			if c = o.latest(c.ID); c.Status != countersign.Closed || c.Outcome != option.outcome || c.Fix.State != option.fix {
				t.Errorf("the case is %s, %s, with a fix %s", c.Status, c.Outcome, c.Fix.State)
			}
		})
	}
	o.run(t, "escalating raises the case and leaves it open", func(t *testing.T) {
		c := o.inReview("T-escalate")
		p := b.follow(b.decides(c, "escalate", "reason", "smells of a mule"))
		p.is(http.StatusOK, "The case was raised to the approvers. It stays open.", "raised to approvers", "smells of a mule")
		if c = o.latest(c.ID); !c.Raised || c.Status != countersign.InReview {
			t.Errorf("the case is %s, raised %v", c.Status, c.Raised)
		}
		p = b.follow(b.decides(c, "escalate", "reason", "they took it", "reference", "FRD-2026-0417"))
		p.is(http.StatusOK, "The case is closed as escalated. No money moved.", "Analyst Obi handed it to an outside desk")
	})
	o.run(t, "a draft is kept with the line ends that everybody writes", func(t *testing.T) {
		c := o.inReview("T-message")
		p := b.follow(b.decides(c, "message", "text", "Dear Ada,\r\nwe have looked.\rKind regards\n"))
		p.is(http.StatusOK, "The draft was kept. Nothing was sent.", "as edited by a person", "Analyst Obi changed the draft to the customer")
		if got := o.latest(c.ID).Message; got != "Dear Ada,\nwe have looked.\nKind regards\n" {
			t.Errorf("it was kept as %q", got)
		}
	})
	o.run(t, "what an investigation failed at is investigated again", func(t *testing.T) {
		c := o.inReview("T-retry", unknownDevice)
		p := b.follow(b.decides(c, "retry"))
		p.is(http.StatusOK, "A new investigation begins.", "Analyst Obi asked for another investigation")
		if c = o.worked(o.latest(c.ID)); c.Round != 2 {
			t.Errorf("it is in round %d", c.Round)
		}
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "Investigation 2 began")
	})
	o.verified()
}

// unknownDevice leaves open what another investigation may find.
func unknownDevice(set *records.Set) { set.Transactions[0].DeviceID, set.Devices = "", nil }

// refusal is a post that comes back, where its sentence stands and what else the page still holds.
type refusal struct {
	verb, says string
	status     int
	entered    []string
	field      string // the field that the sentence stands at, empty for the page
}

func TestWhatCannotBeCarriedOutComesBackAsItWasTyped(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	c := o.inReview("T-1")
	before := o.everything()
	long := func(n int) string { return strings.Repeat("ü", n) }
	for sentence, r := range map[string]refusal{
		"an override without a reason":        {"override", "Reason is missing. Say in a sentence why.", 400, []string{"choice", "resolved-refund", "reason", " \r\n "}, "reason"},
		"an override without a choice":        {"override", "Choose what should happen.", 400, []string{"reason", "they said \"no\" & left"}, "choice"},
		"an override to what does not exist":  {"override", `"shredded" is not one of`, 400, []string{"choice", "shredded", "reason", "why not"}, "outcome"},
		"a fix that does not exist":           {"override", `"gift" is not one of reversal, refund, none`, 400, []string{"choice", "resolved-gift", "reason", "why not"}, "fix"},
		"a fix with another outcome":          {"override", "a fix belongs to the outcome resolved", 400, []string{"choice", "rejected-refund", "reason", "why not"}, "fix"},
		"a reason longer than anybody reads":  {"override", "at most 2000 are kept", 413, []string{"choice", "rejected", "reason", long(2001)}, "reason"},
		"an escalation without a reason":      {"escalate", "Reason is missing.", 400, []string{"reason", "", "reference", "FRD-1"}, "reason"},
		"a reference that is a story":         {"escalate", "at most 200 are kept", 413, []string{"reason", "see there", "reference", long(201)}, "reference"},
		"a draft of 5,001 characters":         {"message", "at most 5000 are kept", 413, []string{"text", long(5001)}, "text"},
		"a deadline in another order":         {"deadline", "The deadline “24.12.2026 17:00” is no day and time", 400, []string{"due", "24.12.2026 17:00"}, "due"},
		"a deadline in a month that is none":  {"deadline", "“2026-13-24T17:00” is no day and time", 400, []string{"due", "2026-13-24T17:00"}, "due"},
		"no deadline":                         {"deadline", "The deadline is missing.", 400, []string{"due", ""}, "due"},
		"a draft that is not text":            {"message", "", 400, []string{"text", "Dear \xff"}, "text"},
		"an investigation that finds nothing": {"retry", "Another investigation would find the same", 409, nil, ""},
	} {
		o.run(t, sentence, func(t *testing.T) {
			address, form := "/cases/"+string(c.ID)+"/"+r.verb, url.Values{"revision": {fmt.Sprint(c.Revision)}}
			if r.verb != "retry" { // of which there is nothing to press
				address, form = b.opened(c, r.verb)
			}
			p := b.post(address, with(form, r.entered...))
			if p.is(r.status, r.says); o.everything() != before {
				t.Error("something was changed")
			}
			if r.verb != "retry" {
				form = p.form(address)
			}
			for pair := range slices.Chunk(r.entered, 2) {
				want := strings.ToValidUTF8(strings.ReplaceAll(pair[1], "\r\n", "\n"), "\uFFFD")
				if got := form.Get(pair[0]); got != want && (pair[0] != "choice" || want == "resolved-refund") { // the others are no choices
					t.Errorf("%s came back as %.60q, not %.60q", pair[0], got, want)
				}
			}
			if r.field != "" && !p.faultAt(r.field) {
				t.Errorf("the sentence does not stand at the field %s: %s", r.field, p.seen())
			}
		})
	}
}

// faultAt reports whether a field has a sentence about what is wrong with it: in the same paragraph, or set of fields, as it.
func (p page) faultAt(field string) bool {
	if field == "choice" || field == "outcome" || field == "fix" {
		return slices.ContainsFunc(p.parse().find("fieldset"), func(e *element) bool { return len(e.find("p", "role", "alert")) == 1 })
	}
	for _, e := range p.parse().find("form") {
		var fault bool
		for _, inner := range e.all {
			fault = fault || inner.attrs["role"] == "alert"
			if inner.attrs["name"] == field {
				return fault
			}
		}
	}
	return false
}

func TestWhatIsNoActChangesNothing(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	c := o.inReview("T-1")
	before := o.everything()
	revision := url.Values{"revision": {fmt.Sprint(c.Revision)}, "reason": {"because"}, "choice": {"rejected"}}
	on := "/cases/" + string(c.ID) + "/"
	for path, says := range map[string]string{
		on + "aprove":     `"aprove" is not something that can be done with a case; nothing was changed.`,
		on + "APPROVE":    "nothing was changed",
		on + "record":     "nothing was changed",
		on + "live":       "nothing was changed",
		on + "approve%20": "nothing was changed",
	} {
		o.run(t, "posting to "+path, func(*testing.T) { b.post(path, revision).is(http.StatusBadRequest, says) })
	}
	for _, path := range []string{on, on + "approve/twice", "/cases/" + string(c.ID), "/cases//approve", "/cases/D-NONE/approve", "/cases/%00/approve"} {
		o.run(t, "posting to "+path, func(*testing.T) {
			if p := b.post(path, revision); p.status != http.StatusNotFound && p.status != http.StatusTemporaryRedirect {
				t.Errorf("it is %d %s", p.status, p.seen())
			}
		})
	}
	for _, value := range []string{"", "x", "3.0", "0x3", "9223372036854775808"} {
		o.run(t, fmt.Sprintf("a revision %q", value), func(*testing.T) {
			b.post(on+"approve", url.Values{"revision": {value}}).is(http.StatusPreconditionRequired, "The page did not say which state of the case it was about; nothing was changed.")
		})
	}
	o.run(t, "a form of a megabyte", func(*testing.T) {
		b.post(on+"message", with(url.Values{"revision": {"3"}}, "text", strings.Repeat("x", 1<<20))).is(http.StatusRequestEntityTooLarge, "The form has more than 256 KB; nothing was changed.")
	})
	o.run(t, "a form that is none", func(*testing.T) {
		b.send("POST", on+"approve", nil, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}).is(http.StatusPreconditionRequired)
	})
	if o.everything() != before {
		t.Error("something was changed")
	}
}

func TestDecidingOnWhatHasChanged(t *testing.T) {
	o := newOffice(t)
	ada, bola := o.as(auth.Analyst), o.as(auth.Approver)

	o.run(t, "a page that is behind says who did what meanwhile, and keeps what was typed", func(t *testing.T) {
		c := o.inReview("T-behind")
		address, form := ada.opened(c, "message")
		bola.decides(c, "escalate", "reason", "look at this one").is(http.StatusSeeOther)
		p := ada.post(address, with(form, "text", "\r\nDear Ada, <we> are \"on\" it.\r\n"))
		p.is(http.StatusConflict, "The case changed while this page was open. Nothing of yours was carried out, and nothing that you typed is lost.",
			"What happened meanwhile", "Approver Obi raised it to approvers", "look at this one")
		again := p.form(address)
		if again.Get("text") != "\nDear Ada, <we> are \"on\" it.\n" {
			t.Errorf("the text came back as %q", again.Get("text"))
		}
		if got := o.latest(c.ID); got.Message == again.Get("text") {
			t.Error("it was carried out")
		}
		ada.follow(ada.post(address, again)).is(http.StatusOK, "The draft was kept. Nothing was sent.")
	})
	o.run(t, "a case that was closed meanwhile keeps what was typed and has nothing to press or to choose", func(t *testing.T) {
		c := o.inReview("T-closed")
		address, form := ada.opened(c, "override")
		bola.decides(c, "approve").is(http.StatusSeeOther)
		p := ada.post(address, with(form, "choice", "rejected", "reason", "I do not believe a word"))
		p.is(http.StatusConflict, "Approver Obi approved the recommendation", "nothing can be decided")
		if got := p.parse().find("textarea"); len(got) != 1 || strings.TrimSpace(got[0].text) != "I do not believe a word" {
			t.Errorf("it came back as %v", got)
		}
		p.nothingToDecide(address)
		ada.get(address).is(http.StatusOK, "nothing can be decided", "Back to the case").nothingToDecide(address)
		if got := ada.post(address, form); got.status != http.StatusConflict {
			t.Errorf("pressing all the same is %d", got.status)
		}
	})
	o.run(t, "records that changed since the facts were read must be read again", func(t *testing.T) {
		c := o.inReview("T-moved")
		for _, act := range [][]string{{"approve"}, {"override", "choice", "resolved-refund", "reason", "they are right"}} {
			address, form := ada.opened(c, act[0])
			o.load(records.Set{Transactions: []records.Transaction{{ID: "T-more-" + act[0], AccountID: "A-T-moved", Kind: records.Fee, Direction: countersign.Debit,
				AmountMinor: 50_00, Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(o.now().Add(-50 * time.Hour))}}})
			ada.post(address, with(form, act[1:]...)).is(http.StatusConflict, "The records changed after the facts of the case were read.", "Retry the case")
		}
		if got := o.latest(c.ID); got.Status != countersign.InReview || got.Revision != c.Revision {
			t.Errorf("the case is %s at revision %d", got.Status, got.Revision)
		}
		ada.follow(ada.decides(c, "retry")).is(http.StatusOK, "A new investigation begins.")
	})
	o.verified()
}

func TestACaseThatIsBeingInvestigatedIsNobodysToDecide(t *testing.T) {
	model := newGated()
	o := newOffice(t, model.investigates)
	c := o.dispute("T-1")
	model.answers(1) // and then it thinks
	b := o.as(auth.Analyst)
	for _, verb := range []string{"approve", "override", "escalate", "message", "retry"} {
		address := "/cases/" + string(c.ID) + "/" + verb
		p := b.get(address).is(http.StatusOK, "nothing can be decided")
		p.nothingToDecide(address)
		form := url.Values{"revision": {fmt.Sprint(o.latest(c.ID).Revision)}, "choice": {"rejected"}, "reason": {"why not"}, "text": {"Dear Ada"}}
		b.post(address, form).is(http.StatusConflict, "nothing can be decided")
	}
	model.answersAll()
	o.worked(c)
	o.verified()
}

// nothingToDecide shows that a page asks for nothing that could not be sent from it.
func (p page) nothingToDecide(address string) {
	p.t.Helper()
	if page := p.parse(); len(page.find("form", "action", address))+len(page.find("input", "type", "radio")) > 0 {
		p.t.Errorf("there is something to choose: %s", p.seen())
	}
}

// Whoever presses twice gets what the first press did, not a complaint about themselves.
func TestPressingTwiceDoesItOnce(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	for verb, entered := range map[string][]string{
		"approve":  nil,
		"override": {"choice", "resolved-refund", "reason", "they are right"},
		"escalate": {"reason", "too big for me"},
		"message":  {"text", "Dear Ada,\r\nwe are on it."},
		"retry":    nil,
	} {
		o.run(t, verb, func(t *testing.T) {
			c := o.inReview("T-"+verb, func(set *records.Set) {
				if verb == "retry" {
					unknownDevice(set)
				}
			})
			address, form := b.opened(c, verb)
			form = with(form, entered...)
			first := b.post(address, form).is(http.StatusSeeOther)
			rows := len(o.kinds(c.ID))
			second := b.post(address, form).is(http.StatusSeeOther)
			if second.leads() != first.leads() {
				t.Errorf("the second press leads to %s", second.leads())
			}
			if got := len(o.kinds(c.ID)); got != rows && verb != "retry" {
				t.Errorf("it recorded %d rows more", got-rows)
			}
			if n := strings.Count(fmt.Sprint(o.kinds(c.ID)), "decision") + strings.Count(fmt.Sprint(o.kinds(c.ID)), "message"); n != 1 {
				t.Errorf("it was done %d times", n)
			}
			if form.Has("reason") {
				b.post(address, with(form, "reason", "another reason")).is(http.StatusConflict, "nothing that you typed is lost")
			}
		})
	}
	o.verified()
}

// Twenty pairs decide at the same moment: whatever the two wanted, one of them has their way and the other reads whose it was.
func TestOfTwoWhoDecideAtOnceOneWins(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, on(database))
		ada, bola := o.as(auth.Analyst), o.as(auth.Approver)
		acts := [][]string{{"approve"}, {"override", "choice", "rejected", "reason", "no"}, {"escalate", "reason", "too big", "reference", "FRD-1"}, {"override", "choice", "resolved-refund", "reason", "yes"}}
		var cases []countersign.Case
		for n := range 20 {
			cases = append(cases, o.dispute(fmt.Sprint("T-", n)))
		}
		for n, c := range cases {
			c = o.worked(c)
			mine, yours := acts[n%4], acts[(n/4+n)%4]
			a, aForm := ada.opened(c, mine[0])
			b, bForm := bola.opened(c, yours[0])
			var both sync.WaitGroup
			var first, second page
			both.Go(func() { first = ada.post(a, with(aForm, mine[1:]...)) })
			both.Go(func() { second = bola.post(b, with(bForm, yours[1:]...)) })
			both.Wait()
			won, lost, winner := first, second, "Analyst Obi"
			if first.status == http.StatusConflict {
				won, lost, winner = second, first, "Approver Obi"
			}
			won.is(http.StatusSeeOther)
			lost.is(http.StatusConflict, "What happened meanwhile", winner)
			if got := strings.Count(strings.Join(o.kinds(c.ID), " "), "closed"); got != 1 {
				t.Errorf("case %s was closed %d times", c.ID, got)
			}
		}
		o.verified()
	})
}

// TestWhatWasRaisedIsAnApproversToDecide: the analyst who raised a case cannot then decide it after all, by page or by program.
func TestWhatWasRaisedIsAnApproversToDecide(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-raised")
	analyst, approver := o.as(auth.Analyst), o.as(auth.Approver)
	form := func(more ...string) url.Values {
		f := url.Values{"revision": {fmt.Sprint(o.latest(c.ID).Revision)}, "choice": {"rejected"}, "reason": {"it is paid"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	path, seenBefore := "/cases/"+string(c.ID), form()
	analyst.follow(analyst.post(path+"/escalate", form("reason", "it smells"))).is(http.StatusOK, "waits for one of them to decide it")
	analyst.post(path+"/override", seenBefore).is(http.StatusConflict, "What happened meanwhile", "raised it to approvers")

	for _, verb := range []string{"approve", "override"} {
		analyst.get(path+"/"+verb).is(http.StatusOK, "waits for one of them to decide it")
		analyst.post(path+"/"+verb, form()).is(http.StatusForbidden, "approver or admin")
		if now := o.latest(c.ID); now.Status != countersign.InReview {
			t.Fatalf("%s by an analyst: the case is %s", verb, now.Status)
		}
	}
	approver.follow(approver.post(path+"/override", form())).is(http.StatusOK, "The case is closed as rejected")
	o.verified()
}
