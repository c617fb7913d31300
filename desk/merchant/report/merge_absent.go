//go:build !pdfcpu

package report

import "countersign"

// Without pdfcpu PDFs are neither taken as attachments nor merged.

func pagesOf(name string, _ []byte) (int, error) {
	return 0, countersign.Errorf(countersign.Unprocessed, "%s is a PDF, and this program was built without what reads them", name).In("file")
}

func merged([][]byte) ([]byte, error) {
	return nil, countersign.Errorf(countersign.Unprocessed, "this program was built without what merges PDFs")
}
