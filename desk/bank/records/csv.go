package records

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"countersign"
)

// readCSV reads a CSV file of a form that was recognised. Its first row names the columns, in any order; a row is refused
// or delivered as ReadJSON would, and an empty cell says nothing. A file whose columns cannot be told, or whose last quote
// is never closed, is a *countersign.Error of kind Invalid.
func readCSV(f Form, in io.Reader, row func(Row) error, refused func(Problem)) (Summary, error) {
	s := &sheet{grid: newGrid(f.Encoding.decode(in), f.Delimiter), delivery: newDelivery(f.File, row, refused), table: tables[f.Array],
		array: f.Array, delimiter: f.Delimiter, spreads: newSpreads()}
	if _, amounts := s.index["amount_minor"]; amounts {
		s.sum.Decimal = NoDecimal
	}
	s.begin(f.Array)
	err := s.header()
	for err == nil {
		if err = s.filled(); err == nil {
			err = s.one()
		}
	}
	if err == io.EOF && !s.stopped {
		err = nil
	}
	s.close()
	return s.outcome(err)
}

// sheet is one CSV file on its way.
type sheet struct {
	*grid
	delivery
	*table
	array     Array
	delimiter Delimiter
	places    []int // which column each cell of a row belongs to, -1 for one that is not known
	rows      int
	unnamed   int // cells of the header that are empty
	hollow    int // rows with nothing in them, which were skipped
	spreads   map[string]*spread
}

// filled reads the next row that has anything in it. Spreadsheets write rows of empty cells behind the last.
func (s *sheet) filled() error {
	for {
		if err := s.next(); err != nil {
			return err
		}
		for _, c := range s.cells {
			if len(bytes.TrimSpace(c.text)) > 0 {
				return nil
			}
		}
		s.hollow++
	}
}

// one reads the cells of a row into its record.
func (s *sheet) one() error {
	s.rows++
	row := Row{Record: s.blank(), File: s.file, Number: s.rows, Line: s.began}
	if s.wide != len(s.places) {
		return s.sift(row, []Problem{s.ragged()})
	}
	var bad []Problem
	for i, c := range s.cells {
		if at := s.places[i]; at >= 0 && c.size > 0 {
			row.given |= 1 << at
			if p := s.put(c, s.columns[at], row.Record); p.Want != "" {
				bad = append(bad, p)
			}
		}
	}
	return s.sift(row, checked(row, bad))
}

// put reads one cell into its column.
func (s *sheet) put(c cell, into column, r Record) Problem {
	if spread := s.spreads[into.name]; spread != nil {
		spread.add(c.text)
	}
	at := into.at(r)
	typed, want := c.typed(at)
	if want != "" {
		if _, amount := at.(*int64); amount {
			s.sum.Decimal = s.sum.Decimal.and(decimalIn(string(c.text)))
		}
		c.kind = words
		return Problem{Line: c.line, Field: into.name, Value: c.found(into.name), Want: want}
	}
	found, want := typed.put(into.name, at)
	return Problem{Line: c.line, Field: into.name, Value: found, Want: want}
}

func (s *sheet) ragged() Problem {
	p := Problem{Value: fmt.Sprintf("%d cells wide", s.wide), Want: fmt.Sprintf("%d like the header", len(s.places))}
	if s.wide > len(s.places) {
		p.Want += ": a text or number with a " + string(s.delimiter) + " in it stands in quotes"
	}
	return p
}

