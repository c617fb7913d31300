package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// quiet is how the library works for us: nothing of it lands in a home folder, and what is slightly wrong with a PDF, as with most, is
// forgiven.
func quiet() *model.Configuration {
	model.ConfigPath = "disable"
	c := model.NewDefaultConfiguration()
	c.ValidationMode = model.ValidationRelaxed
	c.Offline = true
	c.Limits.MaxDecodeBytes = maxCanonical // of one stream: more is a bomb, not a letter
	return c
}

// pagesOf counts the pages of somebody's PDF, and refuses one that is encrypted, damaged or too long. The library is known to panic
// on some that are broken on purpose; that is damage too.
func pagesOf(name string, content []byte) (pages int, err error) {
	defer func() {
		if r := recover(); r != nil {
			pages, err = 0, damaged(name, fmt.Errorf("the reader stopped: %v", r))
		}
	}()
	read, err := api.ReadAndValidate(bytes.NewReader(content), quiet())
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword) || read != nil && read.Encrypt != nil || err != nil && bytes.Contains(content, []byte("/Encrypt")):
		return 0, refusedFile("%s is encrypted", name).Try("remove the password or the restrictions and add it again: nobody who receives it can open it either")
	case err != nil:
		return 0, damaged(name, err)
	case read.PageCount < 1:
		return 0, refusedFile("%s has no page", name)
	case read.PageCount > mostFilePages:
		return 0, refusedFile("%s has %d pages; at most %d are taken", name, read.PageCount, mostFilePages).Try("keep the pages that prove something")
	}
	return read.PageCount, nil
}

// merged is several PDFs as one, in their order. The same PDFs give other bytes each time, so a pack is made once and kept.
func merged(pdfs [][]byte) (one []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			one, err = nil, fmt.Errorf("merge PDFs: the writer stopped: %v", r)
		}
	}()
	var readers []io.ReadSeeker
	for _, pdf := range pdfs {
		readers = append(readers, bytes.NewReader(pdf))
	}
	var b bytes.Buffer
	if err := api.MergeRaw(readers, &b, false, quiet()); err != nil {
		return nil, fmt.Errorf("merge PDFs: %w", err)
	}
	return b.Bytes(), nil
}
