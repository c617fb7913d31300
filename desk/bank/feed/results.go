package feed

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"countersign/desk/bank/records"
)

// results writes what was refused as CSV, so that somebody can mend these rows and send them again. A nil one writes
// nothing.
type results struct{ csv *csv.Writer }

func resultsIn(w io.Writer) *results {
	if w == nil {
		return nil
	}
	r := &results{csv.NewWriter(w)}
	r.write("file", "line", "array", "row", "id", "field", "found", "expected")
	return r
}

// add writes a line for one thing wrong with one row. Found is empty when nothing was.
func (r *results) add(p records.Problem) {
	r.write(p.File, number(p.Line), string(p.Array), number(p.Row), p.ID, p.Field, unquoted(p.Value), p.Want)
}

func (r *results) write(cells ...string) {
	if r == nil {
		return
	}
	for i := range cells {
		cells[i] = inert(cells[i])
	}
	_ = r.csv.Write(cells) // failed and end tell of an error
}

// failed reports whether the results could not be written, as far as they have left the buffer.
func (r *results) failed() error {
	if r == nil || r.csv.Error() == nil {
		return nil
	}
	return fmt.Errorf("write the results: %w", r.csv.Error())
}

func (r *results) end() error {
	if r == nil {
		return nil
	}
	r.csv.Flush()
	return r.failed()
}

// unquoted is what was found as it stood in the file: in a cell of its own it needs no quotes.
func unquoted(value string) string {
	if text, err := strconv.Unquote(value); err == nil {
		return text
	}
	return value
}

// number leaves a cell empty where there is no number.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// inert keeps a text that somebody else wrote from being a formula, or anything but one short line, in the spreadsheet that
// opens it.
func inert(text string) string {
	const most = 400
	text = strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text[:min(len(text), most)])
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
