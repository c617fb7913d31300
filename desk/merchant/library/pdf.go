package library

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// pdfMemory is how much the PDF reader may use, in pages of 64 KB. It runs in a sandbox that sees no file and no network.
const pdfMemory = 512 << 20 / (64 << 10)

// fromPDF reads the text of a PDF page by page, in the order in which it is read. The reader is compiled when it is first used,
// which takes seconds; what was compiled is kept in the folder cache, if there is one.
func fromPDF(name string, file []byte, cache string) (e Extraction, err error) {
	reader, err := openReader(cache)
	if err != nil {
		return Extraction{}, err
	}
	defer reader.Close()
	instance, err := reader.GetInstance(time.Minute)
	if err != nil {
		return Extraction{}, err
	}
	opened, err := instance.OpenDocument(&requests.OpenDocument{File: &file})
	if err != nil {
		return Extraction{}, unopened(name, err)
	}
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return Extraction{}, unopened(name, err)
	}
	if count.PageCount > mostPages {
		return Extraction{}, refused("%s has %d pages, at most %d are read", name, count.PageCount, mostPages).Try("cut it into the documents that it is made of")
	}
	p := pdf{instance: instance}
	for i := range count.PageCount {
		p.page(requests.Page{ByIndex: &requests.PageByIndex{Document: opened.Document, Index: i}})
		if p.size > mostText {
			break // and whoever looks at the whole refuses it
		}
	}
	return p.bind(), nil
}

func openReader(cache string) (pdfium.Pool, error) {
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(pdfMemory).WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	if cache != "" {
		if kept, err := wazero.NewCompilationCacheWithDir(cache); err == nil { // without it we are slow, and right
			runtime = runtime.WithCompilationCache(kept)
		}
	}
	return webassembly.Init(webassembly.Config{MinIdle: 1, MaxIdle: 1, MaxTotal: 1, RuntimeConfig: runtime, FSConfig: wazero.NewFSConfig()})
}

// compile compiles the reader into the folder cache, and reads nothing.
func compile(cache string) error {
	reader, err := openReader(cache)
	if err != nil {
		return err
	}
	return reader.Close()
}

func unopened(name string, err error) error {
	if errors.Is(err, pdferrors.ErrPassword) || errors.Is(err, pdferrors.ErrSecurity) {
		return refused("%s is encrypted", name).Try("remove the password and upload it again")
	}
	return refused("%s is a damaged PDF", name).Try("save it again from the program that wrote it")
}

// pdf is the text of a PDF as it is being read.
type pdf struct {
	instance pdfium.Pdfium
	texts    []string
	pages    []Page
	look     []string // what a person must look at
	size     int
	heading  string // the first of the first page that has a text
}

// page reads one page. One that cannot be read is said, and the others are read all the same: whoever confirms the text sees it.
func (p *pdf) page(at requests.Page) {
	var page Page
	text := ""
	read, err := p.instance.GetPageText(&requests.GetPageText{Page: at})
	if err != nil {
		p.look = append(p.look, "Page "+strconv.Itoa(len(p.pages)+1)+" is damaged and could not be read.")
	} else if text = pageText(read.Text); text == "" && p.hasPicture(at) {
		page.State = Picture
	}
	if text != "" && p.size == 0 {
		p.heading = p.title(at, text)
	}
	if p.struck(at) {
		p.look = append(p.look, "Page "+strconv.Itoa(len(p.pages)+1)+" has marks that strike out text. What they strike out is part of the text that can be quoted.")
	}
	p.texts, p.pages, p.size = append(p.texts, text), append(p.pages, page), p.size+len(text)
}

// bind makes one text of the pages.
func (p *pdf) bind() Extraction {
	texts, notes := withoutRunning(p.texts)
	var b strings.Builder
	for i, text := range texts {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		p.pages[i].Start = b.Len()
		b.WriteString(text)
	}
	return Extraction{Title: p.heading, Text: b.String(), Paged: true, Pages: p.pages, Look: p.look, Notes: notes}
}

// pageText is what the reader gives for a page as text of ours. It puts a sign of its own where a hyphen stood at the end of a line
// and draws the lines together: there the line ends again.
func pageText(s string) string {
	s = strings.NewReplacer("\u0002\r\n", "-\n", "\u0002", "-\n", "\uFFFE\r\n", "-\n", "\uFFFE", "-\n", "\x00", "\uFFFD", "\r\n", "\n", "\r", "\n").Replace(s)
	return tidy(strings.ToValidUTF8(s, "\uFFFD"))
}

// struck reports whether somebody drew marks over a page that strike text out. What is under them cannot be told from the rest.
func (p *pdf) struck(at requests.Page) bool {
	marks, err := p.instance.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: at})
	if err != nil {
		return false
	}
	for i := range min(marks.Count, 10_000) {
		mark, err := p.instance.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: at, Index: i})
		if err != nil {
			continue
		}
		kind, err := p.instance.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: mark.Annotation})
		_, _ = p.instance.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: mark.Annotation}) // the process ends soon
		if err == nil && kind.Subtype == enums.FPDF_ANNOT_SUBTYPE_STRIKEOUT {
			return true
		}
	}
	return false
}

func (p *pdf) hasPicture(at requests.Page) bool {
	objects, err := p.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: at})
	if err != nil {
		return false
	}
	for i := range min(objects.Count, 1_000) {
		object, err := p.instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: at, Index: i})
		if err != nil {
			continue
		}
		kind, err := p.instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err == nil && (kind.Type == enums.FPDF_PAGEOBJ_IMAGE || kind.Type == enums.FPDF_PAGEOBJ_FORM) {
			return true
		}
	}
	return false
}
