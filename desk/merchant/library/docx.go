package library

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign"
)

// mostXML is how much of one part of a Word file is ever unpacked.
const mostXML = 64 << 20

// fromDOCX reads the body of a Word file as it prints and counts: without what was deleted in a tracked change or struck out, hidden
// text, comments and field codes.
func fromDOCX(name string, file []byte) (Extraction, error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return Extraction{}, refused("%s is a damaged archive", name).Try("save it again from the program that wrote it")
	}
	body, err := part(archive, "word/document.xml")
	if err != nil {
		return Extraction{}, noDOCX(name, archive, err)
	}
	styles, _ := part(archive, "word/styles.xml") // without it no line is known as a heading
	w := word{headings: headingStyles(styles), looks: looksOf(styles)}
	if err := w.read(body); err != nil {
		return Extraction{}, refused("%s is damaged: %v", name, err).Try("save it again from the program that wrote it")
	}
	e := Extraction{Text: tidy(strings.ToValidUTF8(w.String(), "\uFFFD")), left: w.left}
	if w.inserted > 0 {
		e.Look = append(e.Look, thousands(w.inserted)+" characters were added in tracked changes that nobody has accepted. They are part of the text that can be quoted.")
	}
	for _, notes := range []string{"footnote", "endnote"} {
		if all, err := part(archive, "word/"+notes+"s.xml"); err == nil && bytes.Count(all, []byte("<w:"+notes+" ")) > 2 { // two are only lines
			e.Look = append(e.Look, "The document has "+notes+"s. They are not part of the text that can be quoted.")
		}
	}
	return e, nil
}

var errTooLarge = errors.New("it unpacks to more than is ever read")

// part unpacks one part of an archive, which may say of itself what it likes.
func part(archive *zip.Reader, name string) ([]byte, error) {
	f, err := archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostXML+1))
	if err == nil && len(b) > mostXML {
		err = errTooLarge
	}
	return b, err
}

func noDOCX(name string, archive *zip.Reader, err error) *countersign.Error {
	if errors.Is(err, errTooLarge) {
		return refused("%s unpacks to more than %d MB", name, mostXML>>20).Try("is it really a Word file?")
	}
	what := "an archive and no Word file"
	for part, is := range map[string]string{"xl/workbook.xml": "an Excel file", "ppt/presentation.xml": "a presentation", "mimetype": "an OpenDocument or e-book file"} {
		if f, err := archive.Open(part); err == nil {
			f.Close()
			what = is
		}
	}
	return refused("%s is %s, expected Markdown, text, HTML, DOCX or PDF", name, what).Try("save it as .docx or PDF")
}

// word is the text of a Word file as it is being read.
type word struct {
	strings.Builder
	headings map[string]int // the levels of the styles that make headings
	looks    map[string]look
	left     omissions
	inserted int // characters in tracked changes

	paragraph bytes.Buffer
	level     int      // of the heading that the paragraph is
	item      bool     // it belongs to a list
	dropped   int      // how many elements we are in whose text does not count
	deleting  int      // and how many of them are deletions in a tracked change
	inserting int      // how many insertions in a tracked change we are in
	text      bool     // in an element whose text is words
	gone      bool     // in one whose text was
	run       int      // where the run began in the paragraph
	style     string   // of the paragraph
	look      look     // of the run
	tables    int      // how many tables we are in
	row       []string // the cells of a table's row so far
	cell      []string // the paragraphs of a cell so far
}

// dropped are elements whose content is not printed, is there twice, or is how something looked before a tracked change.
var dropped = map[string]bool{"del": true, "moveFrom": true, "Fallback": true, "instrText": true, "rPrChange": true, "pPrChange": true}

// What a tracked change took away, and what it brought.
var (
	deletions  = map[string]bool{"del": true, "moveFrom": true}
	insertions = map[string]bool{"ins": true, "moveTo": true}
)

func (w *word) read(body []byte) error {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("it is not UTF-8") }
	for depth := 0; ; {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > deepest {
				return errors.New("its elements are nested too deep")
			}
			w.starts(t)
		case xml.EndElement:
			depth--
			w.ends(t.Name.Local)
		case xml.CharData:
			w.characters(t)
		}
	}
}

func (w *word) characters(text []byte) {
	switch {
	case w.text && w.dropped == 0:
		w.paragraph.Write(text)
		if w.inserting > 0 {
			w.inserted += utf8.RuneCount(text)
		}
	case w.gone && w.dropped == w.deleting:
		w.leave(deleted, string(text))
	}
}

