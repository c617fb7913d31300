package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/auth"
	"countersign/desk/merchant"
	"countersign/internal/testdb"
	"countersign/pipeline/intake"
	"countersign/pipeline/queue"
	"countersign/pipeline/review"
	"countersign/store"
)

// office is a bank with an API, over a real database and a real server. Nobody investigates in it: tests write what an
// investigation would have.
type office struct {
	t      testing.TB
	store  *store.Store
	api    *api
	server *httptest.Server
	tokens map[auth.Role]string
	log    journal
	stop   chan struct{}
}

var (
	operator = countersign.Actor{Kind: countersign.CLI, ID: "ada"}
	worker   = countersign.Actor{Kind: countersign.Worker, ID: "w-1"}
	deadline = time.Date(2026, 12, 3, 10, 0, 0, 0, time.UTC)
)

func newOffice(t testing.TB) *office {
	t.Helper()
	o := &office{t: t, tokens: map[auth.Role]string{}, stop: make(chan struct{})}
	var err error
	if o.store, err = store.Open(t.Context(), testdb.SQLite(t), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.store.Close() })
	q, err := queue.New(queue.Config{Store: o.store, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	o.api = build(Config{
		Store: o.store, Intake: intake.Intake{Store: o.store, Queue: q}, Version: "test", Stopping: o.stop, Heartbeat: time.Hour,
		Desks:  map[countersign.DeskName]intake.Desk{countersign.Bank: {Name: countersign.Bank, Prefix: "D-", Find: find}, countersign.Merchant: merchant.New(merchant.Config{}).Desk},
		Review: review.Review{Store: o.store, Queue: q, Desks: map[countersign.DeskName]review.Desk{countersign.Bank: decisions}},
		Log:    slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	o.server = httptest.NewServer(o.api.guarded())
	t.Cleanup(o.server.Close)
	for _, role := range auth.Roles {
		if o.tokens[role], _, err = auth.NewToken(t.Context(), o.store, "test", role, operator); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// find knows every transaction whose id begins with T; all are Chidi's but TX-ADA.
func find(_ context.Context, _ store.View, r intake.Request, _ time.Time) (intake.Found, error) {
	owner := "CHIDI"
	if r.SubjectID == "TX-ADA" {
		owner = "ADA"
	}
	switch {
	case !strings.HasPrefix(r.SubjectID, "T"):
		return intake.Found{}, countersign.Errorf(countersign.NotFound, "there is no such transaction").In("transaction_id")
	case r.CustomerID != "" && r.CustomerID != owner:
		return intake.Found{}, countersign.Errorf(countersign.Unprocessed, "the transaction is another customer's").In("customer_id")
	case r.SubjectID == "T-PANIC":
		panic("the desk is on fire")
	}
	return intake.Found{Subject: countersign.Subject{Kind: countersign.TransactionSubject, ID: r.SubjectID}, CustomerID: owner,
		Amount: countersign.Money{Minor: 2450000, Currency: "NGN"}, DueAt: &deadline, DueSource: countersign.DueFromRule}, nil
}

// decisions is a desk whose records never support a fix.
var decisions = review.Desk{
	Outcome:  map[string]countersign.Outcome{"resolve": countersign.Resolved, "reject": countersign.Rejected},
	Outcomes: []countersign.Outcome{countersign.Resolved, countersign.Rejected},
	Justify: func(context.Context, store.View, countersign.Case) (*countersign.Fix, string, error) {
		return nil, "", nil
	},
	Waive: func(context.Context, store.View, countersign.Case, countersign.FixKind) (*countersign.Fix, string, error) {
		return nil, "", countersign.Errorf(countersign.Conflict, "the debit is not posted, and nobody may waive that")
	},
}

// sent is one request, and what came back.
type sent struct {
	method, path string
	role         auth.Role // no token when empty
	header       map[string]string
	body         string
}

type reply struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

func (o *office) send(s sent) reply {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), s.method, o.server.URL+s.path, strings.NewReader(s.body))
	if err != nil {
		o.t.Fatal(err)
	}
	if s.role != "" {
		req.Header.Set("Authorization", "Bearer "+o.tokens[s.role])
	}
	if s.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range s.header {
		req.Header.Set(name, value)
	}
	res, err := o.server.Client().Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	r := reply{res.StatusCode, res.Header, string(text), nil}
	_ = json.Unmarshal(text, &r.json) // not every answer is an object
	return r
}

func (o *office) get(path string) reply {
	o.t.Helper()
	return o.send(sent{method: "GET", path: path, role: auth.Auditor})
}

func (o *office) post(path, body string) reply {
	o.t.Helper()
	return o.send(sent{method: "POST", path: path, role: auth.Analyst, body: body})
}

// decide posts a decision on the revision.
func (o *office) decide(id countersign.CaseID, verb string, revision any, body string) reply {
	o.t.Helper()
	return o.send(sent{method: "POST", path: "/api/v1/cases/" + string(id) + "/" + verb, role: auth.Analyst, body: body,
		header: map[string]string{"If-Match": fmt.Sprint(revision)}})
}

// dispute opens a case about the transaction.
func (o *office) dispute(transaction string) countersign.CaseID {
	o.t.Helper()
	r := o.post("/api/v1/disputes", `{"transaction_id":"`+transaction+`","reason":"failed_transfer","notes":"it never arrived"}`)
	if r.status != http.StatusAccepted {
		o.t.Fatalf("open a dispute: %d %s", r.status, r.text)
	}
	return countersign.CaseID(r.json["id"].(string))
}

// cases counts what is stored.
func (o *office) cases() int {
	o.t.Helper()
	return stored(o.t, o.store)
}

func stored(t testing.TB, s *store.Store) (n int) {
	t.Helper()
	if err := s.DB().QueryRow("SELECT COUNT(*) FROM cases").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// journal is a log that may be read while the server still writes it.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// change does to a case what a worker would: change it, save it and record it.
func (o *office) change(id countersign.CaseID, f func(*countersign.Case), notes ...store.Note) countersign.Case {
	o.t.Helper()
	var c countersign.Case
	err := o.store.Write(o.t.Context(), func(ctx context.Context, tx *store.Tx) (err error) {
		if c, err = tx.LockCase(ctx, id); err != nil {
			return err
		}
		f(&c)
		if err = tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, worker, notes...)
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return c
}

// tamper does what only somebody with the database file in hand could.
func (o *office) tamper(statements ...string) {
	o.t.Helper()
	for _, statement := range statements {
		if _, err := o.store.DB().Exec(statement); err != nil {
			o.t.Fatal(err)
		}
	}
}

type stepRow struct {
	Round int `json:"round"`
	countersign.Step
}

// step records one step of a round, as an investigation does.
func (o *office) step(id countersign.CaseID, round, n int) {
	o.t.Helper()
	row := stepRow{round, countersign.Step{Ref: countersign.Ref(n), Turn: 1, Tool: "get_settlement_status", Args: json.RawMessage(`{}`), OK: true,
		Result: json.RawMessage(`{"status":"failed"}`), Shown: "for the model alone", At: deadline, Took: 1500 * time.Millisecond}}
	err := o.store.Write(o.t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, id, worker, store.Note{Kind: audit.ModelTurn, Payload: map[string]any{"round": round, "request": "…"}},
			store.Note{Kind: audit.ToolCall, Payload: row})
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// reviewed is a case that an investigation has left to a person with the recommendation.
func (o *office) reviewed(transaction, recommendation string) countersign.Case {
	o.t.Helper()
	id := o.dispute(transaction)
	o.step(id, 1, 1)
	return o.toReview(id, recommendation)
}

func (o *office) toReview(id countersign.CaseID, recommendation string) countersign.Case {
	o.t.Helper()
	return o.change(id, func(c *countersign.Case) {
		c.Status, c.Recommendation, c.Message = countersign.InReview, recommendation, "We are looking into it."
		c.Proposal = &countersign.Proposal{Recommendation: "resolve", Category: countersign.FailedTransfer, Confidence: .97, Summary: "It failed.",
			Claims: []countersign.Claim{{Text: "The rail says failed.", Citations: []countersign.Citation{
				{Ref: "S1", Field: "status", Value: "failed", Status: countersign.CitationVerified}}}}}
		c.Facts = &countersign.Facts{Items: []countersign.Fact{{Name: "debit_posted", State: countersign.Present, Value: "NGN 24,500.00", Source: "ledger_entries LE-1"}},
			Fix: countersign.NewFix(countersign.Reversal, c.Subject.ID, "A-1", c.Amount)}
		c.Verdict = &countersign.Verdict{Kind: countersign.Review, PolicyVersion: "p1", Reasons: []countersign.Reason{
			{Code: countersign.FactsUnknown, Text: "The settlement is not final."}}}
		c.Fix = countersign.FixOutcome{State: countersign.FixPlanned, Fix: c.Facts.Fix}
		c.Model = countersign.ModelUse{Provider: "rulebook", Name: "rulebook/1", Attempts: 3, InputTokens: 900, OutputTokens: 80}
	}, store.Note{Kind: audit.Verdict, Payload: map[string]any{"round": 1, "status": "in_review"}})
}

// problem checks that the reply is an error as every error is, and names the place; no place when that is empty.
func problem(t *testing.T, r reply, status int, place string) {
	t.Helper()
	if r.status != status {
		t.Fatalf("answered %d %s, want %d", r.status, r.text, status)
	}
	if kind := r.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("the error is %s, want application/problem+json", kind)
	}
	faults, ok := r.json["errors"].([]any)
	if r.json["type"] != "about:blank" || r.json["title"] != http.StatusText(status) || r.json["status"] != float64(status) ||
		r.json["detail"] == "" || r.json["detail"] == nil || !ok {
		t.Errorf("the error is not whole: %s", r.text)
	}
	if place == "" {
		return
	}
	for _, fault := range faults {
		if fault.(map[string]any)["location"] == place && fault.(map[string]any)["message"] != "" {
			return
		}
	}
	t.Errorf("the error names no fault in %q: %s", place, r.text)
}
