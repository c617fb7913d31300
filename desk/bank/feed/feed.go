// Package feed brings a bank's files into its books: it reads, checks and stores records, and says row by row what it
// refused.
//
// A file is read through once before anything is written: a file that is not JSON to its end changes nothing. Then its rows
// are stored owners first, whatever order the file has them in, in batches that are one transaction each. A refused row
// never stops the others, and importing the same file again changes nothing, so an import that was interrupted is simply
// run again.
package feed

import (
	"context"
	"io"
	"os"
	"slices"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/store"
)

// Feed imports files into a store.
type Feed struct {
	Store    *store.Store
	DryRun   bool                             // say what would happen and store nothing
	Refused  func(records.Problem)            // told of each refused row, as it is found
	Progress func(done, total int, is string) // told now and then; is says what is being done
}

// Report says what became of a file.
type Report struct {
	File       string          `json:"file"`
	Understood []Understood    `json:"understood"`
	Unknown    []UnknownColumn `json:"unknown_columns"`
	New        int             `json:"new"`
	Changed    int             `json:"changed"`
	Same       int             `json:"same"`
	Refused    int             `json:"refused"`
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

// batch is how many rows are stored in one transaction: enough to make the commit cheap, few enough to let others write in
// between.
const batch = 500

// File imports one file. An error means that the file could not be read to its end, or the database could not be written:
// in the first case nothing was stored, in the second the batches before it were.
func (f Feed) File(ctx context.Context, path string) (Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return Report{}, countersign.Errorf(countersign.NotFound, "cannot open %s", path).Try(err.Error())
	}
	defer file.Close()
	return f.Read(ctx, path, file)
}

// Read is File over something that can be read more than once.
func (f Feed) Read(ctx context.Context, name string, file io.ReadSeeker) (Report, error) {
	run := f.begin()
	sum, err := run.survey(name, file)
	if err != nil {
		return run.report, err
	}
	run.total = sum.Rows()
	for _, array := range records.Arrays {
		if !slices.ContainsFunc(sum.Arrays, func(c records.Count) bool { return c.Array == array && c.Rows > 0 }) {
			continue
		}
		if err := run.store(ctx, name, file, array); err != nil {
			return run.report, err
		}
	}
	return run.report, nil
}

// Set imports records that are in memory already.
func (f Feed) Set(ctx context.Context, set records.Set) (Report, error) {
	run := f.begin()
	pending := map[records.Array][]records.Row{}
	for row := range set.Rows() {
		pending[row.Record.Array()] = append(pending[row.Record.Array()], row)
	}
	for _, array := range records.Arrays {
		for rows := range slices.Chunk(pending[array], batch) {
			if err := run.put(ctx, rows); err != nil {
				return run.report, err
			}
		}
	}
	return run.report, nil
}

// run is one file on its way in.
type run struct {
	Feed
	report      Report
	total, done int
	known       map[records.Array]map[string]bool // rows that a dry run would have stored, for rows that refer to them
}

func (f Feed) begin() *run {
	return &run{Feed: f, report: Report{Understood: []Understood{}, Unknown: []UnknownColumn{}}, known: map[records.Array]map[string]bool{}}
}

// survey reads the file through, reports what is wrong with single rows, and says what there is.
func (r *run) survey(name string, file io.Reader) (records.Summary, error) {
	seen := 0
	sum, err := records.ReadJSON(name, file, func(row records.Row) error {
		if seen++; seen%5000 == 0 {
			r.progress(seen, 0, "reading "+name)
		}
		return nil
	}, r.refuse)
	r.report.File = name
	for _, c := range sum.Arrays {
		r.report.Understood = append(r.report.Understood, Understood{c.Array, c.Rows})
	}
	for _, c := range sum.Unknown {
		r.report.Unknown = append(r.report.Unknown, UnknownColumn(c))
	}
	return sum, err
}

// store reads the file again and stores the rows of one array.
func (r *run) store(ctx context.Context, name string, file io.ReadSeeker, array records.Array) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return countersign.Errorf(countersign.Invalid, "%s cannot be read twice", name).Try("save it to a file first")
	}
	rows := make([]records.Row, 0, batch)
	flush := func() error {
		err := r.put(ctx, rows)
		rows = rows[:0]
		return err
	}
	_, err := records.ReadJSON(name, file, func(row records.Row) error {
		if row.Record.Array() != array {
			return nil
		}
		if rows = append(rows, row); len(rows) == batch {
			return flush()
		}
		return nil
	}, func(records.Problem) {}) // the survey has told of these
	if err != nil {
		return err
	}
	return flush()
}

// put stores one batch of one array, or rehearses it.
func (r *run) put(ctx context.Context, rows []records.Row) (err error) {
	if len(rows) == 0 {
		return nil
	}
	var done store.Imported
	if r.DryRun {
		done, err = r.rehearse(ctx, rows)
	} else {
		err = r.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			done, err = tx.Import(ctx, rows)
			return err
		})
	}
	if err != nil {
		return err
	}
	r.report.New, r.report.Changed, r.report.Same = r.report.New+done.New, r.report.Changed+done.Changed, r.report.Same+done.Same
	for _, problem := range done.Refused {
		r.refuse(problem)
	}
	r.done += len(rows)
	r.progress(r.done, r.total, "storing "+string(rows[0].Record.Array()))
	return nil
}

// rehearse says what storing the rows would do, and remembers those that would be there afterwards: owners come first, so what
// a refused row owns is refused as it would be.
func (r *run) rehearse(ctx context.Context, rows []records.Row) (store.Imported, error) {
	done, err := r.Store.Rehearse(ctx, rows, func(array records.Array, id string) bool { return r.known[array][id] })
	refused := map[int]bool{}
	for _, problem := range done.Refused {
		refused[problem.Row] = true
	}
	array := rows[0].Record.Array()
	if r.known[array] == nil {
		r.known[array] = map[string]bool{}
	}
	for _, row := range rows {
		if !refused[row.Number] {
			r.known[array][row.Record.Key()] = true
		}
	}
	return done, err
}

func (r *run) refuse(p records.Problem) {
	r.report.Refused++
	if r.Refused != nil {
		r.Refused(p)
	}
}

func (r *run) progress(done, total int, is string) {
	if r.Progress != nil {
		r.Progress(done, total, is)
	}
}
