package records

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"countersign"
)

// Summary says what an import was understood to be.
type Summary struct {
	File    string
	Arrays  []Count  // in the order the file has them
	Unknown []Column // reported, not guessed
	Refused int      // rows refused, and arrays that could not be read as one

	// Of a CSV file alone, because JSON leaves nothing to find out:
	LineEnds string
	Decimal  Decimal  // the sign that was seen in amounts, which should have none; empty where there are no amounts
	Notes    []string // what a person should look at, a sentence each
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

// delivery is the end of reading that does not mind how the rows were written down: it refuses or hands on each row, once.
type delivery struct {
	file    string
	row     func(Row) error
	refused func(Problem)
	sum     Summary
	stopped bool // by row, whose error is not ours to edit
	seen    map[Array]map[string]sight
	hashed  []byte
}

// sight is where an id was seen first and a hash of the row that it had there.
type sight struct {
	content [16]byte
	line    int
}

func newDelivery(file string, row func(Row) error, refused func(Problem)) delivery {
	return delivery{file: file, row: row, refused: refused, sum: Summary{File: file}, seen: map[Array]map[string]sight{}}
}

// outcome is what reading returns: an error of row as it is, and any other with the file's name before it.
func (d *delivery) outcome(err error) (Summary, error) {
	if !d.stopped {
		err = named(d.file, err)
	}
	return d.sum, err
}

func named(file string, err error) error {
	var broken *countersign.Error
	switch {
	case err == nil:
	case errors.As(err, &broken):
		broken.Message = file + ": " + broken.Message
	default:
		return fmt.Errorf("%s: %w", file, err)
	}
	return err
}

// begin counts the rows of one more array from here on.
func (d *delivery) begin(name Array) {
	d.sum.Arrays = append(d.sum.Arrays, Count{Array: name})
	d.seen[name] = map[string]sight{}
}

// sift refuses a row with anything wrong in it and hands on any other.
func (d *delivery) sift(row Row, bad []Problem) error {
	count := &d.sum.Arrays[len(d.sum.Arrays)-1]
	if len(bad) > 0 {
		d.refuse(count, row, bad)
		return nil
	}
	return d.deliver(count, row)
}

func (d *delivery) refuse(count *Count, row Row, bad []Problem) {
	count.Refused++
	d.sum.Refused++
	for _, p := range bad {
		p.File, p.Array, p.Row, p.ID = d.file, count.Array, row.Number, row.Record.Key()
		if p.Line == 0 {
			p.Line = row.Line
		}
		d.refused(p)
	}
}

// deliver hands on a row that is valid by itself, unless its id was there before.
func (d *delivery) deliver(count *Count, row Row) error {
	d.hashed = Encode(d.hashed[:0], row.Record)
	sum := sha256.Sum256(d.hashed)
	now := sight{[16]byte(sum[:16]), row.Line}
	before, again := d.seen[count.Array][row.Record.Key()]
	switch {
	case again && before.content == now.content:
		count.Repeated++
		return nil
	case again:
		key := tables[count.Array].columns[0].name
		want := fmt.Sprintf("one row for each %s: line %d has this one with other content", key, before.line)
		d.refuse(count, row, []Problem{{Field: key, Value: shown(row.Record.Key()), Want: want}})
		return nil
	}
	d.seen[count.Array][row.Record.Key()] = now
	count.Rows++
	if err := d.row(row); err != nil {
		d.stopped = true
		return err
	}
	return nil
}

// checked adds to what is wrong with how a row was written all that is wrong with what it says.
func checked(row Row, bad []Problem) []Problem {
	bad = append(bad, lacking(row, tables[row.Record.Array()].columns, bad)...)
	for _, p := range row.Record.Validate() {
		if !mentions(bad, p.Field) {
			bad = append(bad, p)
		}
	}
	return bad
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
