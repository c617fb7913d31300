package store

import "context"

// Sealed is something that is kept sealed under the master key.
type Sealed struct {
	Place string // what it was sealed for, in words; for nothing else it opens
	Text  string
	// Keep keeps it sealed anew. What is gone by then, or was replaced, is left alone.
	Keep func(ctx context.Context, tx *Tx, text string) error
}

func (t *Tx) reseal(ctx context.Context, what, statement string, args ...any) error {
	_, err := t.exec(ctx, statement, args...)
	return wrap(err, "keep sealed anew: %s", what)
}
