package connector

import (
	"slices"
	"strings"
)

// What columns are called that say of a row that it does not count any more, or that it counts at all.
var (
	ended   = strings.Fields("deletedat deleted canceledat cancelledat voidedat voided archivedat declinedat failedat")
	reached = strings.Fields("capturedat paidat completedat processedat refundedat receivedat transactionid")
)

// Rules are the conditions that a table's columns suggest for which of its rows count.
func Rules(t Table) (all Conditions) {
	for _, c := range t.Columns {
		switch name := folded(c.Name); {
		case !c.Nullable:
		case slices.Contains(ended, name):
			all = append(all, Condition{Column: c.Name, IsNull: true})
		case slices.Contains(reached, name):
			all = append(all, Condition{Column: c.Name, NotNull: true})
		}
	}
	return all
}

// Holds says which table of an entity has a column that may be written with a joined table's name before it.
func (e Entity) Holds(column string) (schema, table, name string) {
	for _, j := range e.Join {
		if rest, ok := strings.CutPrefix(column, j.Table+"."); ok {
			return j.Schema, j.Table, rest
		}
	}
	return e.Schema, e.Table, strings.TrimPrefix(column, e.Table+".")
}
