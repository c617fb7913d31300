package library

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"

	"github.com/google/go-cmp/cmp"

	"countersign"
)

func TestText(t *testing.T) {
	in := func(e encoding.Encoding, text string) string {
		b, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const text = "Rückgabe: 14 Tage – “gratis” – 5 €"
	for _, row := range []struct{ name, file, file2, want string }{
		{"in UTF-8", "a.txt", text, text},
		{"in UTF-8 with a byte order mark", "a.txt", "\uFEFF" + text, text},
		{"in UTF-16 as Windows writes it", "a.txt", in(utf.UTF16(utf.LittleEndian, utf.UseBOM), text), text},
		{"in UTF-16 the other way round", "a.txt", in(utf.UTF16(utf.BigEndian, utf.UseBOM), text), text},
		{"in UTF-16 without a mark", "a.txt", in(utf.UTF16(utf.LittleEndian, utf.IgnoreBOM), text), text},
		{"in UTF-16 the other way round, without a mark", "a.txt", in(utf.UTF16(utf.BigEndian, utf.IgnoreBOM), text), text},
		{"in Windows-1252", "a.txt", in(charmap.Windows1252, text), text},
		{"with the line ends of Windows", "a.txt", "one\r\ntwo\r\n\r\n\r\n\r\nthree\r\n", "one\ntwo\n\nthree"},
		{"with the line ends of old Macs", "a.txt", "one\rtwo", "one\ntwo"},
		{"with spaces at the ends of lines", "a.txt", "one  \n  two\t\n", "one\n  two"},
		{"with characters that nobody sees", "a.txt", "re\u00ADturned, mer\u00AD\nchandise\u200B.\uFEFF", "returned, mer-\nchandise."},
		{"without an extension", "POLICY", "Returns are free.", "Returns are free."},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, err := extract(row.file, []byte(row.file2), "")
			if err != nil || e.Text != row.want || e.Kind != Plain {
				t.Errorf("%s %q, %v", e.Kind, e.Text, err)
			}
			if guessed := len(e.Look) > 0; guessed != (row.name == "in Windows-1252") {
				t.Errorf("to look at %q", e.Look)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	for _, row := range []struct{ name, file, want string }{
		{"headings stay", "# Returns\n\n## Refunds\nText.", "# Returns\n\n## Refunds\nText."},
		{"an underlined line is a heading", "Returns\n=======\n\nRefunds\n---\nText.", "# Returns\n\n## Refunds\nText."},
		{"a rule is none", "Text.\n\n---\n\nMore.", "Text.\n\nMore."},
		{"bold and slanted words lose their marks", "A **bold**, __bold__, *slanted*, _slanted_ and ***both*** word.", "A bold, bold, slanted, slanted and both word."},
		{"signs that mark nothing stay", "5 * 3 * 2, 14 days*, 30 days*, transfer_to_human_agents, ~5 to ~10 days", "5 * 3 * 2, 14 days*, 30 days*, transfer_to_human_agents, ~5 to ~10 days"},
		{"a link is its words", "See [our terms](https://example.com/terms \"Terms\") and <https://example.com>.", "See our terms and https://example.com."},
		{"code loses its marks", "Use `return_item` first.\n\n```\nraw **text**\n```\n", "Use return_item first.\n\nraw **text**"},
		{"lists stay", "- one\n* two\n1. three", "- one\n* two\n1. three"},
		{"a table stays without its rule", "| Item | Days |\n|------|:---:|\n| Shoes | 30 |", "| Item | Days |\n\n| Shoes | 30 |"},
		{"what others said loses its marks", "> Items may be\n> returned.", "Items may be\nreturned."},
		{"escapes and entities are what they stand for", `5 \* 3 &amp; more&nbsp;`, "5 * 3 & more\u00A0"},
		{"settings in front are dropped", "---\ntitle: X\n---\n# Returns\nText.", "# Returns\nText."},
		{"a comment is dropped", "Text <!-- not for customers -->goes on.", "Text goes on."},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, err := extract("a.md", []byte(row.file), "")
			if err != nil || e.Kind != Markdown {
				t.Fatal(e.Kind, err)
			}
			if diff := cmp.Diff(row.want, e.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTML(t *testing.T) {
	page := func(body string) string {
		return "<!doctype html><html><head><title>Shop</title></head><body>" + body + "</body></html>"
	}
	for _, row := range []struct{ name, file, want string }{
		{"headings, paragraphs and lists are lines", page("<h1>Returns</h1><p>Free.</p><p>Always\n free.</p><ul><li>one<li>two</ul><ol start=3><li>three</ol>"), "# Returns\n\nFree.\n\nAlways free.\n\n- one\n- two\n3. three"},
		{"words that touch stay one word", page("<p>re<b>turn</b>ed <i>to</i> us</p>"), "returned to us"},
		{"a table has its cells beside each other", page("<table><tr><th>Item</th><th>Days</th></tr><tr><td>Shoes</td> <td>30</td></tr></table>"), "Item | Days\nShoes | 30"},
		{"a line break is one", page("one<br>two<br/>three"), "one\ntwo\nthree"},
		{"preformatted text keeps its spaces", page("<pre>a  b\n  c</pre>"), "a  b\n  c"},
		{"scripts, styles and comments are no text", page("<script>alert('no')</script><style>p{}</style><!-- no --><p>yes</p><noscript>no</noscript><template>no</template>"), "yes"},
		{"what is hidden is no text", page("<p hidden>no</p><p style='color:red; DISPLAY : none'>no</p><p style='font-size:0'>no</p><div style='visibility:hidden'>no <b>no</b></div><p style='opacity:0'>no</p><p style='opacity:0.5'>yes</p>"), "yes"},
		{"what the page's own style sheet hides is no text", page("<style>.x, #y { display: none } p.z{visibility:hidden}</style><p class='a x'>no</p><p id=y>no</p><p class=z>no</p><p>yes</p>"), "yes"},
		{"what is struck out does not count", page("<p><del>30</del> <ins>14</ins> days, <s>free</s></p>"), "14 days,"},
		{"entities are what they stand for", page("<p>5&nbsp;&euro; &amp; mo&shy;re</p>"), "5\u00A0€ & more"},
		{"the page says how its letters are written", "<html><head><meta charset=windows-1252></head><body><p>R\xFCckgabe</p></body></html>", "Rückgabe"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, err := extract("a.html", []byte(row.file), "")
			if err != nil || e.Kind != HTML {
				t.Fatal(e.Kind, err)
			}
			if diff := cmp.Diff(row.want, e.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// archive is a zip file of these parts.
func archive(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`

func docx(t testing.TB, body string) []byte {
	return archive(t, map[string]string{"[Content_Types].xml": "<Types/>", "word/document.xml": "<w:document " + wordSpace + "><w:body>" + body + "</w:body></w:document>",
		"word/styles.xml": "<w:styles " + wordSpace + `><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`})
}

func TestDOCX(t *testing.T) {
	p := func(text string) string { return "<w:p><w:r><w:t xml:space='preserve'>" + text + "</w:t></w:r></w:p>" }
	for _, row := range []struct{ name, body, want string }{
		{"paragraphs", p("Returns are free.") + p("") + p("Always."), "Returns are free.\n\nAlways."},
		{"headings, in whatever language Word speaks", `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Rückgabe</w:t></w:r></w:p>` + p("Frei."), "# Rückgabe\n\nFrei."},
		{"the items of a list", `<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>` + p("two"), "- one\ntwo"},
		{"a word in several runs", "<w:p><w:r><w:t>re</w:t></w:r><w:r><w:t>turn</w:t><w:noBreakHyphen/><w:t>ed</w:t></w:r></w:p>", "return\u2011ed"},
		{"what was deleted in a tracked change is gone", "<w:p><w:del><w:r><w:delText>30</w:delText></w:r></w:del><w:ins><w:r><w:t>14</w:t></w:r></w:ins><w:r><w:t> days</w:t></w:r></w:p>", "14 days"},
		{"hidden text is gone", "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>never </w:t></w:r><w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>free</w:t></w:r></w:p>", "free"},
		{"field codes are gone", "<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>", "7"},
		{"what is there twice counts once", "<w:p><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>once</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>", "once"},
		{"a table", "<w:tbl><w:tr><w:tc>" + p("Item") + "</w:tc><w:tc>" + p("Days") + "</w:tc></w:tr><w:tr><w:tc>" + p("Shoes") + p("and boots") + "</w:tc><w:tc>" + p("30") + "</w:tc></w:tr></w:tbl>" + p("End."), "Item | Days\nShoes and boots | 30\n\nEnd."},
		{"line breaks and tabs", "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r></w:p>", "a\nb\tc"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, err := extract("a.docx", docx(t, row.body), "")
			if err != nil || e.Kind != DOCX {
				t.Fatal(e.Kind, err)
			}
			if diff := cmp.Diff(row.want, e.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("footnotes are said to be left out", func(t *testing.T) {
		file := archive(t, map[string]string{"word/document.xml": "<w:document " + wordSpace + ">" + p("Text.") + "</w:document>", "word/footnotes.xml": strings.Repeat("<w:footnote w:id='1'/>", 3)})
		if e, err := extract("a.docx", file, ""); err != nil || len(e.Look) != 1 {
			t.Error(e.Look, err)
		}
	})
}

func TestAFileIsRefused(t *testing.T) {
	const page = "<!DOCTYPE html><html><body><p>Returns are free.</p></body></html>"
	for _, row := range []struct {
		sentence, name string
		file           []byte
		want           string
	}{
		{"when it is a web page that is called PDF", "policy.pdf", []byte(page), "policy.pdf is called .pdf and holds HTML"},
		{"when it is a web page behind a comment that is called text", "policy.txt", []byte("\uFEFF<!-- saved -->\n" + page), "holds HTML"},
		{"when it is a PDF that is called text", "policy.txt", []byte("%PDF-1.7\n"), "holds PDF"},
		{"when it is text that is called PDF", "policy.pdf", []byte("Returns are free."), "holds plain text"},
		{"when it is a Word file that is called PDF", "policy.pdf", docx(t, ""), "holds DOCX"},
		{"when nothing is in it", "policy.txt", nil, "is empty"},
		{"when only spaces are in it", "policy.txt", []byte(" \n\t "), "is empty"},
		{"when a page has no words", "policy.html", []byte("<html><script>x</script></html>"), "has no text"},
		{"when it is a picture", "policy.png", []byte("\x89PNG\r\n\x1a\n"), "a picture"},
		{"when it is an old Word file", "policy.doc", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "an old Word file"},
		{"when it is RTF", "policy.rtf", []byte(`{\rtf1 x}`), "RTF"},
		{"when it is a program", "policy.txt", []byte("\x7FELF\x02\x01\x01\x00\x00\x00abcdefgh\x00\x01"), "bytes that no text has"},
		{"when its name ends in what no policy does", "x.exe", []byte("Returns are free for thirty days."), "x.exe ends in .exe, which is not known here (expected a policy whose name ends in .md, .markdown, .txt, .text, .html, .htm, .xhtml, .docx, .pdf, or in nothing)"},
		{"when it is a Word file with macros", "policy.docm", docx(t, ""), "ends in .docm, which is not known here"},
		{"when it is an Excel file", "policy.xlsx", archive(t, map[string]string{"xl/workbook.xml": ""}), "ends in .xlsx, which is not known here"},
		{"when it is an Excel file that is called DOCX", "policy.docx", archive(t, map[string]string{"xl/workbook.xml": ""}), "an Excel file"},
		{"when it is any archive", "policy", archive(t, map[string]string{"a": ""}), "no Word file"},
		{"when it is a damaged archive", "policy.docx", []byte("PK\x03\x04 and nothing"), "a damaged archive"},
		{"when a Word file is cut off", "policy.docx", archive(t, map[string]string{"word/document.xml": "<w:document><w:body>"}), "is damaged"},
		{"when a Word file unpacks to a thousand times its size", "policy.docx", archive(t, map[string]string{"word/document.xml": strings.Repeat(" ", mostXML+1)}), "unpacks to more than"},
		{"when a Word file is nested without an end", "policy.docx", archive(t, map[string]string{"word/document.xml": strings.Repeat("<w:p>", deepest+1)}), "nested too deep"},
		{"when its text has no end", "policy.txt", bytes.Repeat([]byte("Returns are free. "), mostText/18+1), "more than 8 MB of text"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			_, err := extract(row.name, row.file, "")
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

func TestTitles(t *testing.T) {
	for _, row := range []struct{ file, text, want string }{
		{"returns.md", "Intro.\n\n## Returns *policy*\n\n# Other", "Returns policy"},
		{"returns.2026.txt", "Text without a heading.", "returns.2026"},
		{`C:\files\returns.txt`, "Text.", "returns"},
		{"/home/returns.txt", "Text.", "returns"},
		{"returns.md", "#hashtag\n\nText.", "returns"},
		{"returns.md", "# " + strings.Repeat("ọ", 300), strings.Repeat("ọ", 200) + "…"},
		{".md", "Text.", ".md"},
	} {
		e, err := extract(row.file, []byte(row.text), "")
		if err != nil || e.Title != row.want {
			t.Errorf("%s: %q, want %q (%v)", row.file, e.Title, row.want, err)
		}
	}
}

func TestAPageReport(t *testing.T) {
	e, err := extract("a.txt", []byte("Returns \uFFFD\uE000 are free."), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Page{{Characters: 20, Odd: 2}}, e.Pages); diff != "" || e.Starts() != nil {
		t.Errorf("%v (-want +got):\n%s", e.Starts(), diff)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("a.md", []byte("# Returns\n\n**free** | a |\n|---|\n"))
	f.Add("a.html", []byte("<!doctype html><style>.x{display:none}</style><ul><li class=x>a<table><td>b<td>c</ul></ol></li>"))
	f.Add("a.docx", docx(f, "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"))
	f.Add("a.txt", []byte("\xff\xfea\x00b\x00"))
	f.Fuzz(func(t *testing.T, name string, file []byte) {
		if kind, err := sniff(name, file); err != nil || kind == PDF {
			return
		}
		e, err := extract(name, file, "")
		if err != nil {
			if countersign.KindOf(err) != countersign.Invalid {
				t.Fatal(err)
			}
			return
		}
		if e.Title == "" || e.Text == "" || len(e.Pages) != 1 || strings.ContainsRune(e.Text, 0) {
			t.Fatalf("%+v", e)
		}
	})
}
