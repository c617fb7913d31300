package web

import (
	"fmt"

	"countersign"
	"countersign/auth"
)

// fixPanel is what moves, or moved, if the fix is posted: the entries that are on record and those that come to them.
type fixPanel struct {
	State   countersign.FixState
	Heading string
	Why     string // of a refusal
	Before  []entryLine
	After   []entryLine
	Net     string // what the customer is left with, in a sentence
	Sent    *sentPanel
}

type entryLine struct {
	Account, Kind string
	Debit, Credit *amount
	When          *moment
}

func (v *visit) fix(f *file) *fixPanel {
	fix := f.Case.Fix.Fix
	if fix == nil {
		return nil
	}
	p := v.preview(f, *fix)
	p.State, p.Why = f.Case.Fix.State, f.Case.Fix.Why
	if p.State == countersign.FixRefused || p.State == countersign.FixRejected || f.stale {
		p.After, p.Net = nil, ""
	}
	if p.State == countersign.FixUnknown { // the reason for a person says it already
		p.Why, p.Net = "", ""
	}
	if sent := f.Case.Fix.Instruction; p.State == countersign.FixPosted && sent != nil && sent.Booked {
		p.After, p.Net = nil, ""
	}
	p.Sent = v.sent(f)
	what := string(fix.Kind) + " of " + fix.Amount.String()
	p.Heading = map[countersign.FixState]string{
		countersign.FixPlanned: "If the " + what + " is posted",
		countersign.FixPosted:  "The " + what + " was posted",
		countersign.FixRefused: "The " + what + " was not posted",

		countersign.FixRequested: "The bank's core was asked to post the " + what,
		countersign.FixRejected:  "The bank's core did not post the " + what,
		countersign.FixUnknown:   "Nobody knows whether the " + what + " was posted",
	}[p.State]
	if p.State == countersign.FixPlanned && f.stale {
		p.Heading = "A " + what + " was planned before the records changed"
	} else if p.State == countersign.FixPlanned && f.desk.Outcome[f.Recommendation] != countersign.Resolved {
		p.Heading = "The records would support a " + what + ", which is not what is recommended"
	}
	return p
}

// preview stands a fix beside what is on record for its transaction. Once the fix is posted its entries are on record too, and
// are not counted twice.
func (v *visit) preview(f *file, fix countersign.Fix) *fixPanel {
	p := &fixPanel{}
	var taken int64
	for _, e := range f.display.Ledger {
		posted := e.Kind == fix.Kind && f.Case.Fix.State == countersign.FixPosted && (f.Case.Fix.Instruction == nil || !f.Case.Fix.Instruction.Booked)
		if e.TransactionID != fix.TransactionID || posted {
			continue
		}
		when := v.when(e.When)
		p.Before = append(p.Before, f.entry(e.Entry, &when))
		taken += signed(e.Entry, fix.AccountID)
	}
	for _, e := range fix.Entries {
		p.After = append(p.After, f.entry(e, nil))
		taken += signed(e, fix.AccountID)
	}
	p.Net = leftWith(countersign.Money{Minor: taken, Currency: fix.Amount.Currency}, fix.TransactionID)
	return p
}

// signed is what an entry takes from an account: less than nothing for what it gives.
func signed(e countersign.Entry, account string) int64 {
	switch {
	case e.AccountID != account:
		return 0
	case e.Direction == countersign.Credit:
		return -e.Amount.Minor
	}
	return e.Amount.Minor
}

func leftWith(left countersign.Money, transaction string) string {
	if left.Minor == 0 {
		return "After that nothing is taken from the customer for " + transaction + "."
	}
	return "After that " + left.String() + " stays taken from the customer for " + transaction + "."
}

func (f *file) entry(e countersign.Entry, when *moment) entryLine {
	a := money(e.Amount)
	l := entryLine{Account: f.account(e.AccountID), Kind: string(e.Kind), When: when}
	if e.Direction == countersign.Credit {
		l.Credit = &a
	} else {
		l.Debit = &a
	}
	return l
}

func (f *file) account(id string) string {
	if name := f.display.Accounts[id]; name != "" {
		return name
	}
	return id
}

// actPanel is what the reader may press, and in one sentence what happens then.
type actPanel struct {
	Primary *act
	Others  []act
	Happens string
	Cannot  string // why there is nothing to press
	NoRetry string // why it cannot be investigated again
}

type act struct{ Verb, Title, Key, Href string }

