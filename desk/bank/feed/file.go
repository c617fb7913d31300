package feed

import (
	"context"
	"io"
	"slices"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/store"
)

// file is one file on its way in.
type file struct {
	*run
	Source
	form     records.Form
	sum      records.Summary
	report   Report
	differed bool // from an earlier file of a dry run
}

// survey finds out how the file is written and what there is in it.
func (f *file) survey(ctx context.Context) (err error) {
	if err := f.rewind(); err != nil {
		return err
	}
	f.form, err = records.Recognise(f.Name, f.Array, attentive{ctx, f.Content})
	f.report.recognised(f.form)
	if err != nil {
		return err
	}
	seen := 0
	f.sum, err = f.read(ctx, func(records.Row) error {
		if seen++; seen%5000 == 0 {
			f.progress(seen, 0, "reading "+f.Name)
		}
		return nil
	}, f.refuse)
	f.report.surveyed(f.sum)
	return err
}

// read reads the file's rows from its beginning.
func (f *file) read(ctx context.Context, row func(records.Row) error, refused func(records.Problem)) (records.Summary, error) {
	if err := f.rewind(); err != nil {
		return records.Summary{}, err
	}
	return f.form.Read(attentive{ctx, f.Content}, row, refused)
}

func (f *file) rewind() error {
	if _, err := f.Content.Seek(0, io.SeekStart); err != nil {
		return countersign.Errorf(countersign.Invalid, "%s cannot be read twice", f.Name).Try("save it to a file first")
	}
	return nil
}

func (f *file) holds(array records.Array) bool {
	return slices.ContainsFunc(f.sum.Arrays, func(c records.Count) bool { return c.Array == array && c.Rows > 0 })
}

// rank is the place of a file among others: that of the first owners in it.
func (f *file) rank() int {
	if i := slices.IndexFunc(records.Arrays, f.holds); i >= 0 {
		return i
	}
	return len(records.Arrays)
}

// store reads the file again and stores the rows of one array.
func (f *file) store(ctx context.Context, array records.Array) error {
	rows := make([]records.Row, 0, batch)
	flush := func() error {
		err := f.put(ctx, rows)
		rows = rows[:0]
		return err
	}
	_, err := f.read(ctx, func(row records.Row) error {
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
func (f *file) put(ctx context.Context, rows []records.Row) (err error) {
	if len(rows) == 0 {
		return nil
	}
	var done store.Imported
	if f.DryRun {
		done, err = f.rehearse(ctx, rows)
	} else {
		err = f.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			done, err = tx.Import(ctx, rows)
			return err
		})
	}
	if err != nil {
		return err
	}
	f.count(done)
	f.done += len(rows)
	f.progress(f.done, f.total, "storing "+string(rows[0].Record.Array()))
	return f.results.failed()
}

func (f *file) count(done store.Imported) {
	f.report.New, f.report.Changed, f.report.Same = f.report.New+done.New, f.report.Changed+done.Changed, f.report.Same+done.Same
	f.report.Refused += len(done.Refused)
	for _, problem := range done.Refused {
		f.refuse(problem)
	}
}

// attentive reads until the import is given up: a file may be long before its first row is stored.
type attentive struct {
	ctx context.Context
	in  io.Reader
}

func (a attentive) Read(b []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.in.Read(b)
}
