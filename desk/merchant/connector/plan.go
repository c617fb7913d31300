package connector

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
)

// Plan says which reads of an order look through a whole table, as sentences that name the table and the column that has no
// index. Empty when an index leads to every record. It asks the database how it would read and reads nothing.
func (s *Shop) Plan(ctx context.Context) (slow []string, err error) {
	err = s.inside(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if s.d == Postgres { // it reads a small table whole although it has an index, and must not here
			if err := tell(ctx, tx, statement{sql: "SELECT pg_catalog.set_config('enable_seqscan', 'off', true), " +
				"pg_catalog.set_config('enable_mergejoin', 'off', true), pg_catalog.set_config('enable_hashjoin', 'off', true)"}); err != nil {
				return err
			}
		}
		for _, k := range Kinds {
			found, err := (&visit{Shop: s, tx: tx}).slow(ctx, k)
			if err != nil {
				return err
			}
			slow = append(slow, found...)
		}
		return nil
	})
	return slow, err
}

func (v *visit) slow(ctx context.Context, k Kind) (all []string, err error) {
	r, err := v.way(k)
	if err != nil || len(r.tables) == 0 {
		return nil, nil // what cannot be read is not read slowly
	}
	ways := []place{r.key}
	if number, ok := r.place("number"); ok && k == Order {
		ways = append(ways, number)
	}
	for _, at := range ways {
		s, ok := v.d.named(r, at, v.d.specimen(at))
		if !ok {
			continue
		}
		scans := false
		err := ask(ctx, v.tx, v.d.explained(s), func(row []cell) { scans = scans || v.d.scans(row) })
		if err != nil {
			return nil, err
		}
		if scans {
			all = append(all, "finding "+k.plural()+" by "+shown(at.column.Name)+" reads the whole of "+shown(r.tables[at.table].Name)+
				": an index on that column would make it fast")
		}
	}
	return all, nil
}

// specimen is a value that the column at a place could hold.
func (d dialect) specimen(at place) string {
	switch d.family(at.column) {
	case uuids:
		return "00000000-0000-0000-0000-000000000000"
	case integers, decimals, floats:
		return "1"
	}
	return "a"
}

// node is a step of a plan of PostgreSQL. One that walks an index from end to end has no condition on it.
type node struct {
	Type      string `json:"Node Type"`
	Condition string `json:"Index Cond"`
	Plans     []node
}

func (n node) scans() bool {
	return n.Type == "Seq Scan" || strings.HasPrefix(n.Type, "Index") && n.Condition == "" || slices.ContainsFunc(n.Plans, node.scans)
}

// scans reports whether a line of a plan reads a whole table.
func (d dialect) scans(line []cell) bool {
	switch d {
	case Postgres:
		var plans []struct{ Plan node }
		return json.Unmarshal([]byte(line[0].text), &plans) == nil && len(plans) == 1 && plans[0].Plan.scans()
	case SQLite: // id, parent, notused, detail
		detail := line[len(line)-1].text
		return strings.HasPrefix(detail, "SCAN ") || strings.Contains(detail, "AUTOMATIC")
	}
	// id, select_type, table, type, possible_keys, key, … and in MySQL the partitions between table and type
	for _, c := range line[3:min(5, len(line))] {
		if c.text == "ALL" || c.text == "index" {
			return true
		}
	}
	return false
}
