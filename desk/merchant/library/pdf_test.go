package library

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"

	"countersign"
	"countersign/internal/testdb"
	"countersign/pipeline/verify"
)

// printed has Chromium print a page as PDF.
func printed(t testing.TB, page string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
	if err := os.WriteFile(in, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testdb.Program(t, "chromium-headless-shell", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--print-to-pdf="+out, "file://"+in)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	file, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// bound is a PDF of so many pages, drawn by f.
func bound(t testing.TB, pages int, f func(*fpdf.Fpdf, int)) []byte {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetFont("Times", "", 11)
	for i := range pages {
		doc.AddPage()
		f(doc, i+1)
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const twoColumns = `<!doctype html><html lang=en><meta charset=utf-8><style>
body { font-family: serif; font-size: 11pt } div { columns: 2; column-gap: 1cm; text-align: justify; hyphens: manual }
</style><h1>Returns policy</h1><div>
<p>Unused mer&shy;chan&shy;dise may be re&shy;turned with&shy;in four&shy;teen days of the day on which the car&shy;ri&shy;er con&shy;firmed its
de&shy;liv&shy;ery. The ﬁnal oﬃce ﬂow is efficient, and the final offer is not waffle-based; sale items are non-refundable, and
non-trans&shy;fer&shy;able vouch&shy;ers ex&shy;pire.</p>
<p>Cus&shy;tom&shy;ers who re&shy;fuse a par&shy;cel with&shy;out a rea&shy;son pay the post&shy;age. Re&shy;funds are paid with&shy;in
5 work&shy;ing days to the card that was charged, “as is”.</p>
<p>Noth&shy;ing else is ex&shy;cluded from this pol&shy;i&shy;cy, and self-ex&shy;plan&shy;a&shy;to&shy;ry well-known terms are
self-evident to every&shy;body who reads them to the end of the col&shy;umn.</p></div>`

func TestAPDFOfTwoColumnsIsReadInOrderAndCanBeQuoted(t *testing.T) {
	e, err := reader(t).Extract(t.Context(), "returns.pdf", printed(t, twoColumns))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Pages) != 1 || !e.Paged || e.Pages[0].Characters < 500 || e.Pages[0].Odd != 0 || e.Title != "Returns policy" {
		t.Errorf("%+v", e)
	}
	shelf := []verify.Document{{ID: "D", Text: e.Text, Pages: e.Starts()}}
	for _, quote := range []string{
		"Unused merchandise may be returned within fourteen days of the day on which the carrier confirmed its delivery.",
		"The final office flow is efficient, and the final offer is not waffle-based; sale items are non-refundable, and non-transferable vouchers expire.",
		"Customers who refuse a parcel without a reason pay the postage. Refunds are paid within 5 working days to the card that was charged, \"as is\".",
		"Nothing else is excluded from this policy, and self-explanatory well-known terms are self-evident to everybody who reads them to the end of the column.",
	} {
		got := verify.Quotes([]countersign.Quote{{Document: "D", Quote: quote}}, shelf)[0]
		if got.Status != countersign.QuoteExact && got.Status != countersign.QuoteFolded || got.Page != 1 {
			t.Errorf("%s on page %d: %s", got.Status, got.Page, quote)
		}
	}
	for _, forged := range []string{
		"Unused merchandise may be returned within forty days of the day on which the carrier confirmed its delivery.",
		"the final offer is waffle-based; sale items are non-refundable, and non-transferable vouchers expire.",
		"transferable vouchers expire. Customers who refuse a parcel",
		"Refunds are paid within 15 working days to the card that was charged",
	} {
		if got := verify.Quotes([]countersign.Quote{{Document: "D", Quote: forged}}, shelf)[0]; got.Status != countersign.QuoteNotFound {
			t.Errorf("%s: %s", got.Status, forged)
		}
	}
	if t.Failed() {
		t.Logf("%q", e.Text)
	}
}

func TestTheTitleOfAPDFIsItsFirstHeading(t *testing.T) {
	for sentence, row := range map[string]struct {
		draw func(*fpdf.Fpdf)
		want string
	}{
		"in larger letters": {func(doc *fpdf.Fpdf) {
			doc.SetFontSize(18)
			doc.Cell(0, 10, "Returns and refunds")
		}, "Returns and refunds"},
		"over two lines": {func(doc *fpdf.Fpdf) {
			doc.SetFontSize(18)
			doc.MultiCell(60, 10, "Returns, refunds and exchanges", "", "L", false)
		}, "Returns, refunds and exchanges"},
		"below a header in small letters": {func(doc *fpdf.Fpdf) {
			doc.SetFontSize(8)
			doc.CellFormat(0, 10, "Everything Shop", "", 1, "L", false, 0, "")
			doc.SetFontSize(18)
			doc.Cell(0, 10, "Shipping")
		}, "Shipping"},
		"or the file's name when all letters are of one size": {func(*fpdf.Fpdf) {}, "policy"},
		"or the file's name when what is large is only a number": {func(doc *fpdf.Fpdf) {
			doc.SetFontSize(40)
			doc.Cell(0, 10, "2026")
		}, "policy"},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := bound(t, 1, func(doc *fpdf.Fpdf, _ int) {
				row.draw(doc)
				doc.SetFontSize(11)
				doc.SetXY(10, 60)
				doc.MultiCell(0, 5, strings.Repeat("Items may be returned within fourteen days. ", 20), "", "L", false)
			})
			if e, err := reader(t).Extract(t.Context(), "policy.pdf", file); err != nil || e.Title != row.want {
				t.Errorf("%q, want %q (%v)", e.Title, row.want, err)
			}
		})
	}
}

func TestASentenceThatGoesOverTwoPagesIsNotCutByTheirHeaders(t *testing.T) {
	pages := []string{"The shop takes back whatever was bought from it, if it is unused, in its box, and on its way to us within", "fourteen days of the day on which the carrier says that it was handed", "over to the customer or to whoever opened the door."}
	file := bound(t, len(pages), func(doc *fpdf.Fpdf, page int) {
		doc.SetAutoPageBreak(false, 0)
		doc.Text(10, 12, "Everything Shop, returns policy")
		doc.SetXY(10, 30)
		doc.MultiCell(190, 6, pages[page-1], "", "L", false)
		doc.Text(10, 285, "Page "+strconv.Itoa(page)+" of 3")
	})
	e, err := reader(t).Extract(t.Context(), "returns.pdf", file)
	if err != nil {
		t.Fatal(err)
	}
	got := verify.Quotes([]countersign.Quote{{Document: "D", Quote: strings.Join(pages, " ")}}, []verify.Document{{ID: "D", Text: e.Text, Pages: e.Starts()}})[0]
	if got.Status != countersign.QuoteFolded || got.Page != 1 {
		t.Errorf("%s on page %d: %q", got.Status, got.Page, e.Text)
	}
	if len(e.Notes) != 2 || !strings.Contains(e.Notes[0], "“Everything Shop, returns policy” stands at the top of 3 pages") || !strings.Contains(e.Notes[1], "“Page 1 of 3” stands at the bottom of 3 pages") {
		t.Errorf("notes %q", e.Notes)
	}
}

func TestAScannedPageIsSaidToHaveNoText(t *testing.T) {
	picture := image.NewGray(image.Rect(0, 0, 40, 40))
	picture.Set(3, 3, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	pages := func(doc *fpdf.Fpdf, page int) {
		switch page {
		case 2:
			doc.RegisterImageOptionsReader("scan", fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(b.Bytes()))
			doc.ImageOptions("scan", 10, 10, 100, 100, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
		case 3:
		default:
			doc.Cell(0, 10, "Returns are free on page "+strconv.Itoa(page))
		}
	}
	e, err := reader(t).Extract(t.Context(), "returns.pdf", bound(t, 4, pages))
	if err != nil {
		t.Fatal(err)
	}
	var states []PageState
	for _, p := range e.Pages {
		states = append(states, p.State)
	}
	if want := []PageState{"", Picture, Empty, ""}; !slices.Equal(states, want) {
		t.Errorf("%v, want %v", states, want)
	}
	if got := e.Page(3); got != "Returns are free on page 4" {
		t.Errorf("page 4 is %q of %q", got, e.Text)
	}
	_, err = reader(t).Extract(t.Context(), "scan.pdf", bound(t, 1, func(doc *fpdf.Fpdf, _ int) { pages(doc, 2) }))
	if err == nil || !strings.Contains(err.Error(), "its pages are pictures") {
		t.Error(err)
	}
}

func TestAnEncryptedPDFIsRefused(t *testing.T) {
	file := bound(t, 1, func(doc *fpdf.Fpdf, _ int) {
		doc.SetProtection(fpdf.CnProtectPrint, "reader", "owner")
		doc.Cell(0, 10, "Returns are free.")
	})
	_, err := reader(t).Extract(t.Context(), "returns.pdf", file)
	if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "is encrypted") || !strings.Contains(err.Error(), "remove the password") {
		t.Error(err)
	}
}

func TestADamagedPDFIsRefused(t *testing.T) {
	whole := bound(t, 3, func(doc *fpdf.Fpdf, _ int) { doc.Cell(0, 10, "Returns are free.") })
	for name, file := range map[string][]byte{"cut off in its first line": whole[:9], "noise behind its first line": append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("\x00\xFFstream<<"), 999)...)} {
		t.Run(name, func(t *testing.T) {
			if _, err := reader(t).Extract(t.Context(), "returns.pdf", file); countersign.KindOf(err) != countersign.Invalid {
				t.Error(err)
			}
		})
	}
}

// The process has a limit of memory of its own, so that reading it at all shows that it was enough.
func TestThreeHundredPagesAreReadWithinTheLimits(t *testing.T) {
	file := bound(t, 300, func(doc *fpdf.Fpdf, page int) {
		doc.MultiCell(0, 5, strings.Repeat("Items on page "+strconv.Itoa(page)+" may be returned within "+strconv.Itoa(page)+" days of delivery. ", 40), "", "", false)
	})
	began := time.Now()
	e, err := reader(t).Extract(t.Context(), "returns.pdf", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d KB, %d characters in %s", len(file)>>10, len(e.Text), time.Since(began).Round(time.Millisecond))
	quote := verify.Quotes([]countersign.Quote{{Document: "D", Quote: "Items on page 287 may be returned within 287 days of delivery."}}, []verify.Document{{ID: "D", Text: e.Text, Pages: e.Starts()}})[0]
	if len(e.Pages) != 300 || quote.Page != 287 {
		t.Errorf("%d pages, the quote is %s on page %d", len(e.Pages), quote.Status, quote.Page)
	}
}
