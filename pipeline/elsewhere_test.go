package pipeline_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk/bank/posting"
	"countersign/internal/testcore"
	"countersign/internal/testdb"
	"countersign/pipeline"
	"countersign/pipeline/outside"
	"countersign/secret"
	"countersign/store"
)

// elsewhere has a core post the fixes of a world, and returns the core and who carries instructions to it.
func (w *world) elsewhere() (*testcore.Core, outside.Sender) {
	w.Helper()
	key, err := secret.Open(filepath.Join(w.TempDir(), "master.key"), true)
	if err != nil {
		w.Fatal(err)
	}
	core, office := testcore.New(w.T), posting.Office{Store: w.store, Key: key}
	if _, err := office.Apply(ctx, posting.Settings{To: posting.Core, URL: core.Address(), KeyID: core.KeyID, Secret: core.Secret}, clerk); err != nil {
		w.Fatal(err)
	}
	w.pipeline.Wake = w.queue.Wake
	return core, outside.Sender{Store: w.store, Worker: "test", Log: slog.New(slog.DiscardHandler), To: func(ctx context.Context, i store.Instruction) (outside.Recipient, error) {
		r, err := office.To(ctx, i)
		r.Patience.First = time.Nanosecond
		return r, err
	}}
}

// A fix that the policy decides is the policy's, whoever posts it: the case waits, and is closed by the policy when the core confirms.
func TestThePolicyHasTheCorePostItsFix(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		w.rents(2)
		core, sender := w.elsewhere()
		c := w.work("RENT-1", countersign.FailedTransfer)
		if c.Status != countersign.AwaitingConfirmation || c.Outcome != "" || c.HandledBy != "" || c.Fix.State != countersign.FixRequested {
			t.Fatalf("%s %s by %s, fix %s", c.Status, c.Outcome, c.HandledBy, c.Fix.State)
		}
		if core.Moved("reversal", "RENT-1") != 0 || len(core.Requests()) != 0 {
			t.Error("the core was asked in the transaction that decided")
		}
		core.Next(testcore.LoseAnswer)
		for range 2 {
			if err := sender.Carry(ctx, c.Fix.Instruction.ID); err != nil {
				t.Fatal(err)
			}
		}
		w.verifies()
		c = w.theCase(c.ID)
		if c.Status != countersign.Closed || c.Outcome != countersign.Resolved || c.HandledBy != countersign.ByPolicy || c.Fix.State != countersign.FixPosted {
			t.Errorf("%s %s by %s, fix %s", c.Status, c.Outcome, c.HandledBy, c.Fix.State)
		}
		w.postedOnce("RENT-1")
		rows := w.rows(c.ID)
		if last := rows[len(rows)-1]; last.Kind != audit.Closed || countersign.ParseActor(last.Actor).Kind != countersign.Policy {
			t.Errorf("the record ends with %s by %s", last.Kind, last.Actor)
		}
		if verdict, err := pipeline.Replay(w.desk.Rules, w.store.RecordRows(ctx, c.ID, 0), 1); err != nil || verdict.Kind != countersign.Automatic {
			t.Errorf("replayed: %v, %v", verdict, err)
		}

		core.Next(testcore.Reject)
		c = w.work("RENT-2", countersign.FailedTransfer)
		if err := sender.Carry(ctx, c.Fix.Instruction.ID); err != nil {
			t.Fatal(err)
		}
		c = w.theCase(c.ID)
		if c.Status != countersign.InReview || c.Verdict.Kind != countersign.Review || c.Fix.Instruction.Said != "account closed" ||
			!slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == countersign.FixDeclined }) {
			t.Errorf("rejected: %s, fix %+v, %v", c.Status, c.Fix, c.Verdict)
		}
		w.verifies()
	})
}
