package store_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
)

var ada = countersign.Actor{Kind: countersign.Person, ID: "ada"}

// addVersion adds the next version of the document D1.
func addVersion(t testing.TB, s *store.Store, number int, text string) store.DocumentVersion {
	t.Helper()
	d := store.DocumentVersion{ID: "D1-v" + strconv.Itoa(number), DocumentID: "D1", Title: "Returns", Number: number, File: "returns.md", Kind: "Markdown",
		Size: int64(len(text)), SHA256: "beef", Reading: "{}", ValidFrom: "2026-03-01", ValidUntil: "", CreatedBy: ada.String(), Text: text}
	write(t, s, func(ctx context.Context, tx *store.Tx) error {
		d.CreatedAt = tx.Now
		id, err := tx.DocumentByTitle(ctx, "returns")
		if err == nil && id == "" {
			err = tx.AddDocument(ctx, "D1", "Returns", "returns", ada)
		}
		if err != nil {
			return err
		}
		return tx.AddDocumentVersion(ctx, d, []byte(text), ada)
	})
	return d
}

func TestPolicyDocuments(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		s := open(t, database, store.Options{Now: func() time.Time { return now }})
		t.Run("a library begins empty", func(t *testing.T) {
			if all, err := s.DocumentVersions(ctx); err != nil || len(all) != 0 {
				t.Errorf("%v, %v", all, err)
			}
			if _, err := s.DocumentVersion(ctx, "D1-v1"); countersign.KindOf(err) != countersign.NotFound {
				t.Error(err)
			}
			if _, err := s.DocumentBytes(ctx, "D1-v1"); countersign.KindOf(err) != countersign.NotFound {
				t.Error(err)
			}
		})
		first := addVersion(t, s, 1, "Thirty days. Ọjọ́ 30.")
		second := addVersion(t, s, 2, "Fourteen days.")
		t.Run("every version stays, with its text and its bytes", func(t *testing.T) {
			for _, want := range []store.DocumentVersion{first, second} {
				want.ConfirmedAt = time.UnixMicro(0).UTC()
				got, err := s.DocumentVersion(ctx, want.ID)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if file, err := s.DocumentBytes(ctx, want.ID); err != nil || string(file) != want.Text {
					t.Errorf("%q, %v", file, err)
				}
			}
			texts, err := s.DocumentTexts(ctx, []string{"D1-v2", "D1-v9"})
			if diff := cmp.Diff(map[string]string{"D1-v2": "Fourteen days."}, texts); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
		t.Run("a version is confirmed once, by the first who does", func(t *testing.T) {
			for _, by := range []countersign.Actor{ada, worker} {
				write(t, s, func(ctx context.Context, tx *store.Tx) error { return tx.ConfirmDocumentVersion(ctx, "D1-v1", by) })
			}
			got, err := s.DocumentVersion(ctx, "D1-v1")
			if err != nil || got.ConfirmedBy != ada.String() || !got.ConfirmedAt.Equal(now) || !got.Confirmed() {
				t.Errorf("%+v, %v", got, err)
			}
		})
		t.Run("its days may change, and who changed them is kept", func(t *testing.T) {
			write(t, s, func(ctx context.Context, tx *store.Tx) error {
				return tx.DateDocumentVersion(ctx, "D1-v1", "2025-01-01", "2026-02-28", ada)
			})
			acts, err := s.DocumentHistory(ctx, "D1")
			want := []store.DocumentAct{{"D1-v1", "added", "2026-03-01", "", now, ada.String()}, {"D1-v2", "added", "2026-03-01", "", now, ada.String()},
				{"D1-v1", "confirmed", "", "", now, ada.String()}, {"D1-v1", "dated", "2025-01-01", "2026-02-28", now, ada.String()}}
			if diff := cmp.Diff(want, acts); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			all, err := s.DocumentVersions(ctx)
			if err != nil || len(all) != 2 || all[0].ValidFrom != "2025-01-01" || all[0].ValidUntil != "2026-02-28" || all[1].ID != "D1-v2" || all[0].Text != "" {
				t.Errorf("%+v, %v", all, err)
			}
		})
		t.Run("its text and its bytes may not, whoever asks", func(t *testing.T) {
			for _, statement := range []string{"UPDATE policy_versions SET text = 'Forty days.'", "UPDATE policy_versions SET bytes = x'00'",
				"UPDATE policy_versions SET number = 9", "DELETE FROM policy_versions"} {
				if s.Engine() == "postgres" && statement == "UPDATE policy_versions SET bytes = x'00'" {
					statement = "UPDATE policy_versions SET bytes = '\\x00'"
				}
				if _, err := s.DB().ExecContext(ctx, statement); err == nil {
					t.Errorf("%s was done", statement)
				}
			}
		})
		t.Run("nobody acts without a name, nor on what is not there", func(t *testing.T) {
			for what, f := range map[string]func(context.Context, *store.Tx) error{
				"adding a document": func(ctx context.Context, tx *store.Tx) error {
					return tx.AddDocument(ctx, "D2", "Gifts", "gifts", countersign.Actor{})
				},
				"adding a version": func(ctx context.Context, tx *store.Tx) error {
					return tx.AddDocumentVersion(ctx, store.DocumentVersion{ID: "D1-v3", DocumentID: "D1", Number: 3}, nil, countersign.Actor{})
				},
				"confirming": func(ctx context.Context, tx *store.Tx) error {
					return tx.ConfirmDocumentVersion(ctx, "D1-v2", countersign.Actor{})
				},
				"dating": func(ctx context.Context, tx *store.Tx) error {
					return tx.DateDocumentVersion(ctx, "D1-v2", "", "", countersign.Actor{})
				},
				"dating what is not": func(ctx context.Context, tx *store.Tx) error {
					return tx.DateDocumentVersion(ctx, "D1-v9", "", "", ada)
				},
			} {
				if err := s.Write(ctx, f); err == nil {
					t.Errorf("%s was done", what)
				}
			}
		})
		t.Run("of two who add the same number at once, the second finds it taken", func(t *testing.T) {
			add := func(ctx context.Context, tx *store.Tx) error {
				return tx.AddDocumentVersion(ctx, store.DocumentVersion{ID: "D1-v2", DocumentID: "D1", Number: 2, Title: "Returns"}, nil, ada)
			}
			if err := s.Write(ctx, add); err == nil {
				t.Error("it was added")
			}
		})
	})
}
