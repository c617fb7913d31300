package store

import (
	"context"
	"database/sql"
)

// Overheard is a view whose statements are told to a test before they are run.
func Overheard(v View, tell func(text string, args []any)) View {
	return View{q: overheard{v.q, tell}, d: v.d}
}

type overheard struct {
	queryer
	tell func(string, []any)
}

func (o overheard) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	o.tell(text, args)
	return o.queryer.QueryContext(ctx, text, args...)
}

func (o overheard) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	o.tell(text, args)
	return o.queryer.QueryRowContext(ctx, text, args...)
}

// SharesOf makes shares of so many cases until the test is over.
func SharesOf(t interface{ Cleanup(func()) }, cases int) {
	before := shared
	shared = cases
	t.Cleanup(func() { shared = before })
}

// InParts has rounds look at so many queued cases at once.
func (r *Rounds) InParts(cases int) *Rounds {
	r.part = cases
	return r
}

// RoundsThrough are rounds whose statements go through a view.
func (s *Store) RoundsThrough(v View) *Rounds {
	return (&Store{View: v, dialect: s.dialect, now: s.now, leases: s.leases}).Rounds()
}

// VerifyBetween walks the chains of the cases from the one id up to, and without, the other.
func (v View) VerifyBetween(ctx context.Context, from, until string) error {
	_, err := v.verify(ctx, share{from, until}, func() {})
	return err
}