// close says what only the whole file could tell.
func (s *sheet) close() {
	s.sum.LineEnds = s.lineEnds()
	for i := range s.sum.Unknown {
		s.sum.Unknown[i].Rows = s.rows
	}
	s.note(s.rows == 0 && s.places != nil, "the file has a header and no rows")
	s.note(s.unnamed > 0, fmt.Sprintf("columns without a name were left out: %d", s.unnamed))
	s.note(s.hollow > 0, fmt.Sprintf("rows of empty cells were skipped: %d", s.hollow))
	s.note(s.sum.Decimal != NoDecimal && s.sum.Decimal != "", "amounts are written with a decimal sign or in groups of digits; amount_minor is in whole minor units (4500 for 45.00), and nothing was converted")
	for _, c := range s.columns {
		if spread := s.spreads[c.name]; spread != nil {
			note := spread.note(c.name)
			s.note(note != "", note)
		}
	}
}

func (s *sheet) note(is bool, sentence string) {
	if is {
		s.sum.Notes = append(s.sum.Notes, sentence)
	}
}

// header reads the names of the columns. Which is which must be beyond doubt before the first row is read.
func (s *sheet) header() error {
	err := s.filled()
	if err == nil && s.declares() {
		err = s.filled()
	}
	switch {
	case err == io.EOF:
		return countersign.Errorf(countersign.Invalid, "there is no line with the names of the columns, expected %s", strings.Join(Columns(s.array), ", "))
	case err != nil:
		return err
	case s.wide > maxColumns:
		return s.wrong("the header is %d cells wide, expected at most %d", s.wide, maxColumns)
	}
	s.places, s.hollow = make([]int, s.wide), 0
	for i, c := range s.cells {
		if err := s.place(i, c); err != nil {
			return err
		}
	}
	return s.complete()
}

// declares reports whether the row is a line such as "sep=;", which is no header.
func (s *sheet) declares() bool {
	first := strings.ToLower(string(s.cells[0].text))
	return strings.HasPrefix(first, "sep=") && len(first) <= len("sep=;")
}

// place finds the column that a cell of the header names.
func (s *sheet) place(i int, c cell) error {
	name := string(c.text)
	for _, before := range s.cells[:i] {
		if name != "" && string(before.text) == name {
			return s.wrong("the column %s stands there twice, expected each column once", shown(name))
		}
	}
	at, known := s.index[name]
	switch {
	case c.kind == torn:
		return s.wrong("the column %s has a quote that does not belong there", shown(name))
	case known:
		s.places[i] = at
		return nil
	}
	s.places[i] = -1
	if name == "" {
		s.unnamed++
		return nil
	}
	s.sum.Unknown = append(s.sum.Unknown, Column{Array: s.array, Name: shown(name), Line: c.line})
	return nil
}

// complete refuses a header that lacks required columns: one sentence for all of them, instead of one for each row.
func (s *sheet) complete() error {
	var missing, meant []string
	for at, c := range s.columns {
		if !c.need || s.has(at) {
			continue
		}
		missing = append(missing, c.name)
		if like := s.like(c.name); like != "" {
			meant = append(meant, c.name+" for "+like)
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(meant) > 0:
		return s.lacks(missing).Try("did you mean " + strings.Join(meant, ", ") + "?")
	}
	return s.lacks(missing)
}

func (s *sheet) has(column int) bool {
	for _, at := range s.places {
		if at == column {
			return true
		}
	}
	return false
}

func (s *sheet) lacks(missing []string) *countersign.Error {
	var found []string
	for _, c := range s.cells {
		found = append(found, shown(string(c.text)))
	}
	return s.wrong("%s has no column %s; it has %s", s.array, strings.Join(missing, ", "), strings.Join(found, ", "))
}

// like is a cell of the header that differs from a column's name in capitals, blanks and dashes alone. It is not taken for
// it: that would be a guess.
func (s *sheet) like(name string) string {
	fold := strings.NewReplacer(" ", "", "_", "", "-", "", "\u00a0", "", "\ufeff", "")
	for _, c := range s.cells {
		if strings.EqualFold(fold.Replace(string(c.text)), fold.Replace(name)) {
			return shown(string(c.text))
		}
	}
	return ""
}

func (s *sheet) wrong(format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, "line %d: %s", s.began, fmt.Sprintf(format, args...))
}
