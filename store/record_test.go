package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// note appends one row that says nothing.
func note(s *store.Store, id countersign.CaseID) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, id, worker, store.Note{Kind: audit.Note, Payload: map[string]int{"round": 1}})
	})
}

// intact fails the test unless every chain verifies and there are so many rows.
func intact(t testing.TB, s *store.Store, cases, rows int64) {
	t.Helper()
	report, err := s.VerifyRecord(ctx, nil)
	if err != nil || !report.OK || report.Cases != cases || report.Rows != rows {
		t.Errorf("got %v, %v; want %d cases and %d rows intact", report, err, cases, rows)
	}
}

func TestAHundredWritersNeverForkAChain(t *testing.T) {
	const writers, appends = 100, 100
	for _, row := range []struct {
		name  string
		cases int
	}{
		{"all on one case", 1},
		{"each on a case of its own", writers},
	} {
		t.Run(row.name, func(t *testing.T) {
			testdb.Engines(t, func(t *testing.T, database string) {
				few := store.Options{PostgresPool: 4}                                    // more connections only wait for each other
				stores := []*store.Store{open(t, database, few), open(t, database, few)} // as two processes would
				for i := range row.cases {
					newCase(t, stores[0], id(i))
				}
				errs := parallel(writers, func(i int) error {
					for range appends {
						if err := note(stores[i%2], id(i%row.cases)); err != nil {
							return err
						}
					}
					return nil
				})
				for _, err := range errs {
					t.Error(err)
				}
				intact(t, stores[1], int64(row.cases), int64(row.cases+writers*appends))
			})
		})
	}
}

func id(i int) countersign.CaseID { return countersign.CaseID(fmt.Sprintf("D-%03d", i)) }

func TestRecord(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		for _, row := range []struct {
			name  string
			id    countersign.CaseID
			actor countersign.Actor
			note  store.Note
		}{
			{"a row that nobody wrote is refused", "D-1", countersign.Actor{}, store.Note{Kind: audit.Note, Payload: struct{}{}}},
			{"a row of an unknown kind of actor is refused", "D-1", countersign.Actor{Kind: "robot", ID: "1"}, store.Note{Kind: audit.Note, Payload: struct{}{}}},
			{"a row of an unknown kind is refused", "D-1", worker, store.Note{Kind: "gossip", Payload: struct{}{}}},
			{"a payload that is no object is refused", "D-1", worker, store.Note{Kind: audit.Note, Payload: "text"}},
			{"a payload that has no JSON is refused", "D-1", worker, store.Note{Kind: audit.Note, Payload: func() {}}},
			{"a case that does not exist has no record", "D-2", worker, store.Note{Kind: audit.Note, Payload: struct{}{}}},
		} {
			t.Run(row.name, func(t *testing.T) {
				err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Record(ctx, row.id, row.actor, row.note) })
				if err == nil {
					t.Error("it was taken")
				}
				intact(t, s, 1, 1)
			})
		}
		t.Run("a case that nobody opened is refused", func(t *testing.T) {
			c := countersign.Case{ID: "D-3", Subject: countersign.Subject{ID: "T-3"}, Status: countersign.Queued, Round: 1, Revision: 1}
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.Birth(ctx, c, 0, countersign.Actor{}, store.Note{Kind: audit.Opened, Payload: struct{}{}})
			})
			if err == nil {
				t.Error("it was taken")
			}
			intact(t, s, 1, 1)
		})
		t.Run("what is read back are the bytes that were written", func(t *testing.T) {
			payload := rawJSON(`{"round":1,"n":10000000000000000001,"f":[1e2,1.10],"text":"\ud83d\ude00\u0000 \u202e","none":null,"empty":{}}`)
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.Record(ctx, "D-1", worker, store.Note{Kind: audit.Note, Payload: payload}, store.Note{Kind: audit.Note, Payload: payload})
			})
			var got []store.RecordRow
			for r, err := range s.RecordRows(ctx, "D-1", 1) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, r)
			}
			if len(got) != 2 || got[0].Seq != 2 || got[1].Seq != 3 || string(got[1].Payload.Bytes) != string(payload) {
				t.Fatalf("got %d rows, %+v", len(got), got)
			}
			if string(got[0].Payload.Salt) == string(got[1].Payload.Salt) || got[0].Commitment == got[1].Commitment {
				t.Error("two rows share a salt")
			}
			intact(t, s, 1, 3)
		})
	})
}

// Each statement of an append fails once. The row is there with its payload and its head, or none of them is.
func TestAnAppendThatFailsAnywhereLeavesAWholeChain(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, faults := storetest.Open(t, database)
		newCase(t, s, "D-1")
		rows := int64(1)
		for _, way := range faults.Ways {
			failed := 0
			for n := 1; ; n++ {
				faults.At(n, way)
				err := note(s, "D-1")
				fired := faults.Fired()
				head, errHead := s.Head(ctx, "D-1")
				if errHead != nil {
					t.Fatal(errHead)
				}
				if grown := head.Seq - rows; grown != 0 && grown != 1 || grown == 0 && err == nil || grown == 1 && err != nil && way != storetest.Lost {
					t.Errorf("%s, number %d: the record grew by %d, and the error is %v", way, n, grown, err)
				}
				rows = head.Seq
				intact(t, s, 1, rows)
				if !fired {
					break
				}
				failed++ // though a line that broke in time is replaced, and nobody notices
			}
			if failed < 4 {
				t.Errorf("%s: only %d statements failed", way, failed)
			}
		}
	})
}

