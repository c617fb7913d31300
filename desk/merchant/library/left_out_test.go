package library

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/internal/testdb"
)

// unread are documents with a clause that their reader does not take for a rule, and what is left of them.
var unread = []struct{ sentence, file, text, want, said string }{
	{"struck out in Markdown", "a.md", "Free. ~~We return money for 90 days.~~ Now 14 days.", "Free.  Now 14 days.", "because it is struck out: “We return money for 90 days.” (28 characters, behind “Free.”)"},
	{"struck out in Markdown by one tilde", "a.md", "Free. ~For 90 days.~", "Free.", "struck out: “For 90 days.”"},
	{"struck out in Markdown over two lines", "a.md", "Free. ~~We return money\nfor 90 days.~~ Always.", "Free.  Always.", "struck out: “We return money for 90 days.”"},
	{"struck out in Markdown at the beginning", "a.md", "~~For 90 days.~~\n\nFree.", "Free.", "(12 characters, at the beginning)"},
	{"struck out in Markdown as an item", "a.md", "- Shoes\n- ~~Boots~~\n- Hats", "- Shoes\n\n- Hats", "struck out: “Boots”"},
	{"struck out in Markdown as a heading", "a.md", "# Returns\n\n## ~~Boots~~\n\nFree.", "# Returns\n\nFree.", "struck out: “Boots”"},
	{"struck out in Markdown with code and escapes in it", "a.md", "Free. ~~a `~~` b \\~~ c~~ End.", "Free.  End.", "struck out: “a"},
	{"struck out in Markdown by an element", "a.md", "Free. <del>For 90 days.</del> <s>For 60.</s> <STRIKE class=x>For 30.</STRIKE> End.", "Free.    End.", "struck out: “For 30.”"},
	{"struck out in Markdown by a style", "a.md", "Free. <span style=\"color:red; text-decoration: line-through\">For <span>90</span> days.</span> End.", "Free.  End.", "struck out: “For <span>90</span> days.”"},
	{"struck out in Markdown without an end", "a.md", "Free.\n\n<s>For 90 days.\n\nAnd more.", "Free.", "struck out: “For 90 days. And more.”"},
	{"struck out in Markdown by half", "a.md", "Free. ~~For 90 days.\n\nAnd more.~~", "Free. ~~For 90 days.\n\nAnd more.~~", "“~~” stands in the text without another"},
	{"hidden in Markdown by a comment of several lines", "a.md", "Free.\n\n<!-- We return\n\nmoney. -->\n\nAlways.", "Free.\n\nAlways.", "because it is a comment: “We return money.”"},
	{"hidden in Markdown by a comment without an end", "a.md", "Free.\n\n<!-- We return money.", "Free.", "a comment: “We return money.”"},
	{"hidden in Markdown by a comment in the form of a link", "a.md", "Free.\n\n[//]: # (We return money.)\n[home]: https://example.com\n\nAlways.", "Free.\n\nAlways.", "a comment: “(We return money.)”"},
	{"hidden in Markdown by such a comment under a heading", "a.md", "# Free\n[//]: # (We return money.)\nAlways.", "# Free\nAlways.", "a comment: “(We return money.)”"},
	{"hidden in Markdown by such a comment in a list", "a.md", "- Free.\n- [//]: # (never)\n- Always.", "- Free.\n\n- Always.", "a comment: “(never)”"},
	{"hidden in Markdown by such a comment in a quotation", "a.md", "> Free.\n> [//]: <> \"never\"\n> Always.", "Free.\n\nAlways.", "a comment: “"},
	{"hidden in Markdown by such a comment in a paragraph, behind spaces", "a.md", "Free.\n \n  [comment]: # (never)\nAlways.", "Free.\n\nAlways.", "a comment: “(never)”"},
	{"hidden in Markdown by a comment without an end in a list", "a.md", "Free.\n\n- <!-- never\n\nAnd more.", "Free.\n\n- <!-- never\n\nAnd more.", "“<!--” begins a comment that nothing ends"},
	{"hidden in Markdown by an element", "a.md", "Free.\n\n<div hidden>\n\nWe return <div>all</div> money.\n\n</div>\n\n<template>Never.</template>", "Free.", "because it is hidden: “Never.”"},
	{"hidden in Markdown by a style sheet", "a.md", "<style>.x { display: none }</style>\n\n<p class=x>Never.</p>", "Never.", "has a style sheet, which was not read"},
	{"what stands for a picture in Markdown", "a.md", "Free ![of charge](a.png) [![never](b.png)](https://example.com) for all.", "Free   for all.", ""},
	{"struck out in a plain text", "a.txt", "Free. ~~We return money.~~ Free ~ always ~.", "Free.  Free ~ always ~.", "struck out: “We return money.”"},
	{"struck out letter by letter", "a.txt", "Free. 9\u03360\u0336 d\u0336a\u0336y\u0336s\u0336. Always.", "Free. . Always.", "struck out: “90 days”"},
	{"struck out in HTML", "a.html", "<html><p>Free. <del>For 90 <b>days</b>.</del> <s>a1</s> <strike>a2</strike> <b style='text-decoration-line:underline line-through'>a3</b> End.", "Free. End.", "because it is struck out: “For 90 days . a1 a2 a3”"},
	{"struck out in HTML by its style sheet", "a.html", "<html><style>/* old */ .old { text-decoration: red line-through }\nh4{display:none}</style><p class=old>Never.</p><h4>Never either.</h4><p>Free.", "Free.", "struck out: “Never.”"},
	{"struck out in HTML by a rule that is not followed", "a.html", "<html><style>.a .b { text-decoration: line-through } a:hover{opacity:0}</style><p>Free.", "Free.", "The page's style sheet hides or strikes out “.a .b”, which was not followed."},
	{"struck out in HTML by a style sheet that is elsewhere", "a.html", "<html><link rel=stylesheet href=shop.css><p>Free.", "Free.", "a style sheet in another file (shop.css), which was not read"},
	{"hidden in HTML", "a.html", "<html><p>Free.<p hidden>Never 1.<p style='visibility: hidden'>Never 2.<template>Never 3.</template><p style='position:absolute;left:-9999px'>Never 4.<p style='color: transparent'>Never 5.<script>var a</script>", "Free.", "because it is hidden: “Never 1. Never 2. Never 3. Never 4. Never 5.”"},
	{"a comment in HTML", "a.html", "<html><p>Free.<!-- Never. -->", "Free.", "The page has comments, 6 characters in all"},
}

