package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/store"
	"countersign/store/storetest"
)

var (
	ctx   = context.Background()
	actor = countersign.Actor{Kind: countersign.Token, ID: "till"}
)

// desk finds every subject that begins with T, all of one customer's, and knows of no deadline.
var desk = intake.Desk{Name: countersign.Bank, Prefix: "D-", Find: func(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
	switch {
	case !strings.HasPrefix(r.SubjectID, "T"):
		return intake.Found{}, countersign.Errorf(countersign.NotFound, "there is no transaction %q", r.SubjectID).In("transaction_id")
	case r.CustomerID != "" && r.CustomerID != "C1":
		return intake.Found{}, countersign.Errorf(countersign.Unprocessed, "belongs to another customer").In("transaction_id")
	}
	return intake.Found{Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: r.SubjectID}, CustomerID: "C1",
		Amount: countersign.Money{Minor: 4999, Currency: "NGN"}, DueSource: countersign.DueUnknown}, nil
}}

func setUp(t *testing.T, database string) intake.Intake {
	t.Helper()
	in, _ := setUpFaulty(t, database)
	return in
}

// setUpFaulty is an intake whose database can be made to fail.
func setUpFaulty(t *testing.T, database string) (intake.Intake, *storetest.Faults) {
	t.Helper()
	s, faults := storetest.Open(t, database)
	q, err := queue.New(queue.Config{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return intake.Intake{Store: s, Queue: q}, faults
}

// stored counts what intake may leave: cases, their jobs, their rows, and keys.
type stored struct{ Cases, Jobs, Rows, Keys int64 }

func count(t *testing.T, s *store.Store) (n stored) {
	t.Helper()
	err := s.DB().QueryRow(`SELECT (SELECT COUNT(*) FROM cases), (SELECT COUNT(*) FROM river_job), (SELECT COUNT(*) FROM record_rows),
		(SELECT COUNT(*) FROM idempotency_keys)`).Scan(&n.Cases, &n.Jobs, &n.Rows, &n.Keys)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ask(subject string) intake.Request {
	return intake.Request{SubjectID: subject, Reason: countersign.FailedTransfer, Notes: "it never arrived"}
}

func key(value, body string) *store.Key {
	return &store.Key{Principal: "token:till", Route: "disputes", Value: value, BodyHash: body}
}

func (r keyed) request(subject string) intake.Request {
	q := ask(subject)
	q.Key = key(r.value, r.body)
	return q
}

type keyed struct{ value, body string }

func TestOpen(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		r := ask("T1")
		r.CustomerID, r.Channel = "C1", "whatsapp"
		opened, err := in.Open(ctx, desk, actor, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("a case, the first row of its record and its job are stored", func(t *testing.T) {
			if got := count(t, in.Store); got != (stored{Cases: 1, Jobs: 1, Rows: 1}) || !opened.Created {
				t.Errorf("got %+v, created: %v", got, opened.Created)
			}
			c, err := in.Store.Case(ctx, opened.Case.ID)
			if err != nil || c.Status != countersign.Queued || c.CustomerID != "C1" || c.Amount.Minor != 4999 || c.Channel != "whatsapp" || c.Notes != r.Notes ||
				c.Revision != 1 || c.Round != 1 || c.DueAt != nil || c.Fix.State != countersign.FixNone {
				t.Errorf("got %+v, %v", c, err)
			}
			var job string
			asText := map[string]string{"sqlite": "json(j.args)", "postgres": "CAST(j.args AS TEXT)"}[in.Store.Engine()]
			err = in.Store.DB().QueryRow("SELECT " + asText + " FROM river_job j JOIN cases c ON c.job_id = j.id").Scan(&job)
			var args map[string]string
			if err := errors.Join(err, json.Unmarshal([]byte(job), &args)); err != nil || len(args) != 1 || args["case"] != string(opened.Case.ID) {
				t.Errorf("the job holds %s, %v; want the case's id and nothing else", job, err)
			}
		})
		t.Run("its record says who opened it and what was said", func(t *testing.T) {
			for row, err := range in.Store.RecordRows(ctx, opened.Case.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
				var said struct {
					Status countersign.Status
					Notes  string
					Amount countersign.Money
				}
				if err := json.Unmarshal(row.Payload.Bytes, &said); err != nil || said.Notes != r.Notes || said.Status != countersign.Queued || said.Amount.Minor != 4999 {
					t.Errorf("got %s, %v", row.Payload.Bytes, err)
				}
				if row.Kind != audit.Opened || row.Actor != "token:till" {
					t.Errorf("got a row of kind %s by %s", row.Kind, row.Actor)
				}
			}
			if report, err := in.Store.VerifyRecord(ctx, nil); err != nil || !report.OK {
				t.Errorf("%v, %v", report, err)
			}
		})
		t.Run("the same open dispute again is the first case", func(t *testing.T) {
			again, err := in.Open(ctx, desk, actor, ask("T1"))
			if err != nil || again.Created || again.Case.ID != opened.Case.ID || count(t, in.Store) != (stored{Cases: 1, Jobs: 1, Rows: 1}) {
				t.Errorf("got %+v, %v", again, err)
			}
		})
		t.Run("another reason is another dispute", func(t *testing.T) {
			r := ask("T1")
			r.Reason = countersign.WrongAmount
			other, err := in.Open(ctx, desk, actor, r)
			if err != nil || !other.Created || other.Case.Channel != "api" {
				t.Errorf("got %+v, %v", other, err)
			}
		})
		t.Run("after the case was closed it is a new one", func(t *testing.T) {
			err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				c := opened.Case
				c.Status, c.Outcome = countersign.Closed, countersign.Rejected
				return errors.Join(tx.Save(ctx, &c), tx.Record(ctx, c.ID, actor, store.Note{Kind: audit.Closed, Payload: store.Closing(c)}))
			})
			if err != nil {
				t.Fatal(err)
			}
			again, err := in.Open(ctx, desk, actor, ask("T1"))
			if err != nil || !again.Created || again.Case.ID == opened.Case.ID {
				t.Errorf("got %+v, %v", again, err)
			}
		})
	})
}

