package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"countersign"
	"countersign/audit"
)

// chain is what a case says of its own record.
type chain struct {
	head audit.Head
	says audit.Projection
}

// share is a range of case ids by their bytes: from the first up to, and without, the second; an empty end is open.
type share struct{ from, until string }

// within narrows a statement to a share, by the column that holds the id of a case. With "$2 = ” OR" for an open end no index would end
// at the second id: each share was read to the end of the record once, and twenty million rows took longer than anybody waited.
func (of share) within(column string) (where string, args []any) {
	if of.until == "" {
		return "WHERE " + column + " >= $1", []any{of.from}
	}
	return "WHERE " + column + " >= $1 AND " + column + " < $2", []any{of.from, of.until}
}

// chainsOf lists some cases with their heads, ordered by the bytes of their ids; a case without a head has a zero one.
func (v View) chainsOf(ctx context.Context, where string, args ...any) ([]chain, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT c.id, COALESCE(h.seq, 0), COALESCE(h.hash, ''), c.status, c.outcome
		FROM cases c LEFT JOIN record_heads h ON h.case_id = c.id `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list the chains: %w", err)
	}
	all, err := collect(rows, func(row scanner) (c chain, err error) {
		return c, row.Scan(&c.head.Case, &c.head.Seq, scanHash{&c.head.Hash}, &c.says.Status, &c.says.Outcome)
	})
	slices.SortFunc(all, func(a, b chain) int { return compare(a.head.Case, b.head.Case) })
	return all, wrap(err, "list the chains")
}

func (v View) chains(ctx context.Context, of share) ([]chain, error) {
	where, args := of.within("c.id")
	return v.chainsOf(ctx, where, args...)
}

// look adds what is kept beside the records of a share to its chains.
func (v View) look(ctx context.Context, of share, chains []chain) error {
	where, args := of.within("case_id")
	beside, err := v.keptBeside(ctx, where, args...)
	for i := range chains {
		chains[i].says.Kept = byThing(beside[chains[i].head.Case])
	}
	return err
}

func compare(a, b countersign.CaseID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// VerifyCase walks one case's chain. Inside a transaction that sees what others commit meanwhile it may call a record broken
// that only grew: see the Store's.
func (v View) VerifyCase(ctx context.Context, id countersign.CaseID) (audit.Report, error) {
	c, err := v.Case(ctx, id)
	if err != nil {
		return audit.Report{}, err
	}
	beside, err := v.keptBeside(ctx, ofCase, string(id))
	if err != nil {
		return audit.Report{}, err
	}
	report, _, err := v.walk(ctx, c, byThing(beside[id]), func(RecordRow) {})
	return report, err
}

// Walk is VerifyCase for a caller who has read the case in the same snapshot and wants each row too, in order, as it is checked.
// A record whose head is missing is broken, and the head then is zero. Of what is kept beside the record it looks at the reports
// alone: a page that says whether a record is intact would read many megabytes of files each time it is drawn.
func (v View) Walk(ctx context.Context, c countersign.Case, see func(RecordRow)) (audit.Report, audit.Head, error) {
	beside := map[countersign.CaseID][]audit.Kept{}
	if err := v.hashKept(ctx, beside, audit.ReportThing, keptReports+ofCase, string(c.ID)); err != nil {
		return audit.Report{}, audit.Head{Case: c.ID}, err
	}
	return v.walk(ctx, c, map[audit.Thing][]audit.Kept{audit.ReportThing: beside[c.ID]}, see)
}

func (v View) walk(ctx context.Context, c countersign.Case, kept map[audit.Thing][]audit.Kept, see func(RecordRow)) (audit.Report, audit.Head, error) {
	head, err := v.Head(ctx, c.ID)
	if err != nil && countersign.KindOf(err) != countersign.NotFound {
		return audit.Report{}, head, err
	}
	verifier := audit.NewVerifier()
	verifier.Case(head, audit.Projection{Status: c.Status, Outcome: c.Outcome, Kept: kept})
	for row, err := range v.RecordRows(ctx, c.ID, 0) {
		if err != nil {
			return audit.Report{}, head, fmt.Errorf("verify case %s: %w", c.ID, err)
		}
		verifier.Row(row.Row, row.Payload)
		see(row)
	}
	return verifier.Report(), head, nil
}

// VerifyCase walks one case's chain in one snapshot, so that a record that grows meanwhile is not mistaken for a broken one.
func (s *Store) VerifyCase(ctx context.Context, id countersign.CaseID) (report audit.Report, err error) {
	err = s.Snapshot(ctx, func(v View) error {
		report, err = v.VerifyCase(ctx, id)
		return err
	})
	return report, err
}

// VerifyRecord walks every chain, on all cores: each takes one share of the cases after the other and reads it in a snapshot of
// its own. A case's head, projection and rows are of one moment then, and more is not needed, because chains do not depend on each
// other. Progress, if not nil, is told now and then how many rows were checked so far, from any goroutine.
func (s *Store) VerifyRecord(ctx context.Context, progress func(rows int64)) (audit.Report, error) {
	shares, err := s.shares(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	var checked, taken atomic.Int64
	reports, errs := make([]audit.Report, len(shares)), make([]error, len(shares))
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(shares)) {
		done.Go(func() {
			for i := taken.Add(1) - 1; i < int64(len(shares)); i = taken.Add(1) - 1 {
				errs[i] = s.Snapshot(ctx, func(v View) (err error) {
					reports[i], err = v.verify(ctx, shares[i], func() {
						if n := checked.Add(1); progress != nil && n%10_000 == 0 {
							progress(n)
						}
					})
					return err
				})
				if errs[i] != nil {
					return
				}
			}
		})
	}
	done.Wait()
	return audit.Merge(reports...), errors.Join(errs...)
}

// shared is how many cases are in a share: few enough that the cores end together, also where there are only some hundreds, and so many
// that opening a snapshot for each does not show. A test has less.
var shared = 250

// shares divides the cases into ranges of so many. Together they hold every id there can be, so that rows which belong to no case
// are met too.
func (v View) shares(ctx context.Context) ([]share, error) {
	all := []share{{}}
	for {
		var id string
		last := &all[len(all)-1]
		err := v.q.QueryRowContext(ctx, "SELECT id FROM cases WHERE id >= $1 ORDER BY id LIMIT 1 OFFSET $2", last.from, shared).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("divide the cases: %w", err)
		}
		last.until = id
		all = append(all, share{from: id})
	}
}

// verify walks the chains of a share, cases and rows side by side.
func (v View) verify(ctx context.Context, of share, checked func()) (audit.Report, error) {
	chains, err := v.chains(ctx, of)
	if err != nil {
		return audit.Report{}, err
	}
	if err := v.look(ctx, of, chains); err != nil {
		return audit.Report{}, err
	}
	verifier := audit.NewVerifier()
	for row, err := range v.recordOf(ctx, of) {
		if err != nil {
			return audit.Report{}, err
		}
		for len(chains) > 0 && chains[0].head.Case <= row.Case {
			verifier.Case(chains[0].head, chains[0].says)
			chains = chains[1:]
		}
		verifier.Row(row.Row, row.Payload)
		checked()
	}
	for _, c := range chains {
		verifier.Case(c.head, c.says)
	}
	return verifier.Report(), nil
}

// Export writes the record of one case, or of every case when id is empty, to w. It is of one moment, and never is more of it in
// memory than the heads of a share.
func (s *Store) Export(ctx context.Context, id countersign.CaseID, w *audit.Writer) error {
	return s.Snapshot(ctx, func(v View) error {
		if id != "" {
			return v.exportCase(ctx, id, w)
		}
		shares, err := v.shares(ctx)
		if err != nil {
			return err
		}
		for _, of := range shares {
			chains, err := v.chains(ctx, of)
			if err != nil {
				return err
			}
			if err := export(v.recordOf(ctx, of), chains, w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v View) exportCase(ctx context.Context, id countersign.CaseID, w *audit.Writer) error {
	chains, err := v.chainsOf(ctx, "WHERE c.id = $1", string(id))
	if err != nil {
		return err
	}
	if len(chains) == 0 {
		return countersign.Errorf(countersign.NotFound, "there is no case %q", string(id))
	}
	return export(v.RecordRows(ctx, id, 0), chains, w)
}

func export(rows iter.Seq2[RecordRow, error], chains []chain, w *audit.Writer) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		for len(chains) > 0 && chains[0].head.Case <= row.Case {
			if err := w.Case(chains[0].head, chains[0].says); err != nil {
				return err
			}
			chains = chains[1:]
		}
		if err := w.Row(row.Row, row.Payload); err != nil {
			return err
		}
	}
	for _, c := range chains {
		if err := w.Case(c.head, c.says); err != nil {
			return err
		}
	}
	return nil
}

// RecordSize is about how much there is to verify, for somebody who watches: it is read at two moments.
type RecordSize struct{ Cases, Rows int64 }

// RecordSize counts cases and the rows that their heads speak of.
func (v View) RecordSize(ctx context.Context) (n RecordSize, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(seq), 0) AS BIGINT) FROM record_heads").Scan(&n.Cases, &n.Rows)
	return n, wrap(err, "count the record")
}
