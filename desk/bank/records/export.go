package records

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"countersign"
)

// Export is a CSV file with whatever columns another program gave it. Its cells are text and stay text: nothing here knows what
// they mean.
type Export struct {
	File      string
	Encoding  Encoding
	Delimiter Delimiter
	Columns   []string // as the first line names them; one without a name is called after its place
	Notes     []string // what a person should look at, a sentence each
}

// RecogniseExport finds the form of a CSV file with whatever columns, of which it reads everything.
func RecogniseExport(file string, in io.Reader) (Export, error) {
	x := Export{File: file}
	return x, named(file, x.recognise(bufio.NewReaderSize(in, headSize)))
}

func (x *Export) recognise(in *bufio.Reader) error {
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return fmt.Errorf("reading the file at line 1: %w", err)
	}
	head = bytes.Clone(head)
	if len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte(mark)))) == 0 && len(head) < headSize {
		return countersign.Errorf(countersign.Invalid, "the file is empty, expected a line with the names of the columns")
	}
	if err := (&Form{}).readable(head); err != nil { // what is no text at all
		return err
	}
	if x.Encoding, x.Notes, err = proofread(head, in); err != nil {
		return err
	}
	if err := x.delimit(head); err != nil {
		return err
	}
	return x.header(newGrid(x.Encoding.decode(bytes.NewReader(head)), x.Delimiter))
}

// delimit takes the delimiter that parts the first line into the most cells.
func (x *Export) delimit(head []byte) error {
	if d, said, err := declared(head, x.Encoding); said {
		x.Delimiter = d
		return err
	}
	most := 0
	for _, d := range delimiters {
		g := newGrid(x.Encoding.decode(bytes.NewReader(head)), d)
		_ = g.next() // a header that is broken is told of when it is read
		if g.wide > most {
			x.Delimiter, most = d, g.wide
		}
	}
	return nil
}

// header reads the names of the columns. Behind a line that declares the delimiter it is the next.
func (x *Export) header(g *grid) error {
	err := g.next()
	if err == nil && len(g.cells) > 0 && strings.HasPrefix(strings.ToLower(string(g.cells[0].text)), "sep=") {
		err = g.next()
	}
	if err != nil {
		return err
	}
	if g.wide > maxColumns {
		return countersign.Errorf(countersign.Invalid, "line %d is %d cells wide, expected at most %d", g.began, g.wide, maxColumns)
	}
	for i, c := range g.cells {
		name := strings.TrimSpace(string(c.text))
		if name == "" {
			name = fmt.Sprintf("column %d", i+1)
		}
		if slices.ContainsFunc(x.Columns, func(other string) bool { return strings.EqualFold(other, name) }) {
			return countersign.Errorf(countersign.Invalid, "line %d names the column %s twice, expected each name once", g.began, shown(name))
		}
		x.Columns = append(x.Columns, name)
	}
	return nil
}

// shortened is a number as a spreadsheet writes it when it has lost the last digits.
var shortened = regexp.MustCompile(`^-?\d(?:[.,]\d+)?[eE]\+\d+$`)

// Read reads the rows below the names of the columns and calls row for each that has anything in it. A row that cannot be read
// as it was meant ends the reading with an error that names its line: an export with a hole in it looks like one without.
func (x Export) Read(in io.Reader, row func(cells []string) error) (rows int, err error) {
	g := newGrid(x.Encoding.decode(in), x.Delimiter)
	if err := (&Export{}).header(g); err != nil {
		return 0, named(x.File, err)
	}
	for {
		cells, err := x.next(g)
		switch {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return rows, named(x.File, err)
		case cells == nil:
			continue
		}
		rows++
		if err := row(cells); err != nil {
			return rows, err
		}
	}
}

// next is the next row, nil when nothing is in it. A spreadsheet leaves out empty cells at the end of a row.
func (x Export) next(g *grid) ([]string, error) {
	if err := g.next(); err != nil {
		return nil, err
	}
	cells, empty := make([]string, len(x.Columns)), true
	for i, c := range g.cells {
		text := string(c.text)
		switch {
		case i >= len(x.Columns) && strings.TrimSpace(text) != "":
			return nil, countersign.Errorf(countersign.Invalid, "line %d has %d cells, and line 1 names %d columns", g.began, g.wide, len(x.Columns)).
				Try("export the file again, with quotes around text that holds a " + string(x.Delimiter))
		case i >= len(x.Columns):
			continue
		case c.kind == torn:
			return nil, countersign.Errorf(countersign.Invalid, "line %d, column %s: there is a quote in the middle of the text, so nobody can tell where it ends", c.line, shown(x.Columns[i]))
		case shortened.MatchString(text):
			return nil, countersign.Errorf(countersign.Invalid, "line %d, column %s: %s is a number that a spreadsheet has shortened, and its last digits are lost", c.line, shown(x.Columns[i]), shown(text)).
				Try("export the file again, and do not open it in a spreadsheet before it is sent")
		}
		cells[i] = text
		empty = empty && strings.TrimSpace(text) == ""
	}
	if empty {
		return nil, nil
	}
	return cells, nil
}
