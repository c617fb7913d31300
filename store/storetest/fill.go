package storetest

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/records"
	"countersign/store"
)

// Filled is what a store is filled with: a bank of the size that the program has to be quick at.
type Filled struct {
	Cases int // of all, one transaction each
	Open  int // of them
	Rows  int // of each record, as long as the case's own story when that is longer
}

// Fill fills an empty store with invented books and cases, the same every time for the same clock. Each case is as wide as a
// real one and has a record that verifies. Ids are "D-" or "C-" and eight characters, transactions TX-0 and so on, customers
// CU-0 and so on: of four cases one customer, with one account.
func Fill(t testing.TB, s *store.Store, size Filled) {
	t.Helper()
	if err := size.Into(context.Background(), s, nil); err != nil {
		t.Fatal(err)
	}
}

// Into is Fill for whoever is no test. Progress, if not nil, is told how many cases are in.
func (size Filled) Into(ctx context.Context, s *store.Store, progress func(cases int)) error {
	now := s.Now().UTC().Truncate(time.Second)
	names := ids(rand.New(rand.NewPCG(1, 2)), size.Cases)
	var in atomic.Int64
	var next atomic.Int64
	chunk := func() (bool, error) {
		from := int(next.Add(chunked)) - chunked
		if from >= size.Cases {
			return false, nil
		}
		// A chunk has chances of its own, so that it does not matter who fills it in.
		f := filler{size: size, now: now, random: rand.New(rand.NewPCG(1, uint64(from))), names: names}
		until := min(from+chunked, size.Cases)
		if err := f.fill(ctx, s, from, until); err != nil {
			return false, fmt.Errorf("fill the store: %w", err)
		}
		if n := in.Add(int64(until - from)); progress != nil {
			progress(int(n))
		}
		return true, nil
	}
	if err := eachCore(s.Engine(), chunk); err != nil {
		return err
	}
	return settle(ctx, s)
}

// chunked is how many cases are filled in at once: whole merchants, and whole customers.
const chunked = 2000

// eachCore does chunks until there is none left, on PostgreSQL on every core: SQLite has one that writes.
func eachCore(engine string, chunk func() (bool, error)) error {
	cores := 1
	if engine == "postgres" {
		cores = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, cores)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			for more := true; more && errs[i] == nil; {
				more, errs[i] = chunk()
			}
		})
	}
	done.Wait()
	return errors.Join(errs...)
}

var clerk = countersign.Actor{Kind: countersign.Worker, ID: "fill"}

// settle does what PostgreSQL's autovacuum would have done by the time a bank has so many cases.
func settle(ctx context.Context, s *store.Store) error {
	if s.Engine() != "postgres" {
		return nil
	}
	_, err := s.DB().ExecContext(ctx, "VACUUM (ANALYZE)")
	return err
}

type filler struct {
	size   Filled
	now    time.Time
	random *rand.Rand
	names  []string
}

// fill puts in the books and cases from the one number up to the other.
func (f filler) fill(ctx context.Context, s *store.Store, from, until int) error {
	for _, rows := range f.books(from, until) {
		for batch := range slices.Chunk(rows, 500) {
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Import(ctx, batch)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	var cases []countersign.Case
	for n := from; n < until; n++ {
		// Open cases lie among the closed ones, as they do after years.
		cases = append(cases, f.dispute(n, n*f.size.Open/f.size.Cases != (n+1)*f.size.Open/f.size.Cases))
	}
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, c := range cases {
			if err := tx.Birth(ctx, c, 0, clerk, f.story(c)...); err != nil {
				return err
			}
		}
		return nil
	})
}

var (
	givenNames = strings.Fields("Ada Amina Bola Chidi Dayo Efe Femi Halima Ikenna Jumoke Kemi Musa Ngozi Obinna Sade Tunde Uche Wale Yusuf Zainab")
	surnames   = strings.Fields("Abiola Adeyemi Bello Chukwu Danjuma Eze Fashola Garba Ibrahim Lawal Mohammed Nwosu Obi-Eze Okafor Okonkwo Oyelaran Suleiman Tijani Umar Yakubu")
)

