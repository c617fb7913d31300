package store_test

import (
	"errors"
	"testing"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

func TestAReadingThatFailsIsExplained(t *testing.T) {
	t.Parallel()
	s, faults := storetest.Open(t, testdb.Postgres(t))
	if _, err := s.KeyID(ctx); err != nil {
		t.Fatal(err)
	}
	faults.At(1, storetest.Lost)
	_, err := s.KeyID(ctx)
	if faults.Fired(); countersign.KindOf(err) != countersign.Internal || countersign.KindOf(store.Explain(err)) != countersign.Unavailable {
		t.Errorf("a reading whose connection broke ended with %v, explained as %v", err, store.Explain(err))
	}
	for _, err := range []error{nil, errors.New("something else"), countersign.Errorf(countersign.Conflict, "it changed")} {
		if store.Explain(err) != err {
			t.Errorf("%v was explained as %v", err, store.Explain(err))
		}
	}
}
