package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// keptPack keeps a pack of those bytes, and says whether it was the first.
func keptPack(t *testing.T, s *store.Store, id countersign.CaseID, round int, content string) (first bool) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) (err error) {
		first, err = tx.KeepPack(ctx, id, round, store.Pack{SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Pages: 9, Bytes: []byte(content)}, ada)
		return err
	})
	return first
}

// evidence stores a case with all that is kept beside a record: a file (step 2), a report (step 3), and both as a pack (step 4).
func evidence(t *testing.T, s *store.Store, id countersign.CaseID) {
	t.Helper()
	newCase(t, s, id)
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		letter := store.Exhibit{ID: "file_" + string(id), CaseID: id, Name: "letter.pdf", Type: "application/pdf", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("letter"))), Pages: 1}
		if err := tx.AddExhibit(ctx, letter, []byte("letter"), room, ada); err != nil {
			return err
		}
		added := map[string]any{"round": 1, "file": "added", "id": letter.ID, "sha256": letter.SHA256}
		if err := tx.Record(ctx, id, ada, store.Note{Kind: audit.Note, Payload: added}); err != nil {
			return err
		}
		return decided(ctx, tx, id, 1, `{"decided":"contest"}`, ada)
	})
	keptPack(t, s, id, 1, "report and letter")
}

// unguard takes off what keeps the program from changing evidence: whoever has the database's password does that first.
func unguard(t *testing.T, s *store.Store) {
	t.Helper()
	for _, table := range []string{"report_packs", "reports", "exhibits"} {
		exec(t, s, "CREATE TABLE bare AS SELECT * FROM "+table)
		exec(t, s, "DROP TABLE "+table)
		exec(t, s, "ALTER TABLE bare RENAME TO "+table)
	}
}

// What somebody with the database's password can do to the evidence beside a record, and what becomes of it: the verifier names the
// step that sealed it, and nothing of it is read any more.
func TestTamperingWithEvidence(t *testing.T) {
	const other = "other bytes"
	set := func(statement string, args ...any) func(*testing.T, *store.Store, countersign.CaseID) {
		return func(t *testing.T, s *store.Store, id countersign.CaseID) {
			exec(t, s, statement, append([]any{string(id)}, args...)...)
		}
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(other)))
	rows := []struct {
		name   string
		tamper func(*testing.T, *store.Store, countersign.CaseID)
		seq    int64
		why    string
		report bool // nothing of the report is read any more, and not its pack alone
	}{
		{"the report's content", set("UPDATE reports SET content = $2 WHERE case_id = $1", []byte(other)), 3, "the stored content of the evidence report of round 1 gives the fingerprint " + hash, true},
		{"the report's fingerprint", set("UPDATE reports SET fingerprint = $2 WHERE case_id = $1", hash), 3, "the fingerprint stored beside the evidence report of round 1 is", true},
		{"the report's content and its fingerprint", set("UPDATE reports SET content = $2, fingerprint = $3 WHERE case_id = $1", []byte(other), hash), 3, "but the record sealed", true},
		{"the report removed", set("DELETE FROM reports WHERE case_id = $1"), 3, "the evidence report of round 1, which this step sealed, is not stored any more", false},
		{"the report given another round", set("UPDATE reports SET round = 2 WHERE case_id = $1"), 4, "the evidence report of round 2 is stored, and no step of the record ever sealed it", true},
		{"the pack's bytes", set("UPDATE report_packs SET bytes = $2 WHERE case_id = $1", []byte(other)), 4, "the stored content of the pack of round 1 gives", false},
		{"the pack's bytes and their hash", set("UPDATE report_packs SET bytes = $2, sha256 = $3 WHERE case_id = $1", []byte(other), hash), 4, "the stored content of the pack of round 1 gives", false},
		{"a file's bytes", set("UPDATE exhibits SET bytes = $2 WHERE case_id = $1", []byte(other)), 2, "the stored content of the file file_", false},
		{"a file's bytes and their hash", set("UPDATE exhibits SET bytes = $2, sha256 = $3 WHERE case_id = $1", []byte(other), hash), 2, "the stored content of the file file_", false},
		{"a file removed", set("DELETE FROM exhibits WHERE case_id = $1"), 2, "which this step sealed, is not stored any more", false},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		for i := range rows {
			evidence(t, s, id(i))
		}
		intact(t, s, int64(len(rows)), int64(4*len(rows)))
		unguard(t, s)
		for i, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				if _, err := s.Report(ctx, id(i)); err != nil {
					t.Fatalf("before it was changed: %v", err)
				}
				row.tamper(t, s, id(i))
				report, err := s.VerifyRecord(ctx, nil)
				if err != nil || report.OK || len(report.Breaks) != i+1 {
					t.Fatalf("got %v, %v; want %d breaks, one a case", report, err, i+1)
				}
				if found := report.Breaks[i]; found.Case != id(i) || found.Seq != row.seq || !strings.Contains(found.Why, row.why) {
					t.Errorf("got %+v, want case %s, step %d: …%s…", found, id(i), row.seq, row.why)
				}
				if one, err := s.VerifyCase(ctx, id(i)); err != nil || len(one.Breaks) != 1 || one.Breaks[0] != report.Breaks[i] {
					t.Errorf("alone it is %v, %v", one, err)
				}
				if row.report {
					got, err := s.Report(ctx, id(i))
					fails(t, err, countersign.Altered, row.why)
					if got.Content != nil || !strings.Contains(err.Error(), "audit verify") {
						t.Errorf("it says %v, beside %q", err, got.Content)
					}
				}
				if strings.HasPrefix(row.name, "the pack") || row.report {
					got, _, err := s.Pack(ctx, id(i), 1)
					fails(t, err, countersign.Altered, row.why)
					if got.Bytes != nil {
						t.Errorf("beside the error came %q", got.Bytes)
					}
				}
			})
		}
	})
}

