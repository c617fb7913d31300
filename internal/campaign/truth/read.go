package truth

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"countersign"
	"countersign/audit"
)

// kept is a case as its table has it.
type kept struct {
	id                               countersign.CaseID
	subject                          string
	status, outcome, handled, reason string
}

// row is what is read of a row of the record.
type row struct {
	seq  int64
	kind audit.Kind
	says payload
}

// payload has what is looked at of the payloads of all kinds.
type payload struct {
	Round   int    `json:"round"`
	Turn    int    `json:"turn"`
	Canary  string `json:"canary"`
	Resumed int    `json:"resumed_after_turn"`
	Verb    string `json:"verb"`
	Outcome string `json:"outcome"`
	Fix     json.RawMessage
}

// posted is a row of the fixes.
type posted struct {
	transaction, kind, account, currency string
	minor                                int64
}

// read brings in what several checks look at.
func (w *world) read() (err error) {
	w.cases, w.rows, w.fixes, w.reports = map[countersign.CaseID]kept{}, map[countersign.CaseID][]row{}, map[countersign.CaseID][]posted{}, map[countersign.CaseID]int{}
	err = w.each("SELECT id, subject_id, status, outcome, handled_by, reasons FROM cases", func(r *sql.Rows) error {
		var c kept
		err := r.Scan(&c.id, &c.subject, &c.status, &c.outcome, &c.handled, &c.reason)
		w.cases[c.id] = c
		return err
	})
	if err != nil {
		return err
	}
	err = w.each(`SELECT r.case_id, r.seq, r.kind, p.payload FROM record_rows r LEFT JOIN record_payloads p ON p.case_id = r.case_id AND p.seq = r.seq
		WHERE r.kind IN ('opened', 'started', 'model_turn', 'fix', 'decision', 'closed') ORDER BY r.case_id, r.seq`, w.readRow)
	if err != nil {
		return err
	}
	err = w.each("SELECT case_id, transaction_id, kind, account_id, amount_minor, currency FROM fixes", func(r *sql.Rows) error {
		var id countersign.CaseID
		var p posted
		err := r.Scan(&id, &p.transaction, &p.kind, &p.account, &p.minor, &p.currency)
		w.fixes[id] = append(w.fixes[id], p)
		return err
	})
	if err != nil {
		return err
	}
	return w.each("SELECT case_id, COUNT(*) FROM reports GROUP BY case_id", func(r *sql.Rows) error {
		var id countersign.CaseID
		var n int
		err := r.Scan(&id, &n)
		w.reports[id] = n
		return err
	})
}

func (w *world) readRow(r *sql.Rows) error {
	var id countersign.CaseID
	var one row
	var text []byte
	if err := r.Scan(&id, &one.seq, &one.kind, &text); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &one.says); err != nil {
		w.say(Broken, "case %s: row %d, %s, cannot be read: %v", id, one.seq, one.kind, err)
	}
	w.rows[id] = append(w.rows[id], one)
	return nil
}

// each runs a statement and hands over its rows.
func (w *world) each(statement string, see func(*sql.Rows) error) error {
	rows, err := w.store.DB().QueryContext(w.ctx, statement)
	if err != nil {
		return fmt.Errorf("look for the truth: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := see(rows); err != nil {
			return fmt.Errorf("look for the truth: %w", err)
		}
	}
	return rows.Err()
}

// count is how many rows of that kind a case has, by what one of them is about.
func (w *world) count(id countersign.CaseID, kind audit.Kind, about func(payload) string) map[string]int {
	n := map[string]int{}
	for _, r := range w.rows[id] {
		if r.kind == kind {
			n[about(r.says)]++
		}
	}
	return n
}
