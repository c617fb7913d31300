package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"countersign/audit"
)

// Verified is what is remembered of the last time that somebody verified every chain, so that whoever watches knows how long
// ago that was and how much has been added since. It says nothing of the record that the record could not say again: what is
// believed of a chain is what a verifier finds in it.
type Verified struct {
	At    time.Time `json:"at"`
	OK    bool      `json:"ok"`
	Cases int64     `json:"cases"`
	Rows  int64     `json:"rows"`
}

// KeepVerified remembers a report of VerifyRecord, in the place of the one before.
func (t *Tx) KeepVerified(ctx context.Context, r audit.Report) error {
	value, err := json.Marshal(Verified{t.Now, r.OK, r.Cases, r.Rows})
	if err != nil {
		return fmt.Errorf("keep a verification: %w", err) // unreachable: it is made of numbers
	}
	_, err = t.exec(ctx, `INSERT INTO settings (name, value, changed_at) VALUES ('record_verified', $1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at`, string(value), t.Now.UnixMicro())
	return wrap(err, "keep a verification")
}

// Verified is the last verification of every chain, nil when there was none.
func (v View) Verified(ctx context.Context) (*Verified, error) {
	var value string
	err := v.q.QueryRowContext(ctx, "SELECT value FROM settings WHERE name = 'record_verified'").Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last verification: %w", err)
	}
	var last Verified
	if err := json.Unmarshal([]byte(value), &last); err != nil {
		return nil, fmt.Errorf("read the last verification: %w", err)
	}
	return &last, nil
}

// RecordStanding is how long the record is, and how it was found when it was last verified whole.
type RecordStanding struct {
	Rows     int64
	Verified *Verified // nil when it never was
}

// RecordStanding adds up the heads of all chains: some tenths of a second for a million.
func (v View) RecordStanding(ctx context.Context) (r RecordStanding, err error) {
	size, err := v.RecordSize(ctx)
	if err != nil {
		return r, err
	}
	r.Rows = size.Rows
	r.Verified, err = v.Verified(ctx)
	return r, err
}
