package pipeline

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/llm"
	"countersign/pipeline/budget"
	"countersign/pipeline/investigate"
	"countersign/pipeline/investigate/fence"
	"countersign/store"
)

// job is one case in this worker's hands.
type job struct {
	Case   countersign.Case
	desk   desk.Desk
	lease  store.Lease
	model  llm.Model
	fence  fence.Fence
	nonce  string
	canary string
	past   []investigate.Turn // turns of this round that were recorded, by this worker or by one before it
	starts int                // how often this round was begun, this time included
	begun  time.Time          // when this worker took it
	before budget.Used        // what earlier rounds of the case used up
	damage string             // why the round's record cannot be gone on from; empty when it can
}

// maxStarts is how often one round may be begun. A case that takes its worker down with it each time must not do so for
// ever.
const maxStarts = 5

// started is the payload of the row that begins, or takes up again, a round.
type started struct {
	Round   int                `json:"round"`
	Status  countersign.Status `json:"status"`
	Model   llm.Identity       `json:"model"`
	Canary  string             `json:"canary"`
	Fence   string             `json:"fence"`
	Resumed int                `json:"resumed_after_turn,omitempty"`
	// Connections are the models that may be asked, in their order, where there is more than the one above to say.
	Connections []string `json:"connections,omitempty"`
}

// take gets the case's lease and everything that was recorded of its round. False when there is nothing to do: somebody else has
// the case, or one of its pools is full and it waits in line.
func (p *Pipeline) take(ctx context.Context, id countersign.CaseID) (j job, ok bool, err error) {
	err = p.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		j = job{nonce: rand.Text()[:12], canary: investigate.NewCanary()}
		if j.lease, ok, err = tx.TakeLease(ctx, id, p.leaseTime()); err != nil || !ok {
			return err
		}
		j.begun = tx.Now
		if j.Case, err = tx.Case(ctx, id); err != nil {
			return err
		}
		if err := p.resume(ctx, tx.View, &j); err != nil {
			return err
		}
		if j.lease, ok, err = tx.Enter(ctx, j.lease, j.Case, poolOf(j.model), j.starts > 1); err != nil || !ok {
			return err
		}
		return tx.Record(ctx, id, p.actor(), store.Note{Kind: audit.Started, Payload: started{
			Round: j.Case.Round, Status: countersign.Investigating, Model: j.model.Identity(), Canary: j.canary, Fence: j.nonce, Resumed: lastTurn(j.past), Connections: connections(j.model)}})
	})
	return j, ok && err == nil, err
}

// poolOf names the model that the case begins with, as limits call it: a connection of the settings, or what the environment names.
func poolOf(model llm.Model) string {
	if names := connections(model); len(names) > 0 {
		return names[0]
	}
	return model.Identity().Name
}

// freed lets somebody else have the places of a case that needs them no more. If it fails the next sweep does it.
func (p *Pipeline) freed(ctx context.Context, j job) {
	if len(j.lease.Pools) == 0 || p.Freed == nil {
		return
	}
	if err := p.Freed(context.WithoutCancel(ctx), j.Case.Desk, j.lease.Pools...); err != nil {
		p.Log.WarnContext(ctx, "call the next case in line", "error", err)
	}
}

func lastTurn(past []investigate.Turn) int {
	if len(past) == 0 {
		return 0
	}
	return past[len(past)-1].Number
}

// resume fills in what the case's desk, its model and its record say.
func (p *Pipeline) resume(ctx context.Context, v store.View, j *job) error {
	var known bool
	if j.desk, known = p.Desks[j.Case.Desk]; !known {
		return fmt.Errorf("case %s is of desk %q, which this program does not have", j.Case.ID, j.Case.Desk)
	}
	var err error
	if j.model, err = p.Model(ctx, v, j.Case); err != nil {
		return err
	}
	j.starts = 1
	if j.lease.Token > 1 { // somebody has held it before
		if err := j.replay(ctx, v); err != nil {
			return err
		}
	}
	j.fence = fence.New(j.nonce)
	return nil
}

// replay reads the round's turns and steps out of the record. A row that cannot be understood will not be the next time
// either, so it is no error but damage that a person must see to.
func (j *job) replay(ctx context.Context, v store.View) error {
	for row, err := range v.RecordRows(ctx, j.Case.ID, 0) {
		if err != nil {
			return err
		}
		if row.Payload == nil {
			continue // erased: the case is closed, or this round is not the one
		}
		if err := j.replayRow(row); err != nil {
			j.damage = fmt.Sprintf("row %d of the case's record cannot be understood: %s", row.Seq, err)
			return nil
		}
	}
	return nil
}

func (j *job) replayRow(row store.RecordRow) error {
	var round struct {
		Round int `json:"round"`
	}
	err := json.Unmarshal(row.Payload.Bytes, &round)
	switch {
	case err != nil:
		return err
	case round.Round != j.Case.Round && row.Kind == audit.ModelTurn:
		return j.countEarlier(row.Payload.Bytes)
	case round.Round != j.Case.Round:
		return nil
	}
	switch row.Kind {
	case audit.Started:
		var s started
		err := json.Unmarshal(row.Payload.Bytes, &s)
		j.nonce, j.canary, j.starts = s.Fence, s.Canary, j.starts+1
		return err
	case audit.ModelTurn:
		var turn investigate.Turn
		err := json.Unmarshal(row.Payload.Bytes, &turn)
		j.past = append(j.past, turn)
		return err
	case audit.ToolCall:
		return j.replayStep(row.Payload.Bytes)
	}
	return nil
}

