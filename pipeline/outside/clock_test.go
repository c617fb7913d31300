package outside_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"countersign/internal/testdb"
	"countersign/store"
)

// takes reports whether a process takes an instruction for so long.
func (b *bureau) takes(s *store.Store, id string, lasts time.Duration) (took bool) {
	b.Helper()
	b.must(s.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		_, took, err = tx.TakeInstruction(ctx, id, lasts)
		return err
	}))
	return took
}

// finds reports whether a process finds an instruction that nobody is on the way to, once the job that came with it is gone.
func (b *bureau) finds(s *store.Store, id string) bool {
	b.Helper()
	_, err := s.DB().Exec("DELETE FROM river_job")
	b.must(err)
	ids, err := s.WaitingInstructions(ctx, false)
	b.must(err)
	return slices.Contains(ids, id)
}

// another is a process on the same database.
func (b *bureau) another(database string, o store.Options) *store.Store {
	b.Helper()
	s, err := store.Open(ctx, database, o)
	b.must(err)
	b.Cleanup(func() { s.Close() })
	return s
}

// Machines whose clocks disagree do not take an instruction out of each other's hands, and one that died holds none for a day.
func TestInstructionsOfMachinesWhoseClocksDisagree(t *testing.T) {
	t.Parallel()
	database := testdb.Postgres(t)
	b := newBureau(t, database)
	ahead := b.another(database, store.Options{Now: func() time.Time { return time.Now().Add(24 * time.Hour) }})
	for name, pair := range map[string][2]*store.Store{"ahead": {ahead, b.store}, "right": {b.store, ahead}} {
		holder, other := pair[0], pair[1]
		held, left := b.requested().Fix.Instruction.ID, b.requested().Fix.Instruction.ID
		if !b.takes(holder, held, time.Minute) || !b.takes(holder, left, -time.Second) { // it died over the second
			t.Fatalf("the machine whose clock is %s was not given it", name)
		}
		if b.finds(other, held) || b.takes(other, held, time.Minute) {
			t.Errorf("the instruction of the machine whose clock is %s was taken out of its hands", name)
		}
		if !b.finds(other, left) || !b.takes(other, left, time.Minute) {
			t.Errorf("the instruction of a dead machine whose clock was %s waits for ever", name)
		}
	}
}

// A clock that was a day ahead for a moment must not hold an instruction until tomorrow, whether its worker died or was to ask again.
func TestAnInstructionOfAClockThatWasWrong(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		wrong := b.another(database, store.Options{Leases: func() time.Time { return time.Now().Add(24 * time.Hour) }})
		taken, kept := b.requested().Fix.Instruction.ID, b.requested().Fix.Instruction.ID
		if !b.takes(wrong, taken, time.Minute) || !b.takes(wrong, kept, time.Minute) {
			t.Fatal("it was not given")
		}
		b.must(wrong.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			i, err := tx.Instruction(ctx, kept)
			i.Wait = time.Second
			return errors.Join(err, tx.KeepInstruction(ctx, i))
		}))
		for name, id := range map[string]string{"was taken": taken, "is to be asked about again": kept} {
			if !b.finds(b.store, id) || !b.takes(b.store, id, time.Minute) {
				t.Errorf("one that %s waits until tomorrow", name)
			}
		}
	})
}
