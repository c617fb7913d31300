package demo

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/llm"
)

// refund is the core system's own refund of a transfer that this product is about to give back: what a bank sees when two
// teams work the same complaint.
func (s scene) refund(i int) func(time.Time) records.Set {
	return func(now time.Time) records.Set {
		return records.Set{LedgerEntries: []records.LedgerEntry{
			entry(storyID(i), accountID(s.who, "NGN"), "core", countersign.Credit, s.amount, "NGN", records.RefundEntry, now.UTC().Truncate(time.Minute)),
		}}
	}
}

// Interrupted is a model to which something happens while it thinks: arrive is called once it was asked for its second
// answer, before it gives it. It may be called more than once, after a crash. If it fails, so does the model's call.
func Interrupted(m llm.Model, arrive func(context.Context) error) llm.Model {
	return interrupted{m, arrive}
}

type interrupted struct {
	llm.Model
	arrive func(context.Context) error
}

func (m interrupted) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Turn() == 2 {
		if err := m.arrive(ctx); err != nil {
			return llm.Reply{}, &llm.Error{Kind: llm.Unreachable, Message: fmt.Sprintf("the demo's core system failed: %s", err)}
		}
	}
	return m.Model.Complete(ctx, r)
}

// Models says which model works a case of the demo: the reviewer that is given for nearly all of them, a script for those
// that name one. Arrive stores rows that the core system sends meanwhile; now is the one that Bank was given.
func Models(now time.Time, arrive func(context.Context, records.Set) error) func(countersign.Case, llm.Model) llm.Model {
	byID := map[string]Dispute{}
	for _, d := range Disputes() {
		byID[d.TransactionID] = d
	}
	ofOrder := map[string]string{}
	for _, c := range Chargebacks() {
		ofOrder[c.Order] = c.Script
	}
	return func(c countersign.Case, reviewer llm.Model) llm.Model {
		if c.Desk == countersign.Merchant {
			if script := Script(ofOrder[c.Subject.ID]); script != nil {
				return script
			}
			return reviewer
		}
		d := byID[c.Subject.ID]
		if d.Script != "" {
			return Script(d.Script)
		}
		if d.Meanwhile != nil {
			return Interrupted(reviewer, func(ctx context.Context) error { return arrive(ctx, d.Meanwhile(now)) })
		}
		return reviewer
	}
}

// damagedPerson is the customer that Damage chooses: nobody else's disputes may suffer.
const damagedPerson = 34

// Damage puts one row into the database that no import would accept: a device first seen "last Tuesday". It stands for a
// repair by hand or a failing disk. It goes past every check on purpose, which is why it is here and not in the store. The
// second time it does nothing.
func Damage(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO devices (id, customer_id, label, first_seen_at, last_seen_at, city, country)
		VALUES ('DV-damaged', $1, 'damaged on purpose', 'last Tuesday', '', '', '') ON CONFLICT (id) DO NOTHING`, customerID(damagedPerson))
	if err != nil {
		return fmt.Errorf("damage a record for the demo: %w", err)
	}
	return nil
}