// acts are the acts of a case in review, for a reader who may decide.
func (v *visit) acts(f *file) (*actPanel, error) {
	switch {
	case f.Status != countersign.InReview:
		return nil, nil
	case !v.may(auth.Decide):
		return &actPanel{Cannot: "Your role reads cases and does not decide them."}, nil
	case f.desk.Name == "":
		return &actPanel{Cannot: "This program does not have the desk of this case, so it cannot be decided here."}, nil
	}
	if f.Fix.State == countersign.FixUnknown {
		return v.findOut(f), nil
	}
	again, err := v.Review.MayRetry(v.r.Context(), v.Store.View, f.Case)
	p := &actPanel{}
	p.Primary, p.Happens = f.approval()
	p.Others = []act{f.act("override", f.otherwise(), "x"), f.act("escalate", "Escalate", "e")}
	if f.desk.Letters {
		p.Others = append(p.Others, f.act("message", "Edit the message", "m"))
	}
	if v.who.MayDecide(f.Case) != nil {
		p.Primary, p.Happens, p.Cannot, p.Others = nil, "", waitsForApprover, p.Others[1:]
	}
	retry := f.act("retry", "Investigate again", "r")
	switch {
	case f.stale && p.Cannot == "":
		p.Primary, p.Happens = &retry, f.outdated()
	case again || err != nil:
		p.Others = append(p.Others, retry)
	default:
		p.NoRetry = "Another investigation would find the same: the model answered, and the records have not changed since."
	}
	return p, nil
}

const waitsForApprover = "This case was raised to the approvers, and waits for one of them to decide it."

func (f *file) outdated() string {
	return f.whatMoved() + " changed since this case was investigated, so what it recommends may be wrong by now. A new investigation reads them again."
}

func (f *file) act(verb, title, key string) act {
	return act{verb, title, key, "/cases/" + string(f.ID) + "/" + verb}
}

// approval is what approving does to this case, in the words of the button. Nil when there is nothing to approve.
func (f *file) approval() (*act, string) {
	outcome, acts := f.desk.Outcome[f.Recommendation]
	switch {
	case f.stale:
		return nil, f.outdated()
	case !acts && f.desk.MustChoose:
		return nil, "There is no recommendation to confirm: contest or accept, and say why."
	case !acts && f.Raised:
		return nil, "This case is with the approvers: decide it, or hand it to an outside desk."
	case !acts:
		a := f.act("approve", "Raise to an approver", "a")
		return &a, "No money moves. The case stays open and waits for an approver."
	case f.cannotBe(outcome) != "":
		return nil, f.cannotBe(outcome)
	case outcome == f.desk.Split:
		a := f.act("approve", capital(plain(outcome))+" "+disputed(f.Case), "a")
		return &a, "Nothing is sent from here. The case is closed as " + plain(outcome) + ", and its evidence report is yours to send."
	case !f.desk.Acts():
		a := f.act("approve", capital(plain(outcome))+" the claim of "+disputed(f.Case), "a")
		return &a, "Nothing is sent and no money moves from here. The case is closed as " + plain(outcome) + "."
	case outcome != countersign.Resolved:
		a := f.act("approve", "Confirm: "+plain(outcome), "a")
		return &a, "No money moves. The case is closed as " + plain(outcome) + "."
	case f.Facts == nil || f.Facts.Fix == nil:
		return nil, "The proposal is to resolve, and the records support no fix. Decide otherwise to say what should happen."
	}
	fix := f.Facts.Fix
	if f.outside {
		a := f.act("approve", fmt.Sprintf("Have the core post the %s of %s", fix.Kind, fix.Amount), "a")
		return &a, "The bank's core will be asked to post these entries. The case is closed as resolved when it confirms that it did, and comes back here when it does not."
	}
	a := f.act("approve", fmt.Sprintf("Post %s of %s", fix.Kind, fix.Amount), "a")
	return &a, "These entries are posted and the case is closed as resolved."
}

// otherwise is what deciding against, or without, the recommendation is called.
func (f *file) otherwise() string {
	if _, acts := f.desk.Outcome[f.Recommendation]; !acts && f.desk.MustChoose {
		return "Decide"
	}
	return "Decide otherwise"
}

// messagePanel is the draft to the customer.
type messagePanel struct {
	Text, Href string
	Edited     bool // a person wrote it
	Closed     bool
}

func (v *visit) message(f *file) *messagePanel {
	if !f.desk.Letters && f.Message == "" {
		return nil
	}
	m := &messagePanel{Text: legible(f.Message), Closed: f.Status == countersign.Closed}
	m.Edited = f.Proposal != nil && f.Message != "" && f.Message != f.Proposal.CustomerMessage
	if f.Status == countersign.InReview && v.may(auth.Decide) {
		m.Href = "/cases/" + string(f.ID) + "/message"
	}
	return m
}
