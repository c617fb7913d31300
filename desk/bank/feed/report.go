package feed

import "countersign/desk/bank/records"

// Report says what a file was understood to be and what became of its rows.
type Report struct {
	File       string            `json:"file"`
	Format     records.Format    `json:"format,omitempty"`
	Encoding   records.Encoding  `json:"encoding,omitempty"`
	Delimiter  records.Delimiter `json:"delimiter,omitempty"` // of a CSV file, and so are the next two
	Decimal    records.Decimal   `json:"decimal,omitempty"`   // the sign seen in amounts, which should have none
	LineEnds   string            `json:"line_ends,omitempty"`
	Understood []Understood      `json:"understood"`
	Unknown    []UnknownColumn   `json:"unknown_columns"`
	Notes      []string          `json:"notes"` // what a person should look at, a sentence each
	New        int               `json:"new"`
	Changed    int               `json:"changed"`
	Same       int               `json:"same"`
	Refused    int               `json:"refused"`
}

// Understood is one array that was found, and how many good rows it had.
type Understood struct {
	Array records.Array `json:"array"`
	Rows  int           `json:"rows"`
}

// UnknownColumn is a column that no array of that name has. It is reported and not guessed at.
type UnknownColumn struct {
	Array records.Array `json:"array"`
	Name  string        `json:"name"`
	Rows  int           `json:"rows"`
	Line  int           `json:"line"`
}

func newReport(file string) Report {
	return Report{File: file, Understood: []Understood{}, Unknown: []UnknownColumn{}, Notes: []string{}}
}

// recognised adds what is known of a file before its rows are read.
func (r *Report) recognised(form records.Form) {
	r.Format, r.Encoding, r.Delimiter = form.Format, form.Encoding, form.Delimiter
	r.Notes = append(r.Notes, form.Notes...)
}

// surveyed adds what reading the file showed.
func (r *Report) surveyed(sum records.Summary) {
	for _, c := range sum.Arrays {
		r.Understood = append(r.Understood, Understood{c.Array, c.Rows})
	}
	for _, c := range sum.Unknown {
		r.Unknown = append(r.Unknown, UnknownColumn(c))
	}
	r.Decimal, r.LineEnds, r.Refused = sum.Decimal, sum.LineEnds, sum.Refused
	r.Notes = append(r.Notes, sum.Notes...)
}
