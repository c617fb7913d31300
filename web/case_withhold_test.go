package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/desk/merchant/report"
)

// contentOf is what the report of a decided case says.
func (o *office) contentOf(id countersign.CaseID) report.Content {
	o.t.Helper()
	kept, err := o.Store.Report(o.t.Context(), id)
	o.must(err)
	sealed, err := report.Open(kept.Content)
	o.must(err)
	return sealed.Content()
}

// boxes are the names of what may be left out.
func (p page) boxes() (names []string) {
	p.t.Helper()
	for _, e := range p.parse().find("input", "name", "withhold") {
		names = append(names, e.attrs["value"])
	}
	return names
}

// TestAClauseIsLeftOutByWhoeverDecides: both pages show what the report would quote, and a clause that is ticked is not in it.
func TestAClauseIsLeftOutByWhoeverDecides(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	for verb, entered := range map[string][]string{"approve": nil, "override": {"choice", "contest", "reason", "It was delivered."}} {
		o.run(t, verb, func(t *testing.T) {
			c, on := o.notReceived(b)
			ask := b.get(on+"/"+verb).is(http.StatusOK, "What the report quotes of the policies", "stands there, word for word",
				"The evidence report also says how this was decided: what a model proposed, and why a person had to look.")
			if !strings.Contains(b.get(on).seen(), "stands there, word for word") {
				t.Error("the case says it in other words")
			}
			quote := c.Proposal.Quotes[0]
			if got := ask.boxes(); len(got) == 0 || got[0] != "clause_1" || !strings.Contains(ask.seen(), quote.Quote) || !strings.Contains(ask.seen(), quote.Document+" "+quote.Version) {
				t.Fatalf("it offers %q:\n%s", got, ask.seen())
			}
			form := with(ask.form(on+"/"+verb), entered...)
			form.Set("withhold", "clause_1")
			refused := b.post(on+"/"+verb, form)
			refused.is(http.StatusBadRequest, "is missing")
			if ticked := refused.parse().find("input", "value", "clause_1"); len(ticked) != 1 || !has(ticked[0].attrs, "checked") {
				t.Error("what was ticked is lost")
			}
			form.Set("withheld_why", "It is about returns, and none was made.")
			b.follow(b.post(on+"/"+verb, form)).is(http.StatusOK, "Left out of the report: the clause “"+quote.Quote+"” of "+quote.Document+" "+quote.Version+" (It is about returns, and none was made.).")
			kept := o.contentOf(c.ID)
			for _, q := range kept.Clauses {
				if q.Quote == quote.Quote {
					t.Errorf("the report quotes %q", q.Quote)
				}
			}
			b.get(on+"/report?format=html").is(http.StatusOK, "1 clause withheld by Analyst Obi: It is about returns, and none was made.")
			b.get(on+"/record").is(http.StatusOK, "clause_1")
		})
	}
	o.verified()
}

func has(attrs map[string]string, name string) bool { _, there := attrs[name]; return there }

// TestOnlyWhatSpeaksAgainstAContestIsOfferedToBeLeftOut: that nothing was refunded speaks against accepting and for a contest.
func TestOnlyWhatSpeaksAgainstAContestIsOfferedToBeLeftOut(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	for _, name := range b.get(on + "/override").boxes() {
		if !strings.HasPrefix(name, "clause_") {
			t.Errorf("it offers %s", name)
		}
	}
	b.follow(b.post(on+"/deadline", url.Values{"revision": {"3"}, "due": {"2026-11-01T09:00"}}))
	late := b.get(on+"/override").is(http.StatusOK, "There is time to answer: no", "With a fact go the rows that it was read from", "the shop's own words for the state of the order and of its payments")
	if got := late.boxes(); got[0] != "in_time" {
		t.Errorf("it offers %q", got)
	}
	_ = c
}

// TestADeadlineThatWasEditedIsShownBesideWhatWasJudged: the head of the case and its facts do not contradict each other, and nobody is told
// that the shop changed anything.
func TestADeadlineThatWasEditedIsShownBesideWhatWasJudged(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20140"}, "network": {"visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"USD"}, "due": {"2027-01-10T17:00"}})
	on := "/cases/" + string(c.ID)
	b.follow(b.post(on+"/deadline", url.Values{"revision": {"3"}, "due": {"2027-01-05T17:00"}})).is(http.StatusOK, "yes · Sun 10 Jan 2027 17:00 UTC; now yes · Tue 5 Jan 2027 17:00 UTC", "has changed since")
	shown := b.follow(b.post(on+"/deadline", url.Values{"revision": {"4"}, "due": {"2026-11-01T09:00"}})).is(http.StatusOK, "overdue", "yes · Sun 10 Jan 2027 17:00 UTC; now no · Sun 1 Nov 2026 09:00 UTC", "The facts have changed since")
	if strings.Contains(shown.seen(), "The records have changed") {
		t.Error("it says that the records changed")
	}
	form := with(b.get(on+"/override").is(http.StatusOK, "There is time to answer: was yes").form(on+"/override"), "choice", "contest", "reason", "They still take it.")
	b.follow(b.post(on+"/override", form)).is(http.StatusOK, "contested", "decided as recommended, in their own words")
	b.get(on+"/report?format=html").is(http.StatusOK, "CONTEST, as recommended, in their own words")
	if said := strings.Join(o.contentOf(c.ID).Net.Caveats, " "); strings.Contains(said, "changed") {
		t.Errorf("the report says %q", said)
	}
	o.verified()
}

