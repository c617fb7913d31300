package setup

import (
	"context"
	"errors"
	"fmt"

	"countersign/desk/merchant/connector"
)

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
	found, err := s.Unsorted(ctx)
	for _, u := range found {
		unsorted = append(unsorted, fmt.Sprintf("%s %q (%d)", u.Kind, u.Text, u.Count))
	}
	return unsorted, err
}
