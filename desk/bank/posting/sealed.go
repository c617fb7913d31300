package posting

import (
	"context"

	"countersign/store"
)

// Sealed are the secrets that are kept sealed, of every version: instructions that are under way go where they were meant to.
func Sealed(ctx context.Context, view store.View) (all []store.Sealed, err error) {
	routes, err := view.Routes(ctx)
	for _, r := range routes {
		all = append(all, store.Sealed{Place: sealedFor(r.Version), Text: r.Secrets, Keep: func(ctx context.Context, tx *store.Tx, text string) error {
			return tx.ResealRoute(ctx, r.Version, r.Secrets, text)
		}})
	}
	return all, err
}
