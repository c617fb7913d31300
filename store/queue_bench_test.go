package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"countersign"
	"countersign/store"
	"countersign/store/storetest"
)

// BenchmarkPages is what the pages of the queue and of a case read, over and over with other words, from two hundred thousand
// cases of which a quarter are open: more than any desk should let lie.
func BenchmarkPages(b *testing.B) {
	size := storetest.Filled{Cases: 200_000, Open: 50_000}
	onEngines(b, func(b *testing.B, s *store.Store) {
		storetest.Fill(b, s, size)
		r := reader{s, rand.New(rand.NewPCG(3, 4)), s.Now(), size}
		b.Run("queue page", r.queuePages)
		b.Run("search", r.searches)
		b.Run("case page", r.casePage)
		b.Run("find a transaction", r.transactions)
		b.Run("take next", r.takeNext)
	})
}

// reader asks what people ask.
type reader struct {
	*store.Store
	random *rand.Rand
	now    time.Time
	size   storetest.Filled
}

func (r reader) queuePages(b *testing.B) {
	day := func(n int) store.Place { return store.Place{Risk: r.now.AddDate(0, 0, n).UnixMicro(), ID: "D-4"} }
	rare := store.Filter{Desk: countersign.Bank, Complaint: countersign.OtherReason, Reason: countersign.ModelSawPartialCase, Recommendation: "ACCEPT"}
	for _, row := range []struct {
		name string
		f    store.Filter
	}{
		{"all that is open", store.Filter{Open: true}},
		{"for a person", store.Filter{ForPerson: true}},
		{"in the middle", store.Filter{Open: true, After: day(20)}},
		{"backwards", store.Filter{Open: true, Before: day(20)}},
		{"overdue", store.Filter{Due: store.Overdue}},
		{"for one reason", store.Filter{Open: true, Reason: countersign.FraudSuspected}},
		{"one that nothing fits", func(f store.Filter) store.Filter { f.Open = true; return f }(rare)},
		{"closed", store.Filter{Status: countersign.Closed}},
		{"closed and nothing fits", func(f store.Filter) store.Filter { f.Status = countersign.Closed; return f }(rare)},
	} {
		b.Run(row.name, func(b *testing.B) { measure(b, func() error { return r.queue(row.f) }) })
	}
}

// queue reads a page of the queue: the cases, who has them, and the numbers beside the filters.
func (r reader) queue(f store.Filter) error {
	f.Now = r.now
	page, err := r.Page(ctx, f)
	if err != nil {
		return err
	}
	if _, err = r.Holders(ctx, idsOf(page), r.now); err != nil {
		return err
	}
	_, err = r.QueueCounts(ctx, f)
	return err
}

// typing is what people type, other words each time.
func (r reader) typing() map[string]func() string {
	return map[string]func() string{
		"the beginning of an id": func() string {
			return fmt.Sprintf("d-%c%d%c", 'a'+r.random.IntN(7), r.random.IntN(10), 'a'+r.random.IntN(7))
		},
		"two letters of an id": func() string { return "d-" },
		"a transaction":        func() string { return fmt.Sprint("TX-", r.random.IntN(r.size.Cases)) },
		"a customer":           func() string { return fmt.Sprint("CU-", r.random.IntN(r.size.Cases/4)) },
		"a name":               func() string { return pick(r.random, []string{"ada okafor", "musa obi", "wale umar"}) },
		"a frequent surname":   func() string { return pick(r.random, []string{"okafor", "obi", "umar"}) },
		"an amount":            func() string { return fmt.Sprintf("NGN %d.25", 12+r.random.IntN(9)*49) },
	}
}

func (r reader) searches(b *testing.B) {
	for name, word := range r.typing() {
		b.Run(name, func(b *testing.B) {
			measure(b, func() error { return r.queue(store.Filter{Open: true, Query: word()}) })
		})
	}
}

func (r reader) transactions(b *testing.B) {
	for name, word := range r.typing() {
		b.Run(name, func(b *testing.B) {
			measure(b, func() error { _, _, err := r.FindTransactions(ctx, word(), 20); return err })
		})
	}
	b.Run("four digits", func(b *testing.B) {
		measure(b, func() error {
			_, _, err := r.FindTransactions(ctx, fmt.Sprintf("%04d", r.random.IntN(10_000)), 20)
			return err
		})
	})
}

// casePage reads a case, checks its record, and reads what stands beside it.
func (r reader) casePage(b *testing.B) {
	cases, _, err := r.Cases(ctx, store.Filter{Open: true, Desk: countersign.Bank, Limit: 5000})
	if err != nil {
		b.Fatal(err)
	}
	measure(b, func() error {
		c := pick(r.random, cases)
		return r.Snapshot(ctx, func(v store.View) error {
			c, err := v.Case(ctx, c.ID)
			if err != nil {
				return err
			}
			if report, _, err := v.Walk(ctx, c, func(store.RecordRow) {}); err != nil || !report.OK {
				return fmt.Errorf("the record of %s: %v, %w", c.ID, report, err)
			}
			if _, _, err = v.Holder(ctx, c.ID, r.now); err != nil {
				return err
			}
			if _, err = v.EarlierCases(ctx, c, 6); err != nil {
				return err
			}
			_, err = v.Book(ctx, c.Subject.ID)
			return err
		})
	})
}

// takeNext gives a case to somebody and has them give it back.
func (r reader) takeNext(b *testing.B) {
	measure(b, func() error {
		var id countersign.CaseID
		err := r.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			id, _, err = tx.TakeNext(ctx, "usr_1", store.Filter{}, tx.Now.Add(span))
			return err
		})
		if err != nil {
			return err
		}
		return r.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Release(ctx, id, "usr_1") })
	})
}

// measure reports, in milliseconds, what half of the runs took at the most, and what nineteen of twenty and ninety-nine of a
// hundred did.
func measure(b *testing.B, run func() error) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprint("p", p, "-ms"))
	}
	b.ReportMetric(0, "ns/op")
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
