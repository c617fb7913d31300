// Package review is what people do with a case: approve, override, escalate, edit the message, retry.
//
// Each act is one transaction with its record rows, made by somebody, on the revision of the case that they saw. A person
// may waive a limit or a doubt and says why; nobody may waive that the debit was posted, the currency, what is left to give
// back, or that the records changed. A verb this package does not know changes nothing.
package review

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/execute"
	"countersign/pipeline/outside"
	"countersign/store"
)

// Desk is what review must know of a desk.
type Desk struct {
	Outcome  map[string]countersign.Outcome // what approving a recommendation ends in; one that is missing asks for a person
	Outcomes []countersign.Outcome          // what a person may override with
	Justify  execute.Justify                // the fix that the records support
	// Waive is the fix of that kind which a person may post although the records do not support it.
	Waive func(context.Context, store.View, countersign.Case, countersign.FixKind) (*countersign.Fix, string, error)
	// Fresh reads the records again. A desk whose records are outside our database gives it: what a person approves there must
	// still be so.
	Fresh func(context.Context, store.View, countersign.Case) (Fresh, error)
	// MustChoose says that a recommendation which asks for a person cannot be approved: the person chooses an outcome, and says why.
	MustChoose bool
	// Warn says what a person must know of an outcome that leaves that rest of the amount; nil when the desk has nothing to say.
	Warn func(countersign.Facts, countersign.Outcome, *countersign.Money) []string
	// Cannot says why an outcome does not exist for a case as it stands, empty when it does; nil when every outcome always does.
	Cannot func(countersign.Case, countersign.Outcome) string
	Split  countersign.Outcome     // the outcome that may be for a part of the amount; empty when none may
	Room   store.ExhibitRoom       // how much the files of a case may be together; the zero value takes none
	Typed  []countersign.TypedKind // the kinds of facts that a person may type in; none at a desk that takes none
}

// Review carries out what people decide.
type Review struct {
	Store *store.Store
	Queue interface {
		Add(context.Context, *store.Tx, countersign.DeskName, countersign.CaseID) (int64, error)
		Wake(ctx context.Context, tx *store.Tx, instruction string) error
	}
	Desks map[countersign.DeskName]Desk
	// Closed is told of each case that a person closed; nil when nobody measures.
	Closed func(countersign.Case)
}

// Act is who acts on which case, and the revision that they saw. A revision that is no longer the case's is a Conflict:
// somebody else was faster, and the person must look again.
type Act struct {
	Case     countersign.CaseID
	Revision int64
	Actor    countersign.Actor
	Part     *countersign.Money // of the amount, for an outcome that may be split; nil is the whole, and so is a part that is all of it
	Withhold []string           // facts and quoted clauses, by the desk's names, that are left out of what it keeps for others to read
	Why      string             // they are; needed when any is
	Facts    string             // the hash of the records that the person saw, when those are not the ones that the case was judged on
	Answer   string             // what the person says in the place of the model's summary, where others read it; empty keeps the summary
	settles  bool               // it finds out what became of the fix, or leaves that open: see held
}

// on runs f on the locked case, saves it and records what f says, in one transaction.
func (r Review) on(ctx context.Context, act Act, f func(context.Context, *store.Tx, *countersign.Case) ([]store.Note, error)) (c countersign.Case, err error) {
	if err := act.byPerson(); err != nil {
		return c, err
	}
	err = r.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if c, err = tx.LockCase(ctx, act.Case); err != nil {
			return err
		}
		if err := act.fits(c); err != nil {
			return err
		}
		if err := act.held(c); err != nil {
			return err
		}
		notes, err := f(ctx, tx, &c)
		if err != nil {
			return err
		}
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, c.ID, act.Actor, notes...)
	})
	if err != nil {
		return countersign.Case{}, err
	}
	if c.Status == countersign.Closed && r.Closed != nil {
		r.Closed(c)
	}
	return c, nil
}

