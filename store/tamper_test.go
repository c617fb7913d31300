package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// closedCase stores a case with five record rows: opened, started, note, verdict, closed.
func closedCase(t testing.TB, s *store.Store, id countersign.CaseID) {
	t.Helper()
	c := newCase(t, s, id)
	say := func(kind audit.Kind, status countersign.Status, outcome countersign.Outcome) store.Note {
		return store.Note{Kind: kind, Payload: map[string]any{"round": 1, "status": status, "outcome": outcome}}
	}
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		c.Status, c.Outcome, c.HandledBy = countersign.Closed, countersign.Resolved, countersign.ByPerson
		if err := tx.Save(ctx, &c); err != nil {
			return err
		}
		return tx.Record(ctx, id, worker, say(audit.Started, "investigating", ""), store.Note{Kind: audit.Note, Payload: map[string]any{"round": 1, "text": id}},
			say(audit.Verdict, "in_review", ""), say(audit.Closed, "closed", "resolved"))
	})
}

// disarm takes from the record's tables all that protects them: triggers, keys and references.
func disarm(t *testing.T, s *store.Store) {
	t.Helper()
	for _, table := range []string{"record_heads", "record_rows", "record_payloads"} {
		exec(t, s, "CREATE TABLE bare AS SELECT * FROM "+table)
		exec(t, s, "DROP TABLE "+table)
		exec(t, s, "ALTER TABLE bare RENAME TO "+table)
	}
}

