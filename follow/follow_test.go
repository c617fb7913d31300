package follow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/follow"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/store"
)

var worker = countersign.Actor{Kind: countersign.Worker, ID: "w-1"}

// desk is a database with one case, and what a watcher was told of it.
type desk struct {
	t        *testing.T
	database string
	store    *store.Store
	id       countersign.CaseID
	told     chan string
	follower follow.Follower
}

func newDesk(t *testing.T, database string) *desk {
	t.Helper()
	d := &desk{t: t, database: database, store: open(t, database), told: make(chan string, 10_000)}
	q, err := queue.New(queue.Config{Store: d.store, Log: slog.New(slog.DiscardHandler)})
	d.must(err)
	find := func(context.Context, store.View, intake.Request, time.Time) (intake.Found, error) {
		return intake.Found{Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: "T-1"}, CustomerID: "C-1", Amount: countersign.Money{Minor: 1, Currency: "NGN"}}, nil
	}
	opened, err := intake.Intake{Store: d.store, Queue: q}.Open(t.Context(), intake.Desk{Name: countersign.Bank, Prefix: "D-", Find: find}, worker,
		intake.Request{SubjectID: "T-1", Reason: countersign.FailedTransfer})
	d.must(err)
	d.id = opened.Case.ID
	d.follower = follow.Follower{Store: d.store, Poll: time.Hour, Heartbeat: time.Hour} // a commit of this process waits for neither
	return d
}

func open(t *testing.T, database string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// record records so many rows in one commit, through that store.
func (d *desk) record(s *store.Store, rows int) {
	d.t.Helper()
	notes := make([]store.Note, rows)
	for i := range notes {
		notes[i] = store.Note{Kind: audit.ToolCall, Payload: map[string]int{"n": i}}
	}
	d.must(s.Write(d.t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.Record(ctx, d.id, worker, notes...) }))
}

// change changes how the case stands, with a row that says so.
func (d *desk) change(status countersign.Status) {
	d.t.Helper()
	d.must(d.store.Write(d.t.Context(), func(ctx context.Context, tx *store.Tx) error {
		c, err := tx.LockCase(ctx, d.id)
		if err != nil {
			return err
		}
		c.Status = status
		return errors.Join(tx.Save(ctx, &c), tx.Record(ctx, d.id, worker, store.Note{Kind: audit.Started, Payload: map[string]string{"status": string(status)}}))
	}))
}

func (d *desk) watcher() follow.Watcher {
	tell := func(text string) error { d.told <- text; return nil }
	return follow.Watcher{
		Row:  func(row store.RecordRow) error { return tell(fmt.Sprint(row.Seq)) },
		Case: func(c countersign.Case) error { return tell(string(c.Status)) },
		Beat: func() error { return tell("beat") },
	}
}

// watch begins to watch after that row. What ends the watch comes out of the channel.
func (d *desk) watch(after int64) (leave func(), ended <-chan error) {
	ctx, leave := context.WithCancel(d.t.Context())
	d.t.Cleanup(leave)
	done := make(chan error, 1)
	go func() { done <- d.follower.Case(ctx, d.id, after, d.watcher()) }()
	return leave, done
}

// hears fails the test unless that is what the watcher is told next.
func (d *desk) hears(want ...string) {
	d.t.Helper()
	for _, want := range want {
		select {
		case got := <-d.told:
			if got != want {
				d.t.Fatalf("it is told %s where %s is next", got, want)
			}
		case <-time.After(patience):
			d.t.Fatalf("it is not told %s", want)
		}
	}
}

// hearsBoth is hears for two things of one commit, which the last look may still have seen one of.
func (d *desk) hearsBoth(one, other string) {
	d.t.Helper()
	switch got := <-d.told; got {
	case one:
		d.hears(other)
	case other:
		d.hears(one)
	default:
		d.t.Fatalf("it is told %s where %s and %s are next", got, one, other)
	}
}

// patience is how long a test waits for what takes a moment.
const patience = time.Minute

func (d *desk) over(ended <-chan error) error {
	d.t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		d.t.Fatal("the watch goes on")
		return nil
	}
}

// numbers are the rows from one to another.
func numbers(from, to int64) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

