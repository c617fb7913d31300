package review_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/desk/bank"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/store"
	"countersign/store/storetest"
)

var (
	ctx    = context.Background()
	ada    = countersign.Actor{Kind: countersign.Person, ID: "ada"}
	worker = countersign.Actor{Kind: countersign.Worker, ID: "w-1"}
	noon   = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
)

// office is the disputes desk of a bank: its books, its cases, and the people who decide.
type office struct {
	testing.TB
	store  *store.Store
	faults *storetest.Faults
	review review.Review
	desk   desk.Desk
	cases  int
}

func newOffice(t testing.TB, database string) *office {
	t.Helper()
	s, faults := storetest.Open(t, database)
	q, err := queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	d := bank.New()
	return &office{TB: t, store: s, faults: faults, desk: d, review: review.Review{Store: s, Queue: q, Desks: map[countersign.DeskName]review.Desk{
		countersign.Bank: {Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, Waive: d.Waive}}}}
}

// in is the office in a sub-test.
func (o *office) in(t testing.TB) *office {
	now := *o
	now.TB = t
	o.cases += 100 // ids of a sub-test are its own
	now.cases = o.cases
	return &now
}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// book is one customer with one failed transfer of NGN 24,500.00, whose reversal nothing speaks against. Pointers into it are
// for changing it.
type book struct{ records.Set }

func (b *book) transaction() *records.Transaction { return &b.Transactions[0] }

func newBook(id string) *book {
	yes := true
	return &book{records.Set{
		Customers: []records.Customer{{ID: "C-" + id, Name: "Adaeze Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}}},
		Accounts:  []records.Account{{ID: "A-" + id, CustomerID: "C-" + id, Number: "0000014579", Currency: "NGN"}},
		Devices: []records.Device{{ID: "V-" + id, CustomerID: "C-" + id, Trusted: &yes, City: "Lagos", Country: "NG",
			FirstSeenAt: countersign.At(noon.AddDate(-1, 0, 0))}},
		Transactions: []records.Transaction{{ID: id, AccountID: "A-" + id, Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: 24_500_00,
			Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(noon), PostedAt: countersign.At(noon), CounterpartyName: "A. Friend",
			CounterpartyAccount: "0000000220", Reference: "rent", EndToEndID: "E2E-" + id, DeviceID: "V-" + id, City: "Lagos", Country: "NG", Channel: "app"}},
		LedgerEntries: []records.LedgerEntry{{ID: "L-" + id, TransactionID: id, AccountID: "A-" + id, Direction: countersign.Debit, AmountMinor: 24_500_00,
			Currency: "NGN", Kind: records.Original, PostedAt: countersign.At(noon)}},
		Settlements: []records.Settlement{{TransactionID: id, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon), Rail: "NIP"}},
	}}
}

// credited adds money that came back.
func (b *book) credited(minor int64, kind records.EntryKind) {
	t := b.transaction()
	b.LedgerEntries = append(b.LedgerEntries, records.LedgerEntry{ID: "B-" + t.ID, TransactionID: t.ID, AccountID: t.AccountID,
		Direction: countersign.Credit, AmountMinor: minor, Currency: t.Currency, Kind: kind, PostedAt: countersign.At(noon.Add(time.Hour))})
}

// again adds the same card payment once more, two minutes later, and makes the disputed one a card payment too.
func (b *book) again() {
	t := b.transaction()
	t.Kind, t.MerchantID, t.Reference, t.EndToEndID, t.CounterpartyAccount = records.Card, "M-"+t.ID, "ORDER-1", "", ""
	b.Merchants = []records.Merchant{{ID: t.MerchantID, Name: "Mama Put"}}
	b.Settlements = nil
	twin, entry := *t, b.LedgerEntries[0]
	twin.ID, twin.OccurredAt = t.ID+"-2", countersign.At(noon.Add(2*time.Minute))
	entry.ID, entry.TransactionID = entry.ID+"-2", twin.ID
	b.Transactions, b.LedgerEntries = append(b.Transactions, twin), append(b.LedgerEntries, entry)
}

func (o *office) bring(set records.Set) {
	o.Helper()
	_, err := feed.Feed{Store: o.store, Refused: func(p records.Problem) { o.Errorf("refused: %s", p) }}.Set(ctx, set)
	o.must(err)
}

// reviewed puts a case before a person: books as change leaves them, the facts that code reads in them, and what the model
// recommends.
func (o *office) reviewed(recommends string, change func(*book), reasons ...countersign.ReasonCode) countersign.Case {
	o.Helper()
	o.cases++
	b := newBook(fmt.Sprintf("T%d", o.cases))
	if change != nil {
		change(b)
	}
	o.bring(b.Set)
	return o.before(b.transaction().ID, countersign.FailedTransfer, recommends, reasons...)
}

// before puts a case about that transaction before a person.
func (o *office) before(transaction string, reason countersign.DisputeReason, recommends string, reasons ...countersign.ReasonCode) countersign.Case {
	o.Helper()
	o.cases++
	t, err := o.store.Transaction(ctx, transaction)
	o.must(err)
	account, err := o.store.Account(ctx, t.AccountID)
	o.must(err)
	c := countersign.Case{ID: countersign.CaseID(fmt.Sprintf("D-%d", o.cases)), Desk: countersign.Bank, Channel: "api",
		Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: transaction}, CustomerID: account.CustomerID,
		Reason: reason, Amount: t.Amount(), Status: countersign.Queued, OpenedAt: noon, UpdatedAt: noon, Round: 1, Revision: 1,
		Fix: countersign.FixOutcome{State: countersign.FixNone}}
	o.must(o.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": "queued"}})
	}))
	facts, err := o.desk.Facts(ctx, o.store.View, c)
	o.must(err)
	return o.change(c.ID, countersign.InReview, func(c *countersign.Case) {
		c.Recommendation, c.Message, c.Facts = recommends, "We are looking into it.", &facts
		c.Proposal = &countersign.Proposal{Recommendation: recommends, Category: countersign.FailedTransfer, Confidence: 0.8, Summary: "So it is.", Claims: []countersign.Claim{}}
		c.Verdict = &countersign.Verdict{Kind: countersign.Review, PolicyVersion: "p-1", Caveats: []string{}, Reasons: []countersign.Reason{}}
		for _, code := range reasons {
			c.Verdict.Reasons = append(c.Verdict.Reasons, countersign.Reason{Code: code, Text: "Because."})
		}
		c.Model = countersign.ModelUse{Provider: "scripted", Name: "script", InputTokens: 900}
		if facts.Fix != nil {
			c.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: facts.Fix}
		}
	})
}

