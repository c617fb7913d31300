package outside_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/posting"
	"countersign/desk/bank/records"
	"countersign/internal/testcore"
	"countersign/pipeline/outside"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/secret"
	"countersign/store"
	"countersign/store/storetest"
)

var (
	ctx    = context.Background()
	ada    = countersign.Actor{Kind: countersign.Person, ID: "usr_ada"}
	worker = countersign.Actor{Kind: countersign.Worker, ID: "w-1"}
	noon   = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
)

const given = 24_500_00

var ledger = posting.Settings{To: store.Ledger}

// bureau is a disputes desk whose fixes are posted by a core.
type bureau struct {
	testing.TB
	store    *store.Store
	faults   *storetest.Faults
	core     *testcore.Core
	office   posting.Office
	review   review.Review
	sender   outside.Sender
	settings posting.Settings
	cases    *int
}

func newBureau(t testing.TB, database string) *bureau {
	t.Helper()
	s, faults := storetest.Open(t, database)
	q, err := queue.New(queue.Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := secret.Open(filepath.Join(t.TempDir(), "master.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	d := bank.New()
	b := &bureau{TB: t, store: s, faults: faults, core: testcore.New(t), office: posting.Office{Store: s, Key: key}, cases: new(int),
		review: review.Review{Store: s, Queue: q, Desks: map[countersign.DeskName]review.Desk{
			countersign.Bank: {Outcome: d.Outcome, Outcomes: d.Outcomes, Justify: d.Justify, Waive: d.Waive}}}}
	b.sender = outside.Sender{Store: s, To: b.hurried, Worker: "w-1", Log: slog.New(slog.DiscardHandler)}
	b.settings = posting.Settings{To: posting.Core, URL: b.core.Address(), KeyID: b.core.KeyID, Secret: b.core.Secret, TotalSeconds: 2, Tries: 4}
	b.apply(b.settings)
	return b
}

// hurried is the core, asked again at once.
func (b *bureau) hurried(ctx context.Context, i store.Instruction) (outside.Recipient, error) {
	r, err := b.office.To(ctx, i)
	r.Patience.First = time.Nanosecond
	return r, err
}

func (b *bureau) in(t testing.TB) *bureau {
	now := *b
	now.TB = t
	return &now
}

func (b *bureau) apply(s posting.Settings) {
	b.Helper()
	_, err := b.office.Apply(ctx, s, ada)
	b.must(err)
}

func (b *bureau) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// reviewed puts a case before a person, about a failed transfer whose reversal nothing speaks against.
func (b *bureau) reviewed() countersign.Case {
	b.Helper()
	*b.cases++
	id := fmt.Sprintf("T%d", *b.cases)
	yes := true
	_, err := feed.Feed{Store: b.store, Refused: func(p records.Problem) { b.Errorf("refused: %s", p) }}.Set(ctx, records.Set{
		Customers: []records.Customer{{ID: "C-" + id, Name: "Adaeze Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}}},
		Accounts:  []records.Account{{ID: "A-" + id, CustomerID: "C-" + id, Number: "0000014579", Currency: "NGN"}},
		Devices:   []records.Device{{ID: "V-" + id, CustomerID: "C-" + id, Trusted: &yes, City: "Lagos", Country: "NG", FirstSeenAt: countersign.At(noon.AddDate(-1, 0, 0))}},
		Transactions: []records.Transaction{{ID: id, AccountID: "A-" + id, Kind: records.Transfer, Direction: countersign.Debit, AmountMinor: given, Currency: "NGN",
			Status: records.Posted, OccurredAt: countersign.At(noon), PostedAt: countersign.At(noon), CounterpartyName: "A. Friend", CounterpartyAccount: "0000000220",
			Reference: "rent", EndToEndID: "E2E-" + id, DeviceID: "V-" + id, City: "Lagos", Country: "NG", Channel: "app"}},
		LedgerEntries: []records.LedgerEntry{{ID: "L-" + id, TransactionID: id, AccountID: "A-" + id, Direction: countersign.Debit, AmountMinor: given, Currency: "NGN",
			Kind: records.Original, PostedAt: countersign.At(noon)}},
		Settlements: []records.Settlement{{TransactionID: id, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon), Rail: "NIP"}},
	})
	b.must(err)
	return b.before(countersign.CaseID("D-"+id), id, countersign.FailedTransfer)
}

// before puts a case about a transaction before a person.
func (b *bureau) before(id countersign.CaseID, transaction string, reason countersign.DisputeReason) countersign.Case {
	b.Helper()
	c := countersign.Case{ID: id, Desk: countersign.Bank, Channel: "api", Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: transaction},
		CustomerID: "C-" + transaction, Reason: reason, Amount: countersign.Money{Minor: given, Currency: "NGN"}, Status: countersign.InReview, Recommendation: "resolve",
		OpenedAt: noon, UpdatedAt: noon, Round: 1, Revision: 1, Message: "We gave it back."}
	facts, err := bank.New().Facts(ctx, b.store.View, c)
	b.must(err)
	c.Facts, c.Fix = &facts, countersign.FixOutcome{State: countersign.FixNone}
	if facts.Fix != nil {
		c.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: facts.Fix}
	}
	c.Verdict = &countersign.Verdict{Kind: countersign.Review, PolicyVersion: "p-1", Caveats: []string{}, Reasons: []countersign.Reason{{Code: countersign.AboveCap, Text: "Because."}}}
	b.must(b.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, c, 0, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": "in_review"}})
	}))
	return b.theCase(c.ID)
}