func TestAWatcherIsTold(t *testing.T) {
	for sentence, test := range map[string]func(*desk){
		"how the case stands, and then every row in order": func(d *desk) {
			d.record(d.store, 3)
			d.watch(0)
			d.hears("queued", "1", "2", "3", "4")
		},
		"of each row when it was committed, and of the case when it changed": func(d *desk) {
			d.watch(0)
			d.hears("queued", "1")
			d.record(d.store, 1)
			d.hears("2")
			d.change(countersign.Investigating)
			d.hearsBoth("3", "investigating")
			d.record(d.store, 2)
			d.hears("4", "5")
		},
		"of more rows than are held at once": func(d *desk) {
			d.record(d.store, 50)
			d.watch(0)
			d.hears(append([]string{"queued"}, numbers(1, 51)...)...)
			d.record(d.store, 8) // and of exactly as many
			d.hears(numbers(52, 59)...)
		},
		"only of rows after the one it saw last": func(d *desk) {
			d.record(d.store, 20)
			d.watch(17)
			d.hears("queued", "18", "19", "20", "21")
		},
		"of nothing but the case when it has seen everything, until there is more": func(d *desk) {
			d.watch(1)
			d.hears("queued")
			d.record(d.store, 1)
			d.hears("2")
		},
		"of rows that another process wrote": func(d *desk) {
			d.follower.Poll = time.Millisecond
			d.watch(0)
			d.hears("queued", "1")
			other := open(d.t, d.database)
			for n := int64(2); n < 12; n++ {
				d.record(other, 1)
				d.hears(fmt.Sprint(n))
			}
		},
		"of a closed case too": func(d *desk) {
			d.change(countersign.Closed)
			d.watch(0)
			d.hears("closed", "1", "2")
			d.record(d.store, 1)
			d.hears("3")
		},
		"that it is alive, when nothing happens": func(d *desk) {
			d.follower.Heartbeat = time.Millisecond
			d.watch(1)
			d.hears("queued", "beat", "beat")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			testdb.Engines(t, func(t *testing.T, database string) { test(newDesk(t, database)) })
		})
	}
}

func TestAWatchEnds(t *testing.T) {
	broken := errors.New("the reader has gone")
	for sentence, test := range map[string]func(*testing.T, *desk){
		"when the watcher leaves": func(t *testing.T, d *desk) {
			leave, ended := d.watch(0)
			d.hears("queued", "1")
			leave()
			if err := d.over(ended); err != nil {
				t.Error(err)
			}
		},
		"when the watcher leaves in the middle of being told": func(t *testing.T, d *desk) {
			ctx, leave := context.WithCancel(t.Context())
			told := d.watcher()
			told.Case = func(countersign.Case) error { leave(); return nil }
			if err := d.follower.Case(ctx, d.id, 0, told); err != nil {
				t.Error(err)
			}
		},
		"when the program stops": func(t *testing.T, d *desk) {
			stopping := make(chan struct{})
			d.follower.Stopping = stopping
			_, ended := d.watch(0)
			d.hears("queued", "1")
			close(stopping)
			if err := d.over(ended); err != nil {
				t.Error(err)
			}
		},
		"with what a row ended in": func(t *testing.T, d *desk) {
			d.record(d.store, 20)
			if err := d.follower.Case(t.Context(), d.id, 0, follow.Watcher{Case: d.watcher().Case, Row: func(row store.RecordRow) error {
				d.told <- fmt.Sprint(row.Seq)
				return broken
			}}); !errors.Is(err, broken) {
				t.Errorf("it ended with %v", err)
			}
			d.hears("queued", "1")
		},
		"with what a sign of life ended in": func(t *testing.T, d *desk) {
			d.follower.Heartbeat = time.Millisecond
			told := d.watcher()
			told.Beat = func() error { return broken }
			if err := d.follower.Case(t.Context(), d.id, 0, told); !errors.Is(err, broken) {
				t.Errorf("it ended with %v", err)
			}
		},
		"at once, of a case that is not there": func(t *testing.T, d *desk) {
			if err := d.follower.Case(t.Context(), "D-NONE", 0, d.watcher()); countersign.KindOf(err) != countersign.NotFound {
				t.Errorf("it ended with %v", err)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) { test(t, newDesk(t, testdb.SQLite(t))) })
	}
}

