package records

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

const (
	maxColumns = 200 // names in one row, known or not
	maxUnknown = 100 // different unknown columns of one array that are told apart
)

// ReadJSON reads an import: one JSON object with any of the seven arrays, in any order. It calls row for each row that is
// valid by itself and refused for each thing wrong with another, as they come; memory grows with the number of ids, not
// with the size of the file. The same row twice is delivered once; two different rows with one id are a problem of the
// second. An error of row stops the reading and is returned as it is.
//
// A bad row never stops the others. A document that is not JSON does, with a *countersign.Error of kind Invalid that names
// file, line and column; rows before it were delivered, and whether to keep them is the caller's decision.
func ReadJSON(file string, in io.Reader, row func(Row) error, refused func(Problem)) (Summary, error) {
	r := &reading{scanner: newScanner(in), delivery: newDelivery(file, row, refused)}
	return r.outcome(r.document())
}

// reading is one import on its way.
type reading struct {
	*scanner
	delivery
	names []string // unknown columns of the row at hand
}

func (r *reading) document() error {
	if err := r.opening(); err != nil {
		return err
	}
	met := map[Array]bool{}
	err := r.members(func(key []byte, line int) error { return r.array(Array(key), line, met) })
	if err != nil {
		return err
	}
	if r.peek(); r.more() {
		return r.broken("%s after the end of the object: an import is one JSON object and nothing else", r.here())
	}
	if r.failed != nil {
		return r.broken("")
	}
	return nil
}

// opening finds the brace that an import begins with. The marks that editors and other programs leave get a sentence each.
func (r *reading) opening() error {
	switch start := r.beginning(); {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		r.pos += 3
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return r.broken("the file is UTF-16; save it as UTF-8")
	case bytes.HasPrefix(start, []byte("\x1f\x8b")), bytes.HasPrefix(start, []byte("PK")):
		return r.broken("the file is compressed; unpack it first")
	}
	switch first := r.peek(); {
	case first == '{':
		return nil
	case first == 0 && !r.more():
		return r.broken("the file is empty, expected one JSON object with any of %s", joined(Arrays))
	}
	return r.broken("%s, expected { and one JSON object with any of %s", r.here(), joined(Arrays))
}

// array reads one member of the document.
func (r *reading) array(name Array, line int, met map[Array]bool) error {
	known, twice := tables[name] != nil, met[name]
	if known {
		met[name] = true
	}
	at, first := r.peek(), r.line
	switch {
	case !known:
		r.skipped(Problem{Line: line, Field: "array", Value: shown(string(name)), Want: "one of " + joined(Arrays)})
	case twice:
		r.skipped(Problem{Array: name, Line: line, Value: "there twice", Want: "each array once"})
	case at != '[':
		c, err := r.value(2, 0)
		if err == nil {
			r.skipped(Problem{Array: name, Line: first, Value: c.found(""), Want: "a list of rows"})
		}
		return err
	default:
		return r.rows(name)
	}
	_, err := r.value(2, 0)
	return err
}

// skipped reports an array that is not read at all.
func (r *reading) skipped(p Problem) {
	p.File = r.file
	r.sum.Refused++
	r.refused(p)
}

// rows reads the rows of one array.
func (r *reading) rows(name Array) error {
	r.begin(name)
	n := 0
	return r.elements(func() error {
		n++
		row, bad, err := r.one(name, n)
		if err != nil {
			return err
		}
		return r.sift(row, bad)
	})
}

// one reads one row and everything that is wrong with it.
func (r *reading) one(name Array, number int) (row Row, bad []Problem, err error) {
	row = Row{Record: tables[name].blank(), File: r.file, Number: number, Line: r.line}
	if r.peek() != '{' {
		c, err := r.value(3, 0)
		return row, []Problem{{Value: c.found(""), Want: "an object"}}, err
	}
	bad, err = r.fields(&row, name)
	if err != nil {
		return row, nil, err
	}
	return row, checked(row, bad), nil
}

// fields reads the members of one row into its record.
func (r *reading) fields(row *Row, name Array) (bad []Problem, err error) {
	t, n, met := tables[name], 0, uint32(0)
	r.names = r.names[:0]
	err = r.members(func(key []byte, line int) error {
		i, known := t.index[string(key)]
		if n++; n > maxColumns {
			known = false
		}
		if !known {
			bad = append(bad, r.unknown(name, string(key), line, n)...)
			_, err := r.value(4, 0)
			return err
		}
		c, err := r.value(4, maxMemo)
		if err != nil {
			return err
		}
		if met&(1<<i) != 0 {
			bad = append(bad, Problem{Line: line, Field: t.columns[i].name, Value: "there twice", Want: "each column once"})
			return nil
		}
		met |= 1 << i
		if c.kind == null {
			return nil // says nothing, like a missing one
		}
		row.given |= 1 << i
		if found, want := c.put(t.columns[i].name, t.columns[i].at(row.Record)); want != "" {
			bad = append(bad, Problem{Line: c.line, Field: t.columns[i].name, Value: found, Want: want})
		}
		return nil
	})
	return bad, err
}

// unknown counts a column that nobody knows. It is no fault of the row, unless it is there twice or never ends.
func (r *reading) unknown(a Array, key string, line, n int) (bad []Problem) {
	if n > maxColumns {
		if n == maxColumns+1 {
			bad = append(bad, Problem{Line: line, Value: fmt.Sprintf("more than %d columns wide", maxColumns), Want: "only the columns " + strings.Join(Columns(a), ", ")})
		}
		return bad
	}
	for _, before := range r.names {
		if before == key {
			return []Problem{{Line: line, Field: shown(key), Value: "there twice", Want: "each column once"}}
		}
	}
	r.names = append(r.names, key)
	r.count(a, shown(key), line)
	return nil
}

func (r *reading) count(a Array, name string, line int) {
	distinct := 0
	for i := range r.sum.Unknown {
		c := &r.sum.Unknown[i]
		if c.Array != a {
			continue
		}
		if distinct++; c.Name == name || distinct > maxUnknown {
			c.Rows++
			return
		}
	}
	if distinct == maxUnknown {
		name = "others"
	}
	r.sum.Unknown = append(r.sum.Unknown, Column{a, name, 1, line})
}