// leave leaves out a passage at the end of what was read of the paragraph. It copies the end of it alone: a paragraph may have as many
// such passages as it has words.
func (w *word) leave(why, text string) {
	read := w.paragraph.Bytes()
	before := string(read[max(0, len(read)-placed):])
	if len(before) < 100 {
		before = w.String()[max(0, w.Len()-200):] + before
	}
	w.left.addAt(w.Len()+w.paragraph.Len(), why, text, before)
}

func (w *word) starts(e xml.StartElement) {
	name := e.Name.Local
	switch {
	case deletions[name]:
		w.deleting++
	case insertions[name]:
		w.inserting++
	}
	switch {
	case dropped[name]:
		w.dropped++
	case w.dropped > 0:
		w.gone = w.deleting > 0 && (name == "t" || name == "delText")
	case name == "t":
		w.text = true
	case signs[name] != "":
		w.paragraph.WriteString(signs[name])
	default:
		w.structure(name, value(e))
	}
}

// signs are elements that stand for a character.
var signs = map[string]string{"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": "\u00AD"}

func (w *word) structure(name, value string) {
	switch name {
	case "r":
		w.run, w.look = w.paragraph.Len(), w.looks[w.style]
	case "rStyle":
		w.look = w.look.with(w.looks[value])
	case "vanish", "specVanish", "webHidden", "strike", "dstrike":
		w.look.set(name, value)
	case "pStyle":
		w.level, w.style = w.headings[value], value
	case "numPr":
		w.item = true
	case "tbl":
		w.tables++
	case "tr":
		w.row = nil
	}
}

func (w *word) ends(name string) {
	switch {
	case deletions[name]:
		w.deleting--
	case insertions[name]:
		w.inserting--
	}
	switch {
	case dropped[name]:
		w.dropped--
	case w.dropped > 0:
		w.gone = false
	case name == "t":
		w.text = false
	case name == "r":
		w.runEnded()
	case name == "p":
		w.ended()
	case name == "tc":
		w.row, w.cell = append(w.row, strings.Join(w.cell, " ")), nil
	case name == "tr":
		w.WriteString(strings.Join(w.row, " | ") + "\n")
		w.row = nil
	case name == "tbl":
		w.tables--
		w.WriteByte('\n')
	}
}

// runEnded takes a run back that nobody reads, or that is struck out.
func (w *word) runEnded() {
	if why := w.look.unread(); why != "" {
		text := string(w.paragraph.Bytes()[min(w.run, w.paragraph.Len()):])
		w.paragraph.Truncate(min(w.run, w.paragraph.Len()))
		w.leave(why, text)
	}
	w.look = look{}
}

// ended writes the paragraph that was read: in a table beside the others of its row.
func (w *word) ended() {
	text := strings.TrimSpace(w.paragraph.String())
	w.paragraph.Reset()
	level, item := w.level, w.item
	w.level, w.item, w.style = 0, false, ""
	switch {
	case text == "":
	case w.tables > 0:
		w.cell = append(w.cell, strings.ReplaceAll(text, "\n", " "))
	case level > 0:
		w.WriteString("\n" + strings.Repeat("#", level) + " " + text + "\n\n")
	case item:
		w.WriteString("- " + text + "\n")
	default:
		w.WriteString(text + "\n\n")
	}
}

// headingStyles reads which styles make a heading: by the name that Word itself uses, whatever the language of the style's own.
func headingStyles(styles []byte) map[string]int {
	var sheet struct {
		Styles []struct {
			ID   string `xml:"styleId,attr"`
			Name struct {
				Val string `xml:"val,attr"`
			} `xml:"name"`
		} `xml:"style"`
	}
	levels := map[string]int{"Title": 1, "Heading1": 1, "Heading2": 2, "Heading3": 3}
	if xml.Unmarshal(styles, &sheet) != nil {
		return levels
	}
	for _, s := range sheet.Styles {
		name := strings.ToLower(s.Name.Val)
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n >= 1 && n <= 6 && strings.HasPrefix(name, "heading ") {
			levels[s.ID] = n
		} else if name == "title" {
			levels[s.ID] = 1
		}
	}
	return levels
}

func value(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "val" {
			return a.Value
		}
	}
	return ""
}
