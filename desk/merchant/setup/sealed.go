package setup

import (
	"context"

	"countersign/store"
)

// Sealed are the connection strings that are kept sealed: of every version, also those that nothing reads any more, and of drafts.
func Sealed(ctx context.Context, view store.View) (all []store.Sealed, err error) {
	versions, err := view.Mappings(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range versions {
		all = append(all, store.Sealed{Place: sealedFor(m.Version), Text: m.Connection, Keep: func(ctx context.Context, tx *store.Tx, text string) error {
			return tx.ResealMapping(ctx, m.Version, m.Connection, text)
		}})
	}
	drafts, err := view.Drafts(ctx)
	for _, d := range drafts {
		if d.Connection == "" {
			continue
		}
		all = append(all, store.Sealed{Place: draftOf(d.PersonID), Text: d.Connection, Keep: func(ctx context.Context, tx *store.Tx, text string) error {
			return tx.ResealDraft(ctx, d.PersonID, d.Connection, text)
		}})
	}
	return all, err
}
