package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign"
	"countersign/store"
)

// Fresh is the records as they are now.
type Fresh struct {
	Facts countersign.Facts
	// Keep is what the desk keeps of a decision that closes the case, beside the record, in the decision's transaction: it may
	// return notes for the record, which come before the row that closes the case. Nil when it keeps nothing.
	Keep func(context.Context, *store.Tx, countersign.Case, Decided) ([]store.Note, error)
	desk Desk // whose records they are
}

// Decided is a decision that closes a case.
type Decided struct {
	Outcome  countersign.Outcome
	Reason   string
	By       countersign.Actor
	Part     *countersign.Money // of the amount; nil is all of it
	Followed bool               // it is what was recommended: approved, or decided in the person's own words
	Answer   string             // in the person's own words, in the place of the model's summary; empty when they keep that
	Withhold []string           // facts and clauses that are left out of what others read
	Why      string             // they are
}

// again reads a case's records that are outside our database. It happens before the transaction: a slow database of somebody
// else's must not hold ours up.
func (r Review) again(ctx context.Context, act Act) (Fresh, error) {
	c, err := r.Store.Case(ctx, act.Case)
	if err != nil || r.Desks[c.Desk].Fresh == nil {
		return Fresh{}, err
	}
	// A revision that is not the case's yet could be by the time the case is locked, and would then be decided on records that were
	// never read, with nothing to keep of them.
	if err := errors.Join(act.byPerson(), act.fits(c)); err != nil {
		return Fresh{}, err
	}
	now, err := r.Desks[c.Desk].Fresh(ctx, r.Store.View, c)
	now.desk = r.Desks[c.Desk]
	return now, err
}

// closed ends the case, with what the desk keeps of it.
func (f Fresh) closed(ctx context.Context, tx *store.Tx, c *countersign.Case, act Act, d decision) ([]store.Note, error) {
	if len(act.Withhold) > 0 {
		if err := f.mayWithhold(act); err != nil {
			return nil, err
		}
		d.Withheld, d.Why = once(act.Withhold), strings.TrimSpace(act.Why)
	}
	d.Seen = f.Facts.Seen
	if f.Facts.Seen != "" && changed(*c, f.Facts.Seen) {
		d.Changed = differences(*c, f.Facts)
	}
	if f.desk.Warn != nil {
		d.Warnings = f.desk.Warn(f.Facts, d.Outcome, rest(*c, d))
	}
	notes := closed(c, d.Outcome, d)
	if f.Keep == nil {
		return notes, nil
	}
	kept, err := f.Keep(ctx, tx, *c, Decided{Outcome: d.Outcome, Reason: d.Reason, By: act.Actor, Part: d.Part, Followed: f.desk.followed(*c, d),
		Answer: d.Answer, Withhold: d.Withheld, Why: d.Why})
	return slices.Concat(notes[:1], kept, notes[1:]), err
}

// once are names without those that stand there before: a form or a program may send one twice, and it is left out once.
func once(names []string) (all []string) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// rest is how much of the amount an outcome is not for: none of it where no part was named, whatever the records say the amount is now.
func rest(c countersign.Case, d decision) *countersign.Money {
	if d.Part == nil {
		return &countersign.Money{Currency: c.Amount.Currency}
	}
	return &countersign.Money{Minor: c.Amount.Minor - d.Part.Minor, Currency: c.Amount.Currency}
}

func (f Fresh) mayWithhold(act Act) error {
	if f.Keep == nil {
		return countersign.Errorf(countersign.Invalid, "is from a report, and a case of this desk has none").In("withhold").Try("leave it out")
	}
	return said("withhold", act.Why)
}

// followed reports whether a decision is what was recommended, for all of the amount: who overrides with the same outcome gives their own
// reason for it and goes against nothing.
func (d Desk) followed(c countersign.Case, row decision) bool {
	return row.Verb == "approve" || row.Part == nil && row.Outcome == d.Outcome[c.Recommendation]
}

// differs is moved with what is different.
func differs(c countersign.Case, now countersign.Facts) *countersign.Error {
	e := moved()
	if all := differences(c, now); len(all) > 0 {
		e.Message += ": " + strings.Join(all, "; ")
	}
	return e
}

// unseen is the answer to somebody who overrides on records that they have not seen: they may, once they have.
func unseen(c countersign.Case, now countersign.Facts) *countersign.Error {
	return differs(c, now).In("facts").Try(fmt.Sprintf("retry the case, or decide on what the records say now, with facts %q", now.Seen))
}

// differences says, fact by fact, what the records say now.
func differences(c countersign.Case, now countersign.Facts) (all []string) {
	for _, fact := range now.Items {
		if before := told(*c.Facts, fact.Name); before != stated(fact) {
			all = append(all, fmt.Sprintf("%s was %s and is %s", fact.Name, before, stated(fact)))
		}
	}
	for _, before := range c.Facts.Items {
		if told(now, before.Name) == notThere {
			all = append(all, fmt.Sprintf("%s was %s and is %s", before.Name, stated(before), notThere))
		}
	}
	return all
}

const notThere = "not there"

func told(facts countersign.Facts, name string) string {
	i := slices.IndexFunc(facts.Items, func(f countersign.Fact) bool { return f.Name == name })
	if i < 0 {
		return notThere
	}
	return stated(facts.Items[i])
}

func stated(f countersign.Fact) string {
	return strings.TrimSpace(string(f.State) + " " + f.Value)
}

// seen is the hash of the records that the case's facts were read from, empty when they were not read.
func seen(c countersign.Case) string {
	if c.Facts == nil {
		return ""
	}
	return c.Facts.Seen
}

// changed reports whether the records are not those any more that the case's facts were read from.
func changed(c countersign.Case, now string) bool { return seen(c) != "" && now != seen(c) }

// moved is the answer to somebody who decides on records that have changed. No reason waives it: what the person saw is not
// what the money would be moved on.
func moved() *countersign.Error {
	return countersign.Errorf(countersign.Conflict, "the records changed after the facts of the case were read").
		Try("retry the case, and decide on what the records say now")
}
