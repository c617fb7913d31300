package feed

import (
	"context"
	"crypto/sha256"

	"countersign/desk/bank/records"
	"countersign/store"
)

// rehearsed are the rows that a dry run would have stored by now, by their content: rows that refer to them are not refused,
// and the same row in a second file would be no change.
type rehearsed map[records.Array]map[string][sha256.Size]byte

func (r rehearsed) knows(array records.Array, id string) bool {
	_, known := r[array][id]
	return known
}

func (r rehearsed) add(row records.Record) {
	if r[row.Array()] == nil {
		r[row.Array()] = map[string][sha256.Size]byte{}
	}
	r[row.Array()][row.Key()] = content(row)
}

func content(row records.Record) [sha256.Size]byte { return sha256.Sum256(records.Encode(nil, row)) }

// rehearse says what storing the rows would do. Owners come first, so what a refused row owns is refused as it would be.
func (f *file) rehearse(ctx context.Context, rows []records.Row) (store.Imported, error) {
	fresh, again := f.apart(rows)
	done, err := f.Store.Rehearse(ctx, fresh, f.rehearsed.knows)
	done.Same += again
	refused := map[int]bool{}
	for _, problem := range done.Refused {
		refused[problem.Row] = true
	}
	for _, row := range fresh {
		if !refused[row.Number] {
			f.rehearsed.add(row.Record)
		}
	}
	return done, err
}

// apart takes out the rows that an earlier file had with the same content. One with other content is compared with what is
// on record, because what it would meet was not stored; the report says so, once.
func (f *file) apart(rows []records.Row) (fresh []records.Row, again int) {
	for _, row := range rows {
		before, known := f.rehearsed[row.Record.Array()][row.Record.Key()]
		switch {
		case known && before == content(row.Record):
			again++
			continue
		case known:
			f.differs(row)
		}
		fresh = append(fresh, row)
	}
	return fresh, again
}

func (f *file) differs(row records.Row) {
	if f.differed {
		return
	}
	f.differed = true
	f.report.Notes = append(f.report.Notes, "an earlier file says something else of one of the "+string(row.Record.Array())+
		": the dry run compares both with the books as they are now, the import will compare them with each other")
}
