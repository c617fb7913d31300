package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

var room = store.ExhibitRoom{Files: 3, Bytes: 100}

// addFile adds a file of that text to the case D-1, called by its id.
func addFile(s *store.Store, id, text string) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.AddExhibit(ctx, store.Exhibit{ID: id, CaseID: "D-1", Name: id + ".pdf", Description: "from the carrier", Type: "application/pdf",
			SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text))), Pages: 2}, []byte(text), room, ada)
	})
}

func takeOff(s *store.Store, id string, by countersign.Actor) error {
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.RemoveExhibit(ctx, "D-1", id, by) })
}

func closeCase(t *testing.T, s *store.Store, id countersign.CaseID) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.SQL().ExecContext(ctx, "UPDATE cases SET status = 'closed' WHERE id = $1", string(id))
		return err
	})
}

func fails(t *testing.T, err error, kind countersign.ErrorKind, says string) {
	t.Helper()
	if countersign.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err), says) {
		t.Errorf("got %v, want %s: %s", err, kind, says)
	}
}

// refused runs a statement that a trigger must stop.
func refused(t *testing.T, s *store.Store, statement string) {
	t.Helper()
	err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.SQL().ExecContext(ctx, statement)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "refuses") {
		t.Errorf("%s: got %v", statement, err)
	}
}

func TestExhibits(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		s := open(t, database, store.Options{Now: func() time.Time { return now }})
		newCase(t, s, "D-1")
		names := func(t *testing.T) (names []string) {
			t.Helper()
			all, err := s.Exhibits(ctx, "D-1")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				names = append(names, e.ID)
			}
			return names
		}
		t.Run("a file comes back as it was added", func(t *testing.T) {
			if err := addFile(s, "X1", "\x00\xffproof"); err != nil {
				t.Fatal(err)
			}
			all, err := s.Exhibits(ctx, "D-1")
			want := []store.Exhibit{{ID: "X1", CaseID: "D-1", Name: "X1.pdf", Description: "from the carrier", Type: "application/pdf", Size: 7,
				SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("\x00\xffproof"))), Pages: 2, AddedAt: now, AddedBy: ada.String()}}
			if diff := cmp.Diff(want, all); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if file, err := s.ExhibitBytes(ctx, "D-1", "X1"); string(file) != "\x00\xffproof" || err != nil {
				t.Errorf("%q, %v", file, err)
			}
		})
		t.Run("the same bytes twice are refused, and another case's file is not this one's", func(t *testing.T) {
			fails(t, addFile(s, "X2", "\x00\xffproof"), countersign.Conflict, "on the case already")
			_, err := s.ExhibitBytes(ctx, "D-2", "X1")
			fails(t, err, countersign.NotFound, `no file "X1"`)
		})
		t.Run("together they are held to the room that there is", func(t *testing.T) {
			fails(t, addFile(s, "X3", strings.Repeat("x", 94)), countersign.TooLarge, "at most 100 bytes together; there are 7, and this one has 94")
			for _, id := range []string{"X4", "X5"} {
				if err := addFile(s, id, id); err != nil {
					t.Fatal(err)
				}
			}
			fails(t, addFile(s, "X6", "six"), countersign.TooLarge, "at most 3 files")
		})
		t.Run("one that is taken off makes room, stays with its bytes, and may be added again", func(t *testing.T) {
			if err := takeOff(s, "X4", ada); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"X1", "X5"}, names(t)); diff != "" {
				t.Error(diff)
			}
			if file, err := s.ExhibitBytes(ctx, "D-1", "X4"); string(file) != "X4" || err != nil {
				t.Errorf("%q, %v", file, err)
			}
			fails(t, takeOff(s, "X4", ada), countersign.NotFound, `no file "X4"`)
			if err := addFile(s, "X7", "X4"); err != nil {
				t.Error(err)
			}
		})
		t.Run("nobody cannot add or take off", func(t *testing.T) {
			fails(t, takeOff(s, "X5", countersign.Actor{}), countersign.Internal, "needs an actor")
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddExhibit(ctx, store.Exhibit{ID: "X8", CaseID: "D-1"}, nil, room, countersign.Actor{})
			})
			fails(t, err, countersign.Internal, "needs an actor")
		})
		t.Run("the database keeps them as they were", func(t *testing.T) {
			for _, statement := range []string{"UPDATE exhibits SET bytes = bytes", "UPDATE exhibits SET name = 'x' WHERE id = 'X1'", "UPDATE exhibits SET removed_by = '' WHERE id = 'X4'", "DELETE FROM exhibits"} {
				refused(t, s, statement)
			}
		})
		t.Run("a closed case keeps what it has, and a case that is not there has none", func(t *testing.T) {
			closeCase(t, s, "D-1")
			fails(t, addFile(s, "X9", "late"), countersign.Conflict, "closed")
			fails(t, takeOff(s, "X1", ada), countersign.Conflict, "closed")
			err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.AddExhibit(ctx, store.Exhibit{ID: "X8", CaseID: "D-none"}, []byte("x"), room, ada)
			})
			fails(t, err, countersign.NotFound, "no case")
		})
	})
}