// books are a merchant for a hundred cases, a customer and an account for four, and a transaction for each.
func (f filler) books(from, until int) [][]records.Row {
	var set records.Set
	for n := from / 100; n < (until+99)/100; n++ {
		set.Merchants = append(set.Merchants, records.Merchant{ID: fmt.Sprint("ME-", n), Name: fmt.Sprint("Shop ", n), Country: "NG"})
	}
	for n := from / 4; n < (until+3)/4; n++ {
		set.Customers = append(set.Customers, records.Customer{ID: fmt.Sprint("CU-", n), Flags: []string{},
			Name: pick(f.random, givenNames) + " " + pick(f.random, surnames), Email: fmt.Sprint("c", n, "@example.com")})
		set.Accounts = append(set.Accounts, records.Account{ID: fmt.Sprint("AC-", n), CustomerID: fmt.Sprint("CU-", n),
			Number: fmt.Sprintf("%010d", 3_000_000_000+n*17), Currency: "NGN", Kind: "savings", Status: "active"})
	}
	for n := from; n < until; n++ {
		set.Transactions = append(set.Transactions, f.payment(n))
	}
	var all [][]records.Row
	var last records.Array
	for row := range set.Rows() {
		if row.Record.Array() != last {
			all, last = append(all, nil), row.Record.Array()
		}
		all[len(all)-1] = append(all[len(all)-1], row)
	}
	return all
}

func (f filler) payment(n int) records.Transaction {
	return records.Transaction{ID: fmt.Sprint("TX-", n), AccountID: fmt.Sprint("AC-", n/4), Kind: records.Card, Direction: countersign.Debit,
		AmountMinor: amountOf(n), Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(f.now.Add(-time.Duration(n) * time.Minute)),
		MerchantID: fmt.Sprint("ME-", n/100), Reference: fmt.Sprint("REF-", n), EndToEndID: fmt.Sprint("E2E-", n), Memo: "POS purchase"}
}

// amountOf repeats for one case in ten thousand: a popular amount is shared by a few.
func amountOf(n int) int64 { return int64(n%10_000+1) * 1_225 }

// dispute is the n-th case.
func (f filler) dispute(n int, open bool) countersign.Case {
	at := f.now.Add(-time.Duration(n) * time.Minute)
	c := countersign.Case{ID: countersign.CaseID("D-" + f.names[n]), Desk: countersign.Bank, Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: fmt.Sprint("TX-", n)},
		CustomerID: fmt.Sprint("CU-", n/4), Channel: "api", Reason: often(f.random, countersign.DisputeReasons), Notes: "It never arrived and nobody answers.",
		Amount: countersign.Money{Minor: amountOf(n), Currency: "NGN"}, OpenedAt: at, UpdatedAt: at.Add(time.Hour), Round: 1, Revision: 3,
		DueSource: countersign.DueUnknown, Fix: countersign.FixOutcome{State: countersign.FixNone}}
	if f.random.IntN(5) == 0 {
		c.ID, c.Desk, c.Subject = countersign.CaseID("C-"+f.names[n]), countersign.Merchant, countersign.Subject{Kind: countersign.OrderSubject, ID: fmt.Sprint("OR-", n)}
	}
	if f.random.IntN(10) > 0 {
		due := f.now.Add(time.Duration(f.random.IntN(40*24)-48) * time.Hour)
		c.DueAt, c.DueSource = &due, countersign.DueFromRule
	}
	c.Status = countersign.Closed
	if open {
		c.Status = pick(f.random, standings)
	}
	if c.Status != countersign.Queued && c.Status != countersign.Investigating {
		f.judged(&c)
	}
	if c.Status == countersign.Closed {
		c.Outcome, c.HandledBy = countersign.Rejected, countersign.ByPerson
	}
	return c
}

// standings are where open cases stand: most of them with a person.
var standings = append(slices.Repeat([]countersign.Status{countersign.InReview}, 16),
	countersign.Queued, countersign.Queued, countersign.Investigating, countersign.AwaitingSecondApproval)

// judged gives the case what an investigation leaves behind, as long as such things are.
func (f filler) judged(c *countersign.Case) {
	c.Recommendation = pick(f.random, []string{"resolve", "escalate", "reject"})
	if c.Desk == countersign.Merchant {
		c.Recommendation = pick(f.random, []string{"CONTEST", "ACCEPT", "MANUAL_REVIEW_REQUIRED"})
	}
	c.Raised = f.random.IntN(20) == 0
	c.Model = countersign.ModelUse{Provider: "rulebook", Name: "rulebook", Attempts: 3, InputTokens: 4000, OutputTokens: 700}
	c.Proposal = &countersign.Proposal{Recommendation: c.Recommendation, Category: c.Reason, Confidence: 0.94, Turn: 3,
		Summary: strings.Repeat("The debit was posted and the settlement failed. ", 4), CustomerMessage: strings.Repeat("We have looked into it. ", 6)}
	c.Facts = &countersign.Facts{Doubts: []countersign.Doubt{}, Seen: strings.Repeat("0a", 32)}
	for i := range 5 {
		source := countersign.StepRef(fmt.Sprint("S", i+1))
		c.Proposal.Claims = append(c.Proposal.Claims, countersign.Claim{Text: "The settlement failed, and finally.", Citations: []countersign.Citation{
			{Ref: source, Field: "status", Value: "failed", Status: countersign.CitationVerified}}})
		c.Facts.Items = append(c.Facts.Items, countersign.Fact{Name: fmt.Sprint("settlement_failed_", i), State: countersign.Present,
			Value: "failed, final", Source: "settlement of " + c.Subject.ID})
	}
	c.Verdict = &countersign.Verdict{Kind: countersign.Review, PolicyVersion: strings.Repeat("1b", 8), Caveats: []string{}}
	for _, code := range often(f.random, combinations) {
		c.Verdict.Reasons = append(c.Verdict.Reasons, countersign.Reason{Code: code, Text: "A person must look, because this is so."})
	}
}