func TestBadRequestsLeaveNothingBehind(t *testing.T) {
	with := func(change func(*intake.Request)) intake.Request {
		r := ask("T1")
		change(&r)
		return r
	}
	rows := []struct {
		name  string
		r     intake.Request
		kind  countersign.ErrorKind
		field string
		says  string
	}{
		{"no subject", with(func(r *intake.Request) { r.SubjectID = "" }), countersign.Invalid, "transaction_id", "missing"},
		{"a subject that is not on record", ask("X1"), countersign.NotFound, "transaction_id", `"X1"`},
		{"a subject of another customer", with(func(r *intake.Request) { r.CustomerID = "C2" }), countersign.Unprocessed, "transaction_id", "another customer"},
		{"a subject with quotes and a path that is not on record", ask(`'; DROP TABLE cases; -- ../../etc/passwd`), countersign.NotFound, "transaction_id", "DROP TABLE"},
		{"a subject with a NUL byte", ask("T\x00"), countersign.Invalid, "transaction_id", "control character"},
		{"a subject with a line break", ask("T1\n"), countersign.Invalid, "transaction_id", "control character"},
		{"a subject with an escape sequence in eight bits", ask("T1\u009b31m"), countersign.Invalid, "transaction_id", "control character"},
		{"a subject that is not UTF-8", ask("T\xff"), countersign.Invalid, "transaction_id", "UTF-8"},
		{"a subject of a thousand bytes", ask("T" + strings.Repeat("1", 999)), countersign.Invalid, "transaction_id", "1000 bytes"},
		{"a customer that is not UTF-8", with(func(r *intake.Request) { r.CustomerID = "\xc3" }), countersign.Invalid, "customer_id", "UTF-8"},
		{"a channel that is too long", with(func(r *intake.Request) { r.Channel = strings.Repeat("c", 201) }), countersign.Invalid, "channel", "201 bytes"},
		{"no reason", with(func(r *intake.Request) { r.Reason = "" }), countersign.Invalid, "reason", "failed_transfer, duplicate_charge"},
		{"a reason that does not exist", with(func(r *intake.Request) { r.Reason = "boredom" }), countersign.Invalid, "reason", `"boredom"`},
		{"a reason that is very long is repeated in part", with(func(r *intake.Request) { r.Reason = countersign.DisputeReason(strings.Repeat("ä", 1000)) }), countersign.Invalid, "reason", "…"},
		{"notes of ten megabytes", with(func(r *intake.Request) { r.Notes = strings.Repeat("n", 10<<20) }), countersign.TooLarge, "notes", "10485760 bytes"},
		{"notes that are not UTF-8", with(func(r *intake.Request) { r.Notes = "caf\xe9" }), countersign.Invalid, "notes", "UTF-8"},
		{"notes with a NUL byte", with(func(r *intake.Request) { r.Notes = "a\x00b" }), countersign.Invalid, "notes", "NUL"},
		{"an empty idempotency key", with(func(r *intake.Request) { r.Key = key("", "") }), countersign.Invalid, "Idempotency-Key", "missing"},
		{"an idempotency key that is not UTF-8", with(func(r *intake.Request) { r.Key = key("k\xff", "") }), countersign.Invalid, "Idempotency-Key", "UTF-8"},
		{"an idempotency key that is too long", with(func(r *intake.Request) { r.Key = key(strings.Repeat("k", 5000), "") }), countersign.Invalid, "Idempotency-Key", "5000 bytes"},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				_, err := in.Open(ctx, desk, actor, row.r)
				var e *countersign.Error
				if !errors.As(err, &e) || e.Kind != row.kind || e.Field != row.field || !strings.Contains(err.Error(), row.says) || len(err.Error()) > 300 {
					t.Errorf("got %v, want %s in %s: …%s…", err, row.kind, row.field, row.says)
				}
				if got := count(t, in.Store); got != (stored{}) {
					t.Errorf("left behind: %+v", got)
				}
			})
		}
		t.Run("who opens a case must be somebody", func(t *testing.T) {
			if _, err := in.Open(ctx, desk, countersign.Actor{}, ask("T1")); err == nil {
				t.Error("it was taken")
			}
			if got := count(t, in.Store); got != (stored{}) {
				t.Errorf("left behind: %+v", got)
			}
		})
		t.Run("records that cannot be read open nothing", func(t *testing.T) {
			broken, gone := desk, errors.New("the records are gone")
			broken.Find = func(context.Context, store.View, intake.Request, time.Time) (intake.Found, error) {
				return intake.Found{}, gone
			}
			if _, err := in.Open(ctx, broken, actor, keyed{"k", "b"}.request("T1")); !errors.Is(err, gone) {
				t.Errorf("got %v", err)
			}
			if got := count(t, in.Store); got != (stored{}) {
				t.Errorf("left behind: %+v", got)
			}
		})
		t.Run("odd but storable text is taken as it is", func(t *testing.T) {
			r := ask(`T'"\%_../😀`)
			r.Notes = "line\nbreak\t\u202e" + strings.Repeat("ä", 9_000)
			opened, err := in.Open(ctx, desk, actor, r)
			if err != nil {
				t.Fatal(err)
			}
			c, err := in.Store.Case(ctx, opened.Case.ID)
			if err != nil || c.Notes != r.Notes || c.Subject.ID != r.SubjectID {
				t.Errorf("got %q, %v", c.Subject.ID, err)
			}
		})
	})
}