// answers refuses an answer that a report could not print, and one that says nothing: it would be the model's words in this person's
// name.
func (a Act) answers() error {
	if a.Answer != "" && blank(a.Answer) {
		return countersign.Errorf(countersign.Invalid, "is empty").In("answer").Try("write it, or leave the model's as it stands")
	}
	if strings.ContainsFunc(a.Answer, func(c rune) bool { return unicode.IsControl(c) && c != '\n' }) {
		return countersign.Errorf(countersign.Invalid, "has characters that cannot be printed").In("answer")
	}
	return short("answer", a.Answer, 5000)
}

// byPerson refuses an act that nobody made, or that a part of the program made by itself.
func (a Act) byPerson() error {
	switch a.Actor.Kind {
	case countersign.Person, countersign.Token, countersign.CLI:
		if a.Actor.Valid() {
			return nil
		}
	}
	return countersign.Errorf(countersign.Internal, "a decision of a person's was made by %q", a.Actor)
}

// fits refuses an act on a case that has moved on, or that no person holds.
func (a Act) fits(c countersign.Case) error {
	switch {
	case a.Revision != c.Revision:
		return countersign.Errorf(countersign.Conflict, "the case is at revision %d, you saw %d", c.Revision, a.Revision).
			In("If-Match").Try("read the case again and decide on what it says now")
	case c.Status == countersign.Closed:
		return countersign.Errorf(countersign.Conflict, "the case is closed: %s", c.Outcome)
	case c.Status != countersign.InReview:
		return countersign.Errorf(countersign.Conflict, "the case is %s; a person can decide once it is in review", c.Status).
			Try("wait until the investigation has ended")
	}
	return nil
}

// decision is the payload of a row of kind decision.
type decision struct {
	Round     int                 `json:"round"`
	Status    countersign.Status  `json:"status"`
	Verb      string              `json:"verb"` // approve, override, escalate, retry, ask, settle
	Outcome   countersign.Outcome `json:"outcome_wanted,omitempty"`
	Fix       string              `json:"fix,omitempty"`
	Reason    string              `json:"reason,omitempty"`
	Reference string              `json:"reference,omitempty"`
	Found     Finding             `json:"found,omitempty"`           // of a fix that others were to post
	Waived    []string            `json:"waived,omitempty"`          // the reasons that stood when it was decided
	Withdrawn bool                `json:"draft_withdrawn,omitempty"` // the model's draft to the customer said something else
	Part      *countersign.Money  `json:"part,omitempty"`            // of the amount, when the outcome is for no more than that
	Withheld  []string            `json:"withheld,omitempty"`        // facts and clauses that a person left out of what others read
	Why       string              `json:"withheld_why,omitempty"`    //
	Due       *time.Time          `json:"due_at,omitempty"`          // the deadline that a person set
	Seen      string              `json:"seen,omitempty"`            // the hash of records outside our database, read again for this decision
	Changed   []string            `json:"changed,omitempty"`         // what was different in them, which the person saw
	Subject   string              `json:"subject,omitempty"`         // which the case is about from then on
	Answer    string              `json:"answer,omitempty"`          // what the person says in the place of the model's summary
	Warnings  []string            `json:"warnings,omitempty"`        // what the person was told of this outcome
}

