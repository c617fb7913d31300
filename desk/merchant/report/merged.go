package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-pdf/fpdf"

	"countersign"
)

// Merged is the report and its attachments as one PDF.
type Merged struct {
	Bytes  []byte
	SHA256 string // of these bytes; the report's fingerprint stays that of its content
	Pages  int
}

// Merge puts the report's attachments behind it, in the report's order: pictures each on a page that names them, PDFs as they are.
// The files must be exactly those that the report lists. The bytes are others each time: keep them. It waits until nobody else looks
// into a file, or until the context ends.
func (r Report) Merge(ctx context.Context, files []File) (m Merged, err error) {
	err = oneAtATime(ctx, func() error {
		m, err = r.merge(files)
		return err
	})
	return m, err
}

func (r Report) merge(files []File) (Merged, error) {
	first, pages, err := r.onPaper()
	if err != nil {
		return Merged{}, err
	}
	all := [][]byte{first}
	if len(files) != len(r.content.Attachments) {
		return Merged{}, countersign.Errorf(countersign.Invalid, "the report lists %d files, and there are %d", len(r.content.Attachments), len(files)).In("attachments")
	}
	for i, f := range files {
		a := r.content.Attachments[i]
		if f.SHA256 != a.SHA256 || f.hash() != a.SHA256 {
			return Merged{}, countersign.Errorf(countersign.Invalid, "%s is not the file that the report lists as %s", f.Name, a.ID).In("attachments")
		}
		pdf := f.Bytes
		if f.Type != pdfType {
			if pdf, err = r.picturePage(a, f); err != nil {
				return Merged{}, err
			}
		}
		all, pages = append(all, pdf), pages+f.Pages
	}
	if len(files) == 0 {
		return mergedOf(first, pages), nil
	}
	one, err := merged(all)
	if err != nil {
		return Merged{}, err
	}
	return mergedOf(one, pages), nil
}

func mergedOf(pdf []byte, pages int) Merged {
	sum := sha256.Sum256(pdf)
	return Merged{Bytes: pdf, SHA256: hex.EncodeToString(sum[:]), Pages: pages}
}

func (f File) hash() string {
	sum := sha256.Sum256(f.Bytes)
	return hex.EncodeToString(sum[:])
}

// Pack measures what would be sent, for a Profile to check before anybody approves: the report and its attachments in one PDF.
func (r Report) Pack(ctx context.Context, files []File) (Pack, error) {
	m, err := r.Merge(ctx, files)
	if err != nil {
		return Pack{}, err
	}
	return Pack{Files: []PackFile{{Name: "report.pdf", Type: pdfType, Size: int64(len(m.Bytes)), Pages: m.Pages}}}, nil
}

// picturePage is a page with one picture as large as it goes, under the same margins as the report's.
func (r Report) picturePage(a Attachment, f File) ([]byte, error) {
	if err := fits(f.Name, f.Bytes); err != nil {
		return nil, err
	}
	content, kind := f.Bytes, "JPG"
	if f.Type == pngType {
		plain, err := plainPNG(f) // PDF draws no PNG of 16 bits, and transparent ones on whatever lies below
		if err != nil {
			return nil, err
		}
		content, kind = plain, "PNG"
	}
	p := &press{}
	p.turn()
	p.caption(a.ID, a.Name, a.Description)
	p.paragraph(small, left, measure, fmt.Sprintf("added by %s, %s", a.AddedBy, moment(a.AddedAt)))
	p.paragraph(small, left, measure, "SHA-256 "+a.SHA256)
	p.skip(10)
	c := r.compose()
	p.fill(line, left, pageHeight-51, measure, hairline)
	p.text(label.in(black), left, pageHeight-44, "Fingerprint of the report (SHA-256)")
	p.text(style{idText.face, 6.4, black, 9}, left+130, pageHeight-43.4, Short(c.Fingerprint))
	doc := r.paper(c)
	doc.AddPage()
	paint(doc, p.sheet())
	info := doc.RegisterImageOptionsReader(a.ID, fpdf.ImageOptions{ImageType: kind}, bytes.NewReader(content))
	if doc.Err() {
		return nil, damaged(f.Name, doc.Error())
	}
	scale := min(measure/info.Width(), (bottom-p.y)/info.Height(), 1.5)
	doc.ImageOptions(a.ID, left, p.y, info.Width()*scale, info.Height()*scale, false, fpdf.ImageOptions{ImageType: kind}, 0, "")
	return written(doc)
}