// Each statement of opening a case fails once. All of the case is there then or nothing of it, and asking again with the same
// key ends in one case.
func TestAFailureAtAnyStatementLeavesNothingHalfDone(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in, faults := setUpFaulty(t, database)
		want := stored{}
		asked := 0
		for _, way := range faults.Ways {
			failed := 0
			for n := 1; ; n++ {
				asked++
				r := keyed{fmt.Sprint("k", asked), "b"}.request(fmt.Sprint("T", asked))
				all := stored{want.Cases + 1, want.Jobs + 1, want.Rows + 1, want.Keys + 1}
				faults.At(n, way)
				first, err := in.Open(ctx, desk, actor, r)
				fired := faults.Fired()
				if got := count(t, in.Store); got != all && (got != want || err == nil) {
					t.Errorf("%s, number %d: %+v became %+v, and the error is %v", way, n, want, got, err)
				}
				again, errAgain := in.Open(ctx, desk, actor, r)
				if got := count(t, in.Store); got != all || errAgain != nil || err == nil && again.Case.ID != first.Case.ID {
					t.Errorf("%s, number %d: asked again, %+v became %+v: %v", way, n, want, got, errAgain)
				}
				want = all
				if !fired {
					break
				}
				failed++ // though a line that broke in time is replaced, and nobody notices
			}
			if failed < 4 {
				t.Errorf("%s: only %d statements failed", way, failed)
			}
		}
		if report, err := in.Store.VerifyRecord(ctx, nil); err != nil || !report.OK {
			t.Errorf("the record: %v, %v", report, err)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		first, err := in.Open(ctx, desk, actor, keyed{"k1", "b1"}.request("T1"))
		if err != nil {
			t.Fatal(err)
		}
		after := count(t, in.Store)
		same := func(t *testing.T, got intake.Opened, err error) {
			t.Helper()
			if err != nil || got.Created || got.Case.ID != first.Case.ID {
				t.Errorf("got %+v, %v; want the first case", got, err)
			}
			if now := count(t, in.Store); now != after {
				t.Errorf("stored %+v, want %+v", now, after)
			}
		}
		t.Run("the same key with the same body is the first case", func(t *testing.T) {
			got, err := in.Open(ctx, desk, actor, keyed{"k1", "b1"}.request("T1"))
			same(t, got, err)
		})
		t.Run("the same key with another body is refused", func(t *testing.T) {
			_, err := in.Open(ctx, desk, actor, keyed{"k1", "b2"}.request("T2"))
			if countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), "another body") || count(t, in.Store) != after {
				t.Errorf("got %v", err)
			}
		})
		t.Run("the same key of somebody else is another key", func(t *testing.T) {
			r := keyed{"k1", "b9"}.request("T9")
			r.Key.Principal = "token:other"
			if got, err := in.Open(ctx, desk, actor, r); err != nil || !got.Created {
				t.Errorf("got %+v, %v", got, err)
			}
			after = count(t, in.Store)
		})
		t.Run("a new key for a dispute that is open already names the first case from then on", func(t *testing.T) {
			got, err := in.Open(ctx, desk, actor, keyed{"k2", "b1"}.request("T1"))
			after.Keys++
			same(t, got, err)
			got, err = in.Open(ctx, desk, actor, keyed{"k2", "b1"}.request("T1"))
			same(t, got, err)
			if _, err := in.Open(ctx, desk, actor, keyed{"k2", "b3"}.request("T3")); countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("another body gave %v", err)
			}
		})
		t.Run("a key is remembered after its case was closed", func(t *testing.T) {
			c, err := in.Store.Case(ctx, first.Case.ID)
			if err != nil {
				t.Fatal(err)
			}
			c.Status = countersign.Closed
			if err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Save(ctx, &c) }); err != nil {
				t.Fatal(err)
			}
			got, err := in.Open(ctx, desk, actor, keyed{"k1", "b1"}.request("T1"))
			same(t, got, err)
		})
	})
}