// Approve carries out what the case recommends. A recommended fix is the one that the facts of the case support, and it is
// posted only while the records are still the ones that those facts were read from: otherwise it is a Conflict, and the
// person may override or retry. A recommendation to escalate raises the case. Records outside our database are read again first,
// and what is different in them is in the Conflict.
func (r Review) Approve(ctx context.Context, act Act) (countersign.Case, error) {
	if err := act.answers(); err != nil {
		return countersign.Case{}, err
	}
	now, err := r.again(ctx, act)
	if err != nil {
		return countersign.Case{}, err
	}
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		desk := r.Desks[c.Desk]
		outcome, ok := desk.Outcome[c.Recommendation]
		switch {
		case !ok && desk.MustChoose:
			return nil, countersign.Errorf(countersign.Conflict, "the recommendation asks for a person, so there is nothing to approve").
				Try("override with an outcome and a reason")
		case !ok:
			c.Raised = true
			return []store.Note{{Kind: audit.Decision, Payload: decided(*c, "approve", "")}}, nil
		case desk.cannot(*c, outcome) != "":
			return nil, impossible(desk.cannot(*c, outcome))
		case desk.Fresh != nil && changed(*c, now.Facts.Seen):
			return nil, differs(*c, now.Facts)
		case desk.Fresh == nil && act.Answer != "":
			return nil, countersign.Errorf(countersign.Invalid, "is for a report, and a case of this desk has none").In("answer").Try("leave it out")
		}
		d := decided(*c, "approve", "")
		d.Outcome, d.Answer = outcome, act.Answer
		if err := desk.split(c, act, &d); err != nil {
			return nil, err
		}
		if outcome != countersign.Resolved {
			return now.closed(ctx, tx, c, act, d)
		}
		fix, seenNow, err := desk.Justify(ctx, tx.View, *c)
		switch {
		case err != nil:
			return nil, err
		case changed(*c, seenNow):
			return nil, moved()
		case fix == nil || c.Facts == nil || c.Facts.Fix == nil:
			return nil, countersign.Errorf(countersign.Conflict, "the facts of the case do not support a fix").
				Try("override with outcome resolved and name the fix: reversal, refund or none")
		}
		return r.post(ctx, tx, c, act, *c.Facts.Fix, desk.Justify, d)
	})
}

// Override decides against, or without, the recommendation. Reason says why and is kept. Fix is reversal, refund or none,
// and belongs to the outcome resolved: resolved with none closes without moving money. Records outside our database are read again:
// a person may decide on what they say now, and says which those are (Act.Facts); on what nobody saw, it is a Conflict.
func (r Review) Override(ctx context.Context, act Act, outcome countersign.Outcome, reason, fix string) (countersign.Case, error) {
	if err := said("reason", reason); err != nil {
		return countersign.Case{}, err
	}
	now, err := r.again(ctx, act)
	if err != nil {
		return countersign.Case{}, err
	}
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		desk := r.Desks[c.Desk]
		if err := overridable(desk, outcome, fix); err != nil {
			return nil, err
		}
		if why := desk.cannot(*c, outcome); why != "" {
			return nil, impossible(why)
		}
		if desk.Fresh != nil && changed(*c, now.Facts.Seen) && act.Facts != now.Facts.Seen {
			return nil, unseen(*c, now.Facts)
		}
		d := decided(*c, "override", reason)
		d.Outcome, d.Fix, d.Withdrawn = outcome, fix, desk.withdraw(c, outcome, fix)
		if err := desk.split(c, act, &d); err != nil {
			return nil, err
		}
		if outcome != countersign.Resolved || fix == "none" {
			return now.closed(ctx, tx, c, act, d)
		}
		kind := countersign.FixKind(fix)
		waived, seenNow, err := desk.Waive(ctx, tx.View, *c, kind)
		switch {
		case err != nil:
			return nil, err
		case changed(*c, seenNow):
			return nil, moved()
		}
		again := func(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
			return desk.Waive(ctx, v, c, kind)
		}
		return r.post(ctx, tx, c, act, *waived, again, d)
	})
}

func (d Desk) cannot(c countersign.Case, outcome countersign.Outcome) string {
	if d.Cannot == nil {
		return ""
	}
	return d.Cannot(c, outcome)
}

func impossible(why string) error {
	return countersign.Errorf(countersign.Conflict, "%s", strings.TrimSuffix(why, ".")).In("outcome").Try("decide otherwise")
}

