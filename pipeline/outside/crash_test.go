package outside_test

import (
	"context"
	"log/slog"
	"testing"

	"countersign"
	"countersign/desk/bank/posting"
	"countersign/internal/testcore"
	"countersign/internal/testdb"
	"countersign/pipeline/outside"
	"countersign/store"
)

// beside is another process on the same database, which takes up what the first one has left: its leases are void, because it is gone.
func (b *bureau) beside(database string) outside.Sender {
	b.Helper()
	s, err := store.Open(ctx, database, store.Options{})
	b.must(err)
	b.Cleanup(func() { s.Close() })
	office := posting.Office{Store: s, Key: b.office.Key}
	return outside.Sender{Store: s, Worker: "another", Log: slog.New(slog.DiscardHandler), To: func(ctx context.Context, i store.Instruction) (outside.Recipient, error) {
		r, err := office.To(ctx, i)
		r.Patience.First = 1
		return r, err
	}}
}

// revive does what a start does with instructions that were left behind, and whose jobs were taken by whoever died.
func revive(b *bureau, next outside.Sender) {
	b.Helper()
	_, err := next.Store.DB().Exec("DELETE FROM river_job")
	b.must(err)
	ids, err := next.Store.WaitingInstructions(ctx, true)
	b.must(err)
	for _, id := range ids {
		b.must(next.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.WakeInstruction(ctx, id, true)
			return err
		}))
		b.must(next.Carry(ctx, id))
	}
}

// Each statement of deciding a fix and of carrying it to the core fails once, beginning and commit included, while the core does each
// thing that it may do with a request; each time that is the last thing the process does. The next process takes up what is left. In
// the end the core has given the money back once at most, and our books say what it says, or a person has the case.
func TestKilledAtAnyStatementWhileTheCoreIsAsked(t *testing.T) {
	t.Parallel()
	for _, way := range []testcore.Behaviour{testcore.Obey, testcore.Reject, testcore.Pend, testcore.LoseAnswer, testcore.HangUp, testcore.FailAfter} {
		t.Run("the core would "+string(way), func(t *testing.T) {
			testdb.Engines(t, func(t *testing.T, database string) {
				b := newBureau(t, database)
				next := b.beside(database)
				n, left := 1, map[countersign.FixState]int{}
				for ; n < 120; n++ {
					c := b.reviewed()
					act := b.act(c.ID)
					b.core.Next(way)
					fail := func() { b.faults.At(n, b.faults.Ways[n%len(b.faults.Ways)]) }
					if way == testcore.Obey { // once is enough for the decision, which asks nobody
						fail()
					}
					c, err := b.review.Approve(ctx, act)
					if way != testcore.Obey {
						fail()
					}
					if err == nil && c.Fix.Instruction != nil {
						err = b.sender.Carry(ctx, c.Fix.Instruction.ID)
					}
					fired := b.faults.Fired()
					now := b.theCase(act.Case)
					left[now.Fix.State]++
					if now.Fix.State == countersign.FixPlanned { // nothing was decided: nobody can have been asked
						if got := b.core.Moved("reversal", now.Subject.ID); got != 0 {
							t.Fatalf("statement %d: nothing was decided, and the core gave it back", n)
						}
						continue
					}
					for range 3 {
						revive(b, next)
						b.core.End("confirmed")
					}
					b.agrees(n, b.theCase(act.Case))
					if !fired {
						if err != nil {
							t.Fatalf("with no fault: %v", err)
						}
						break
					}
				}
				if n < 8 || n == 120 {
					t.Errorf("%d statements were there to fail", n-1)
				}
				t.Logf("killed at each of %d statements, which left %v", n-1, left)
				b.verified()
			})
		})
	}
}

// agrees checks that our books and the core's say the same, or that a person has the case and our books say nothing yet.
func (b *bureau) agrees(statement int, c countersign.Case) {
	b.Helper()
	moved, ours := b.core.Moved("reversal", c.Subject.ID), b.books(c.Subject.ID)
	switch {
	case moved > 1:
		b.Errorf("statement %d: the core gave it back %d times", statement, moved)
	case c.Status == countersign.Closed && (moved != 1 || ours != entered):
		b.Errorf("statement %d: closed, the core gave it back %d times, our books %+v", statement, moved, ours)
	case c.Status == countersign.InReview && (ours != untouched || c.Fix.State == countersign.FixRejected && moved != 0):
		b.Errorf("statement %d: with a person as %s, the core gave it back %d times, our books %+v", statement, c.Fix.State, moved, ours)
	case c.Status != countersign.Closed && c.Status != countersign.InReview:
		i, err := b.store.Instruction(ctx, c.Fix.Instruction.ID)
		i.Body = nil
		b.Errorf("statement %d: left as %s, its instruction %+v, %v", statement, c.Status, i, err)
	}
}

// A worker that was thought dead comes back with its answer after another one has ended the case: it writes nothing.
func TestALateWorkerWritesNothing(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		next := b.beside(database)
		c := b.requested()
		late := b.sender
		late.To = func(ctx context.Context, i store.Instruction) (outside.Recipient, error) {
			r, err := b.hurried(ctx, i)
			post := r.Post
			r.Post = func(ctx context.Context) outside.Answer {
				a := post(ctx)
				revive(b, next) // meanwhile the sweep of another process takes it up, and ends it
				return a
			}
			return r, err
		}
		b.must(late.Carry(ctx, c.Fix.Instruction.ID))
		c = b.theCase(c.ID)
		if c.Status != countersign.Closed || b.core.Moved("reversal", c.Subject.ID) != 1 || b.books(c.Subject.ID) != entered {
			t.Errorf("%s, moved %d times, books %+v", c.Status, b.core.Moved("reversal", c.Subject.ID), b.books(c.Subject.ID))
		}
		if kinds, _ := b.kinds(c.ID); kinds != "opened decision fix fix closed" {
			t.Errorf("the record holds %s", kinds)
		}
		b.verified()
	})
}

// What is sent is what was decided: bytes that somebody changed in the database are not.
func TestAnInstructionThatSomebodyChangedIsNotSent(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.requested()
		change := "UPDATE instructions SET body = $1 WHERE id = $2"
		if _, err := b.store.DB().Exec(change, []byte("{}"), c.Fix.Instruction.ID); err == nil {
			t.Error("the database lets an instruction be changed")
		}
		drop := map[bool]string{true: "DROP TRIGGER instructions_stay", false: "DROP TRIGGER instructions_stay ON instructions"}[b.store.Engine() == "sqlite"]
		_, err := b.store.DB().Exec(drop)
		b.must(err)
		_, err = b.store.DB().Exec(change, []byte("{}"), c.Fix.Instruction.ID)
		b.must(err)
		c = b.carry(c.ID, 6)
		if c.Fix.State != countersign.FixUnknown || b.core.Moved("reversal", c.Subject.ID) != 0 {
			t.Errorf("%s, fix %s: %s", c.Status, c.Fix.State, c.Fix.Why)
		}
	})
}
