package intake_test

import (
	"sync/atomic"
	"testing"

	"countersign/internal/testdb"
	"countersign/store"
)

// TestACommitThatNobodyAnsweredIsLookedFor: whether the case was stored or not, the caller is told of one case that was opened, once.
func TestACommitThatNobodyAnsweredIsLookedFor(t *testing.T) {
	line := testdb.Through(t, testdb.Postgres(t))
	in := setUp(t, line.URL)
	for sentence, broken := range map[string]testdb.Broken{"it never arrived": testdb.Unsent, "it was carried out": testdb.Unanswered} {
		t.Run(sentence, func(t *testing.T) {
			before := count(t, in.Store)
			var lost atomic.Bool
			line.AtCommits(func() testdb.Broken {
				if lost.Swap(true) {
					return testdb.Whole
				}
				return broken
			})
			r := chargeback(sentence, nil)
			r.Key = &store.Key{Principal: "test", Route: "POST", Value: sentence, BodyHash: "x"}
			opened, err := in.Open(ctx, tills, actor, r)
			if err != nil || !opened.Created || !lost.Load() {
				t.Errorf("got %+v, %v", opened, err)
			}
			again, err := in.Open(ctx, tills, actor, r)
			if err != nil || again.Created || again.Case.ID != opened.Case.ID {
				t.Errorf("the same again gave %+v, %v", again, err)
			}
			if n := count(t, in.Store).Cases - before.Cases; n != 1 {
				t.Errorf("%d cases were stored", n)
			}
		})
	}
}