// split notes the part of the amount that an outcome is for.
func (d Desk) split(c *countersign.Case, act Act, row *decision) error {
	switch part := act.Part; {
	case part == nil, *part == c.Amount && d.Split != "" && row.Outcome == d.Split: // a part that is the whole is none
		return nil
	case d.Split == "" || row.Outcome != d.Split:
		return countersign.Errorf(countersign.Invalid, "the outcome %s is for the whole amount; leave the part empty", row.Outcome).In("amount")
	case c.Amount.Currency == "":
		return countersign.Errorf(countersign.Invalid, "the amount in dispute is not known, so no part of it is").In("amount")
	case part.Currency != c.Amount.Currency:
		return countersign.Errorf(countersign.Invalid, "is in %q; expected %s, the currency of the dispute", part.Currency, c.Amount.Currency).In("amount.currency")
	case part.Minor <= 0 || part.Minor > c.Amount.Minor:
		return countersign.Errorf(countersign.Invalid, "%s is no part of the %s in dispute", part, c.Amount).In("amount.minor")
	}
	c.Contested, row.Part = act.Part, act.Part
	return nil
}

// withdraw takes back the model's draft to the customer when a person decides otherwise than the model proposed: it would
// promise what is not going to happen. What a person wrote stays.
func (d Desk) withdraw(c *countersign.Case, outcome countersign.Outcome, fix string) bool {
	if c.Proposal == nil || c.Message == "" || c.Message != c.Proposal.CustomerMessage {
		return false
	}
	promised, acts := d.Outcome[c.Proposal.Recommendation]
	if !acts {
		promised = countersign.Escalated
	}
	if promised == outcome && (outcome != countersign.Resolved || fix != "none") {
		return false
	}
	c.Message = ""
	return true
}

// overridable refuses outcomes and fixes that do not exist, before anything is touched.
func overridable(desk Desk, outcome countersign.Outcome, fix string) error {
	var known []string
	for _, o := range desk.Outcomes {
		known = append(known, string(o))
		if o != outcome {
			continue
		}
		switch {
		case o != countersign.Resolved && fix != "" && fix != "none":
			return countersign.Errorf(countersign.Invalid, "a fix belongs to the outcome resolved, not to %s", o).In("fix")
		case o == countersign.Resolved && fix == "":
			return countersign.Errorf(countersign.Invalid, "is missing; expected reversal, refund or none").In("fix")
		case o == countersign.Resolved && fix != string(countersign.Reversal) && fix != string(countersign.Refund) && fix != "none":
			return countersign.Errorf(countersign.Invalid, "%q is not one of reversal, refund, none", fix).In("fix")
		}
		return nil
	}
	return countersign.Errorf(countersign.Invalid, "%q is not one of %s", string(outcome), strings.Join(known, ", ")).In("outcome").
		Try("to hand the case on, use escalate")
}

// post applies the fix and closes the case with it, or lets it wait for those who are to post it. The person decided on the facts of the case, so the records must still be
// the ones that those were read from; nobody may waive that. Facts that were never read say nothing about the records.
func (r Review) post(ctx context.Context, tx *store.Tx, c *countersign.Case, act Act, fix countersign.Fix, justify execute.Justify, d decision) ([]store.Note, error) {
	posting, err := execute.Apply(ctx, tx, execute.Order{Case: *c, Fix: fix, Seen: seen(*c), Justify: justify, Actor: act.Actor,
		Outcome: countersign.Resolved, HandledBy: countersign.ByPerson, Waived: d.Reason})
	var refused *execute.Refused
	switch {
	case errors.As(err, &refused):
		return nil, countersign.Errorf(countersign.Conflict, "the fix cannot be applied: %s", refused.Why).
			Try("read the case again; if the records say something else now, retry it")
	case err != nil:
		return nil, err
	}
	if posting.Requested != nil {
		begun := outside.Begin(c, *posting.Requested, act.Actor)
		return []store.Note{{Kind: audit.Decision, Payload: d}, begun}, r.Queue.Wake(ctx, tx, posting.Requested.ID)
	}
	c.Fix = countersign.FixOutcome{State: countersign.FixPosted, Fix: &fix}
	notes := closed(c, countersign.Resolved, d)
	row := store.Note{Kind: audit.Fix, Payload: posting.Row(c.Round, d.Reason)}
	return []store.Note{notes[0], row, notes[1]}, nil
}

