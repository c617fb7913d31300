package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"countersign/store"
)

// bare is the floor: tables with the least columns, one transaction a unit of work, rows of one transaction in one insert.
type bare struct {
	db       *sql.DB
	lock     string // appended to the SELECT of a head
	payloads int    // bytes a record row carries
}

const bareTables = `
CREATE TABLE bare_cases (id TEXT PRIMARY KEY, status TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE bare_heads (case_id TEXT PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE bare_rows (case_id TEXT NOT NULL, seq BIGINT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (case_id, seq));
CREATE TABLE bare_jobs (id TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE bare_ledger (id TEXT PRIMARY KEY, account TEXT NOT NULL, amount BIGINT NOT NULL);
CREATE TABLE bare_transactions (id TEXT PRIMARY KEY, status TEXT NOT NULL);`

func newBare(ctx context.Context, s *store.Store) (bare, error) {
	b := bare{db: s.DB(), payloads: 300}
	if s.Engine() == "postgres" {
		b.lock = " FOR UPDATE"
	}
	for _, statement := range strings.Split(bareTables, ";\n") {
		if _, err := b.db.ExecContext(ctx, statement); err != nil {
			return b, fmt.Errorf("make the bare tables: %w", err)
		}
	}
	return b, nil
}

func (b bare) in(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// open is an intake: case, head, first record row and job.
func (b bare) open(ctx context.Context, id string) error {
	return b.in(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO bare_cases VALUES ($1, 'queued', $2)", id, strings.Repeat("x", 400)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO bare_transactions VALUES ($1, 'posted')", id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO bare_jobs VALUES ($1, 'available')", id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO bare_heads VALUES ($1, 0, '')", id); err != nil {
			return err
		}
		return b.append(ctx, tx, id, 1)
	})
}

// append locks the head, hashes n rows onto it and writes them in one insert.
func (b bare) append(ctx context.Context, tx *sql.Tx, id string, n int) error {
	var seq int64
	var hash string
	if err := tx.QueryRowContext(ctx, "SELECT seq, hash FROM bare_heads WHERE case_id = $1"+b.lock, id).Scan(&seq, &hash); err != nil {
		return err
	}
	var rows []string
	var args []any
	for i := range n {
		payload := strings.Repeat("p", b.payloads)
		sum := sha256.Sum256([]byte(hash + payload))
		next := hex.EncodeToString(sum[:])
		seq++
		rows = append(rows, fmt.Sprintf("($%d,$%d,$%d,$%d,$%d)", 5*i+1, 5*i+2, 5*i+3, 5*i+4, 5*i+5))
		args = append(args, id, seq, hash, next, payload)
		hash = next
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO bare_rows VALUES "+strings.Join(rows, ","), args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE bare_heads SET seq = $2, hash = $3 WHERE case_id = $1", id, seq, hash)
	return err
}

// whole is a case: intake, three transactions of four rows, and a last one with two ledger rows, transaction and case.
func (b bare) whole(ctx context.Context, id string) error {
	if err := b.open(ctx, id); err != nil {
		return err
	}
	return b.work(ctx, id)
}

// work is what follows an intake.
func (b bare) work(ctx context.Context, id string) error {
	for range 3 {
		if err := b.in(ctx, func(tx *sql.Tx) error { return b.append(ctx, tx, id, 4) }); err != nil {
			return err
		}
	}
	return b.in(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO bare_ledger VALUES ($1, 'a', 100), ($2, 'b', -100)", id+":1", id+":2")
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE bare_transactions SET status = 'reversed' WHERE id = $1", id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE bare_cases SET status = 'closed' WHERE id = $1", id); err != nil {
			return err
		}
		return b.append(ctx, tx, id, 2)
	})
}

// spread runs f for 0 … n-1 on that many goroutines and returns how long it took.
func spread(n, goroutines int, f func(i int) error) (time.Duration, error) {
	var next atomic.Int64
	errs := make([]error, goroutines)
	var done sync.WaitGroup
	start := time.Now()
	for g := range goroutines {
		done.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || errs[g] != nil {
					return
				}
				errs[g] = f(i)
			}
		})
	}
	done.Wait()
	return time.Since(start), errors.Join(errs...)
}
