package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"countersign"
	"countersign/app"
	"countersign/audit"
	"countersign/store"
)

type auditCommand struct {
	Verify auditVerifyCommand `cmd:"" help:"Walk every chain, or one, or those of an export."`
	Export auditExportCommand `cmd:"" help:"Write the record as JSON Lines to standard output."`
}

type auditVerifyCommand struct {
	Case string `help:"Only this case." placeholder:"ID"`
	File string `help:"An export; no database is needed." placeholder:"EXPORT"`
	JSON bool   `name:"json" help:"Print the report as JSON."`
}

// Run ends with 0 when every chain is intact, 1 when one is broken, 2 when nothing could be judged. A file that was cut short
// and shows a break before its end is broken.
func (c auditVerifyCommand) Run(s *session) error {
	report, err := c.verify(s)
	if err != nil {
		complain(s.err, err, 2)
	}
	if err != nil && len(report.Breaks) == 0 {
		return exit(2)
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(report)
	} else {
		_, err = fmt.Fprintln(s.out, report)
	}
	if err == nil && !report.OK {
		return exit(1)
	}
	return err
}

func (c auditVerifyCommand) verify(s *session) (report audit.Report, err error) {
	if c.File != "" {
		return c.verifyFile()
	}
	err = s.with(func(a *app.App) (err error) {
		report, err = c.verifyDatabase(s, a)
		return err
	})
	return report, err
}

func (c auditVerifyCommand) verifyDatabase(s *session, a *app.App) (audit.Report, error) {
	if c.Case != "" {
		return a.Store.VerifyCase(s, countersign.CaseID(c.Case))
	}
	meter := meterOn(s.err)
	defer meter.clear()
	report, err := a.Store.VerifyRecord(s, func(rows int64) { meter.show(int(rows), 0, "checking the record") })
	if err == nil && report.Cases == 0 && report.OK {
		fmt.Fprintf(s.err, "countersign: the database in %s holds no case, so nothing was verified; is it the one you mean?\n", a.Data)
	}
	if err == nil {
		keep := func(ctx context.Context, tx *store.Tx) error { return tx.KeepVerified(ctx, report) }
		if err := a.Store.Write(s, keep); err != nil { // what was found counts all the same
			s.log().WarnContext(s, "that the record was verified could not be kept", "error", err)
		}
	}
	return report, err
}

func (c auditVerifyCommand) verifyFile() (audit.Report, error) {
	f, err := os.Open(c.File)
	if err != nil {
		return audit.Report{}, cannotOpen(c.File, err)
	}
	defer f.Close()
	if c.Case != "" {
		return audit.VerifyExportCase(f, countersign.CaseID(c.Case))
	}
	return audit.VerifyExport(f)
}

type auditExportCommand struct {
	Case   string `help:"Only this case." placeholder:"ID"`
	Redact bool   `help:"Leave payloads and salts out: the chain can be checked, nothing can be read."`
}

func (c auditExportCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		if c.Case != "" { // before the header is out: half an export must not look like a whole one
			if _, err := a.Store.Case(s, countersign.CaseID(c.Case)); err != nil {
				return err
			}
		}
		out := bufio.NewWriterSize(s.out, 1<<20)
		w := audit.NewWriter(out, audit.Header{At: a.Store.Now().UnixMicro(), Redacted: c.Redact})
		if err := a.Store.Export(context.Context(s), countersign.CaseID(c.Case), w); err != nil {
			return errors.Join(err, out.Flush()) // without the last line, so that what is there is known to be cut short
		}
		return errors.Join(w.Close(), out.Flush())
	})
}