// told is all that is said of an extraction.
func told(e Extraction) string { return strings.Join(e.Told(), "\n") }

func TestWhatNoReaderTakesForARuleIsLeftOutAndSaid(t *testing.T) {
	for _, row := range unread {
		t.Run(row.sentence, func(t *testing.T) {
			e, err := extract(row.file, []byte(row.text), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, e.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !strings.Contains(told(e), row.said) {
				t.Errorf("said is\n%s\nwant %q", told(e), row.said)
			}
		})
	}
}

func TestWhatIsWrittenAsItIsStays(t *testing.T) {
	for _, text := range []string{"`~~not struck~~` and ``<del>`</del>`` stay", "from ~5 to ~10 days, ~/a and ~/b", "a \\~~ b ~~ c", "5 < 6, a<b>c", "[note] stays: [a]: too", "<b>not closed", "~~~~"} {
		kept, left, _ := seen(text, true)
		if kept != text || len(left) > 0 {
			t.Errorf("%q is read as %q, left out is %v", text, kept, left)
		}
	}
	e, err := extract("a.md", []byte("Free.\n\n```\n~~raw~~ <del>raw</del> <!-- raw -->\n```\n\n<br>Line"), "")
	if err != nil || e.Text != "Free.\n\n~~raw~~ <del>raw</del> <!-- raw -->\n\nLine" || e.Doubtful() {
		t.Errorf("%q, %q, %v", e.Text, e.Look, err)
	}
}

func TestNothingNeedsALookInACleanDocument(t *testing.T) {
	for name, text := range map[string][]byte{
		"a.md": []byte("---\ntitle: X\n---\n# Returns\n\nSee [terms](https://example.com) and [home].\n\n[home]: https://example.com\n"), "a.txt": []byte("Returns are free ~ always."),
		"a.html": []byte("<!doctype html><html lang=en><head><meta charset=utf-8><title>Our shop</title><style>p{color:#222} a:hover{opacity:0}</style><script>var a</script></head><body><!-- body --><p>Free."),
		"a.docx": docx(t, "<w:p><w:r><w:t>Free.</w:t></w:r></w:p>"),
	} {
		if e, err := extract(name, text, ""); err != nil || e.Doubtful() || strings.Contains(told(e), "Left out") {
			t.Errorf("%s: %q, %v", name, told(e), err)
		}
	}
}

func TestWhatNoReaderOfAWordFileTakesForARuleIsLeftOutAndSaid(t *testing.T) {
	run := func(look, text string) string {
		return "<w:r><w:rPr>" + look + "</w:rPr><w:t xml:space='preserve'>" + text + "</w:t></w:r>"
	}
	const styles = `<w:style w:type="paragraph" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="Older"><w:basedOn w:val="Old"/></w:style>` +
		`<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>`
	styled := func(style, runs string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>` + runs + "</w:p>"
	}
	for _, row := range []struct{ sentence, body, want, said string }{
		{"struck out", "<w:p>" + run("", "Free. ") + run("<w:strike/>", "For 90") + run("<w:strike w:val='true'/>", " days.") + run("<w:strike w:val='0'/>", "End.") + "</w:p>", "Free. End.", "because it is struck out: “For 90 days.” (12 characters, behind “Free.”)"},
		{"struck out twice", "<w:p>" + run("", "Free.") + run("<w:dstrike/>", "Never.") + "</w:p>", "Free.", "struck out: “Never.”"},
		{"struck out by the style of its paragraph", styled("Old", run("", "Never.")) + styled("Older", run("", "Not now.")+run("<w:strike w:val='off'/>", "Free.")), "Free.", "struck out: “Never.Not now.”"},
		{"hidden, and said to be shown on the web", "<w:p>" + run("<w:vanish/><w:webHidden w:val='0'/>", "Never.") + run("<w:specVanish w:val='0'/><w:vanish/>", "Never.") + run("", "Free.") + "</w:p>", "Free.", "because it is hidden: “Never."},
		{"hidden by the style of its letters", "<w:p>" + run("<w:rStyle w:val='Secret'/>", "Never.") + run("<w:rStyle w:val='Secret'/><w:vanish w:val='0'/>", "Free.") + "</w:p>", "Free.", "because it is hidden: “Never.”"},
		{"struck out before a tracked change", "<w:p>" + run("<w:rPrChange><w:rPr><w:strike/></w:rPr></w:rPrChange>", "Free.") + "</w:p>", "Free.", ""},
		{"deleted in a tracked change", "<w:p>" + run("", "Free ") + "<w:del><w:r><w:delText>for 30 </w:delText></w:r><w:r><w:delText>days</w:delText></w:r></w:del><w:ins>" + run("", "always.") + "</w:ins></w:p>", "Free always.",
			"because it is deleted in a tracked change: “for 30 days” (11 characters, behind “Free”)"},
		{"added in a tracked change", "<w:p>" + run("", "Free ") + "<w:ins>" + run("", "always.") + "</w:ins></w:p>", "Free always.", "7 characters were added in tracked changes that nobody has accepted"},
		{"moved in a tracked change", "<w:p><w:moveFrom>" + run("", "Never.") + "</w:moveFrom>" + run("", "Free.") + "</w:p>", "Free.", "tracked change: “Never.”"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			e, err := extract("a.docx", archive(t, map[string]string{"word/document.xml": "<w:document " + wordSpace + "><w:body>" + row.body + "</w:body></w:document>",
				"word/styles.xml": "<w:styles " + wordSpace + ">" + styles + "</w:styles>"}), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, e.Text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if said := told(e); !strings.Contains(said, row.said) || row.said == "" && strings.Contains(said, "\n") {
				t.Errorf("said is\n%s\nwant %q", said, row.said)
			}
		})
	}
}

// marked is a PDF of one page with a mark drawn over its text.
func marked(kind string) []byte {
	const words = "BT /F1 24 Tf 72 700 Td (We return money for 90 days.) Tj ET"
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(words), words), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Type /Annot /Subtype /" + kind + " /Rect [72 700 300 724] /QuadPoints [72 724 300 724 72 700 300 700] >>"} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}

func TestMarksThatStrikeOutTextOfAPDFAreSaid(t *testing.T) {
	for kind, want := range map[string]bool{"StrikeOut": true, "Highlight": false} {
		e, err := reader(t).Extract(t.Context(), "returns.pdf", marked(kind))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(told(e), "Page 1 has marks that strike out text"); got != want || e.Text == "" {
			t.Errorf("%s: %q, %q", kind, e.Text, told(e))
		}
	}
}

func TestWhatWasLeftOutIsSaidToWhoeverLooksAtAVersionLater(t *testing.T) {
	l := empty(t, testdb.SQLite(t))
	r := l.bring(t, "vouchers.md", "# Vouchers\n\nThey expire after two years. ~~They do not expire.~~", "")
	d, err := l.Store.DocumentVersion(t.Context(), r.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Reading(d)
	if err != nil || !e.Doubtful() || !strings.Contains(told(e), "struck out: “They do not expire.”") || strings.Contains(d.Text, "do not") {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestOfManyPassagesThatAreLeftOutSomeAreListedAndTheOthersSummed(t *testing.T) {
	e, err := extract("a.md", []byte("Free."+strings.Repeat(" ~~abc~~ and", listedOmissions+3)), "")
	if err != nil || len(e.Look) != listedOmissions+1 || e.Look[listedOmissions] != "Left out of the text that can be quoted are 3 passages more, 9 characters in all." {
		t.Errorf("%q, %v", e.Look, err)
	}
}

func TestNoTextIsReadOverAndOverAgain(t *testing.T) {
	for _, piece := range []string{"~a ", "~~a ", "~~a~~", "`a` ", "`", "a `", "x <!-- ", "<!-- a -->", "<s>a</s>", "<s>a", "<", "<p ", "[a]: b\n", "\n", "~~a\n\n", "```\na\n", "a\u0336 ", "\\", "~~", "~ ~", "a<b hidden>"} {
		text := []byte("Free. " + strings.Repeat(piece, (256<<10)/len(piece)))
		for _, name := range []string{"a.md", "a.txt"} {
			begin := time.Now()
			_, _ = extract(name, text, "") // what is in it is not the question
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("a quarter of a megabyte of %q in %s took %s", piece, name, took)
			}
		}
	}
}

func FuzzSeen(f *testing.F) {
	for _, row := range unread {
		f.Add(row.text, true)
	}
	f.Add("~~a", false)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		kept, _, _ := seen(text, markdown)
		at := 0
		for i := range len(kept) { // what is kept stands in the text, in its order
			next := strings.IndexByte(text[at:], kept[i])
			if next < 0 {
				t.Fatalf("%q is read as %q", text, kept)
			}
			at += next + 1
		}
	})
}

// TestAParagraphOfManyOmissionsCostsWhatItIsLong: four times the runs take some four times the memory, and not sixteen.
func TestAParagraphOfManyOmissionsCostsWhatItIsLong(t *testing.T) {
	for name, run := range map[string]string{
		"struck out": `<w:r><w:t>word kept of it </w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>x</w:t></w:r>`,
		"deleted":    `<w:r><w:t>word kept of it </w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del>`,
	} {
		taken := func(n int) uint64 {
			file := docx(t, "<w:p>"+strings.Repeat(run, n)+"</w:p>")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := extract("a.docx", file, ""); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := taken(2_500), taken(10_000); many > 6*few {
			t.Errorf("%s: 2,500 runs take %d KB, and 10,000 take %d", name, few>>10, many>>10)
		}
	}
}
