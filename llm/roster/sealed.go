package roster

import (
	"context"
	"fmt"

	"countersign/store"
)

// Sealed are the keys that are kept sealed: those of the version in force, since no other has any.
func Sealed(ctx context.Context, view store.View) (all []store.Sealed, err error) {
	row, ok, err := view.ModelSettings(ctx)
	if err != nil || !ok {
		return nil, err
	}
	e, err := Parse([]byte(row.JSON))
	if err != nil {
		return nil, fmt.Errorf("read version %d of the settings for models: %w", row.Version, err)
	}
	for _, c := range e.Connections {
		known := row.Keys[c.Name]
		if known == "" {
			continue
		}
		all = append(all, store.Sealed{Place: place(c), Text: known, Keep: func(ctx context.Context, tx *store.Tx, text string) error {
			return tx.ResealModelKey(ctx, c.Name, known, text)
		}})
	}
	return all, nil
}
