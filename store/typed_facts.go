package store

import (
	"context"
	"fmt"

	"countersign"
)

// mostTypedFacts is how many a case has at most: a report holds them all.
const mostTypedFacts = 50

func scanTypedFact(row scanner) (f countersign.TypedFact, err error) {
	var amount countersign.Money
	err = row.Scan(&f.ID, &f.CaseID, &f.Kind, &f.Text, &f.On, &amount.Minor, &amount.Currency, &f.Reference, scanMicros{&f.TypedAt}, &f.TypedBy)
	if amount.Currency != "" {
		f.Amount = &amount
	}
	return f, err
}

// TypedFacts lists what people typed in about a case, in the order in which they did, without what was taken back.
func (v View) TypedFacts(ctx context.Context, id countersign.CaseID) ([]countersign.TypedFact, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT id, case_id, kind, text, happened_on, amount_minor, currency, reference, typed_at, typed_by
		FROM typed_facts WHERE case_id = $1 AND removed_by = '' ORDER BY typed_at, id`, string(id))
	if err != nil {
		return nil, fmt.Errorf("list what was typed in about case %s: %w", id, err)
	}
	all, err := collect(rows, scanTypedFact)
	return all, wrap(err, "list what was typed in about case %s", id)
}

// AddTypedFact adds a fact to a case that is open. The time and the actor are the transaction's and by, whatever f says.
func (t *Tx) AddTypedFact(ctx context.Context, f countersign.TypedFact, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a typed-in fact")
	}
	if err := t.holdOpen(ctx, f.CaseID); err != nil {
		return err
	}
	typed, err := t.TypedFacts(ctx, f.CaseID)
	if err != nil {
		return err
	}
	if len(typed) >= mostTypedFacts {
		return countersign.Errorf(countersign.TooLarge, "a case has at most %d typed-in facts", mostTypedFacts).In("text").Try("add a file that says the rest")
	}
	amount := countersign.Money{}
	if f.Amount != nil {
		amount = *f.Amount
	}
	_, err = t.exec(ctx, `INSERT INTO typed_facts (id, case_id, kind, text, happened_on, amount_minor, currency, reference, typed_at, typed_by, removed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '')`,
		f.ID, string(f.CaseID), string(f.Kind), f.Text, f.On, amount.Minor, amount.Currency, f.Reference, t.Now.UnixMicro(), by.String())
	return wrap(raced(err), "type a fact into case %s", f.CaseID)
}

// RemoveTypedFact takes a typed-in fact back; that it was there stays, and who took it back. A second time it is not there.
func (t *Tx) RemoveTypedFact(ctx context.Context, id countersign.CaseID, fact string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a typed-in fact")
	}
	if err := t.holdOpen(ctx, id); err != nil {
		return err
	}
	n, err := t.exec(ctx, "UPDATE typed_facts SET removed_at = $1, removed_by = $2 WHERE case_id = $3 AND id = $4 AND removed_by = ''", t.Now.UnixMicro(), by.String(), string(id), fact)
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.NotFound, "case %s has no typed-in fact %q", id, fact)
	}
	return wrap(err, "take fact %s back from case %s", fact, id)
}