// replayStep adds a step to its turn, which was written before it in one transaction. What code looked at before the model's first
// turn is turn 0, which has no row of its own.
func (j *job) replayStep(payload []byte) error {
	step := stepRow{Step: countersign.Step{Turn: -1}}
	if err := json.Unmarshal(payload, &step); err != nil {
		return err
	}
	if len(j.past) == 0 && step.Turn == 0 {
		j.past = append(j.past, investigate.Turn{})
	}
	if len(j.past) == 0 {
		return errors.New("a step without its turn")
	}
	last := &j.past[len(j.past)-1]
	last.Steps = append(last.Steps, step.Step)
	return nil
}

// conversation is the job as the investigation needs it.
func (p *Pipeline) conversation(j *job) investigate.Conversation {
	return investigate.Conversation{
		Model: p.held(j), Brief: j.desk.Brief(j.Case), Tools: j.desk.Tools(p.Store.View, j.Case), Given: j.desk.Look(p.Store.View, j.Case), Bounds: p.Bounds, Fence: j.fence,
		Canary: j.canary, Past: j.past, Now: p.Store.Now,
		Record: func(ctx context.Context, turn investigate.Turn) error {
			err := p.recordTurn(ctx, *j, turn)
			if err == nil {
				j.past = append(j.past, turn)
				p.Watch.asked(*j, turn)
			}
			return err
		},
		Lost: func(ctx context.Context, turn investigate.Turn) { p.countLost(ctx, j.Case, turn) },
	}
}

// escalation is the desk's word for a case that a person must look at, empty if the desk cannot even say that. An empty
// recommendation is carried out by nobody, so it asks for a person too.
func (j job) escalation() (word string) {
	defer func() { _ = recover() }() // word stays empty
	return j.desk.Brief(j.Case).Escalation
}

// use is what the recorded turns cost, for a round that ended without an outcome of the conversation's own.
func (j job) use() countersign.ModelUse {
	identity := j.model.Identity()
	use := countersign.ModelUse{Provider: identity.Provider, Name: identity.Name}
	for _, turn := range j.past {
		use.Attempts += len(turn.Attempts)
		investigate.AddUse(&use, turn)
		if turn.Usage != nil {
			use.InputTokens, use.OutputTokens = use.InputTokens+max(turn.Usage.Input, 0), use.OutputTokens+max(turn.Usage.Output, 0)
		}
	}
	return use
}

type turnRow struct {
	Round int `json:"round"`
	investigate.Turn
}

type stepRow struct {
	Round int `json:"round"`
	countersign.Step
}

// recordTurn writes a turn and its steps in one transaction, and renews the lease with it.
func (p *Pipeline) recordTurn(ctx context.Context, j job, turn investigate.Turn) error {
	var notes []store.Note
	if turn.Number > 0 { // else code looked, and no model was asked
		notes = append(notes, store.Note{Kind: audit.ModelTurn, Payload: turnRow{j.Case.Round, turn}})
	}
	for _, step := range turn.Steps {
		notes = append(notes, store.Note{Kind: audit.ToolCall, Payload: stepRow{j.Case.Round, step}})
	}
	err := p.write(ctx, j, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Spend(ctx, j.Case.ID, spending(j.Case.Desk, turn)...); err != nil {
			return err
		}
		return tx.Record(ctx, j.Case.ID, p.actor(), notes...)
	})
	if errors.Is(err, store.ErrLeaseLost) { // the turn counts for nothing, and was paid for all the same
		p.countLost(ctx, j.Case, turn)
	}
	return err
}

// write is a transaction of this job: it begins by holding the lease, so that a stale worker writes nothing.
func (p *Pipeline) write(ctx context.Context, j job, f func(context.Context, *store.Tx) error) error {
	return p.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.HoldLease(ctx, j.lease, p.leaseTime()); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

// errCutOff ends a job whose worker has not been able to renew its lease for as long as it lasts: by now somebody else may have it.
var errCutOff = errors.New("the lease could not be renewed in time")

// keep renews the lease while the job lasts and cancels the job when the lease is lost: when another worker has it, when the program
// may not write any more, and when the database has not answered for as long as the lease lasts. A model that is asked for a case that
// somebody else goes on with would be paid for nothing.
func (p *Pipeline) keep(ctx context.Context, j job) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	silent := time.AfterFunc(p.leaseTime(), func() { cancel(errCutOff) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(p.leaseTime() / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				err := p.write(ctx, j, nothing)
				switch {
				case err == nil:
					silent.Reset(p.leaseTime())
				case errors.Is(err, store.ErrLeaseLost), errors.Is(err, store.ErrOtherSchema):
					cancel(err)
				}
			}
		}
	}()
	return ctx, func() { silent.Stop(); cancel(nil); <-done }
}

func nothing(context.Context, *store.Tx) error { return nil }

// leave gives up the lease of a job that the program's stop interrupted, so that the next start need not wait for it.
func (p *Pipeline) leave(ctx context.Context, j job) error {
	err := p.Store.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error {
		return tx.LeaveLease(ctx, j.lease)
	})
	if errors.Is(err, store.ErrLeaseLost) {
		return nil
	}
	return err
}

func (p *Pipeline) leaseTime() time.Duration {
	if p.Lease > 0 {
		return p.Lease
	}
	return 15 * time.Second
}

func (p *Pipeline) actor() countersign.Actor {
	return countersign.Actor{Kind: countersign.Worker, ID: p.Worker}
}