// row reads one record row of a case.
func row(t *testing.T, s *store.Store, id countersign.CaseID, seq int64) store.RecordRow {
	t.Helper()
	for r, err := range s.RecordRows(ctx, id, seq-1) {
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Fatalf("case %s has no row %d", id, seq)
	return store.RecordRow{}
}

// forged is a row that continues a case's record after seq as an honest one would, with the payload of the row that is there,
// but says that somebody else did it.
func forged(t *testing.T, s *store.Store, id countersign.CaseID, seq int64) audit.Row {
	t.Helper()
	before, there := row(t, s, id, seq), row(t, s, id, seq+1)
	rows, _, err := audit.Append(audit.Head{Case: id, Seq: seq, Hash: before.Hash}, audit.Entry{Kind: there.Kind,
		Actor: countersign.Actor{Kind: countersign.Person, ID: "mallory"}, At: there.At, Salt: audit.Salt(there.Payload.Salt), Payload: there.Payload.Bytes})
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

const insertRow = "INSERT INTO record_rows (case_id, seq, version, kind, actor, at, commitment, prev_hash, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"

func columns(r audit.Row) []any {
	return []any{string(r.Case), r.Seq, r.Version, string(r.Kind), r.Actor, r.At, r.Commitment.String(), r.Prev.String(), r.Hash.String()}
}

// What somebody with the database's password can do to a record, and what the verifier makes of it. Each row tampers with a
// case of its own; the others must stay as they were found.
func TestTampering(t *testing.T) {
	run := func(statements ...string) func(*testing.T, *store.Store, countersign.CaseID) {
		return func(t *testing.T, s *store.Store, id countersign.CaseID) {
			for _, statement := range statements {
				exec(t, s, statement, string(id))
			}
		}
	}
	rows := []struct {
		name   string
		tamper func(*testing.T, *store.Store, countersign.CaseID)
		seq    int64
		why    string
	}{
		{"another actor", run("UPDATE record_rows SET actor = 'person:mallory' WHERE case_id = $1 AND seq = 3"), 3, "a stored field was changed"},
		{"another kind", run("UPDATE record_rows SET kind = 'message' WHERE case_id = $1 AND seq = 3"), 3, "a stored field was changed"},
		{"another time, by a microsecond", run("UPDATE record_rows SET at = at + 1 WHERE case_id = $1 AND seq = 2"), 2, "a stored field was changed"},
		{"another hash", run("UPDATE record_rows SET hash = commitment WHERE case_id = $1 AND seq = 4"), 4, "a stored field was changed"},
		{"another previous hash", run("UPDATE record_rows SET prev_hash = commitment WHERE case_id = $1 AND seq = 4"), 4, "a stored field was changed"},
		{"another format version", run("UPDATE record_rows SET version = 2 WHERE case_id = $1 AND seq = 1"), 1, "format version 2"},
		{"another payload", func(t *testing.T, s *store.Store, id countersign.CaseID) {
			exec(t, s, "UPDATE record_payloads SET payload = $2 WHERE case_id = $1 AND seq = 3", string(id), []byte(`{"round":1,"text":"nothing"}`))
		}, 3, "its payload was changed"},
		{"another salt", func(t *testing.T, s *store.Store, id countersign.CaseID) {
			exec(t, s, "UPDATE record_payloads SET salt = $2 WHERE case_id = $1 AND seq = 5", string(id), make([]byte, 16))
		}, 5, "its payload was changed"},
		{"two payloads exchanged", run("UPDATE record_payloads SET seq = 8 - seq WHERE case_id = $1 AND seq IN (3, 5)"), 3, "its payload was changed"},
		{"a payload removed without a word", run("DELETE FROM record_payloads WHERE case_id = $1 AND seq = 3"), 3, "its payload is gone"},
		{"two rows exchanged, payloads and all", run("UPDATE record_rows SET seq = 7 - seq WHERE case_id = $1 AND seq IN (3, 4)",
			"UPDATE record_payloads SET seq = 7 - seq WHERE case_id = $1 AND seq IN (3, 4)"), 3, "out of order"},
		{"a row in the middle removed", run("DELETE FROM record_rows WHERE case_id = $1 AND seq = 3"), 3, "the step is missing"},
		{"a row in the middle removed and the gap closed", run("DELETE FROM record_rows WHERE case_id = $1 AND seq = 3",
			"UPDATE record_rows SET seq = seq - 1 WHERE case_id = $1 AND seq > 3"), 3, "out of order"},
		{"the first row removed", run("DELETE FROM record_rows WHERE case_id = $1 AND seq = 1"), 1, "missing"},
		{"the end cut off", run("DELETE FROM record_rows WHERE case_id = $1 AND seq > 3"), 4, "the end was cut off"},
		{"the end cut off and the head moved back", run("DELETE FROM record_rows WHERE case_id = $1 AND seq > 4",
			"UPDATE record_heads SET seq = 4, hash = (SELECT hash FROM record_rows WHERE case_id = $1 AND seq = 4) WHERE case_id = $1"), 4, `the case says its status is "closed"`},
		{"everything removed but the head", run("DELETE FROM record_rows WHERE case_id = $1"), 1, "the whole record is missing"},
		{"the head's hash changed", run("UPDATE record_heads SET hash = (SELECT hash FROM record_rows WHERE case_id = $1 AND seq = 4) WHERE case_id = $1"), 5, "names another row"},
		{"the head's hash made no hash", run("UPDATE record_heads SET hash = 'x' WHERE case_id = $1"), 5, "names another row"},
		{"the head moved on", run("UPDATE record_heads SET seq = 6 WHERE case_id = $1"), 6, "the end was cut off"},
		{"the head moved back", run("UPDATE record_heads SET seq = 4 WHERE case_id = $1"), 5, "added after the end"},
		{"the head removed", run("DELETE FROM record_heads WHERE case_id = $1"), 1, "added after the end"},
		{"the case's status changed", run("UPDATE cases SET status = 'in_review' WHERE id = $1"), 5, `the case says its status is "in_review"`},
		{"the case's outcome changed", run("UPDATE cases SET outcome = 'rejected' WHERE id = $1"), 5, `the case says its outcome is "rejected"`},
		{"the case removed", run("DELETE FROM record_heads WHERE case_id = $1", "DELETE FROM cases WHERE id = $1"), 1, "no such case"},
		{"the last row replaced by one that fits", func(t *testing.T, s *store.Store, id countersign.CaseID) {
			f := forged(t, s, id, 4)
			run("DELETE FROM record_rows WHERE case_id = $1 AND seq = 5")(t, s, id)
			exec(t, s, insertRow, columns(f)...)
		}, 5, "names another row"},
		{"a row in the middle replaced by one that fits", func(t *testing.T, s *store.Store, id countersign.CaseID) {
			f := forged(t, s, id, 2)
			run("DELETE FROM record_rows WHERE case_id = $1 AND seq = 3")(t, s, id)
			exec(t, s, insertRow, columns(f)...)
		}, 4, "does not continue from step 3"},
		{"a second history beside the first", func(t *testing.T, s *store.Store, id countersign.CaseID) {
			exec(t, s, insertRow, columns(forged(t, s, id, 3))...)
		}, 4, "the history forks"},
		{"everything removed, of the last case there is", run("DELETE FROM record_rows WHERE case_id = $1", "DELETE FROM record_heads WHERE case_id = $1"), 1, "no record at all"},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i := range rows {
			closedCase(t, s, id(i))
			if i < len(rows)-1 {
				closedCase(t, s, id(i)+"-beside")
			}
		}
		intact(t, s, int64(2*len(rows)-1), int64(10*len(rows)-5))
		disarm(t, s)
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				row.tamper(t, s, id(i))
				report, err := s.VerifyRecord(ctx, nil)
				if err != nil || report.OK || len(report.Breaks) != i+1 {
					t.Fatalf("got %v, %v; want %d breaks, one a case", report, err, i+1)
				}
				found := report.Breaks[i] // in the order of the cases
				if found.Case != id(i) || found.Seq != row.seq || !strings.Contains(found.Why, row.why) {
					t.Errorf("got %+v, want case %s, step %d: …%s…", found, id(i), row.seq, row.why)
				}
				if one, err := s.VerifyCase(ctx, id(i)); err == nil && !slices.Equal(one.Breaks, []audit.Break{found}) {
					t.Errorf("alone it is %v", one)
				}
			})
		}
		t.Run("an export says the same of all of them", func(t *testing.T) {
			want, err := s.VerifyRecord(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := audit.VerifyExport(bytes.NewReader(exported(t, s, "")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the export differs (-database +export):\n%s", diff)
			}
		})
		t.Run("one case is exported as it is", func(t *testing.T) {
			for i, row := range rows {
				if row.name == "the case removed" {
					continue
				}
				got, err := audit.VerifyExport(bytes.NewReader(exported(t, s, id(i))))
				if err != nil || len(got.Breaks) != 1 || got.Breaks[0].Seq != row.seq {
					t.Errorf("%s: got %v, %v", row.name, got, err)
				}
			}
		})
	})
}

