package store

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"countersign"
	"countersign/audit"
)

// chain is what a case says of its own record.
type chain struct {
	head audit.Head
	says audit.Projection
}

// chains lists every case with its head, ordered by the bytes of its id; a case without a head has a zero one.
func (v View) chains(ctx context.Context) ([]chain, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT c.id, COALESCE(h.seq, 0), COALESCE(h.hash, ''), c.status, c.outcome
		FROM cases c LEFT JOIN record_heads h ON h.case_id = c.id`)
	if err != nil {
		return nil, fmt.Errorf("list the chains: %w", err)
	}
	all, err := collect(rows, func(row scanner) (c chain, err error) {
		var hash string
		if err := row.Scan(&c.head.Case, &c.head.Seq, &hash, &c.says.Status, &c.says.Outcome); err != nil {
			return c, err
		}
		c.head.Hash, _ = audit.ParseHash(hash) // a hash that is none will not match, and is named as that
		return c, nil
	})
	slices.SortFunc(all, func(a, b chain) int { return compare(a.head.Case, b.head.Case) })
	return all, wrap(err, "list the chains")
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
	head, err := v.Head(ctx, id)
	if err != nil && countersign.KindOf(err) != countersign.NotFound {
		return audit.Report{}, err
	}
	verifier := audit.NewVerifier()
	verifier.Case(head, audit.Projection{Status: c.Status, Outcome: c.Outcome})
	for row, err := range v.RecordRows(ctx, id, 0) {
		if err != nil {
			return audit.Report{}, err
		}
		verifier.Row(row.Row, row.Payload)
	}
	return verifier.Report(), nil
}

// VerifyCase walks one case's chain in one snapshot, so that a record that grows meanwhile is not mistaken for a broken one.
func (s *Store) VerifyCase(ctx context.Context, id countersign.CaseID) (report audit.Report, err error) {
	err = s.Snapshot(ctx, func(v View) error {
		report, err = v.VerifyCase(ctx, id)
		return err
	})
	return report, err
}

// VerifyRecord walks every chain, on all cores, each core reading its share of the cases. Progress, if not nil, is told how
// many rows were checked so far. On PostgreSQL the shares are read in one exported snapshot, on SQLite in snapshots taken
// one after the other while no write can come between them.
func (s *Store) VerifyRecord(ctx context.Context, progress func(rows int64)) (audit.Report, error) {
	var report audit.Report
	err := s.Snapshot(ctx, func(v View) error {
		chains, err := v.chains(ctx)
		if err != nil {
			return err
		}
		report, err = verifyChains(ctx, v, chains, progress)
		return err
	})
	return report, err
}

// verifyChains reads rows on one connection and hands them to a verifier for each core, whole cases at a time.
func verifyChains(ctx context.Context, v View, chains []chain, progress func(int64)) (audit.Report, error) {
	work := make(chan portion, 2*runtime.GOMAXPROCS(0))
	reports := make([]audit.Report, runtime.GOMAXPROCS(0))
	var done sync.WaitGroup
	for i := range reports {
		done.Go(func() { reports[i] = verifyPortions(work) })
	}
	err := portions(v.WholeRecord(ctx), chains, progress, work)
	close(work)
	done.Wait()
	return audit.Merge(reports...), err
}

// portion is some cases and all of their rows.
type portion struct {
	chains []chain
	rows   []RecordRow
}

func verifyPortions(work <-chan portion) audit.Report {
	verifier := audit.NewVerifier()
	for p := range work {
		rows := p.rows
		for _, c := range p.chains {
			rows = feed(verifier, rows, func(id countersign.CaseID) bool { return id < c.head.Case }) // rows that have no case
			verifier.Case(c.head, c.says)
			rows = feed(verifier, rows, func(id countersign.CaseID) bool { return id == c.head.Case })
		}
		feed(verifier, rows, func(countersign.CaseID) bool { return true })
	}
	return verifier.Report()
}

// feed checks the leading rows whose case is meant and returns the rest.
func feed(v *audit.Verifier, rows []RecordRow, meant func(countersign.CaseID) bool) []RecordRow {
	for len(rows) > 0 && meant(rows[0].Case) {
		v.Row(rows[0].Row, rows[0].Payload)
		rows = rows[1:]
	}
	return rows
}

// portionRows is about how many rows go to a verifier at once.
const portionRows = 2000

// portions walks cases and rows side by side, both in the order of their ids' bytes.
func portions(rows iter.Seq2[RecordRow, error], chains []chain, progress func(int64), work chan<- portion) error {
	var p portion
	var read int64
	flush := func() {
		work <- p
		p = portion{}
		if progress != nil {
			progress(read)
		}
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		for len(chains) > 0 && chains[0].head.Case <= row.Case {
			if len(p.rows) >= portionRows {
				flush()
			}
			p.chains, chains = append(p.chains, chains[0]), chains[1:]
		}
		p.rows, read = append(p.rows, row), read+1
	}
	p.chains = append(p.chains, chains...)
	flush()
	return nil
}

// Export writes the record of one case, or of every case when id is empty, to w.
func (s *Store) Export(ctx context.Context, id countersign.CaseID, w *audit.Writer) error {
	return s.Snapshot(ctx, func(v View) error {
		chains, err := v.chains(ctx)
		if err != nil {
			return err
		}
		rows := v.WholeRecord(ctx)
		if id != "" {
			chains = slices.DeleteFunc(chains, func(c chain) bool { return c.head.Case != id })
			if len(chains) == 0 {
				return countersign.Errorf(countersign.NotFound, "there is no case %q", string(id))
			}
			rows = v.RecordRows(ctx, id, 0)
		}
		return export(rows, chains, w)
	})
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