// Whoever leaves and comes back with the last row they saw, over and over, while two processes write, has every row once.
func TestComingBackLosesNothing(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		d := newDesk(t, database)
		d.follower.Poll = time.Millisecond
		const each = 40
		for _, s := range []*store.Store{d.store, open(t, database)} {
			go func() {
				for range each {
					if err := s.Write(context.WithoutCancel(t.Context()), func(ctx context.Context, tx *store.Tx) error {
						return tx.Record(ctx, d.id, worker, store.Note{Kind: audit.ToolCall, Payload: struct{}{}})
					}); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		enough := errors.New("enough")
		for last := int64(0); last < 1+2*each; {
			until := last + 1 + last%5
			tell := follow.Watcher{Case: func(countersign.Case) error { return nil }, Row: func(row store.RecordRow) error {
				if row.Seq != last+1 {
					t.Errorf("row %d comes after row %d", row.Seq, last)
				}
				if last = row.Seq; last >= until {
					return enough
				}
				return nil
			}}
			if err := d.follower.Case(t.Context(), d.id, last, tell); !errors.Is(err, enough) {
				t.Fatalf("the watch ended with %v", err)
			}
		}
	})
}

// A head that counts rows which are not there is the verifier's to find; a watcher waits for what comes and asks for no more.
func TestAHeadThatIsAheadOfItsRowsStopsNobody(t *testing.T) {
	d := newDesk(t, testdb.SQLite(t))
	if _, err := d.store.DB().Exec("UPDATE record_heads SET seq = 9"); err != nil {
		t.Fatal(err)
	}
	d.watch(0)
	d.hears("queued", "1")
	d.record(d.store, 2)
	d.hears("10", "11")
}

// Nobody else waits for those who do not read.
func TestASlowWatcherHoldsNoConnection(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		d := newDesk(t, database)
		d.record(d.store, 20)
		going, slow := make(chan struct{}), make(chan struct{})
		defer close(slow)
		for range 40 {
			go func() {
				_ = d.follower.Case(t.Context(), d.id, 0, follow.Watcher{Case: d.watcher().Case, Row: func(store.RecordRow) error {
					going <- struct{}{}
					<-slow
					return errors.New("too late")
				}})
			}()
		}
		for range 40 {
			<-going
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if _, err := d.store.Case(ctx, d.id); err != nil {
			t.Error(err)
		}
		d.record(d.store, 1)
	})
}

func TestStream(t *testing.T) {
	send := func(t *testing.T, method string, tell func(*follow.Stream) error) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s, err := follow.Open(w, httptest.NewRequest(method, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := tell(s); err != nil {
			t.Fatal(err)
		}
		return w
	}
	for sentence, tt := range map[string]struct {
		tell func(*follow.Stream) error
		want string
	}{
		"an event with everything":               {func(s *follow.Stream) error { return s.Event("case", 7, "closed") }, "id: 7\nevent: case\ndata: closed\n\n"},
		"one that every reader gets, without id": {func(s *follow.Stream) error { return s.Event("", 0, "<li>") }, "data: <li>\n\n"},
		"lines stay lines":                       {func(s *follow.Stream) error { return s.Event("", 1, "a\nb\r\nc\n") }, "id: 1\ndata: a\ndata: b\ndata: c\n\n"},
		"a line end of any kind begins no field": {func(s *follow.Stream) error { return s.Event("", 1, "a\rid: 99\r\revent: case") }, "id: 1\ndata: a\ndata: id: 99\ndata: \ndata: event: case\n\n"},
		"nothing is an event all the same":       {func(s *follow.Stream) error { return s.Event("end", 0, "") }, "event: end\ndata: \n\n"},
		"a sign of life is a comment, no event":  {(*follow.Stream).Beat, ": the stream is alive\n\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := send(t, "GET", tt.tell)
			if got := strings.TrimPrefix(w.Body.String(), "retry: 1000\n\n"); got != tt.want || w.Header().Get("Content-Type") != "text/event-stream" {
				t.Errorf("sent %q as %s, want %q", got, w.Header().Get("Content-Type"), tt.want)
			}
		})
	}
	t.Run("who does not take an event within ten seconds is left behind", func(t *testing.T) {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		s, err := follow.Open(w, httptest.NewRequest("GET", "/", nil))
		timely := func(what string, err error) {
			t.Helper()
			if err != nil || w.until.IsZero() || time.Until(w.until) > 10*time.Second {
				t.Errorf("for %s its reader has until %s (%v)", what, w.until, err)
			}
			w.until = time.Time{}
		}
		timely("the beginning", err)
		timely("an event", s.Event("", 1, "x"))
		timely("a sign of life", s.Beat())
	})
	t.Run("headers alone have no body", func(t *testing.T) {
		if w := send(t, http.MethodHead, func(*follow.Stream) error { return nil }); w.Body.Len() > 0 {
			t.Errorf("sent %q", w.Body)
		}
	})
}

// timed remembers by when its reader must have taken what is sent.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.until = at
	return nil
}

func TestWhereAStreamGoesOn(t *testing.T) {
	head := audit.Head{Seq: 12}
	for value, want := range map[string]int64{"": 0, "0": 0, "7": 7, "12": 12} {
		if got, err := follow.From("after", value, head); got != want || err != nil {
			t.Errorf("%q goes on after %d (%v)", value, got, err)
		}
	}
	for _, value := range []string{"x", "-1", "13", "1.0", " 1", "9223372036854775808", strings.Repeat("9", 1000)} {
		_, err := follow.From("after", value, head)
		var e *countersign.Error
		if !errors.As(err, &e) || e.Kind != countersign.Invalid || e.Field != "after" || len(e.Message) > 200 {
			t.Errorf("%.20q is %v", value, err)
		}
	}
}
