package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"countersign"
	"countersign/audit"
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

// Run ends with 0 when every chain is intact, 1 when one is broken, 2 when nothing could be judged.
func (c auditVerifyCommand) Run(s *session) error {
	report, err := c.verify(s)
	if err != nil {
		complain(s.err, err, 2)
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
		return verifyFile(c.File)
	}
	a, err := s.open()
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if c.Case != "" {
		return a.Store.VerifyCase(s, countersign.CaseID(c.Case))
	}
	progress := progressOn(s.err)
	return a.Store.VerifyRecord(s, func(rows int64) {
		if progress != nil {
			progress(int(rows), 0, "checking the record")
		}
	})
}

func verifyFile(path string) (audit.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return audit.Report{}, err
	}
	defer f.Close()
	return audit.VerifyExport(f)
}

type auditExportCommand struct {
	Case   string `help:"Only this case." placeholder:"ID"`
	Redact bool   `help:"Leave payloads and salts out: the chain can be checked, nothing can be read."`
}

func (c auditExportCommand) Run(s *session) (err error) {
	a, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	out := bufio.NewWriterSize(s.out, 1<<20)
	w := audit.NewWriter(out, audit.Header{At: a.Store.Now().UnixMicro(), Redacted: c.Redact})
	err = a.Store.Export(context.Context(s), countersign.CaseID(c.Case), w)
	return errors.Join(err, w.Close(), out.Flush())
}
