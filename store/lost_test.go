package store_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

// once breaks the first COMMIT and no other.
func once(b testdb.Broken) func() testdb.Broken {
	var done atomic.Bool
	return func() testdb.Broken {
		if done.Swap(true) {
			return testdb.Whole
		}
		return b
	}
}

func TestACommitThatNobodyAnswered(t *testing.T) {
	line := testdb.Through(t, testdb.Postgres(t))
	s := open(t, line.URL)
	for _, row := range []struct {
		sentence string
		broken   testdb.Broken
		kept     int64
	}{
		{"it never arrived", testdb.Unsent, 0},
		{"it was carried out", testdb.Unanswered, 1},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			before := number(t, s, "SELECT COUNT(*) FROM cases")
			runs := 0
			line.AtCommits(once(row.broken))
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				runs++
				return tx.Birth(ctx, queued(countersign.CaseID(row.sentence)), 1, operator, store.Note{Kind: "opened", Payload: map[string]any{"status": "queued", "round": 1}})
			})
			if !errors.Is(err, store.ErrUnknown) || countersign.KindOf(err) != countersign.Unavailable || runs != 1 {
				t.Errorf("it was run %d times and gave %v", runs, err)
			}
			if kept := number(t, s, "SELECT COUNT(*) FROM cases") - before; kept != row.kept {
				t.Errorf("%d cases were kept, want %d", kept, row.kept)
			}
		})
	}
}

// Whoever reads when the connection breaks off is told that the database is away, and not that something is wrong with what they asked for.
func TestASnapshotThatLosesItsConnection(t *testing.T) {
	line := testdb.Through(t, testdb.Postgres(t))
	s := open(t, line.URL)
	newCase(t, s, "D-1")
	err := s.Snapshot(ctx, func(v store.View) error {
		if _, err := v.Case(ctx, "D-1"); err != nil {
			t.Fatal(err)
		}
		line.Drop()
		_, err := v.VerifyCase(ctx, "D-1")
		return err
	})
	if err = store.Explain(err); countersign.KindOf(err) != countersign.Unavailable {
		t.Errorf("it gave %v", err)
	}
}

// TestAConnectionThatIsKilledIsReplaced: with writers and readers at work, sessions end one after the other. Nobody who writes notices, nothing is
// done twice, and nothing is left running.
func TestAConnectionThatIsKilledIsReplaced(t *testing.T) {
	database := testdb.Postgres(t)
	s, other := open(t, database), open(t, database)
	newCase(t, s, "D-1")
	before := runtime.NumGoroutine()
	const writers, each = 4, 50
	killed := make(chan int64)
	stop, wrote := make(chan struct{}), make(chan struct{})
	go func() {
		var n int64
		defer func() { killed <- n }()
		for {
			for range writers { // by what was written, not by the clock: a machine that is slow enough would have every try of one transaction killed
				select {
				case <-stop:
					return
				case <-wrote:
				}
			}
			var ended int64
			err := other.DB().QueryRow(`SELECT COUNT(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'active' ORDER BY random() LIMIT 1) AS one`).Scan(&ended)
			if err == nil {
				n += ended
			}
		}
	}()
	unknown := atomic.Int64{}
	for _, err := range parallel(writers, func(int) error {
		for range each {
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.LockCase(ctx, "D-1"); err != nil {
					return err
				}
				return tx.Record(ctx, "D-1", operator, store.Note{Kind: "note", Payload: map[string]any{"round": 1}})
			})
			wrote <- struct{}{}
			if errors.Is(err, store.ErrUnknown) {
				unknown.Add(1)
				continue
			}
			if err != nil {
				return err
			}
			if _, err := s.Case(ctx, "D-1"); err != nil {
				return err
			}
			if _, err := s.QueueCounts(ctx, store.Filter{Now: s.Now()}); err != nil && countersign.KindOf(store.Explain(err)) != countersign.Unavailable {
				return err // it has many parts, and is told to ask again where it has seen some of them
			}
		}
		return nil
	}) {
		t.Errorf("somebody noticed: %v", err)
	}
	close(stop)
	if n := <-killed; n == 0 {
		t.Error("no session was ended, so nothing was tried")
	}
	rows := number(t, s, "SELECT COUNT(*) FROM record_rows") - 1
	if rows > writers*each || rows < writers*each-unknown.Load() {
		t.Errorf("%d rows were written, want %d, of which %d may be missing", rows, writers*each, unknown.Load())
	}
	if report, err := s.VerifyRecord(ctx, nil); err != nil || !report.OK {
		t.Errorf("%+v, %v", report, err)
	}
	for grown := 1; grown > 0; { // until what ended has been cleaned up
		grown = runtime.NumGoroutine() - before - 32 // the pools' own connections have one each at most
		runtime.Gosched()
	}
}

// TestASessionThatFallsSilentIsEnded: what it has locked is somebody's.
func TestASessionThatFallsSilentIsEnded(t *testing.T) {
	s := open(t, testdb.Postgres(t))
	for name, want := range map[string]string{"idle_in_transaction_session_timeout": "30s", "tcp_user_timeout": "20000", "tcp_keepalives_idle": "10"} {
		var set string
		err := s.DB().QueryRow("SELECT current_setting($1)", name).Scan(&set)
		unknown := set == "0" && strings.HasPrefix(name, "tcp_") // to the server's system, or over its socket
		if err != nil || set != want && !unknown {
			t.Errorf("%s is %q, want %q: %v", name, set, want, err)
		}
	}
	t.Run("unless the URL of the database says otherwise", func(t *testing.T) {
		s := open(t, testdb.Postgres(t)+"&idle_in_transaction_session_timeout=5s")
		var set string
		if err := s.DB().QueryRow("SHOW idle_in_transaction_session_timeout").Scan(&set); err != nil || set != "5s" {
			t.Errorf("it is %q, %v", set, err)
		}
	})
}
