package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/pipeline/policy"
	"countersign/store"
)

// interrupted is a model that does something before its answer to one turn.
type interrupted struct {
	llm.Model
	turn int
	do   func()
}

func (m interrupted) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if r.Turn() == m.turn {
		m.do()
	}
	return m.Model.Complete(ctx, r)
}

// beforeTheEnd is the bank's desk with something done after the last turn was recorded and before the case is concluded.
func beforeTheEnd(d desk.Desk, do func()) desk.Desk {
	d.Rules = append(slices.Clone(d.Rules), policy.Rule{Name: "test", Check: func(policy.Input) []countersign.Reason { do(); return nil }})
	return d
}

// gaps are the three places between the four transactions of a short investigation: how to get something done there, once.
var gaps = map[string]func(w *world, do func()){
	"before the first turn is recorded": func(w *world, do func()) { w.model.Model = interrupted{offline, 1, do} },
	"between the two turns":             func(w *world, do func()) { w.model.Model = interrupted{offline, 2, do} },
	"after the last turn":               func(w *world, do func()) { w.use(beforeTheEnd(w.desk, do)) },
}

// A worker that is held up for longer than its lease comes back to a case that is not its own any more.
func TestALostLease(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		c := newClock()
		bank := worldAt(t, database, c, nil)
		bank.rents(2 * len(gaps))
		n := 0
		for name, gap := range gaps {
			n++
			t.Run("another worker ends the case "+name, func(t *testing.T) {
				slow, quick := worldOn(t, bank.store, nil), worldOn(t, bank.store, nil)
				slow.pipeline.Worker, quick.pipeline.Worker = "slow", "quick"
				transaction := rent(2*n - 1)
				id := slow.open(transaction, countersign.FailedTransfer, "")
				var once sync.Once
				gap(slow, func() {
					once.Do(func() {
						c.advance(time.Hour)
						if err := quick.pipeline.Work(ctx, id); err != nil {
							t.Error(err)
						}
					})
				})
				if err := slow.pipeline.Work(ctx, id); err != nil {
					t.Errorf("the slow one: %v", err)
				}
				quick.ended(id, transaction, nil, append(quick.model.asked(), firsts(slow.model.asked(), quick.model.asked())...))
				quick.wroteLast(id, "quick")
			})
			t.Run("another worker has only taken the case "+name, func(t *testing.T) {
				slow, quick := worldOn(t, bank.store, nil), worldOn(t, bank.store, nil)
				slow.pipeline.Worker, quick.pipeline.Worker = "slow", "quick"
				transaction := rent(2 * n)
				id := slow.open(transaction, countersign.FailedTransfer, "")
				taken, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
				var waits sync.Once
				wait := func() { waits.Do(func() { close(taken); <-goOn }) }
				facts := quick.desk.Facts
				d := quick.desk
				d.Facts = func(ctx context.Context, v store.View, c countersign.Case) (countersign.Facts, error) {
					wait() // it has the lease by now, and has recorded nothing of its own but that
					return facts(ctx, v, c)
				}
				quick.use(d)
				var once sync.Once
				gap(slow, func() {
					once.Do(func() {
						c.advance(time.Hour)
						go func() { done <- quick.pipeline.Work(ctx, id) }()
						<-taken
					})
				})
				if err := slow.pipeline.Work(ctx, id); err != nil {
					t.Errorf("the slow one: %v", err)
				}
				if now := slow.theCase(id); now.Status != countersign.Investigating || len(slow.posted()) != 2*(2*n-1) {
					t.Errorf("the slow one went on: %s, %d entries", now.Status, len(slow.posted()))
				}
				close(goOn)
				if err := <-done; err != nil {
					t.Errorf("the quick one: %v", err)
				}
				quick.ended(id, transaction, nil, append(quick.model.asked(), firsts(slow.model.asked(), quick.model.asked())...))
				quick.wroteLast(id, "quick")
			})
		}
		bank.verifies()
	})
}

func rent(n int) string { return "RENT-" + string(rune('0'+n)) }

// firsts are the turns that only the slow one was asked for, as it should be.
func firsts(slow, quick []int) (only []int) {
	for _, turn := range slow {
		if !slices.Contains(quick, turn) {
			only = append(only, turn)
		}
	}
	return only
}

// wroteLast checks that from the moment at which this worker took the case, nobody else wrote into its record.
func (w *world) wroteLast(id countersign.CaseID, worker string) {
	w.Helper()
	mine := false
	for _, row := range w.rows(id) {
		started := row.Kind == audit.Started
		if started {
			mine = row.Actor == "worker:"+worker
		}
		if actor := countersign.ParseActor(row.Actor); mine && actor.Kind == countersign.Worker && actor.ID != worker {
			w.Errorf("row %d, %s, was written by %s after %s had taken the case", row.Seq, row.Kind, row.Actor, worker)
		}
	}
	if !mine {
		w.Errorf("%s was not the last to take the case", worker)
	}
}

