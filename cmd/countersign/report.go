package main

import (
	"fmt"
	"io"
	"os"

	"countersign"
	"countersign/desk/merchant/report"
)

type reportCommand struct {
	Verify reportVerifyCommand `cmd:"" help:"Check an exported evidence report, JSON, HTML or PDF, by nothing but itself; no database is needed."`
}

type reportVerifyCommand struct {
	File string `arg:"" help:"The report." placeholder:"FILE"`
}

// Run ends with 0 when the file is as it was made, 1 when it was edited, 2 when that cannot be told.
func (c reportVerifyCommand) Run(s *session) error {
	file, err := readReport(c.File)
	if err != nil {
		complain(s.err, err, 2)
		return exit(2)
	}
	v, err := report.Verify(file)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(s.out, v); err != nil {
		return err
	}
	switch v.State {
	case report.Intact:
		return nil
	case report.Edited:
		return exit(1)
	default:
		return exit(2)
	}
}

// maxReport is more than any provider takes.
const maxReport = 256 << 20

func readReport(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxReport+1))
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	if len(file) > maxReport {
		return nil, countersign.Errorf(countersign.TooLarge, "%s is larger than any evidence report", path)
	}
	return file, nil
}
