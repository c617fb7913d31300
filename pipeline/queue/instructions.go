package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"countersign/store"
)

// instruction is the message that somebody outside is to be asked. Its kind is stored with it, so it never changes.
type instruction struct {
	Instruction string `json:"instruction"`
}

func (instruction) Kind() string { return "instruction" }

type carrier struct {
	river.WorkerDefaults[instruction]
	carry func(context.Context, string) error
}

// Work has no second try: what failed is found by the sweep, at the time that the instruction itself says.
func (c carrier) Work(ctx context.Context, j *river.Job[instruction]) error {
	if err := c.carry(ctx, j.Args.Instruction); err != nil {
		return river.JobCancel(err)
	}
	return nil
}

// Timeout is none: each question bounds itself.
func (c carrier) Timeout(*river.Job[instruction]) time.Duration { return -1 }

// Wake has an instruction carried in the caller's transaction: if that does not commit, nobody is woken.
func (q *Queue) Wake(ctx context.Context, tx *store.Tx, id string) error {
	if _, err := q.client.InsertTx(ctx, tx.SQL(), instruction{id}, nil); err != nil {
		return fmt.Errorf("queue instruction %s: %w", id, err)
	}
	return nil
}

func (q *Queue) sweepInstructions(ctx context.Context, exclusive bool) error {
	if q.config.Carry == nil {
		return nil
	}
	ids, err := q.config.Store.WaitingInstructions(ctx, exclusive)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := q.config.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			due, err := tx.WakeInstruction(ctx, id, exclusive)
			if err != nil || !due {
				return err
			}
			return q.Wake(ctx, tx, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
