package review_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/pipeline/review"
	"countersign/store"
)

// Every change has an actor, and what people do is done by people.
func TestActors(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	c := o.reviewed("resolve", nil, countersign.ModelFailed)
	before := o.look(c.ID)
	for name, actor := range map[string]countersign.Actor{
		"nobody": {}, "a person without a name": {Kind: countersign.Person}, "a name without a kind": {ID: "ada"}, "a kind that does not exist": {Kind: "robot", ID: "r2"},
		"a worker": worker, "the policy": {Kind: countersign.Policy, ID: "p-1"}, "a migration": {Kind: countersign.Migration, ID: "2"},
	} {
		for verb, do := range deeds {
			t.Run(verb+" by "+name, func(t *testing.T) {
				o := o.in(t)
				act := o.act(c)
				act.Actor = actor
				_, err := do(o.review, act)
				o.refused(before, err, countersign.Internal, "")
			})
		}
	}
	for _, actor := range []countersign.Actor{ada, {Kind: countersign.Token, ID: "t-1"}, {Kind: countersign.CLI, ID: "ada"}} {
		t.Run("message by "+actor.String(), func(t *testing.T) {
			o := o.in(t)
			act := o.act(c)
			act.Actor = actor
			_, err := message("x")(o.review, act)
			o.must(err)
		})
	}
}

// Many people decide at once on what they all saw. One of them does; to the others it has happened already.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for n := range 4 {
			t.Run(fmt.Sprint("case ", n+1), func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.ModelFailed)
				before := o.look(c.ID)
				var wait sync.WaitGroup
				errs := make(chan error, 2*len(deeds))
				act := o.act(c)
				for range 2 {
					for _, do := range deeds {
						wait.Go(func() { _, err := do(o.review, act); errs <- err })
					}
				}
				wait.Wait()
				close(errs)
				won := 0
				for err := range errs {
					switch {
					case err == nil:
						won++
					case countersign.KindOf(err) != countersign.Conflict:
						t.Error(err)
					}
				}
				after := o.look(c.ID)
				if won != 1 || after.Case.Revision != before.Case.Revision+1 {
					t.Errorf("%d of them won, and the case went from revision %d to %d", won, before.Case.Revision, after.Case.Revision)
				}
				o.posted()
				o.verified(c.ID)
			})
		}
	})
}

// Two cases about one payment, approved at the same moment: it is given back once.
func TestTwoCasesAboutOnePayment(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		first := o.reviewed("resolve", nil)
		second := o.before(first.Subject.ID, countersign.OtherReason, "resolve")
		var wait sync.WaitGroup
		errs := make([]error, 2)
		for i, c := range []countersign.Case{first, second} {
			act := o.act(c)
			wait.Go(func() { _, errs[i] = approve(o.review, act) })
		}
		wait.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || countersign.KindOf(errs[0]) != countersign.Conflict && countersign.KindOf(errs[1]) != countersign.Conflict {
			t.Errorf("got %v and %v, want one of them refused", errs[0], errs[1])
		}
		if n := o.posted(); n != 2 {
			t.Errorf("%d entries", n)
		}
		o.verified(first.ID)
		o.verified(second.ID)
	})
}

// An act is one transaction with its record rows: whichever of its statements fails, all of it happened or nothing did, and
// nobody is told the wrong one of the two.
func TestAnActIsAllOrNothing(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for _, verb := range []string{"approve", "hand over", "message", "retry"} {
			t.Run(verb, func(t *testing.T) {
				for _, way := range o.faults.Ways {
					o := o.in(t)
					c, happened := o.reviewed("resolve", nil, countersign.ModelFailed), false
					n := 0
					for fired := true; fired; {
						if n++; happened {
							c = o.reviewed("resolve", nil, countersign.ModelFailed)
						}
						act, before := o.act(c), o.look(c.ID)
						o.faults.At(n, way)
						_, err := deeds[verb](o.review, act)
						fired = o.faults.Fired()
						happened = o.allOrNothing(before, err)
						if t.Failed() || !fired && err != nil {
							t.Fatalf("statement %d, %s: %v", n, way, err)
						}
					}
					if n < 5 {
						t.Errorf("%s: only %d statements were there to fail", way, n-1)
					}
				}
			})
		}
	})
}

// allOrNothing checks a case whose act may have failed, and says whether it happened.
func (o *office) allOrNothing(before state, err error) (happened bool) {
	o.Helper()
	after := o.look(before.Case.ID)
	o.verified(before.Case.ID)
	o.posted()
	if after.Case.Revision == before.Case.Revision {
		if o.unchanged(before); err == nil {
			o.Error("it was said to have happened, and it did not")
		}
		return false
	}
	if after.Case.Revision != before.Case.Revision+1 || after.Rows == before.Rows || after.Head == before.Head {
		o.Errorf("a part of it happened: %+v, before %+v", after, before)
	}
	return true
}

// A desk that breaks costs an answer, and nothing else.
func TestABrokenDesk(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	c := o.reviewed("resolve", nil)
	before := o.look(c.ID)
	whole := o.review.Desks[countersign.Bank]
	for name, desk := range map[string]review.Desk{
		"one that panics": {Outcome: whole.Outcome, Outcomes: whole.Outcomes,
			Justify: func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) { panic("a bug") },
			Waive: func(context.Context, store.View, countersign.Case, countersign.FixKind) (*countersign.Fix, string, error) {
				panic("a bug")
			}},
		"one that cannot read": {Outcome: whole.Outcome, Outcomes: whole.Outcomes,
			Justify: func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
				return nil, "", errBoom
			},
			Waive: func(context.Context, store.View, countersign.Case, countersign.FixKind) (*countersign.Fix, string, error) {
				return nil, "", errBoom
			}},
	} {
		for _, verb := range []string{"approve", "override with a fix", "retry"} {
			t.Run(verb+" at "+name, func(t *testing.T) {
				o := o.in(t)
				o.review.Desks = map[countersign.DeskName]review.Desk{countersign.Bank: desk}
				_, err := deeds[verb](o.review, o.act(c))
				o.refused(before, err, countersign.Internal, "")
			})
		}
	}
}
