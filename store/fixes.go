package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"countersign"
	"countersign/desk/bank/records"
)

// Posting is a fix that was applied.
type Posting struct {
	Case     countersign.CaseID
	Fix      countersign.Fix
	PostedAt time.Time
	Actor    string
	Repeated bool // an earlier delivery had posted it; this one changed nothing
	// Requested is the instruction to those who are to post it; nil for a fix that was posted here.
	Requested *Instruction
}

// ErrOtherInputs means that a fix of the same transaction and kind was posted with another amount, account or case.
var ErrOtherInputs = errors.New("this transaction already has a fix of that kind with other inputs")

// LockAccount makes every fix and import that touches the account wait its turn until this transaction ends.
func (t *Tx) LockAccount(ctx context.Context, accountID string) error {
	n, err := t.exec(ctx, "UPDATE accounts SET postings = postings + 1 WHERE id = $1", accountID)
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.NotFound, "there is no account %q", accountID)
	}
	return wrap(err, "lock account")
}

// Posted looks for the fix of that transaction and kind. If it was posted with the same inputs the first result comes back,
// marked Repeated; with other inputs it is ErrOtherInputs.
func (v View) Posted(ctx context.Context, id countersign.CaseID, fix countersign.Fix) (Posting, bool, error) {
	p := Posting{Case: id, Fix: fix, Repeated: true}
	var hash string
	err := v.q.QueryRowContext(ctx, "SELECT input_hash, actor, posted_at FROM fixes WHERE transaction_id = $1 AND kind = $2",
		fix.TransactionID, string(fix.Kind)).Scan(&hash, &p.Actor, scanMicros{&p.PostedAt})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return p, false, nil
	case err != nil:
		return p, false, fmt.Errorf("look for an earlier fix: %w", err)
	case hash != inputHash(id, fix):
		return p, false, ErrOtherInputs
	}
	return p, true, nil
}

// Post writes a fix: its row, its two ledger entries and the transaction's status. It is the only path that posts, and the
// caller must hold the account's lock. It checks what must hold whoever asked: one balanced pair, the transaction's own
// currency, and never more given back in total than was taken.
func (t *Tx) Post(ctx context.Context, id countersign.CaseID, fix countersign.Fix, actor countersign.Actor) (Posting, error) {
	if !actor.Valid() {
		return Posting{}, countersign.Errorf(countersign.Internal, "a fix needs an actor")
	}
	if err := balanced(fix); err != nil {
		return Posting{}, err
	}
	if err := t.withinOriginal(ctx, fix); err != nil {
		return Posting{}, err
	}
	posting, err := t.keepFix(ctx, id, fix, actor)
	if err != nil {
		return Posting{}, err
	}
	return posting, t.postEntries(ctx, fix)
}

// PostBooked is Post for a fix whose entries are in the books already: others posted it, and an import has brought what they did. A
// person says so; it enters nothing. Where the books hold no credit at all it is a Conflict: they would say for ever that nothing was
// given back.
func (t *Tx) PostBooked(ctx context.Context, id countersign.CaseID, fix countersign.Fix, actor countersign.Actor) (Posting, error) {
	if err := balanced(fix); err != nil {
		return Posting{}, err
	}
	var holds bool
	err := t.q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM ledger_entries WHERE transaction_id = $1 AND account_id = $2 AND direction = 'credit')",
		fix.TransactionID, fix.AccountID).Scan(&holds)
	if err != nil {
		return Posting{}, wrap(err, "look for the entries of the fix")
	}
	if !holds {
		return Posting{}, countersign.Errorf(countersign.Conflict, "the books hold no credit for transaction %q", fix.TransactionID)
	}
	return t.keepFix(ctx, id, fix, actor)
}