// TestContestingTheRestOfWhatWasRefundedIsWarnedOf: beside the part, before it is typed, and in the answer when it was all the same.
func TestContestingTheRestOfWhatWasRefundedIsWarnedOf(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	for part, says := range map[string]string{"75.00": "USD 45.00 is accepted besides the USD 45.00 that went back already", "120.00": "", "": ""} {
		o.run(t, "a part of "+part, func(t *testing.T) {
			c := b.chargeback(o, url.Values{"order_id": {"20192"}, "network": {"amex"}, "reason_code": {"C31"}, "stage": {"chargeback"}, "amount": {"120.00"}, "currency": {"USD"}, "reference": {"r" + part}})
			on := "/cases/" + string(c.ID)
			b.get(on).is(http.StatusOK, "USD 45.00 of the USD 120.00 in dispute was already refunded, USD 75.00 was not.")
			ask := b.get(on+"/override").is(http.StatusOK, "What is not contested is accepted, and would be paid a second time: contest all of it")
			answer := b.follow(b.post(on+"/override", with(ask.form(on+"/override"), "choice", "contest", "part", part, "reason", "It was delivered."))).seen()
			if strings.Contains(answer, "is accepted besides") != (says != "") || !strings.Contains(answer, says) || strings.Contains(answer, "USD 0.00") {
				t.Errorf("the answer is:\n%s", answer)
			}
		})
	}
}

// TestAnAnswerThatWasEmptiedIsRefusedAtItsField: nobody signs a model's words who took them out.
func TestAnAnswerThatWasEmptiedIsRefusedAtItsField(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	for _, empty := range []string{"", "  \r\n ", "\u200b"} {
		p := b.post(on+"/approve", with(b.get(on+"/approve").form(on+"/approve"), "answer", empty))
		p.is(http.StatusBadRequest, "nswer is empty")
		if !p.faultAt("answer") || strings.TrimSpace(p.form(on+"/approve").Get("answer")) != strings.TrimSpace(strings.ReplaceAll(empty, "\r\n", "\n")) {
			t.Errorf("after %q: %s", empty, p.seen())
		}
	}
	if o.latest(c.ID).Status != countersign.InReview {
		t.Error("it was decided")
	}
}

// TestWhatIsSentAgainWithSomethingElseIsNotSaidToBeDone: the second press is the first one's only if it says the same.
func TestWhatIsSentAgainWithSomethingElseIsNotSaidToBeDone(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	for name, row := range map[string]struct {
		verb         string
		first, again []string
	}{
		"another answer":            {"approve", []string{"answer", "It was delivered."}, []string{"answer", "It was never ordered."}},
		"another answer after none": {"approve", nil, []string{"answer", "It was never ordered."}},
		"another part":              {"override", []string{"choice", "contest", "reason", "x", "part", "100.00"}, []string{"part", "90.00"}},
		"no part":                   {"override", []string{"choice", "contest", "reason", "x", "part", "100.00"}, []string{"part", ""}},
		"a clause left out":         {"approve", nil, []string{"withhold", "clause_1", "withheld_why", "It is ours."}},
		"another reason for it":     {"approve", []string{"withhold", "clause_1", "withheld_why", "It is ours."}, []string{"withheld_why", "It is theirs."}},
	} {
		o.run(t, name, func(t *testing.T) {
			c, on := o.notReceived(b)
			form := with(b.get(on+"/"+row.verb).form(on+"/"+row.verb), row.first...)
			first := b.post(on+"/"+row.verb, form).is(http.StatusSeeOther)
			if same := b.post(on+"/"+row.verb, form).is(http.StatusSeeOther); same.leads() != first.leads() {
				t.Errorf("the same again leads to %s", same.leads())
			}
			before := o.contentOf(c.ID)
			refused := b.post(on+"/"+row.verb, with(form, row.again...))
			refused.is(http.StatusConflict, "You closed this case already, with something else than what you sent now. What you sent now was not used", "nothing can be decided")
			if typed := row.again[len(row.again)-1]; typed != "" && !strings.Contains(refused.text, typed) {
				t.Errorf("%q is lost", typed)
			}
			if after := o.contentOf(c.ID); after.Decision != before.Decision {
				t.Errorf("the report says %+v", after.Decision)
			}
		})
	}
	o.run(t, "another deadline", func(t *testing.T) {
		_, on := o.notReceived(b)
		form := with(b.get(on+"/deadline").form(on+"/deadline"), "due", "2027-02-01T09:00")
		b.post(on+"/deadline", form).is(http.StatusSeeOther)
		b.post(on+"/deadline", form).is(http.StatusSeeOther)
		again := b.post(on+"/deadline", with(form, "due", "2027-03-01T09:00")).is(http.StatusConflict, "nothing that you typed is lost")
		if due := again.form(on + "/deadline").Get("due"); due != "2027-03-01T09:00" {
			t.Errorf("the next press would set %s", due)
		}
	})
	o.verified()
}