// Twenty requests at the same moment, in several forms. Whoever comes first, all of them get one answer.
func TestAtTheSameMoment(t *testing.T) {
	rows := []struct {
		name    string
		request func(i int) intake.Request
		open    bool // the dispute is open before
		keys    int64
	}{
		{"the same dispute is opened once", func(int) intake.Request { return ask("T1") }, false, 0},
		{"the same dispute under one key is opened once", func(int) intake.Request { return keyed{"k", "b"}.request("T1") }, false, 1},
		{"the same dispute under different keys is opened once", func(i int) intake.Request { return keyed{fmt.Sprint(i), "b"}.request("T1") }, false, 20},
		{"a new key for an open dispute names that one, in every answer", func(int) intake.Request { return keyed{"k", "b"}.request("T1") }, true, 1},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		first := setUp(t, database)
		second := setUp(t, database) // as another process would
		for n, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				subject := fmt.Sprint("T", n)
				request := func(i int) intake.Request {
					r := row.request(i)
					r.SubjectID = subject
					if r.Key != nil {
						r.Key.Principal = subject
					}
					return r
				}
				if row.open {
					if _, err := first.Open(ctx, desk, actor, ask(subject)); err != nil {
						t.Fatal(err)
					}
				}
				before := count(t, first.Store)
				answers, created := atOnce(t, 20, func(i int) (intake.Opened, error) {
					return []intake.Intake{first, second}[i%2].Open(ctx, desk, actor, request(i))
				})
				want := stored{before.Cases + 1, before.Jobs + 1, before.Rows + 1, before.Keys + row.keys}
				if row.open {
					want = stored{before.Cases, before.Jobs, before.Rows, before.Keys + row.keys}
				}
				if got := count(t, first.Store); got != want {
					t.Errorf("stored %+v, want %+v", got, want)
				}
				if len(answers) != 1 || (created == 1) == row.open {
					t.Errorf("answers %v, created %d", answers, created)
				}
			})
		}
		t.Run("one key with different bodies opens one case and is refused to the others", func(t *testing.T) {
			before := count(t, first.Store)
			var refused sync.Map
			answers, _ := atOnce(t, 20, func(i int) (intake.Opened, error) {
				opened, err := first.Open(ctx, desk, actor, keyed{"one key", fmt.Sprint(i)}.request(fmt.Sprint("Tk", i)))
				if countersign.KindOf(err) == countersign.Conflict && strings.Contains(err.Error(), "another body") {
					refused.Store(i, true)
					err = nil
				}
				return opened, err
			})
			delete(answers, "") // of those who were refused
			n := 0
			refused.Range(func(any, any) bool { n++; return true })
			if got := count(t, first.Store); got != (stored{before.Cases + 1, before.Jobs + 1, before.Rows + 1, before.Keys + 1}) || len(answers) != 1 || n != 19 {
				t.Errorf("stored %+v after %+v, answers %v, refused %d", got, before, answers, n)
			}
		})
	})
}

