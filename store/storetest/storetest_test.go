package storetest_test

import (
	"context"
	"testing"

	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// A tool that is to break things must break them, or what it is used for proves nothing.
func TestFaults(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s, faults := storetest.Open(t, database)
		ctx := context.Background()
		kept := func() (id string) {
			id, err := s.KeyID(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		keep := func(id string) error {
			return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepKey(ctx, store.MasterKey{ID: id}) })
		}
		forget := func() {
			if _, err := s.DB().Exec("DELETE FROM settings"); err != nil {
				t.Fatal(err)
			}
		}
		for _, way := range faults.Ways {
			t.Run(string(way), func(t *testing.T) {
				failed, done := 0, 0
				for n := 1; ; n++ {
					forget()
					faults.At(n, way)
					err := keep("k1")
					fired := faults.Fired()
					switch {
					case err != nil && !fired:
						t.Fatalf("statement %d: failed by itself: %v", n, err)
					case err == nil && kept() != "k1":
						t.Errorf("statement %d: succeeded and did nothing", n)
					}
					if fired {
						failed++ // though a line that broke in time is replaced, and nobody notices
					}
					if err != nil && kept() == "k1" {
						done++
					}
					if !fired {
						break
					}
					if n > 30 {
						t.Fatal("there is no end of statements")
					}
				}
				if want := map[storetest.Way]int{storetest.Lost: 1}[way]; failed < 2 || done != want {
					t.Errorf("%d statements failed, and %d had happened all the same; want at least 2, and %d", failed, done, want)
				}
				forget()
				if err := keep("k2"); err != nil || kept() != "k2" {
					t.Errorf("afterwards it kept %q, %v", kept(), err)
				}
			})
		}
	})
}
