package merchant

import (
	"context"

	"countersign"
	"countersign/pipeline/verify"
	"countersign/store"
)

// Policies are the shop's policy documents, as the desk reads them. Placed is the day on which the order was placed: each document
// counts in the version that was in force then. Only when no document had one do later versions come, and a rule then says so.
type Policies struct {
	InForce func(ctx context.Context, v store.View, placed countersign.When) ([]Version, error)
	// Search returns the passages that bear on a query, the most telling first, of no more than so many characters together.
	Search func(ctx context.Context, v store.View, placed countersign.When, query string, characters int) ([]Passage, error)
}

// Version is one version of a document, whole.
type Version struct {
	ID        string // of the version
	Title     string
	File      string
	Name      string // "v2", or what the shop calls it
	SHA256    string // of the bytes of its file
	Text      string
	Pages     []int // where in Text each page starts; nil when it has none
	ValidFrom countersign.When
}

// Passage is a part of a document that a model is shown.
type Passage struct {
	Title   string
	Version string // the version's name
	Heading string // the headings above it
	Page    int    // 0 when the document has none
	Text    string
}

// placed is the day on which the case's order was placed, zero when that is not known. Where the shop's zone is not, it is the last
// day that it may have been: the rules see a version that came into force in between, and could not see one that was left out.
func (r reader) placed() (day countersign.When) {
	if orders := r.order().Order.All; len(orders) == 1 {
		_, last := orders[0].PlacedAt.Days()
		day, _ = countersign.ParseWhen(last) // a day, or nothing
	}
	return day
}

// documents are what a proposal may quote: the full text of each version that counts, not the excerpts that a model was shown.
func (c Config) documents(ctx context.Context, v store.View, of countersign.Case) ([]verify.Document, error) {
	versions, err := c.reader(ctx, v, of).versions()
	return quotable(versions), err
}

func quotable(versions []Version) (all []verify.Document) {
	for _, version := range versions {
		all = append(all, verify.Document{ID: version.ID, Title: version.Title, File: version.File, Version: version.Name, Text: version.Text, Pages: version.Pages})
	}
	return all
}
