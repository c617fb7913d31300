// Package truth holds a database to what the world outside knows of it: what was asked for and answered, what the books owe to
// whom, what people decided, how often a model was asked.
//
// It is for campaigns that break the program on purpose. It reads the database past the program, with statements of its own, so
// that a mistake of the program's cannot hide itself; only the hash chains are walked by the program's verifier, which has golden
// vectors of its own. Look at a database that has come to rest: what is under way is no violation, and would be called one.
package truth

import (
	"context"
	"fmt"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/store"
)

// Kind is what is wrong.
type Kind string

const (
	Lost    Kind = "lost"     // something that was answered, or that the books owed, is not there
	Doubled Kind = "doubled"  // something is there more often than it was asked for
	NotOwed Kind = "not owed" // money moved that no books owed and nobody decided on
	Stuck   Kind = "stuck"    // a case that nobody works and no person has
	Wrong   Kind = "wrong"    // something ended otherwise than it must
	Broken  Kind = "broken"   // a chain, or the database itself
	Paid    Kind = "paid"     // a finished turn was asked for again, or one was never asked for
)

// Violation is one thing that is wrong, in a sentence.
type Violation struct {
	Kind Kind
	Says string
}

func (v Violation) String() string { return string(v.Kind) + ": " + v.Says }

// Expected is what the world outside knows.
type Expected struct {
	Cases    []Case                     // every case that was asked for, and no other may be there
	Before   map[string]int64           // what each account held by the imported books alone, credits less debits, in minor units
	Imported map[records.Array][]string // every row of the books, by its id, and no other may be there; nil is not looked at
	Policies map[string]int             // versions of each policy, by its title; nil is not looked at
	// Asked is how often a model was asked for a turn of the conversation with that canary; nil when nobody counted.
	Asked func(canary string, turn int) int
}

// Case is a case that was asked for, and how it must have ended.
type Case struct {
	ID        countersign.CaseID // as the first answer named it
	Subject   string             // transaction or order
	Key       string             // the Idempotency-Key of every request for it; empty when none was sent
	Status    countersign.Status // Closed or InReview
	Outcome   countersign.Outcome
	HandledBy countersign.HandledBy
	Fix       *countersign.Fix // what must have been posted, once; nil when nothing may be
	Decided   map[string]int   // how often a person did what, by the verb in the record, as far as it was answered or seen to be done
	Reports   int              // evidence reports that decisions sealed
}

// world is what the database says, read once.
type world struct {
	ctx   context.Context
	store *store.Store
	want  Expected
	found []Violation

	cases   map[countersign.CaseID]kept
	rows    map[countersign.CaseID][]row
	fixes   map[countersign.CaseID][]posted
	reports map[countersign.CaseID]int
}

func (w *world) say(kind Kind, format string, args ...any) {
	w.found = append(w.found, Violation{kind, fmt.Sprintf(format, args...)})
}

// Check returns everything that is wrong. An error means that the database could not be read to the end.
func Check(ctx context.Context, s *store.Store, want Expected) ([]Violation, error) {
	w := &world{ctx: ctx, store: s, want: want}
	for _, step := range []func() error{w.read, w.chains, w.asked, w.ends, w.decided, w.posted, w.balances, w.turns, w.books, w.library} {
		if err := step(); err != nil {
			return w.found, err
		}
	}
	return w.found, nil
}

// Unrest counts the cases that are still under way: queued, or in a worker's hands.
func Unrest(ctx context.Context, s *store.Store) (n int, err error) {
	err = s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM cases WHERE status IN ('queued', 'investigating')").Scan(&n)
	return n, err
}