// A model that thinks for longer than a lease keeps its case, because the lease is renewed meanwhile.
func TestASlowModelKeepsItsCase(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		c := newClock()
		w := worldAt(t, database, c, nil)
		w.rents(1)
		w.pipeline.Lease = 3 * time.Second // by the clock on the wall it renews every second; the clock on the record is ours
		id := w.open("RENT-1", countersign.FailedTransfer, "")
		other := worldAt(t, database, c, nil)
		w.model.Model = interrupted{offline, 1, func() {
			for range 3 {
				c.advance(w.pipeline.Lease - time.Microsecond)
				w.awaitRenewal(id, c)
			}
			if err := other.pipeline.Work(ctx, id); err != nil || len(other.model.asked()) > 0 {
				t.Errorf("another worker got the case: %v", err)
			}
		}}
		if err := w.pipeline.Work(ctx, id); err != nil {
			t.Fatal(err)
		}
		w.ended(id, "RENT-1", nil, w.model.asked())
	})
}

// A worker that waits for something while its lease is lost is told by its next renewal, stops waiting, and leaves the case
// to whoever has it.
func TestALostLeaseEndsTheWaiting(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]func(w *world, lose func()){
		"for the model": func(w *world, lose func()) {
			w.pipeline.Model = func(context.Context, store.View, countersign.Case) (llm.Model, error) {
				return hanging{offline, lose}, nil
			}
		},
		"for the records": func(w *world, lose func()) {
			d := w.desk
			d.Facts = func(ctx context.Context, _ store.View, _ countersign.Case) (countersign.Facts, error) {
				lose()
				<-ctx.Done()
				return countersign.Facts{}, ctx.Err()
			}
			w.use(d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			w := worldAt(t, testdb.SQLite(t), c, nil)
			w.rents(1)
			w.pipeline.Lease = 3 * time.Second
			id := w.open("RENT-1", countersign.FailedTransfer, "")
			hang(w, func() { w.exec("UPDATE cases SET lease_token = lease_token + 1 WHERE id = $1", string(id)) })
			if err := w.pipeline.Work(ctx, id); err != nil {
				t.Errorf("it should go without a word, and said %v", err)
			}
			if rows := w.rows(id); len(rows) != 2 || w.theCase(id).Status != countersign.Investigating {
				t.Errorf("%d rows, and the case is %s; want nothing after opened and started", len(rows), w.theCase(id).Status)
			}
		})
	}
}

// hanging is a model that answers only when its caller gives up.
type hanging struct {
	llm.Model
	first func()
}

func (m hanging) Complete(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	m.first()
	<-ctx.Done()
	return llm.Reply{}, &llm.Error{Kind: llm.Canceled, Message: "the caller gave up", Err: ctx.Err()}
}

// awaitRenewal returns when the lease of the case runs until a whole lease from now. It looks into the database again and
// again: so often that the worker has had many occasions.
func (w *world) awaitRenewal(id countersign.CaseID, c *clock) {
	w.Helper()
	want := c.Now().Add(w.pipeline.Lease).UnixMicro()
	for until, looks := int64(0), 0; until < want; looks++ {
		if looks == 1_000_000 {
			w.Error("the lease was not renewed")
			return
		}
		if err := w.store.DB().QueryRow("SELECT lease_until FROM cases WHERE id = $1", string(id)).Scan(&until); err != nil {
			w.Error(err)
			return
		}
	}
}

// A case that nobody holds is left alone by whoever comes too late, and so is one that another worker holds.
func TestWorkLeavesAlone(t *testing.T) {
	t.Parallel()
	w := worldAt(t, testdb.SQLite(t), newClock(), nil)
	w.rents(1)
	id := w.open("RENT-1", countersign.FailedTransfer, "")
	if err := w.pipeline.Work(ctx, id); err != nil {
		t.Fatal(err)
	}
	was := len(w.rows(id))
	for name, id := range map[string]countersign.CaseID{"a case that has ended": id, "a case that does not exist": "D-NONE"} {
		t.Run(name, func(t *testing.T) {
			if err := w.pipeline.Work(ctx, id); err != nil {
				t.Error(err)
			}
		})
	}
	if now := len(w.rows(id)); now != was || len(w.model.asked()) != 2 {
		t.Errorf("%d rows, the model asked %v; want %d rows and two turns", now, w.model.asked(), was)
	}
}

// failedStep reports whether a row holds a step that failed.
func failedStep(w *world, row store.RecordRow) bool {
	w.Helper()
	var step countersign.Step
	if err := json.Unmarshal(row.Payload.Bytes, &step); err != nil {
		w.Fatal(err)
	}
	return !step.OK
}

// TestWhoEndsSaysWhosePlaceIsFree: desks that share a model take turns, so the desk is said too.
func TestWhoEndsSaysWhosePlaceIsFree(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		w.rents(1)
		load := store.DefaultWorkload()
		load.MaxCases[store.DeskPool(countersign.Bank)] = 2
		if err := w.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ApplyWorkload(ctx, load, clerk) }); err != nil {
			t.Fatal(err)
		}
		said := ""
		w.pipeline.Freed = func(_ context.Context, back countersign.DeskName, pools ...string) error {
			said += fmt.Sprint(back, pools)
			return nil
		}
		w.work("RENT-1", countersign.FailedTransfer)
		if want := fmt.Sprint(countersign.Bank, []string{store.DeskPool(countersign.Bank)}); said != want {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}
