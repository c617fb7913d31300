package library

import (
	"context"

	"countersign"
	"countersign/desk/merchant"
	"countersign/store"
)

// Policies is the library as the merchant's desk reads it.
func (l *Library) Policies() merchant.Policies {
	return merchant.Policies{
		InForce: func(ctx context.Context, v store.View, placed countersign.When) (all []merchant.Version, err error) {
			versions, err := l.InForce(ctx, v, placed)
			for _, version := range versions {
				all = append(all, merchant.Version(version))
			}
			return all, err
		},
		Search: func(ctx context.Context, v store.View, placed countersign.When, query string, characters int) (all []merchant.Passage, err error) {
			passages, err := l.Search(ctx, v, placed, query, characters)
			for _, p := range passages {
				all = append(all, merchant.Passage{Title: p.Title, Version: p.Version, Heading: p.Heading, Page: p.Page, Text: p.Text})
			}
			return all, err
		},
	}
}
