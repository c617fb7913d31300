package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign/desk/merchant/connector"
	"countersign/secret"
	"countersign/store"
)

// Draft is what somebody has answered so far.
type Draft struct {
	Mapping   connector.Mapping `json:"mapping"` // its connection string is kept beside it, sealed
	Platform  string            `json:"platform,omitempty"`
	Files     []string          `json:"files,omitempty"` // how exported files were read, a sentence each
	Step      Step              `json:"step"`            // the first that is not answered
	ChangedAt time.Time         `json:"-"`
	Lost      error             `json:"-"` // why the connection string cannot be opened: it must be entered again
}

// Step is a question of the way from a connection to a mapping.
type Step string

const (
	Connect Step = "connect" // where the database is
	Tables  Step = "tables"  // which tables hold what
	Columns Step = "columns" // and which columns
	Money   Step = "money"   // units, currency, zone
	States  Step = "states"  // what a status means
	Rows    Step = "rows"    // five rows of each kind, read
)

// Steps are all of them, in their order.
var Steps = []Step{Connect, Tables, Columns, Money, States, Rows}

// draftOf is the place that the connection string of somebody's draft belongs to.
func draftOf(person string) string {
	return "connection string of the unfinished shop mapping of " + person
}

// Draft reads somebody's; ok is false when they have begun none.
func (s Setup) Draft(ctx context.Context, person string) (d Draft, ok bool, err error) {
	row, ok, err := s.Store.Draft(ctx, person)
	if err != nil || !ok {
		return Draft{Step: Connect}, false, err
	}
	if err := json.Unmarshal([]byte(row.JSON), &d); err != nil {
		return d, false, fmt.Errorf("read a draft of the shop mapping: %w", err)
	}
	d.ChangedAt = row.ChangedAt
	if secret.Sealed(row.Connection) {
		dsn, err := s.Key.Open(draftOf(person), row.Connection)
		d.Mapping.DSN, d.Lost = connector.DSN(dsn), err
	}
	return d, true, nil
}

// Keep keeps somebody's answers over their earlier ones.
func (s Setup) Keep(ctx context.Context, person string, d Draft) error {
	dsn := located(d.Mapping)
	d.Mapping = d.Mapping.WithoutDSN()
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write a draft of the shop mapping: %w", err)
	}
	row := store.Draft{PersonID: person, JSON: string(text)}
	if dsn != "" {
		row.Connection = s.Key.Seal(draftOf(person), []byte(dsn))
	}
	return s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, s.Key.ID()); err != nil {
			return err
		}
		return tx.KeepDraft(ctx, row)
	})
}

// Drop forgets somebody's answers.
func (s Setup) Drop(ctx context.Context, person string) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.DropDraft(ctx, person) })
}
