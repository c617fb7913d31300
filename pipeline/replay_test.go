package pipeline_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/pipeline"
	"countersign/pipeline/policy"
	"countersign/store"
)

// walk is rows as a store hands them out.
func walk(rows []store.RecordRow, failing error) iter.Seq2[store.RecordRow, error] {
	return func(yield func(store.RecordRow, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if failing != nil {
			yield(store.RecordRow{}, failing)
		}
	}
}

// alteredRows are rows with some of their payloads changed; the originals stay as they are.
func alteredRows(rows []store.RecordRow, kind audit.Kind, change func(*store.RecordRow)) []store.RecordRow {
	rows = slices.Clone(rows)
	for i := range rows {
		if rows[i].Kind == kind {
			if p := rows[i].Payload; p != nil {
				rows[i].Payload = &audit.Payload{Salt: p.Salt, Bytes: slices.Clone(p.Bytes)}
			}
			change(&rows[i])
		}
	}
	return rows
}

func replacing(from, to string) func(*store.RecordRow) {
	return func(row *store.RecordRow) {
		row.Payload.Bytes = []byte(strings.Replace(string(row.Payload.Bytes), from, to, 1))
	}
}

// Every scenario checks that its rounds replay byte for byte. Here is what a replay refuses, and that it really decides.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testdb.SQLite(t), nil)
	w.rents(1)
	c := w.work("RENT-1", countersign.FailedTransfer)
	rows, rules := w.rows(c.ID), w.desk.Rules

	if v, err := pipeline.Replay(rules, walk(rows, nil), 1); err != nil || v.Kind != countersign.Automatic {
		t.Fatalf("got %+v, %v", v, err)
	}
	t.Run("other facts give another verdict", func(t *testing.T) {
		v, err := pipeline.Replay(rules, walk(alteredRows(rows, audit.Facts, replacing(`"supports":"failed_transfer"`, `"supports":"duplicate_charge"`)), nil), 1)
		if err != nil || len(v.Reasons) != 1 || v.Reasons[0].Code != countersign.FactsDisagree {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	t.Run("other evidence gives another verdict", func(t *testing.T) {
		v, err := pipeline.Replay(rules, walk(alteredRows(rows, audit.Proposal, replacing(`"invalid":[]`, `"invalid":["S9 is no step."]`)), nil), 1)
		if err != nil || len(v.Reasons) != 1 || v.Reasons[0].Code != countersign.EvidenceInvalid {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	for _, row := range []struct {
		name  string
		rules []policy.Rule
		rows  []store.RecordRow
		round int
		fails error
		want  string
	}{
		{"a round that was never begun", rules, rows, 2, nil, "no facts row of this round is on record"},
		{"a round that has no verdict yet", rules, rows[:4], 1, nil, "no facts row of this round is on record"},
		{"erased facts", rules, alteredRows(rows, audit.Facts, func(r *store.RecordRow) { r.Payload = nil }), 1, nil, "no facts row of this round is on record, or it was erased"},
		{"an erased verdict", rules, alteredRows(rows, audit.Verdict, func(r *store.RecordRow) { r.Payload = nil }), 1, nil, "no verdict row of this round is on record, or it was erased"},
		{"facts of another shape", rules, alteredRows(rows, audit.Facts, replacing(`"items":[`, `"items":[7,`)), 1, nil, "facts"},
		{"a row that is no JSON", rules, alteredRows(rows, audit.Proposal, replacing(`{`, ``)), 1, nil, "proposal"},
		{"rules that have changed since", append(slices.Clone(rules), policy.Rule{Name: "new/1", Check: func(policy.Input) []countersign.Reason { return nil }}), rows, 1, nil, "was decided by policy"},
		{"limits that were changed afterwards", rules, alteredRows(rows, audit.Verdict, replacing(`"min_evidence":2`, `"min_evidence":1`)), 1, nil, "was decided by policy"},
		{"a database that fails while it is read", rules, rows[:3], 1, errors.New("the disk is gone"), "the disk is gone"},
	} {
		t.Run(row.name+" is an error", func(t *testing.T) {
			v, err := pipeline.Replay(row.rules, walk(row.rows, row.fails), row.round)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %+v and %v, want an error with %q", v, err, row.want)
			}
		})
	}
}
