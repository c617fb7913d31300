package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign"
)

// Report is what a suite found. Its JSON form is stable: the same suite on the same data with the same model gives the same
// bytes, and names are only ever added. Summary is for people and may be worded differently tomorrow.
type Report struct {
	Suite    string         `json:"suite"`
	Seed     *uint64        `json:"seed,omitempty"` // of the suites that generate their cases
	Summary  []string       `json:"summary"`
	Counts   map[string]int `json:"counts"`
	Tables   []Table        `json:"tables"`
	Cases    []Line         `json:"cases"` // of the suites whose cases are worth reading one by one
	Promises []string       `json:"broken_promises"`
}

// Table counts cases by something.
type Table struct {
	By      string   `json:"by"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is one row of a table, a cell for each column.
type Row struct {
	Name  string `json:"name"`
	Cells []int  `json:"cells"`
}

// Line is one case: what was filed, how it ended, and what the records could and could not establish.
type Line struct {
	Case        string             `json:"case"`
	Subject     string             `json:"subject"`
	Filing      string             `json:"filing"`
	Filed       string             `json:"filed_as"`
	Reason      string             `json:"reason"` // what it was filed as, in the product's words
	Amount      countersign.Money  `json:"amount"`
	Ended       string             `json:"ended"`
	Reasons     []string           `json:"reasons"`
	Established []countersign.Fact `json:"established"`     // what the records show, so or not so
	Unknown     []string           `json:"not_established"` // what they cannot show
	Note        string             `json:"note"`
}

func newReport(suite string) Report {
	return Report{Suite: suite, Summary: []string{}, Counts: map[string]int{}, Tables: []Table{}, Cases: []Line{}, Promises: []string{}}
}

// say adds a sentence to the summary.
func (r *Report) say(format string, args ...any) {
	r.Summary = append(r.Summary, fmt.Sprintf(format, args...))
}

// broke adds broken promises.
func (r *Report) broke(promises ...string) { r.Promises = append(r.Promises, promises...) }

// mostBroken is how many broken promises are printed: one is enough to stop, and a guard that is broken breaks thousands.
const mostBroken = 20

// Print writes the report for people: every case that is worth reading, the tables, the summary, and last whether the
// promises held.
func (r Report) Print(w io.Writer, took time.Duration) error {
	page := &page{w: w}
	page.line("%s", r.Suite)
	page.line("%s", strings.Repeat("─", utf8.RuneCountInString(r.Suite)))
	for i, l := range r.Cases {
		page.one(i+1, l)
	}
	for _, t := range r.Tables {
		page.table(t)
	}
	page.line("")
	for _, sentence := range r.Summary {
		page.wrapped("", sentence)
	}
	page.promises(r.Promises)
	page.line("%s took %s.", r.Suite, took.Round(100*time.Millisecond))
	return page.err
}

// page writes lines until one cannot be written.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// width is where lines are broken.
const width = 110

// wrapped writes text after a label, broken between words, its further lines under the first.
func (p *page) wrapped(label, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	line := label
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width && strings.TrimSpace(line) != "" {
			p.line("%s", strings.TrimRight(line, " "))
			line = indent
		}
		if line != label && line != indent {
			line += " "
		}
		line += word
	}
	p.line("%s", line)
}

// one prints a case. A case that a filing met again is not told twice.
func (p *page) one(n int, l Line) {
	p.line("")
	p.line("%3d. %s, %s, transaction %s → %s", n, words(l.Filed), l.Amount, l.Subject, l.Ended)
	if l.Note != "" {
		p.line("     %s", l.Note)
		return
	}
	p.wrapped("     the records show    ", listed(l.Established, told))
	p.wrapped("     they cannot show    ", listed(l.Unknown, untold))
	p.wrapped("     why a person looks  ", listed(l.Reasons, words))
}

func (p *page) table(t Table) {
	widest := utf8.RuneCountInString(t.By)
	for _, row := range t.Rows {
		widest = max(widest, utf8.RuneCountInString(row.Name))
	}
	p.line("")
	p.row(widest, t.By, t.Columns, t.Columns)
	for _, row := range t.Rows {
		cells := make([]string, len(row.Cells))
		for i, n := range row.Cells {
			cells[i] = number(n)
		}
		p.row(widest, row.Name, cells, t.Columns)
	}
}

// row writes one row, each cell under the end of its column's name.
func (p *page) row(widest int, name string, cells, columns []string) {
	line := fmt.Sprintf("  %s%s", name, strings.Repeat(" ", widest-utf8.RuneCountInString(name)))
	for i, cell := range cells {
		line += fmt.Sprintf("  %*s", max(6, utf8.RuneCountInString(columns[i])), cell)
	}
	p.line("%s", line)
}

func (p *page) promises(broken []string) {
	p.line("")
	if len(broken) == 0 {
		p.line("Every promise held.")
		return
	}
	p.line("%s BROKEN:", plural(len(broken), "promise", "promises"))
	for _, promise := range broken[:min(len(broken), mostBroken)] {
		p.wrapped("  ✗ ", promise)
	}
	if left := len(broken) - mostBroken; left > 0 {
		p.line("  … and %s more", number(left))
	}
}

// number is a count for people: 5,000.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// percent is a share with one digit, rounded down: 97.96 % must not be shown as 98.
func percent(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	tenths := part * 1000 / whole
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// byCount is a table of counts, the largest first.
func byCount(by, column string, counts map[string]int, tell func(string) string) Table {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	t := Table{By: by, Columns: []string{column}, Rows: []Row{}}
	for _, name := range names {
		t.Rows = append(t.Rows, Row{Name: tell(name), Cells: []int{counts[name]}})
	}
	return t
}
