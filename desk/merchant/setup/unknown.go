package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/desk/merchant/connector"
)

// followsFrom is what it means that a mapping names no table for a kind of record. Rules that cannot tell let nothing stand but
// what needs no such record.
var followsFrom = map[connector.Kind]string{
	connector.Payment:     "what was paid is unknown, and no recommendation stands",
	connector.Fulfillment: "whether anything arrived is unknown, and no delivery can be shown",
	connector.Refund:      "whether money went back is unknown, and no recommendation stands",
	connector.Return:      "whether anything was returned is unknown, and no recommendation stands",
}

// Unknown is what a mapping leaves unknown of every order or of some, in sentences without their end: kinds of record that it names
// no table for, and statuses that the shop has and no list of it. It counts whole tables, so it is asked once, when a mapping is
// put into force.
func Unknown(ctx context.Context, m connector.Mapping) (all []string, err error) {
	s, err := connector.Open(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	found, err := s.Unsorted(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range connector.Kinds[1:] {
		if without := Without(m, k); without != "" {
			all = append(all, fmt.Sprintf("%s; say where they are in entities.%s", without, k))
		}
		if of := slices.DeleteFunc(slices.Clone(found), func(u connector.Unsorted) bool { return u.Kind != k }); len(of) > 0 {
			all = append(all, unsorted(k, of))
		}
	}
	return all, nil
}

// Without is what follows for every order when a mapping names no table for a kind of record, empty when it names one.
func Without(m connector.Mapping, k connector.Kind) string {
	if _, mapped := m.Entities[k]; mapped || followsFrom[k] == "" {
		return ""
	}
	return fmt.Sprintf("no table of %s is named: %s", plurals[k], followsFrom[k])
}

// unsorted says of a kind which statuses are in no list, and into which they may be put.
func unsorted(k connector.Kind, all []connector.Unsorted) string {
	const most = 8
	var named []string
	for _, u := range all[:min(len(all), most)] {
		named = append(named, fmt.Sprintf("%q (%s)", u.Text, rowsOf(u.Count)))
	}
	if more := len(all) - most; more > 0 {
		named = append(named, fmt.Sprintf("%d others", more))
	}
	what := "the status " + named[0] + " is in no list, so such a row is"
	if len(named) > 1 {
		what = "the statuses " + listed(named, "and") + " are in no list, so such rows are"
	}
	return fmt.Sprintf("%s: %s unknown and the order goes to a person; put what you understand of them into %s of entities.%s.states", k, what, listed(k.States(), "or"), k)
}

func rowsOf(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func listed(all []string, last string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + last + " " + all[len(all)-1]
}
