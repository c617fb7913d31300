package pipeline_test

import (
	"testing"

	"countersign"
	"countersign/internal/testdb"
)

func TestAFailedTransferIsReversedWithoutAPerson(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		w.load(failedTransfer())
		c := w.work("T1", countersign.FailedTransfer)
		if c.Status != countersign.Closed || c.Outcome != countersign.Resolved || c.HandledBy != countersign.ByPolicy || c.Fix.State != countersign.FixPosted {
			t.Fatalf("got %s %s by %s, fix %+v, reasons %+v, proposal %+v, facts %+v", c.Status, c.Outcome, c.HandledBy, c.Fix, c.Verdict, c.Proposal, c.Facts)
		}
	})
}
