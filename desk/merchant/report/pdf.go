package report

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-pdf/fpdf"
)

// ContentName is the name of the canonical content among the files embedded in a PDF.
const ContentName = "countersign-report.json"

// PDF is the report on A4, with the canonical content embedded as a file and the fingerprint on every page. It fails with the
// field, rune and code point when there is a text that its fonts cannot draw.
func (r Report) PDF() ([]byte, error) {
	file, _, err := r.onPaper()
	return file, err
}

// onPaper is the PDF and how many pages it has.
func (r Report) onPaper() (file []byte, pages int, err error) {
	if err := r.content.Drawable(); err != nil {
		return nil, 0, err
	}
	c := r.compose()
	doc := r.paper(c)
	doc.SetAttachments([]fpdf.Attachment{{Content: r.canonical, Filename: ContentName, Description: "The content of this report. Its SHA-256 is the fingerprint."}})
	sheets := layOut(c)
	for _, s := range sheets {
		doc.AddPage()
		paint(doc, s)
	}
	file, err = written(doc)
	return file, len(sheets), err
}

func written(doc *fpdf.Fpdf) ([]byte, error) {
	var out bytes.Buffer
	if err := doc.Output(&out); err != nil {
		return nil, fmt.Errorf("draw the report as PDF: %w", err)
	}
	return out.Bytes(), nil
}

// paper is a document without pages. It fixes what a PDF library would take from the clock or from the order of a map.
func (r Report) paper(c composition) *fpdf.Fpdf {
	doc, made := fpdf.New("P", "pt", "A4", ""), r.made()
	for _, f := range []*face{faces().sans, faces().bold, faces().mono} {
		doc.AddUTF8FontFromBytes(f.name, "", bytes.Clone(f.file)) // it writes into what it is given, and the next report would be another
	}
	doc.SetCreationDate(made)
	doc.SetModificationDate(made)
	doc.SetCatalogSort(true)
	doc.SetAutoPageBreak(false, 0)
	doc.SetProducer(c.Producer, false)
	doc.SetTitle(c.Headline+", order "+c.Order, true)
	doc.SetSubject("SHA-256 "+c.Fingerprint, false)
	doc.SetLang("en")
	return doc
}

// made is when the report was made, as its content says, to the second.
func (r Report) made() time.Time {
	for _, text := range []string{r.content.Audit.MadeAt, r.content.Decision.At} {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t.UTC()
		}
	}
	return time.Unix(0, 0).UTC()
}

func paint(doc *fpdf.Fpdf, s *sheet) {
	var font string
	var colour ink
	for _, m := range s.marks {
		if m.text == "" {
			doc.SetFillColor(m.ink.r, m.ink.g, m.ink.b)
			doc.Rect(m.x, m.y, m.w, m.h, "F")
			continue
		}
		if m.style.ink != colour {
			colour = m.style.ink
			doc.SetTextColor(colour.r, colour.g, colour.b)
		}
		for _, k := range m.style.set(m.text) {
			if wanted := fmt.Sprint(k.face.name, m.style.size); wanted != font {
				font = wanted
				doc.SetFont(k.face.name, "", m.style.size)
			}
			doc.Text(m.x+k.x, m.y-k.y, k.text)
		}
	}
}
