package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"countersign"
)

// ModelSpending is what models used: what one connection did in a turn, or what all of them did on a day. A budget is held against
// it, and an operator's metrics read it.
type ModelSpending struct {
	Desk       countersign.DeskName
	Connection string
	Answers    int64 // calls that gave an answer
	Failures   int64 // calls that gave none
	Attempts   int64 // HTTP requests of both
	Input      int64 // tokens, as the servers said
	Output     int64
	Assumed    int64            // tokens that no server counted, and that may have to be paid
	Cost       countersign.Cost // with what was assumed; of no currency while no price is set
}

// Tokens are all that count.
func (m ModelSpending) Tokens() int64 {
	return countersign.AddCounts(countersign.AddCounts(m.Input, m.Output), m.Assumed)
}

// Day is the day of UTC that an instant is on, as spending is kept by.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// ModelSpending is what was used on a day, by desk, connection and currency. It is a few rows, whatever the number of cases.
func (v View) ModelSpending(ctx context.Context, day string) ([]ModelSpending, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT desk, connection, currency, CAST(SUM(answers) AS BIGINT), CAST(SUM(failures) AS BIGINT), CAST(SUM(attempts) AS BIGINT),
		CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(output_tokens) AS BIGINT), CAST(SUM(assumed_tokens) AS BIGINT), CAST(SUM(micro) AS BIGINT)
		FROM model_spending WHERE day = $1 GROUP BY desk, connection, currency ORDER BY desk, connection, currency`, day)
	if err != nil {
		return nil, fmt.Errorf("read what models used: %w", err)
	}
	all, err := collect(rows, func(row scanner) (m ModelSpending, err error) {
		return m, row.Scan(&m.Desk, &m.Connection, &m.Cost.Currency, &m.Answers, &m.Failures, &m.Attempts, &m.Input, &m.Output, &m.Assumed, &m.Cost.Micro)
	})
	return all, wrap(err, "read what models used")
}

// slots is how many rows share a day's count.
const slots = 16

// mostCounted bounds what one call adds: a server's word is no number to overflow a sum with.
const mostCounted = 1 << 40

// Spend adds what a case's turn used, to the day of this transaction. It commits with the turn's row of the record, or not at all.
func (t *Tx) Spend(ctx context.Context, id countersign.CaseID, used ...ModelSpending) error {
	slot := fnv.New32a()
	slot.Write([]byte(id))
	for _, m := range used {
		err := t.later(ctx, changing("count what a model used"), `INSERT INTO model_spending (day, desk, connection, currency, slot, answers, failures, attempts, input_tokens, output_tokens, assumed_tokens, micro)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT (day, desk, connection, currency, slot) DO UPDATE SET answers = model_spending.answers + excluded.answers, failures = model_spending.failures + excluded.failures,
			attempts = model_spending.attempts + excluded.attempts, input_tokens = model_spending.input_tokens + excluded.input_tokens,
			output_tokens = model_spending.output_tokens + excluded.output_tokens, assumed_tokens = model_spending.assumed_tokens + excluded.assumed_tokens, micro = model_spending.micro + excluded.micro`,
			Day(t.Now), string(m.Desk), m.Connection, m.Cost.Currency, int64(slot.Sum32()%slots), counted(m.Answers), counted(m.Failures), counted(m.Attempts),
			counted(m.Input), counted(m.Output), counted(m.Assumed), counted(m.Cost.Micro))
		if err != nil {
			return err
		}
	}
	return nil
}

func counted(n int64) int64 { return min(max(n, 0), mostCounted) }
