// Package feed brings a bank's files into its books: it reads, checks and stores records, and says row by row what it
// refused.
//
// Files that come together are one import. All of them are read through once before anything is written: a file that is
// broken anywhere changes nothing. Then their rows are stored owners first, whatever the order of the files and of the rows
// in them, in batches that are one transaction each. A refused row never stops the others, and importing the same files
// again changes nothing, so an import that was interrupted is simply run again and goes on where it stopped.
package feed

import (
	"context"
	"errors"
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
	Refused  func(records.Problem)            // told of each thing wrong with a refused row, as it is found
	Results  io.Writer                        // gets the same as CSV: a header, and a line for each thing wrong
	Progress func(done, total int, is string) // told now and then; is says what is being done
}

// Source is one file of an import.
type Source struct {
	Name    string        // for messages, and for how it is written: transactions.csv, bank.json
	Array   records.Array // which array a CSV file holds; empty when its name says so
	Content io.ReadSeeker
}

// batch is how many rows are stored in one transaction: enough to make the commit cheap, few enough to let others write in
// between.
const batch = 500

// File is Files of one.
func (f Feed) File(ctx context.Context, path string) (Report, error) {
	return only(f.Files(ctx, path))
}

// Files is All of files by their paths. One that cannot be opened is an error, and nothing of any is read.
func (f Feed) Files(ctx context.Context, paths ...string) (reports []Report, err error) {
	var sources []Source
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, countersign.Errorf(countersign.NotFound, "cannot open %s", path).Try(err.Error())
		}
		defer file.Close()
		sources = append(sources, Source{Name: path, Content: file})
	}
	return f.All(ctx, sources...)
}

// Read is All of one file whose name says what it is.
func (f Feed) Read(ctx context.Context, name string, file io.ReadSeeker) (Report, error) {
	return only(f.All(ctx, Source{Name: name, Content: file}))
}

func only(reports []Report, err error) (Report, error) {
	if len(reports) == 0 {
		return newReport(""), err
	}
	return reports[0], err
}

// All imports files that belong together and reports on each, those that hold owners first. An error means that a file could
// not be read to its end, or the database or the results could not be written: in the first case nothing was stored, in the
// others the batches before it were. The reports are then as far as it came.
func (f Feed) All(ctx context.Context, sources ...Source) (reports []Report, err error) {
	run := f.begin()
	defer func() { err = errors.Join(err, run.results.end()) }()
	files, err := run.survey(ctx, sources)
	for _, array := range records.Arrays {
		for _, file := range files {
			if err == nil && file.holds(array) {
				err = file.store(ctx, array)
			}
		}
	}
	for _, file := range files {
		reports = append(reports, file.report)
	}
	return reports, err
}

// Set imports records that are in memory already.
func (f Feed) Set(ctx context.Context, set records.Set) (report Report, err error) {
	file := &file{run: f.begin(), report: newReport("")}
	defer func() { err = errors.Join(err, file.results.end()) }()
	pending := map[records.Array][]records.Row{}
	for row := range set.Rows() {
		pending[row.Record.Array()] = append(pending[row.Record.Array()], row)
	}
	for _, array := range records.Arrays {
		for rows := range slices.Chunk(pending[array], batch) {
			if err := file.put(ctx, rows); err != nil {
				return file.report, err
			}
		}
	}
	return file.report, nil
}

// run is one import on its way.
type run struct {
	Feed
	results     *results
	total, done int
	rehearsed   rehearsed
}

func (f Feed) begin() *run {
	return &run{Feed: f, results: resultsIn(f.Results), rehearsed: rehearsed{}}
}

// survey reads the files through, reports what is wrong with single rows, and puts those that hold owners first.
func (r *run) survey(ctx context.Context, sources []Source) (files []*file, err error) {
	for _, source := range sources {
		file := &file{run: r, Source: source, report: newReport(source.Name)}
		files = append(files, file)
		if err := file.survey(ctx); err != nil {
			return files, err
		}
		r.total += file.sum.Rows()
	}
	slices.SortStableFunc(files, func(a, b *file) int { return a.rank() - b.rank() })
	return files, nil
}

func (r *run) refuse(p records.Problem) {
	r.results.add(p)
	if r.Refused != nil {
		r.Refused(p)
	}
}

func (r *run) progress(done, total int, is string) {
	if r.Progress != nil {
		r.Progress(done, total, is)
	}
}
