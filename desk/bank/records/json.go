package records

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"countersign"
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
	r := &reading{scanner: newScanner(in), file: file, row: row, refused: refused, seen: map[Array]map[string]sight{}}
	r.sum.File = file
	err := r.document()
	var broken *countersign.Error
	switch {
	case err == nil || r.stopped:
	case errors.As(err, &broken):
		broken.Message = file + ": " + broken.Message
	default:
		err = fmt.Errorf("%s: %w", file, err)
	}
	return r.sum, err
}

// Summary says what an import was understood to be.
type Summary struct {
	File    string
	Arrays  []Count  // in the order the file has them
	Unknown []Column // reported, not guessed
	Refused int      // rows refused, and arrays that could not be read as one
}

// Count is one array of an import.
type Count struct {
	Array    Array
	Rows     int // delivered
	Repeated int // the same row again, skipped
	Refused  int
}

// Column is an unknown column and in how many rows it stood.
type Column struct {
	Array Array
	Name  string // quoted and clipped
	Rows  int
	Line  int // where it stood first
}

// Rows is how many rows were delivered, over all arrays.
func (s Summary) Rows() (n int) {
	for _, c := range s.Arrays {
		n += c.Rows
	}
	return n
}

// reading is one import on its way.
type reading struct {
	*scanner
	file    string
	row     func(Row) error
	refused func(Problem)
	sum     Summary
	stopped bool // by row, whose error is not ours to edit
	seen    map[Array]map[string]sight
	hashed  []byte
	names   []string // unknown columns of the row at hand
}

// sight is where an id was seen first and a hash of the row that it had there.
type sight struct {
	content [16]byte
	line    int
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
	r.sum.Arrays = append(r.sum.Arrays, Count{Array: name})
	r.seen[name] = map[string]sight{}
	n := 0
	return r.elements(func() error {
		n++
		count := &r.sum.Arrays[len(r.sum.Arrays)-1]
		row, bad, err := r.one(name, n)
		switch {
		case err != nil:
			return err
		case len(bad) > 0:
			r.refuse(count, row, bad)
			return nil
		}
		return r.deliver(count, row)
	})
}

func (r *reading) refuse(count *Count, row Row, bad []Problem) {
	count.Refused++
	r.sum.Refused++
	for _, p := range bad {
		p.File, p.Array, p.Row = r.file, count.Array, row.Number
		if p.Line == 0 {
			p.Line = row.Line
		}
		r.refused(p)
	}
}

// deliver hands on a row that is valid by itself, unless its id was there before.
func (r *reading) deliver(count *Count, row Row) error {
	r.hashed = Encode(r.hashed[:0], row.Record)
	sum := sha256.Sum256(r.hashed)
	now := sight{[16]byte(sum[:16]), row.Line}
	before, again := r.seen[count.Array][row.Record.Key()]
	switch {
	case again && before.content == now.content:
		count.Repeated++
		return nil
	case again:
		key := tables[count.Array].columns[0].name
		want := fmt.Sprintf("one row for each %s: line %d has this one with other content", key, before.line)
		r.refuse(count, row, []Problem{{Field: key, Value: shown(row.Record.Key()), Want: want}})
		return nil
	}
	r.seen[count.Array][row.Record.Key()] = now
	count.Rows++
	if err := r.row(row); err != nil {
		r.stopped = true
		return err
	}
	return nil
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
	bad = append(bad, lacking(row, tables[name].columns, bad)...)
	for _, p := range row.Record.Validate() {
		if !mentions(bad, p.Field) {
			bad = append(bad, p)
		}
	}
	return row, bad, nil
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

// lacking finds required columns that the row gave no value.
func lacking(row Row, columns []column, bad []Problem) (out []Problem) {
	for i, c := range columns {
		if c.need && row.given&(1<<i) == 0 && !mentions(bad, c.name) {
			out = append(out, Problem{Field: c.name, Want: "a value: the column is required"})
		}
	}
	return out
}

// mentions reports whether a problem with the field was found already: one sentence about it is enough.
func mentions(bad []Problem, field string) bool {
	for _, p := range bad {
		if p.Field == field {
			return true
		}
	}
	return false
}
