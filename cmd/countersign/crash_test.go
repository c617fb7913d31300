package main

import (
	"database/sql"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// A process that is killed while cases are being investigated loses nothing, repeats no finished model call, and its
// successor ends every case within seconds.
func TestKilledInTheMiddleOfRunningCases(t *testing.T) {
	t.Parallel()
	const cases = 12
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(cases))
	token := p.admin()

	release := model.holdTurn(2)
	s := p.serve(token)
	s.disputes(cases)
	p.until("every case waits for its second turn", model.waiting(2, cases))
	s.kill()

	release()
	s = p.serve(token)
	p.until("every case is closed", func() bool { return len(s.closed()) == cases })
	if conversations, most := model.counts(1); conversations != cases || most != 1 {
		t.Errorf("the first turn was asked for by %d conversations, up to %d times; want %d and once: finished calls must not be paid twice", conversations, most, cases)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	p.intact(cases)
}

// Killed again and again, wherever it happens to be, the program does everything once.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const cases, rounds = 20, 5
	const seed = 20261130
	dice := rand.New(rand.NewPCG(seed, 1))
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	p.imports(failedTransfers(cases))
	token := p.admin()

	s := p.serve(token, "--workers", "4")
	s.disputes(cases)
	db := p.database()
	for range rounds {
		// So many rows of the record later, wherever the other workers are by then.
		until := recordLength(t, db) + dice.IntN(50)
		p.until("the record has grown, or all is done", func() bool { return recordLength(t, db) >= until || len(s.closed()) == cases })
		s.kill()
		s = p.serve(token, "--workers", "4")
	}
	p.until("every case is closed", func() bool { return len(s.closed()) == cases })
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d after SIGTERM, want 0\n%s", code, s.log)
	}
	p.intact(cases)
	model.paidOnce(p)
}

func recordLength(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT COUNT(*) FROM record_rows").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// paidOnce checks against the record that every model turn in it was recorded once, and that a turn which was recorded before
// another process took the case up again was not asked for by that one.
func (m *modelServer) paidOnce(p *program) {
	p.Helper()
	type turn struct {
		Case, Kind string
		Payload    struct {
			Round, Turn int
			Canary      string
			Resumed     int `json:"resumed_after_turn"`
		}
	}
	canary, recorded, taken := map[string]string{}, map[string]map[int]int{}, map[string]map[int]int{}
	for _, row := range rows[turn](p) {
		switch row.Kind {
		case "started":
			if canary[row.Case] == "" {
				canary[row.Case], recorded[row.Case], taken[row.Case] = row.Payload.Canary, map[int]int{}, map[int]int{}
			}
			taken[row.Case][row.Payload.Resumed+1]++ // this process may ask for every turn from here on
		case "model_turn":
			recorded[row.Case][row.Payload.Turn]++
		}
	}
	for id, turns := range recorded {
		for n := 1; n <= 2; n++ {
			if turns[n] != 1 {
				p.Errorf("case %s: turn %d is on record %d times, want once", id, n, turns[n])
			}
			may := 0
			for from, times := range taken[id] {
				if from <= n {
					may += times
				}
			}
			if asked := m.askedFor(canary[id], n); asked < 1 || asked > may {
				p.Errorf("case %s: turn %d was asked for %d times, want 1 to %d, once by each process that found it missing", id, n, asked, may)
			}
		}
	}
}

// rows reads the record as its export has it.
func rows[T any](p *program) (all []T) {
	p.Helper()
	for line := range strings.Lines(p.must("audit", "export")) {
		var raw struct{ Payload *string }
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			p.Fatal(err)
		}
		if raw.Payload == nil {
			continue
		}
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			p.Fatal(err)
		}
		row["payload"] = json.RawMessage(*raw.Payload)
		b, err := json.Marshal(row)
		if err != nil {
			p.Fatal(err)
		}
		var one T
		if err := json.Unmarshal(b, &one); err != nil {
			p.Fatal(err)
		}
		all = append(all, one)
	}
	return all
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

// intact verifies the record and, in the database itself, that each of the cases was fixed exactly once.
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
	db := p.database()
	var fixes, transactions, entries, unbalanced int
	err := db.QueryRow(`SELECT COUNT(*), COUNT(DISTINCT transaction_id) FROM fixes`).Scan(&fixes, &transactions)
	if err != nil || fixes != cases || transactions != cases {
		p.Errorf("%d fixes on %d transactions, want one for each of %d (%v)", fixes, transactions, cases, err)
	}
	err = db.QueryRow(`SELECT COUNT(*), COALESCE(SUM(CASE direction WHEN 'credit' THEN amount_minor ELSE -amount_minor END), 0)
		FROM ledger_entries WHERE id LIKE 'fix:%'`).Scan(&entries, &unbalanced)
	if err != nil || entries != 2*cases || unbalanced != 0 {
		p.Errorf("%d ledger entries of fixes that sum to %d, want %d that sum to 0 (%v)", entries, unbalanced, 2*cases, err)
	}
	recorded := 0
	for _, row := range rows[struct{ Kind string }](p) {
		if row.Kind == "fix" {
			recorded++
		}
	}
	if recorded != cases {
		p.Errorf("the record holds %d fixes, want %d", recorded, cases)
	}
}

// database opens the program's database past the program.
func (p *program) database() *sql.DB {
	p.Helper()
	driver, name := "sqlite", p.name
	if strings.HasPrefix(name, "postgres://") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { db.Close() })
	return db
}
