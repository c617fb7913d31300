package storetest

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/records"
	"countersign/store"
)

// Filled is what Fill puts into a store: a bank of the size that the queue has to be quick at.
type Filled struct {
	Cases int // of all, one transaction each
	Open  int // of them
}

// Fill fills an empty store with invented books and cases, the same every time for the same clock. Each case is as wide as a
// real one and has a record that verifies. Ids are "D-" or "C-" and eight characters, transactions TX-0 and so on, customers
// CU-0 and so on: of four cases one customer, with one account.
func Fill(t testing.TB, s *store.Store, size Filled) {
	t.Helper()
	f := filler{now: s.Now().UTC().Truncate(time.Second), random: rand.New(rand.NewPCG(1, 2))}
	f.names = f.ids(size.Cases)
	for _, rows := range f.books(size.Cases) {
		for batch := range slices.Chunk(rows, 500) {
			f.write(t, s, func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Import(ctx, batch)
				return err
			})
		}
	}
	for from := 0; from < size.Cases; from += 5000 {
		f.write(t, s, func(ctx context.Context, tx *store.Tx) error {
			for n := from; n < min(from+5000, size.Cases); n++ {
				// Open cases lie among the closed ones, as they do after years.
				c := f.dispute(n, n*size.Open/size.Cases != (n+1)*size.Open/size.Cases)
				if err := tx.Birth(ctx, c, 0, clerk, story(c)...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	settle(t, s)
}

var clerk = countersign.Actor{Kind: countersign.Worker, ID: "fill"}

// settle does what PostgreSQL's autovacuum would have done by the time a bank has so many cases.
func settle(t testing.TB, s *store.Store) {
	t.Helper()
	if s.Engine() != "postgres" {
		return
	}
	if _, err := s.DB().Exec("VACUUM (ANALYZE)"); err != nil {
		t.Fatal(err)
	}
}

type filler struct {
	now    time.Time
	random *rand.Rand
	names  []string
}

func (f filler) write(t testing.TB, s *store.Store, do func(context.Context, *store.Tx) error) {
	t.Helper()
	if err := s.Write(context.Background(), do); err != nil {
		t.Fatalf("fill the store: %v", err)
	}
}

var (
	givenNames = strings.Fields("Ada Amina Bola Chidi Dayo Efe Femi Halima Ikenna Jumoke Kemi Musa Ngozi Obinna Sade Tunde Uche Wale Yusuf Zainab")
	surnames   = strings.Fields("Abiola Adeyemi Bello Chukwu Danjuma Eze Fashola Garba Ibrahim Lawal Mohammed Nwosu Obi-Eze Okafor Okonkwo Oyelaran Suleiman Tijani Umar Yakubu")
)

// books are a merchant for a hundred cases, a customer and an account for four, and a transaction for each.
func (f filler) books(cases int) [][]records.Row {
	var set records.Set
	for n := range (cases + 99) / 100 {
		set.Merchants = append(set.Merchants, records.Merchant{ID: fmt.Sprint("ME-", n), Name: fmt.Sprint("Shop ", n), Country: "NG"})
	}
	for n := range (cases + 3) / 4 {
		set.Customers = append(set.Customers, records.Customer{ID: fmt.Sprint("CU-", n), Flags: []string{},
			Name: pick(f.random, givenNames) + " " + pick(f.random, surnames), Email: fmt.Sprint("c", n, "@example.com")})
		set.Accounts = append(set.Accounts, records.Account{ID: fmt.Sprint("AC-", n), CustomerID: fmt.Sprint("CU-", n),
			Number: fmt.Sprintf("%010d", 3_000_000_000+n*17), Currency: "NGN", Kind: "savings", Status: "active"})
	}
	for n := range cases {
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

// story is the record of a case, as it says of itself.
func story(c countersign.Case) []store.Note {
	notes := []store.Note{{Kind: audit.Opened, Payload: map[string]any{"round": 1, "status": countersign.Queued, "notes": c.Notes}}}
	switch {
	case c.Status == countersign.Queued:
	case c.Verdict == nil:
		notes = append(notes, store.Note{Kind: audit.Started, Payload: map[string]any{"round": 1, "status": c.Status}})
	default:
		notes = append(notes, store.Note{Kind: audit.Proposal, Payload: map[string]any{"round": 1, "proposal": c.Proposal}},
			store.Note{Kind: audit.Verdict, Payload: map[string]any{"round": 1, "verdict": c.Verdict, "status": c.Status}})
	}
	if c.Status == countersign.Closed {
		notes = append(notes, store.Note{Kind: audit.Closed, Payload: store.Closing(c)})
	}
	return notes
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// ids are spread like real ones, but come in order: a database takes in rows five times as fast at the end of its indexes.
func (f filler) ids(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = crockford.EncodeToString(binary.BigEndian.AppendUint64(nil, f.random.Uint64())[:5])
	}
	slices.Sort(all)
	return all
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
