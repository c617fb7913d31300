package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/merchant/connector"
)

// mostStatuses is how many different statuses of a kind are looked at.
const mostStatuses = 40

// Health opens a shop as its mapping says and looks for what has changed there: a table or a column that is gone is the error, and
// statuses that nobody has sorted come back as parts of a sentence. Orders with such a status go to a person.
func Health(ctx context.Context, m connector.Mapping) (unsorted []string, err error) {
	s, err := connector.Open(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := s.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	if err := Faults(m, c); err != nil {
		return nil, err
	}
	for _, k := range m.Kinds() {
		found, err := unsortedOf(ctx, s, k, m.Entities[k])
		if err != nil {
			return nil, err
		}
		unsorted = append(unsorted, found...)
	}
	return unsorted, nil
}

func unsortedOf(ctx context.Context, s *connector.Shop, k connector.Kind, e connector.Entity) (all []string, err error) {
	column, named := e.Columns["status"]
	if !named || k == connector.Order {
		return nil, nil
	}
	schema, table, name := e.Holds(column)
	values, _, err := s.Values(ctx, schema, table, name, mostStatuses)
	if countersign.KindOf(err) == countersign.Unavailable && len(values) == 0 {
		return nil, nil // too large to look through: each order that is read says so of its own
	}
	for _, v := range values {
		if !v.Empty && v.Text != "" && !sorts(e, v.Text) {
			all = append(all, fmt.Sprintf("%s %q (%d)", k, v.Text, v.Count))
		}
	}
	return all, err
}

// sorts reports whether a status is in one of an entity's lists.
func sorts(e connector.Entity, status string) bool {
	for _, list := range e.States {
		if slices.ContainsFunc(list, func(s string) bool { return strings.TrimSpace(s) == status }) {
			return true
		}
	}
	return false
}