// Escalate raises the case to approvers and keeps it in review. With the reference of the outside desk that took it, the
// case closes as escalated.
func (r Review) Escalate(ctx context.Context, act Act, reason, reference string) (countersign.Case, error) {
	if err := said("reason", reason); err != nil {
		return countersign.Case{}, err
	}
	if err := short("reference", reference, 200); err != nil {
		return countersign.Case{}, err
	}
	act.settles = strings.TrimSpace(reference) == ""
	return r.on(ctx, act, func(_ context.Context, _ *store.Tx, c *countersign.Case) ([]store.Note, error) {
		d := decided(*c, "escalate", reason)
		d.Reference = strings.TrimSpace(reference)
		c.Raised = true
		if d.Reference == "" {
			return []store.Note{{Kind: audit.Decision, Payload: d}}, nil
		}
		d.Outcome, d.Withdrawn = countersign.Escalated, r.Desks[c.Desk].withdraw(c, countersign.Escalated, "")
		return closed(c, countersign.Escalated, d), nil
	})
}

// Message replaces the draft to the customer. Nothing is sent; closing freezes it.
func (r Review) Message(ctx context.Context, act Act, draft string) (countersign.Case, error) {
	if err := short("text", draft, 5000); err != nil {
		return countersign.Case{}, err
	}
	act.settles = true
	return r.on(ctx, act, func(_ context.Context, _ *store.Tx, c *countersign.Case) ([]store.Note, error) {
		c.Message = draft
		return []store.Note{{Kind: audit.Message, Payload: struct {
			Round int    `json:"round"`
			Text  string `json:"text"`
		}{c.Round, draft}}}, nil
	})
}

// Deadline sets when the case must be answered, as a person knows it: no program computes one. It stays theirs until another is set.
func (r Review) Deadline(ctx context.Context, act Act, due time.Time) (countersign.Case, error) {
	if due.Year() < 1990 || due.Year() > 2200 {
		return countersign.Case{}, countersign.Errorf(countersign.Invalid, "%s is no deadline; expected a day and a time", due.UTC().Format(time.RFC3339)).In("due_at")
	}
	act.settles = true
	return r.on(ctx, act, func(_ context.Context, _ *store.Tx, c *countersign.Case) ([]store.Note, error) {
		due := due.UTC().Truncate(time.Second)
		c.DueAt, c.DueSource = &due, countersign.DueManual
		d := decided(*c, "deadline", "")
		d.Due, d.Waived = &due, nil
		return []store.Note{{Kind: audit.Decision, Payload: d}}, nil
	})
}

// decided is a decision on the case as it stands; Status is set again by closed.
func decided(c countersign.Case, verb, reason string) decision {
	d := decision{Round: c.Round, Status: c.Status, Verb: verb, Reason: strings.TrimSpace(reason)}
	if c.Verdict != nil {
		for _, r := range c.Verdict.Reasons {
			d.Waived = append(d.Waived, string(r.Code))
		}
	}
	return d
}

// closed ends the case by a person and returns the rows that say so. A fix that was only planned will not come any more.
func closed(c *countersign.Case, outcome countersign.Outcome, d decision) []store.Note {
	if c.Fix.State == countersign.FixPlanned {
		c.Fix = countersign.FixOutcome{State: countersign.FixNone}
	}
	c.Status, c.Outcome, c.HandledBy = countersign.Closed, outcome, countersign.ByPerson
	return []store.Note{{Kind: audit.Decision, Payload: d}, {Kind: audit.Closed, Payload: store.Closing(*c)}}
}

// said refuses an empty reason: a decision that nobody can understand later is not one.
func said(field, text string) error {
	if blank(text) {
		return countersign.Errorf(countersign.Invalid, "is missing").In(field).Try("say in a sentence why")
	}
	return short(field, text, 2000)
}

// blank reports whether a text has nothing that anybody could read.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

func short(field, text string, max int) error {
	switch {
	case len(text) > max:
		return countersign.Errorf(countersign.TooLarge, "has %d bytes; at most %d are kept", len(text), max).In(field)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return countersign.Errorf(countersign.Invalid, "is not valid UTF-8 text").In(field)
	}
	return nil
}
