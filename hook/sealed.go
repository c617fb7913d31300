package hook

import (
	"context"

	"countersign/store"
)

// Sealed are the secrets of sources that are kept sealed: the one in force, and the one before it if there is one.
func Sealed(ctx context.Context, view store.View) (all []store.Sealed, err error) {
	sources, err := view.EventSources(ctx)
	for _, s := range sources {
		for _, known := range []string{s.Secret, s.Former} {
			if known == "" {
				continue
			}
			all = append(all, store.Sealed{Place: Purpose(s.Name), Text: known, Keep: func(ctx context.Context, tx *store.Tx, text string) error {
				return tx.ResealEventSource(ctx, s.Name, known, text)
			}})
		}
	}
	return all, err
}