// A report whose note was erased may be what was sealed, and nobody can tell.
func TestAReportWhoseNoteWasErasedCannotBeChecked(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		evidence(t, s, "D-1")
		disarm(t, s)
		exec(t, s, "DELETE FROM record_payloads WHERE case_id = 'D-1' AND seq = 3")
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.Record(ctx, "D-1", ada, store.Note{Kind: audit.Erased, Payload: map[string][]int{"erased": {3}}})
		})
		report, err := s.VerifyRecord(ctx, nil)
		if err != nil || !report.OK || len(report.Unchecked) != 3 || report.Unchecked[2].Seq != 3 || !strings.Contains(report.Unchecked[2].Why, "the evidence report of round 1 cannot be checked against the record") {
			t.Errorf("got %v, %v", report, err)
		}
		_, err = s.Report(ctx, "D-1")
		fails(t, err, countersign.Altered, "the evidence report of round 1 cannot be checked against the record")
	})
}

// Somebody who can add rows may add one that fits what they changed. What was sealed first counts.
func TestASecondSealingOfTheSameReportCountsForNothing(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	evidence(t, s, "D-1")
	unguard(t, s)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte("other")))
	exec(t, s, "UPDATE reports SET content = $1, fingerprint = $2", []byte("other"), hash)
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, "D-1", ada, store.Note{Kind: audit.Note, Payload: map[string]any{"round": 1, "report": audit.ReportMade + hash}})
	})
	if report, err := s.VerifyRecord(ctx, nil); err != nil || len(report.Breaks) != 1 || report.Breaks[0].Seq != 3 {
		t.Errorf("got %v, %v", report, err)
	}
	_, err := s.Report(ctx, "D-1")
	fails(t, err, countersign.Altered, "but the record sealed")
}

// A pack that an earlier version kept without a step that seals it is read as none, and stays what it was.
func TestAPackThatWasNeverSealedIsReadByNobody(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			return decided(ctx, tx, "D-1", 1, `{"decided":"contest"}`, ada)
		})
		exec(t, s, "INSERT INTO report_packs (case_id, round, sha256, pages, bytes, created_at) VALUES ($1, 1, $2, 9, $3, 1)", "D-1", fmt.Sprintf("%x", sha256.Sum256([]byte("pack"))), []byte("pack"))
		report, err := s.VerifyRecord(ctx, nil)
		if err != nil || !report.OK || len(report.Unchecked) != 1 || !strings.Contains(report.Unchecked[0].Why, "the pack of round 1 is stored, and the record seals no pack") {
			t.Errorf("got %v, %v", report, err)
		}
		if p, ok, err := s.Pack(ctx, "D-1", 1); err != nil || ok || p.Bytes != nil {
			t.Errorf("it is read as %q, %v, %v", p.Bytes, ok, err)
		}
		if keptPack(t, s, "D-1", 1, "made anew") {
			t.Error("another one took its place")
		}

		disarm(t, s)
		exec(t, s, "DELETE FROM record_payloads WHERE case_id = 'D-1' AND seq = 2")
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			return tx.Record(ctx, "D-1", ada, store.Note{Kind: audit.Erased, Payload: map[string][]int{"erased": {2}}})
		})
		_, _, err = s.Pack(ctx, "D-1", 1)
		fails(t, err, countersign.Altered, "the pack of round 1 cannot be checked against the record")
	})
}
