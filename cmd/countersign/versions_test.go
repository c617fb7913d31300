package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// A newer program migrates the database under running ones of an older version. They write nothing from then on and end with a code of
// their own, so that whoever runs them starts the new version in their place; what they had under way goes on there.
func TestAProgramThatTheSchemaHasOutgrownEnds(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		model := newModelServer(t)
		p := newProgram(t, database, model.env()...)
		p.imports(failedTransfers(2))
		release := model.holdTurn(2)
		defer release()
		s := p.serve(p.admin(), "--grace", "1s")
		s.disputes(1)
		running := []*server{s}
		if strings.HasPrefix(database, "postgres") {
			running = append(running, p.start("worker", "--grace", "1s"))
			p.until("the worker works", func() bool { return strings.Contains(running[1].log.String(), "works cases") })
		}
		p.until("the case waits for its second turn", model.waiting(2, 1))
		rows := recordLength(t, p.database())

		p.exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)")
		if code := s.tried("T1"); code != http.StatusServiceUnavailable && code != 0 {
			t.Errorf("a dispute was answered with %d under a schema that is not this program's, want 503 or nothing", code)
		}
		for _, r := range running {
			if code := r.wait(); code != 3 || !strings.Contains(r.log.String(), "a newer program has migrated it") {
				t.Errorf("it ended with %d\n%s", code, r.log)
			}
		}
		if n := recordLength(t, p.database()); n != rows {
			t.Errorf("%d rows of the record were written meanwhile", n-rows)
		}
		older := p.start("worker")
		if code := older.wait(); code != 1 || !strings.Contains(older.log.String(), "start the newer program") {
			t.Errorf("started again it ended with %d\n%s", code, older.log)
		}

		p.exec("DELETE FROM goose_db_version WHERE version_id = 9999") // as the newer program, which knows the schema
		release()
		s = p.serve(s.token)
		p.until("the case is closed", func() bool { return len(s.closed()) == 1 })
		s.stop()
		p.intact(1)
	})
}

// tried opens a dispute and returns the status of the answer, 0 when nobody answers any more.
func (s *server) tried(transactionID string) int {
	s.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/disputes", strings.NewReader(`{"transaction_id": "`+transactionID+`", "reason": "failed_transfer"}`))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

func (p *program) exec(statement string) {
	p.Helper()
	if _, err := p.database().Exec(statement); err != nil {
		p.Fatal(err)
	}
}

func TestTheWorkloadFromTheTerminal(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	if out := p.must("workload", "show"); !strings.Contains(out, `"max_cases": {}`) || !strings.Contains(out, `"refuse_at": 0`) {
		t.Errorf("before anybody has set one it is\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "workload.json")
	apply := func(text string) (code int, says string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := p.start("workload", "apply", file)
		code = s.wait()
		return code, s.log.String()
	}
	if code, says := apply(`{"max_cases": {"desk:bank": 3}}`); code != 0 || !strings.Contains(says, "in force") {
		t.Errorf("it ended with %d and said %s", code, says)
	}
	if code, says := apply(`{"max_cases": {"desk:bonk": 3}}`); code != 2 || !strings.Contains(says, `there is no desk "bonk"; expected one of bank, merchant`) {
		t.Errorf("a desk that there is not ended with %d and said %s", code, says)
	}
	if out := p.must("workload", "show"); !strings.Contains(out, `"desk:bank": 3`) {
		t.Errorf("then it is\n%s", out)
	}
}
