package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"countersign"
	"countersign/audit"
	"countersign/internal/testdb"
	"countersign/store"
)

// explained fails the test unless the error is one that an operator can act on: of a kind that says "later", naming what is
// wrong, with a hint, in one line.
func explained(t *testing.T, err error, says string) {
	t.Helper()
	var e *countersign.Error
	if !errors.As(err, &e) || e.Kind != countersign.Unavailable || e.Hint == "" || !strings.Contains(e.Message, says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a plain sentence: …%s…", err, says)
	}
}

// A disk that is full, as SQLite sees it: not one page more.
func TestAFullDisk(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	newCase(t, s, "D-1")
	pages := number(t, s, "PRAGMA page_count")
	exec(t, s, fmt.Sprintf("PRAGMA max_page_count = %d", pages+1))

	long := store.Note{Kind: audit.Note, Payload: map[string]string{"text": strings.Repeat("x", 100_000)}}
	var told atomic.Int64
	before := number(t, s, "SELECT seq FROM record_heads")
	errs := together(s, 20, func(i int) error { // some too long, some that would fit; whoever shares their commit is told
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if i%4 == 0 {
				return tx.Record(ctx, "D-1", worker, long)
			}
			return tx.Record(ctx, "D-1", worker, store.Note{Kind: audit.Note, Payload: struct{}{}})
		})
		if err != nil {
			told.Add(1)
		}
		return err
	})
	if len(errs) < 5 {
		t.Errorf("only %d of the 5 that did not fit were told", len(errs))
	}
	for _, err := range errs {
		explained(t, err, "disk that holds the database is full; nothing was changed")
	}
	after := before + 20 - told.Load()
	intact(t, s, 1, after)
	t.Run("what is there can be read", func(t *testing.T) {
		if _, err := s.Case(ctx, "D-1"); err != nil {
			t.Error(err)
		}
	})
	t.Run("with room again it works again", func(t *testing.T) {
		exec(t, s, fmt.Sprintf("PRAGMA max_page_count = %d", pages+10_000))
		write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.Record(ctx, "D-1", worker, long) })
		intact(t, s, 1, after+1)
	})
}

func TestADatabaseThatCannotBeWrittenTo(t *testing.T) {
	s := open(t, testdb.SQLite(t))
	newCase(t, s, "D-1")
	exec(t, s, "PRAGMA query_only = 1") // what a write-protected file answers
	explained(t, note(s, "D-1"), "the database cannot be written to")
	exec(t, s, "PRAGMA query_only = 0")
	intact(t, s, 1, 1)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, row := range []struct{ name, database, says string }{
		{"a file that is no database", file("letter.txt", strings.Repeat("Dear Ada, ", 1000)), "not a SQLite database"},
		{"a folder", dir, "check that"},
		{"a folder that does not exist", filepath.Join(dir, "nowhere", "c.db"), "the folder exists"},
		{"a server that does not answer", "postgres://somebody@127.0.0.1:1/nothing?connect_timeout=5", "is PostgreSQL running there"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := store.Open(ctx, row.database, store.Options{})
			if err == nil {
				s.Close()
			}
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != countersign.Unavailable || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v, want …%s…", err, row.says)
			}
		})
	}
	t.Run("what was no database is left as it was", func(t *testing.T) {
		if b, err := os.ReadFile(filepath.Join(dir, "letter.txt")); err != nil || !strings.HasPrefix(string(b), "Dear Ada") || len(b) != 10_000 {
			t.Errorf("got %d bytes, %v", len(b), err)
		}
	})
	t.Run("a URL that cannot be read does not repeat its password", func(t *testing.T) {
		_, err := store.Open(ctx, "postgres://me:s3cret@host:port/x", store.Options{})
		if countersign.KindOf(err) != countersign.Invalid || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a server that refuses does not repeat the password", func(t *testing.T) {
		_, err := store.Open(ctx, "postgres://me:s3cret@127.0.0.1:1/x", store.Options{})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	})
}

// A path is a path, whatever characters a folder's name has.
func TestAPathMayHaveAnyName(t *testing.T) {
	for _, name := range []string{"Program Files", "Ünïcödé", "100%25 sure?", "a#b&c=d", "it's", "semi;colon", "mode=memory", "file:x"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name+".db")
			s := open(t, path)
			newCase(t, s, "D-1")
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			if _, err := s.Case(ctx, "D-1"); err != nil {
				t.Errorf("its readers look elsewhere: %v", err)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) > 3 {
				t.Errorf("got %v, %v; want the database and its two companions", files, err)
			}
		})
	}
}