func exported(t *testing.T, s *store.Store, id countersign.CaseID) []byte {
	t.Helper()
	var file bytes.Buffer
	w := audit.NewWriter(&file, audit.Header{})
	if err := errors.Join(s.Export(ctx, id, w), w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestExportOfACaseThatDoesNotExistIsAnError(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		if err := s.Export(ctx, "D-2", audit.NewWriter(&bytes.Buffer{}, audit.Header{})); countersign.KindOf(err) != countersign.NotFound {
			t.Errorf("got %v, want that there is no such case", err)
		}
	})
}

// The shares of a walk over every record are cut between cases: what they find must come out as one, and none may be left out.
func TestManyRowsAreReadInShares(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		store.SharesOf(t, 2)
		s := open(t, database)
		const cases, rows = 5, 2200
		for i := range cases {
			newCase(t, s, id(i))
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.Record(ctx, id(i), worker, slices.Repeat([]store.Note{{Kind: audit.Note, Payload: map[string]int{"round": 1}}}, rows)...)
			})
		}
		var told atomic.Int64
		report, err := s.VerifyRecord(ctx, told.Store)
		if err != nil || !report.OK || report.Cases != cases || report.Rows != cases*(rows+1) {
			t.Errorf("got %v, %v", report, err)
		}
		if n := told.Load(); n == 0 || n > report.Rows {
			t.Errorf("progress was told of %d rows", n)
		}
		if report := verifiedExport(t, s); !report.OK || report.Cases != cases || report.Rows != cases*(rows+1) {
			t.Errorf("the export says %v", report)
		}
		disarm(t, s)
		exec(t, s, "UPDATE record_rows SET at = 1 WHERE case_id = $1 AND seq = 500", string(id(3)))
		report, err = s.VerifyRecord(ctx, nil)
		if want := fmt.Sprint(id(3), 500); err != nil || len(report.Breaks) != 1 || fmt.Sprint(report.Breaks[0].Case, report.Breaks[0].Seq) != want {
			t.Errorf("got %v, %v; want case %s, step 500", report, err, id(3))
		}
	})
}

// verifiedExport verifies what a store exports.
func verifiedExport(t *testing.T, s *store.Store) audit.Report {
	t.Helper()
	report, err := audit.VerifyExport(bytes.NewReader(exported(t, s, "")))
	if err != nil {
		t.Fatal(err)
	}
	return report
}