func (b *bureau) theCase(id countersign.CaseID) countersign.Case {
	b.Helper()
	c, err := b.store.Case(ctx, id)
	b.must(err)
	return c
}

func (b *bureau) act(id countersign.CaseID) review.Act {
	b.Helper()
	return review.Act{Case: id, Revision: b.theCase(id).Revision, Actor: ada}
}

// requested is a case whose fix a person has approved: the core is to be asked.
func (b *bureau) requested() countersign.Case {
	b.Helper()
	c, err := b.review.Approve(ctx, b.act(b.reviewed().ID))
	b.must(err)
	if c.Status != countersign.AwaitingConfirmation || c.Fix.State != countersign.FixRequested || c.Fix.Instruction == nil {
		b.Fatalf("approved: %s, fix %+v", c.Status, c.Fix)
	}
	return c
}

// carry carries the instruction of a case as far as it goes without waiting for anybody: at most so many questions.
func (b *bureau) carry(id countersign.CaseID, most int) countersign.Case {
	b.Helper()
	for range most {
		c := b.theCase(id)
		if c.Status != countersign.AwaitingConfirmation {
			return c
		}
		b.must(b.sender.Carry(ctx, c.Fix.Instruction.ID))
	}
	return b.theCase(id)
}

// books are what our own books say of a transaction.
type books struct {
	Fixes, Entries, Given int64
	Transaction           string
}

var (
	untouched = books{0, 1, 0, "posted"}
	entered   = books{1, 3, given, "reversed"}
)

func (b *bureau) books(transaction string) (now books) {
	b.Helper()
	b.must(b.store.DB().QueryRow(`SELECT (SELECT COUNT(*) FROM fixes WHERE transaction_id = $1), (SELECT COUNT(*) FROM ledger_entries WHERE transaction_id = $1),
		(SELECT COALESCE(SUM(amount_minor), 0) FROM ledger_entries WHERE transaction_id = $1 AND direction = 'credit' AND account_id NOT LIKE 'suspense:%'),
		(SELECT status FROM transactions WHERE id = $1)`, transaction).Scan(&now.Fixes, &now.Entries, &now.Given, &now.Transaction))
	return now
}

// kinds are the kinds of a case's record, and its last payload.
func (b *bureau) kinds(id countersign.CaseID) (kinds, last string) {
	b.Helper()
	var all []string
	for row, err := range b.store.RecordRows(ctx, id, 0) {
		b.must(err)
		all, last = append(all, string(row.Kind)), string(row.Payload.Bytes)
	}
	return strings.Join(all, " "), last
}

func (b *bureau) verified() {
	b.Helper()
	if report, err := b.store.VerifyRecord(ctx, nil); err != nil || !report.OK {
		b.Errorf("the record: %v, %v", report, err)
	}
}