// keepFix writes the row of a fix, which makes it the only one of its transaction and kind, and the transaction's status.
func (t *Tx) keepFix(ctx context.Context, id countersign.CaseID, fix countersign.Fix, actor countersign.Actor) (Posting, error) {
	_, err := t.exec(ctx, `INSERT INTO fixes (transaction_id, kind, case_id, input_hash, account_id, amount_minor, currency, actor, posted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, fix.TransactionID, string(fix.Kind), string(id), inputHash(id, fix), fix.AccountID,
		fix.Amount.Minor, fix.Amount.Currency, actor.String(), t.Now.UnixMicro())
	if err != nil {
		return Posting{}, fmt.Errorf("post the fix: %w", err)
	}
	_, err = t.exec(ctx, "UPDATE transactions SET status = 'reversed' WHERE id = $1", fix.TransactionID)
	return Posting{Case: id, Fix: fix, PostedAt: t.Now, Actor: actor.String()}, wrap(err, "mark transaction as reversed")
}

func (t *Tx) postEntries(ctx context.Context, fix countersign.Fix) error {
	var pair []records.LedgerEntry
	for i, e := range fix.Entries {
		pair = append(pair, records.LedgerEntry{
			ID: fmt.Sprintf("fix:%s:%s:%d", fix.Kind, fix.TransactionID, i+1), TransactionID: fix.TransactionID, AccountID: e.AccountID,
			Direction: e.Direction, AmountMinor: e.Amount.Minor, Currency: e.Amount.Currency, Kind: records.EntryKind(e.Kind),
			PostedAt: countersign.At(t.Now),
		})
	}
	return wrap(entries.insert(ctx, t, pair...), "post the entries of the fix")
}

// withinOriginal refuses a fix that would give back more than the transaction took, other fixes, imported corrections and what others
// were asked to give back included, or in another currency.
func (t *Tx) withinOriginal(ctx context.Context, fix countersign.Fix) error {
	var amount, given int64
	var currency string
	err := t.q.QueryRowContext(ctx, "SELECT amount_minor, currency FROM transactions WHERE id = $1 AND account_id = $2",
		fix.TransactionID, fix.AccountID).Scan(&amount, &currency)
	if errors.Is(err, sql.ErrNoRows) {
		return countersign.Errorf(countersign.Conflict, "there is no transaction %q on account %q", fix.TransactionID, fix.AccountID)
	}
	if err != nil {
		return wrap(err, "read the original of the fix")
	}
	err = t.q.QueryRowContext(ctx, `SELECT
		(SELECT CAST(COALESCE(SUM(amount_minor), 0) AS BIGINT) FROM ledger_entries WHERE transaction_id = $1 AND account_id = $2 AND direction = 'credit') +
		(SELECT CAST(COALESCE(SUM(amount_minor), 0) AS BIGINT) FROM instructions WHERE transaction_id = $1 AND account_id = $2 AND state IN ('requested', 'unknown'))`,
		fix.TransactionID, fix.AccountID).Scan(&given)
	switch {
	case err != nil:
		return wrap(err, "sum what was given back")
	case currency != fix.Amount.Currency:
		return countersign.Errorf(countersign.Conflict, "the fix is in %s and the transaction in %s", fix.Amount.Currency, currency)
	case fix.Amount.Minor > amount-given:
		return countersign.Errorf(countersign.Conflict, "%s cannot be given back: of %s, %s was given back already, or is being given back", fix.Amount,
			countersign.Money{Minor: amount, Currency: currency}, countersign.Money{Minor: given, Currency: currency})
	}
	return nil
}

// balanced refuses anything but one credit to the account and one equal debit.
func balanced(fix countersign.Fix) error {
	if want := countersign.NewFix(fix.Kind, fix.TransactionID, fix.AccountID, fix.Amount); len(fix.Entries) != 2 ||
		fix.Entries[0] != want.Entries[0] || fix.Entries[1] != want.Entries[1] || fix.Amount.Minor <= 0 {
		return countersign.Errorf(countersign.Internal, "the fix is not one balanced pair of entries over its amount")
	}
	return nil
}

func inputHash(id countersign.CaseID, fix countersign.Fix) string {
	b, err := json.Marshal(struct {
		Case countersign.CaseID
		Fix  countersign.Fix
	}{id, fix})
	if err != nil {
		panic(err) // unreachable: both marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// FixRow is the payload of a record row of kind fix: one that was posted here, or a step of one that others are asked to post.
type FixRow struct {
	Round    int                `json:"round"`
	Status   countersign.Status `json:"status,omitempty"` // of the case from here on, when this row changes it
	Fix      countersign.Fix    `json:"fix"`
	PostedAt time.Time          `json:"posted_at,omitzero"` // in our books
	Repeated bool               `json:"repeated,omitempty"`
	Waived   string             `json:"waived,omitempty"` // a person's reason to post it although the facts do not support it

	State       countersign.InstructionState `json:"state,omitempty"`
	Instruction string                       `json:"instruction,omitempty"`
	Body        string                       `json:"body,omitempty"`      // of a request: the bytes that are sent
	Reference   string                       `json:"reference,omitempty"` // theirs
	Said        string                       `json:"said,omitempty"`      // theirs, of a rejection
	Why         string                       `json:"why,omitempty"`       // ours, when nothing is known
	Booked      bool                         `json:"booked,omitempty"`    // the books held the entries already: none were entered
	Exchanges   []Exchange                   `json:"exchanges,omitempty"` // what was asked, and the bytes that came back
}

// Row is the posting as the record keeps it.
func (p Posting) Row(round int, waived string) FixRow {
	return FixRow{Round: round, Fix: p.Fix, PostedAt: p.PostedAt, Repeated: p.Repeated, Waived: waived}
}