// change gives a case a status, as the program itself would, and the row that says so.
func (o *office) change(id countersign.CaseID, to countersign.Status, f func(*countersign.Case)) (c countersign.Case) {
	o.Helper()
	o.must(o.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if c, err = tx.LockCase(ctx, id); err != nil {
			return err
		}
		if f != nil {
			f(&c)
		}
		if c.Status = to; to == countersign.Closed {
			c.Outcome, c.HandledBy = countersign.Rejected, countersign.ByPerson
		}
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, worker, store.Note{Kind: audit.Verdict, Payload: map[string]any{"round": c.Round, "status": c.Status, "outcome": c.Outcome}})
	}))
	return o.theCase(id)
}

func (o *office) theCase(id countersign.CaseID) countersign.Case {
	o.Helper()
	c, err := o.store.Case(ctx, id)
	o.must(err)
	return c
}

// act is Ada on the case as it is now.
func (o *office) act(c countersign.Case) review.Act {
	return review.Act{Case: c.ID, Revision: o.theCase(c.ID).Revision, Actor: ada}
}

// state is everything that a decision may change.
type state struct {
	Case        countersign.Case
	Head        audit.Head
	Rows        int
	Jobs        int
	Fixes       int
	Entries     int
	Transaction string
}

func (o *office) look(id countersign.CaseID) (now state) {
	o.Helper()
	now.Case = o.theCase(id)
	var err error
	now.Head, err = o.store.Head(ctx, id)
	o.must(err)
	o.must(o.store.DB().QueryRow(`SELECT (SELECT COUNT(*) FROM record_rows WHERE case_id = $1), (SELECT COUNT(*) FROM river_job),
		(SELECT COUNT(*) FROM fixes WHERE case_id = $1), (SELECT COUNT(*) FROM ledger_entries WHERE transaction_id = $2),
		(SELECT status FROM transactions WHERE id = $2)`, string(id), now.Case.Subject.ID).
		Scan(&now.Rows, &now.Jobs, &now.Fixes, &now.Entries, &now.Transaction))
	return now
}

// unchanged checks that an act left nothing behind.
func (o *office) unchanged(before state) {
	o.Helper()
	if diff := cmp.Diff(before, o.look(before.Case.ID)); diff != "" {
		o.Errorf("something changed (-before +after):\n%s", diff)
	}
}

// verified walks the case's record.
func (o *office) verified(id countersign.CaseID) {
	o.Helper()
	if report, err := o.store.VerifyCase(ctx, id); err != nil || !report.OK {
		o.Errorf("the record of %s does not verify: %v %+v", id, err, report)
	}
}

// refused checks that an act was refused in this way and left nothing behind.
func (o *office) refused(before state, err error, kind countersign.ErrorKind, why string) {
	o.Helper()
	if err == nil || countersign.KindOf(err) != kind || !strings.Contains(err.Error(), why) {
		o.Errorf("got %v, want an error of kind %s with %q", err, kind, why)
	}
	o.unchanged(before)
	o.verified(before.Case.ID)
}

// row is one row of a record, as far as reviews care.
type row struct {
	Kind    audit.Kind
	Actor   string
	Payload string
}

// rowsAfter are the rows of a case's record behind that many.
func (o *office) rowsAfter(id countersign.CaseID, n int) (rows []row) {
	o.Helper()
	for r, err := range o.store.RecordRows(ctx, id, int64(n)) {
		o.must(err)
		rows = append(rows, row{r.Kind, r.Actor, string(r.Payload.Bytes)})
	}
	return rows
}

// deed is one thing a person does, by its name.
type deed func(review.Review, review.Act) (countersign.Case, error)

func approve(r review.Review, a review.Act) (countersign.Case, error) { return r.Approve(ctx, a) }
func retry(r review.Review, a review.Act) (countersign.Case, error)   { return r.Retry(ctx, a) }

func override(outcome countersign.Outcome, fix string) deed {
	return func(r review.Review, a review.Act) (countersign.Case, error) {
		return r.Override(ctx, a, outcome, "I looked at it.", fix)
	}
}

func escalate(reference string) deed {
	return func(r review.Review, a review.Act) (countersign.Case, error) {
		return r.Escalate(ctx, a, "Too large for me.", reference)
	}
}

func message(text string) deed {
	return func(r review.Review, a review.Act) (countersign.Case, error) { return r.Message(ctx, a, text) }
}

// deeds are all of them; the case they are done to must allow each.
var deeds = map[string]deed{
	"approve": approve, "override with a fix": override(countersign.Resolved, "reversal"), "override without": override(countersign.Resolved, "none"),
	"override rejected": override(countersign.Rejected, ""), "escalate": escalate(""), "hand over": escalate("FRD-1"),
	"message": message("Dear Adaeze."), "retry": retry,
}

var errBoom = errors.New("boom")