// story is the record of a case, as it says of itself, with as many turns of a model and steps as it takes to make it long enough.
func (f filler) story(c countersign.Case) []store.Note {
	notes := []store.Note{{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": countersign.Queued, "notes": c.Notes}}}
	var end []store.Note
	switch {
	case c.Status == countersign.Queued:
	case c.Verdict == nil:
		notes = append(notes, store.Note{Kind: audit.Started, Payload: map[string]any{"round": 1, "status": c.Status}})
	default:
		end = append(end, store.Note{Kind: audit.Proposal, Payload: map[string]any{"round": 1, "proposal": c.Proposal}},
			store.Note{Kind: audit.Verdict, Payload: map[string]any{"round": 1, "verdict": c.Verdict, "status": c.Status}})
	}
	if c.Status == countersign.Closed {
		end = append(end, store.Note{Kind: audit.Closed, Payload: store.Closing(c)})
	}
	for n := 0; len(notes)+len(end) < f.size.Rows; n++ {
		notes = append(notes, f.worked(c, n))
	}
	return append(notes, end...)
}

// worked is the n-th row of an investigation: a turn of the model, and three steps that it asked for.
func (f filler) worked(c countersign.Case, n int) store.Note {
	if n%4 == 0 {
		return store.Note{Kind: audit.ModelTurn, Payload: map[string]any{"round": 1, "turn": n/4 + 1, "at": c.OpenedAt,
			"text": "The settlement decides this, so I look at it and at the entries beside it."}}
	}
	result, _ := json.Marshal(map[string]any{"transaction_id": c.Subject.ID, "state": "failed", "final": true, "rail": "NIP"})
	return store.Note{Kind: audit.ToolCall, Payload: struct {
		Round int `json:"round"`
		countersign.Step
	}{1, countersign.Step{Ref: countersign.Ref(n - n/4), Turn: n/4 + 1, Tool: "get_settlement_status", OK: true, Result: result, At: c.OpenedAt}}}
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// ids are spread like real ones, but come in order: a database takes in rows five times as fast at the end of its indexes. Of a
// million one may come twice, and is left out, so a few more are made.
func ids(random *rand.Rand, n int) []string {
	all := make([]string, n+100)
	for i := range all {
		all[i] = crockford.EncodeToString(binary.BigEndian.AppendUint64(nil, random.Uint64())[:5])
	}
	slices.Sort(all)
	return slices.Compact(all)[:n]
}

// combinations are the reasons that come together, the frequent ones first. All codes are among them.
var combinations = [][]countersign.ReasonCode{
	{countersign.AboveCap}, {countersign.TypeNotAllowed, countersign.RejectionNeedsPerson}, {countersign.FactsUnknown},
	{countersign.TypeNotAllowed, countersign.ModelAskedForPerson}, {countersign.FactsUnknown, countersign.AboveCap}, {countersign.FactsDisagree},
	{countersign.FraudSuspected, countersign.TypeNotAllowed}, {countersign.ConfidenceLow}, {countersign.RejectionNeedsPerson},
	{countersign.FactsDisagree, countersign.RejectionNeedsPerson}, {countersign.NoCapForCurrency}, {countersign.EvidenceTooLittle, countersign.ConfidenceLow},
	{countersign.FraudSuspected}, {countersign.EvidenceInvalid, countersign.FactsUnknown}, {countersign.FraudSuspected, countersign.AboveCap, countersign.ConfidenceLow},
	{countersign.ModelFailed}, {countersign.ModelFailed, countersign.FactsUnknown}, {countersign.FixNotApplicable}, {countersign.EvidenceInvalid},
	{countersign.ModelSawPartialCase, countersign.ConfidenceLow}, {countersign.FactsUnreadable}, {countersign.ShadowMode, countersign.AboveCap},
	{countersign.ModelFailed, countersign.ModelSawPartialCase, countersign.FactsUnreadable}, {countersign.ShadowMode},
}

// often picks the first most often and each later one more seldom.
func often[T any](random *rand.Rand, from []T) T {
	return from[int(random.Float64()*random.Float64()*float64(len(from)))]
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
