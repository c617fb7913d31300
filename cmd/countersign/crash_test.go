package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// A process that is killed while cases are being investigated loses nothing, repeats no finished model call, and its
// successor ends every case within seconds.
func TestKilledInTheMiddleOfRunningCases(t *testing.T) {
	const cases = 12
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(cases))
	token := strings.TrimSpace(p.must("token", "create", "--name", "test", "--role", "admin"))

	never := make(chan struct{})
	model.hold = func(turn int) <-chan struct{} {
		if turn == 2 {
			return never
		}
		return nil
	}
	s := p.serve(token)
	for i := range cases {
		if code := s.call("POST", "/disputes", map[string]any{"transaction_id": fmt.Sprintf("T%d", i), "reason": "failed_transfer", "notes": "Money left."}, nil); code != 202 {
			t.Fatalf("POST /disputes answered %d", code)
		}
	}
	p.until("every case waits for its second turn", func() bool { n, _ := model.counts(2); return n == cases })
	s.kill()

	model.mu.Lock()
	model.hold = nil
	model.mu.Unlock()
	s = p.serve(token)
	p.until("every case is closed", func() bool { return len(s.closed()) == cases })
	if conversations, most := model.counts(1); conversations != cases || most != 1 {
		t.Errorf("the first turn was asked for by %d conversations, up to %d times; want %d and once: finished calls must not be paid twice", conversations, most, cases)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	p.intact(cases)
	if strings.Contains(s.log.String(), "sk-canary-key") {
		t.Error("the log holds the model's key")
	}
}

// closed lists the cases that were fixed by the policy.
func (s *server) closed() (ids []string) {
	var page struct {
		Cases []struct {
			ID        string `json:"id"`
			Status    string `json:"status"`
			Outcome   string `json:"outcome"`
			HandledBy string `json:"handled_by"`
		} `json:"cases"`
	}
	s.call("GET", "/cases?status=closed&limit=200", nil, &page)
	for _, c := range page.Cases {
		if c.Outcome != "resolved" || c.HandledBy != "policy" {
			s.Fatalf("case %s ended as %s by %s", c.ID, c.Outcome, c.HandledBy)
		}
		ids = append(ids, c.ID)
	}
	return ids
}

// intact verifies the record and that each case was fixed exactly once.
func (p *program) intact(cases int) {
	p.Helper()
	var report struct {
		OK    bool `json:"ok"`
		Cases int  `json:"cases"`
	}
	out := p.must("audit", "verify", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || !report.OK || report.Cases != cases {
		p.Errorf("audit verify: %s", out)
	}
	export := p.must("audit", "export")
	if n := strings.Count(export, `"kind":"fix"`); n != cases {
		p.Errorf("the record holds %d fixes, want %d", n, cases)
	}
}
