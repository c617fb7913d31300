package connector

import (
	"maps"
	"slices"
	"strings"

	"countersign"
)

// A row that is read twice counts twice, and a refund that counts twice covers what it does not. Two refunds that are read as one are no
// better: then what was refunded is contested. A table of a shop's own has a key that keeps its rows apart, if it is the one that the
// mapping names; a copy of exported files has none, and may hold two exports of one table.

// again reports whether a row is one that was met before: the same id, and the same in everything that is read. The same id on rows
// that differ is an error, for nobody can say which of them is right, and so are equal rows without one. Parcels and returns add up
// to no sum that could be wrong, and a person sees both; refunds of one reference are known to be one, and the rules say which row
// counts.
//
// Rows of a join are no exception: two ways to the same order bring a row twice.
func (v *visit) again(k Kind, r row, met []row) (bool, error) {
	for _, before := range met {
		switch same := before["id"].text == r["id"].text && r["id"].text != ""; {
		case v.byLine(k):
			if err := v.unclear(k, before, r); err != nil {
				return false, err
			}
			if same {
				return true, nil
			}
		case same && maps.Equal(before, r) && (k.amount() == "" || v.keeps(k)):
			return true, nil
		case same && maps.Equal(before, r):
			return false, countersign.Errorf(countersign.Unprocessed, "two rows have the id %s and say the same, so whether they are one or two cannot be told", shown(r["id"].text)).
				Try("name as columns.id the column that is different in every row")
		case r["id"].text == "" && k.amount() != "" && maps.Equal(before, r):
			return false, countersign.Errorf(countersign.Unprocessed, "two rows have no id and say the same, so whether they are one cannot be told").
				Try("name as columns.id the column that is different in every row")
		case same && k.amount() != "" && !(k == Refund && r["reference"].text != "" && before["reference"].text == r["reference"].text):
			return false, countersign.Errorf(countersign.Unprocessed, "two rows have the id %s and say different things", shown(r["id"].text)).
				Try("if columns.id is a row's own, two exports of different days were copied, or a file that was changed: copy the newest alone. If it is not, name the column that is different in every row; where tables are joined, join by one, or say in where which of the rows counts")
		}
	}
	return false, nil
}

// keeps reports whether an id is one row's alone: it is the key of its table, so that a row which comes twice was only joined twice, or the
// table is a copy of files, in which a line that stands there twice was exported twice.
func (v *visit) keeps(k Kind) bool {
	e := v.mapping.Entities[k]
	schema, table, column := e.Holds(e.Columns["id"])
	t, known := v.catalog.Table(schema, table)
	_, copied := t.Column(LineColumn)
	return known && (copied || slices.Equal(t.Key, []string{column}))
}

// byLine reports whether rows of a kind have no id but what stands in their line of an export.
func (v *visit) byLine(k Kind) bool { return v.mapping.Entities[k].Columns["id"] == LineColumn }

// unclear is the error of two rows without an id that may be one: equal lines of one file, or lines of two files with the same amount
// and days that may be one. It may be a refund in two exports, with another status in the later one or written in another way, or it
// may be two refunds. Lines of one file that differ are two, as the shop itself says.
func (v *visit) unclear(k Kind, a, b row) error {
	one, other := a["id"].text, b["id"].text
	_, file, _ := strings.Cut(one, ofFile)
	_, otherFile, _ := strings.Cut(other, ofFile)
	switch {
	case k.amount() == "" || one != other && (file == otherFile || !v.mayBeOne(k, a, b)):
		return nil
	case one == other:
		return countersign.Errorf(countersign.Unprocessed, "%s stands there twice, and whether it is one of the %s or two cannot be told", shown(one), k.plural()).
			Try("look at them in the shop: the export gives them no number of their own")
	}
	return countersign.Errorf(countersign.Unprocessed, "%s and %s have the same amount and may be of the same day, so whether they are one cannot be told", shown(one), shown(other)).
		Try("copy the newest export alone, if everything is in it: exports of different days overlap")
}

func (v *visit) mayBeOne(k Kind, a, b row) bool {
	one, other := v.amount(k, a), v.amount(k, b)
	if one.Money != nil && other.Money != nil && *one.Money != *other.Money {
		return false
	}
	from, to := v.moment(k, a, k.happened()).Days()
	from2, to2 := v.moment(k, b, k.happened()).Days()
	return from == "" || from2 == "" || from <= to2 && from2 <= to
}

// happened is the column that says when a payment or a refund was made.
func (k Kind) happened() string {
	if k == Refund {
		return "refunded_at"
	}
	return "paid_at"
}