// rawJSON is JSON that is recorded as it stands.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestTheDatabaseRefusesToChangeTheRecord(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		if err := note(s, "D-1"); err != nil {
			t.Fatal(err)
		}
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			limits, err := tx.Limits(ctx)
			return errors.Join(err, tx.ApplyLimits(ctx, limits, worker))
		})
		statements := []string{
			"UPDATE record_rows SET kind = 'note'", "UPDATE record_rows SET at = at WHERE seq = 1", "DELETE FROM record_rows",
			"DELETE FROM record_rows WHERE seq = 99", // which row is not asked
			"UPDATE record_payloads SET payload = salt", "DELETE FROM record_payloads", "DELETE FROM record_heads",
			"UPDATE policies SET actor = 'person:me'", "DELETE FROM policies",
			"INSERT INTO record_rows SELECT case_id, seq + 1, version, kind, actor, at, commitment, prev_hash, hash FROM record_rows WHERE seq = 2", // a fork: two rows after one
			"INSERT INTO record_rows SELECT case_id, 2, version, kind, actor, at, commitment, hash, hash FROM record_rows WHERE seq = 2",            // two rows with one number
			"INSERT INTO record_rows SELECT case_id, 3, version, kind, '', at, commitment, hash, hash FROM record_rows WHERE seq = 2",               // nobody did it
			"INSERT INTO record_rows SELECT 'D-9', seq, version, kind, actor, at, commitment, prev_hash, hash FROM record_rows WHERE seq = 1",       // of no case
			"DELETE FROM cases",
		}
		if s.Engine() == "postgres" {
			statements = append(statements, "TRUNCATE record_rows", "TRUNCATE record_payloads", "TRUNCATE record_heads", "TRUNCATE policies", "TRUNCATE cases CASCADE")
		} else {
			statements = append(statements, "UPDATE OR REPLACE record_rows SET seq = 1 WHERE seq = 2")
		}
		for _, statement := range statements {
			t.Run(statement, func(t *testing.T) {
				// The one that matches no row is refused on PostgreSQL, where triggers are asked once a statement, and has
				// nothing to refuse on SQLite.
				res, err := s.DB().Exec(statement)
				if err == nil {
					if n, _ := res.RowsAffected(); n > 0 || s.Engine() == "postgres" {
						t.Error("it was done")
					}
				}
				intact(t, s, 1, 2)
			})
		}
	})
}

// A record that grows while it is walked is not a broken one.
func TestARecordThatGrowsIsNotBroken(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i := range 3 {
			newCase(t, s, id(i))
		}
		stop := make(chan struct{})
		var growing sync.WaitGroup
		var grown atomic.Int64
		for i := range 3 {
			growing.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					if err := errors.Join(note(s, id(i)), grow(s, fmt.Sprintf("E-%d-%d", i, n))); err != nil {
						t.Error(err)
						return
					}
					grown.Add(1)
				}
			})
		}
		for looks := 0; grown.Load() < 200 && !t.Failed(); looks++ {
			if looks%10 == 0 {
				report, err := s.VerifyRecord(ctx, nil)
				if err != nil || !report.OK {
					t.Errorf("all: %v, %v", report, err)
				}
			}
			if report, err := s.VerifyCase(ctx, id(1)); err != nil || !report.OK {
				t.Errorf("one: %v, %v", report, err)
			}
		}
		close(stop)
		growing.Wait()
	})
}

// grow opens a case.
func grow(s *store.Store, id string) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Birth(ctx, queued(countersign.CaseID(id)), 0, worker, store.Note{Kind: audit.Opened, Payload: map[string]any{"status": "queued"}})
	})
}

func TestWatch(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		newCase(t, s, "D-2")
		grew, end := s.Watch("D-1")
		other, endOther := s.Watch("D-2")
		defer endOther()
		t.Run("a commit that grew the record wakes its watcher", func(t *testing.T) {
			for range 3 { // nobody looks meanwhile: the writer does not wait for it
				if err := note(s, "D-1"); err != nil {
					t.Fatal(err)
				}
			}
			<-grew
		})
		t.Run("what was rolled back and what happens to other cases wakes nobody", func(t *testing.T) {
			_ = s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return errors.Join(tx.Record(ctx, "D-2", worker, store.Note{Kind: audit.Note, Payload: struct{}{}}), errors.New("no"))
			})
			if len(grew)+len(other) != 0 {
				t.Error("somebody was woken")
			}
		})
		t.Run("who has ended it is woken no more", func(t *testing.T) {
			end()
			end()
			if err := note(s, "D-1"); err != nil || len(grew) != 0 {
				t.Errorf("%v, woken: %d", err, len(grew))
			}
		})
	})
}