func TestFilesThatArriveAtOnceDoNotShareOneRoom(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		newCase(t, s, "D-1")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := addFile(s, fmt.Sprintf("X%d", i), strings.Repeat(fmt.Sprint(i), 40)); err != nil && countersign.KindOf(err) != countersign.TooLarge {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := number(t, s, "SELECT SUM(size) FROM exhibits"); n != 80 {
			t.Errorf("%d bytes are on the case", n)
		}
	})
}

// decided keeps the report of a round of a case and seals it, as the decision does.
func decided(ctx context.Context, tx *store.Tx, id countersign.CaseID, round int, content string, by countersign.Actor) error {
	fingerprint := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	if err := tx.AddReport(ctx, store.Report{CaseID: id, Round: round, Fingerprint: fingerprint, Content: []byte(content)}, by); err != nil {
		return err
	}
	return tx.Record(ctx, id, by, store.Note{Kind: audit.Note, Payload: map[string]any{"round": round, "report": audit.ReportMade + fingerprint}})
}

func TestReports(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		s := open(t, database, store.Options{Now: func() time.Time { return now }})
		newCase(t, s, "D-1")
		add := func(round int, content string, by countersign.Actor) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return decided(ctx, tx, "D-1", round, content, by) })
		}
		t.Run("a case has none until a person decides", func(t *testing.T) {
			_, err := s.Report(ctx, "D-1")
			fails(t, err, countersign.NotFound, "no evidence report")
		})
		t.Run("it comes back byte for byte, the last round's", func(t *testing.T) {
			for round, content := range map[int]string{1: `{"a":"ọ̀"}`, 2: `{"a":"2"}`} {
				if err := add(round, content, ada); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Report(ctx, "D-1")
			want := store.Report{CaseID: "D-1", Round: 2, Fingerprint: fmt.Sprintf("%x", sha256.Sum256([]byte(`{"a":"2"}`))), Content: []byte(`{"a":"2"}`), CreatedAt: now, CreatedBy: ada.String()}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
		t.Run("a round has one report, by somebody, of a case", func(t *testing.T) {
			fails(t, add(2, "again", ada), countersign.Conflict, "round 2 of case D-1 has its report")
			fails(t, add(3, "x", countersign.Actor{}), countersign.Internal, "needs an actor")
		})
		t.Run("its pack is made once, and the record says in whose name", func(t *testing.T) {
			if _, ok, err := s.Pack(ctx, "D-1", 2); ok || err != nil {
				t.Errorf("there is one, or %v", err)
			}
			before := number(t, s, "SELECT COUNT(*) FROM record_rows")
			for _, bytes := range []string{"first", "second"} {
				if kept := keptPack(t, s, "D-1", 2, bytes); kept != (bytes == "first") {
					t.Errorf("the %s was kept: %v", bytes, kept)
				}
			}
			got, ok, err := s.Pack(ctx, "D-1", 2)
			if err != nil || !ok || string(got.Bytes) != "first" || got.Pages != 9 || !got.CreatedAt.Equal(now) {
				t.Errorf("kept is %+v, %v", got, err)
			}
			if n := number(t, s, "SELECT COUNT(*) FROM record_rows"); n != before+1 {
				t.Errorf("the record has %d rows more, want 1", n-before)
			}
		})
		t.Run("the database keeps both as they were", func(t *testing.T) {
			for _, statement := range []string{"UPDATE reports SET content = content", "UPDATE reports SET created_by = 'x'", "DELETE FROM reports", "UPDATE report_packs SET bytes = bytes", "DELETE FROM report_packs"} {
				refused(t, s, statement)
			}
		})
	})
}
