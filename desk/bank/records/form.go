package records

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"countersign"
)

// Format is how the rows of a file are written down.
type Format string

const (
	JSON Format = "json" // one object with any of the seven arrays
	CSV  Format = "csv"  // one array, a row a line
)

// Form is what there is to know about a file before its rows can be read. Nothing in it is guessed in silence: whoever
// reads a file with it shows it to whoever sent the file.
type Form struct {
	File      string
	Format    Format
	Array     Array // of a CSV file
	Encoding  Encoding
	Delimiter Delimiter // of a CSV file
	Notes     []string  // what a person should look at, a sentence each
}

// endings are those of files that hold a table in lines of text.
var endings = []string{"csv", "tsv", "tab", "psv", "txt"}

// headSize is how much of a file's beginning is looked at to find the form of its header.
const headSize = 64 << 10

// Recognise finds the form of a file, of which it may read everything: how the bytes of a CSV file are text only its last
// byte can tell. The array is what somebody says that a CSV file holds; when it is empty the file's name says so.
//
// A file that begins with a brace is JSON, whatever its name, since no column begins with one.
func Recognise(file string, array Array, in io.Reader) (Form, error) {
	f, err := recognise(file, array, bufio.NewReaderSize(in, headSize))
	return f, named(file, err)
}

func recognise(file string, array Array, in *bufio.Reader) (Form, error) {
	f := Form{File: file, Format: JSON, Array: array, Encoding: UTF8}
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return f, fmt.Errorf("reading the file at line 1: %w", err)
	}
	if braced(head) || array == "" && !slices.Contains(endings, extension(file)) {
		if array != "" {
			f.Notes = append(f.Notes, "the file is JSON, which names its arrays itself; it was not taken for "+string(array))
		}
		f.Array = ""
		return f, nil
	}
	f.Format = CSV
	return f, f.table(bytes.Clone(head), in)
}

// braced reports whether a file begins as JSON does.
func braced(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n"), []byte("{"))
}

// table finds the form of a CSV file.
func (f *Form) table(head []byte, in *bufio.Reader) (err error) {
	if f.Array == "" {
		if f.Array, err = ArrayNamed(f.File); err != nil {
			return err
		}
	}
	if tables[f.Array] == nil {
		return countersign.Errorf(countersign.Invalid, "%s is no array, expected one of %s", shown(string(f.Array)), joined(Arrays)).In("array")
	}
	if err := f.readable(head); err != nil {
		return err
	}
	if f.Encoding, f.Notes, err = proofread(head, in); err != nil {
		return err
	}
	f.Delimiter, err = delimiterOf(f.Array, head, f.Encoding)
	return err
}

// readable refuses what is no text at all, with a sentence each.
func (f *Form) readable(head []byte) error {
	for _, magic := range []string{"PK\x03\x04", "\x1f\x8b", "\xd0\xcf\x11\xe0"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return countersign.Errorf(countersign.Invalid, "the file is a spreadsheet or an archive, expected text").Try("export it as CSV, or unpack it first")
		}
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte(mark)))) == 0 && len(head) < headSize {
		return countersign.Errorf(countersign.Invalid, "the file is empty, expected a line with the names of the columns: %s", strings.Join(Columns(f.Array), ", "))
	}
	return nil
}

// Read reads the file's rows from its beginning, as ReadJSON does, whatever their form: it calls row for each row that is
// valid by itself and refused for each thing wrong with another.
func (f Form) Read(in io.Reader, row func(Row) error, refused func(Problem)) (Summary, error) {
	if f.Format == CSV {
		return readCSV(f, in, row, refused)
	}
	return ReadJSON(f.File, in, row, refused)
}