// atOnce calls open n times at the same moment and returns the ids that it answered.
func atOnce(t *testing.T, n int, open func(i int) (intake.Opened, error)) (ids map[countersign.CaseID]int, created int) {
	t.Helper()
	ids = map[countersign.CaseID]int{}
	var mu sync.Mutex
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			opened, err := open(i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			ids[opened.Case.ID]++
			if opened.Created {
				created++
			}
		})
	}
	done.Wait()
	return ids, created
}

func TestAnIDThatIsTakenIsDrawnAgain(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		in := setUp(t, database)
		ids := []countersign.CaseID{"D-1", "D-1", "D-2"}
		in.NewID = func(string) (id countersign.CaseID) {
			id, ids = ids[0], ids[1:]
			return id
		}
		for i, want := range []countersign.CaseID{"D-1", "D-2"} {
			if got, err := in.Open(ctx, desk, actor, ask(fmt.Sprint("T", i))); err != nil || got.Case.ID != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
		}
		t.Run("but not for ever", func(t *testing.T) {
			in.NewID = func(string) countersign.CaseID { return "D-1" }
			if _, err := in.Open(ctx, desk, actor, ask("T9")); countersign.KindOf(err) != countersign.Unavailable {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestNewID(t *testing.T) {
	seen := map[countersign.CaseID]bool{}
	for range 1000 {
		id := intake.NewID("D-")
		if len(id) != 10 || !strings.HasPrefix(string(id), "D-") || strings.ContainsAny(string(id[2:]), "ILOU") || seen[id] {
			t.Fatalf("got %q", id)
		}
		seen[id] = true
	}
}
