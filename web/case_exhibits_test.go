package web_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"countersign"
	"countersign/audit"
	"countersign/auth"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
)

// attaches sends files as the page of a case does.
func (b *browser) attaches(on string, revision int64, description string, files ...document) page {
	b.t.Helper()
	return b.uploads(on+"/exhibits", files, "revision", strconv.FormatInt(revision, 10), "description", description)
}

// letterOf is somebody's PDF of so many pages.
func letterOf(t testing.TB, pages int) string {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCreationDate(time.Unix(0, 0))
	doc.SetModificationDate(time.Unix(0, 0)) // the same bytes each time
	doc.SetCatalogSort(true)
	doc.SetFont("Helvetica", "", 20)
	for range pages {
		doc.AddPage()
		doc.Text(30, 40, "Proof of delivery")
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func lockedLetter(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := api.Encrypt(strings.NewReader(letterOf(t, 1)), &b, model.NewAESConfiguration("secret", "owner", 256)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func photo(t testing.TB) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 120, 80))
	picture.Set(3, 3, color.Black)
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pagesIn(t testing.TB, pdf string) int {
	t.Helper()
	n, err := api.PageCount(strings.NewReader(pdf), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (o *office) notReceived(b *browser) (countersign.Case, string) {
	o.t.Helper()
	c := b.chargeback(o, url.Values{"order_id": {"20140"}, "network": {"visa"}, "reason_code": {"13.1"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"USD"}})
	return c, "/cases/" + string(c.ID)
}

// TestFilesOfACaseGoWithItsReport: a picture and a letter are added, one is taken off, the claim is contested, and what is sent holds
// the report and what was left.
func TestFilesOfACaseGoWithItsReport(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	b.get(on).is(200, "Files for the evidence report", "none yet", "Add files")

	b.follow(b.attaches(on, c.Revision, "Signed for at the door", document{"delivery.pdf", letterOf(t, 3)}, document{"photo.png", photo(t)})).
		is(200, "2 files were added.", "delivery.pdf", "PDF, 3 pages", "photo.png", "PNG, 1 page", "Signed for at the door", "by Analyst Obi", "Analyst Obi added a file")
	if after := o.latest(c.ID); after.Revision != c.Revision+1 {
		t.Errorf("the case is at revision %d, want %d", after.Revision, c.Revision+1)
	}
	all, err := o.Store.Exhibits(t.Context(), c.ID)
	o.must(err)
	if len(all) != 2 {
		t.Fatalf("the case has %+v", all)
	}
	letter, picture := all[0], all[1]
	if letter.Name != "delivery.pdf" {
		letter, picture = picture, letter
	}

	o.run(t, "a file comes back as it was sent, and never as a page", func(t *testing.T) {
		file := o.as(auth.Auditor).get(on + "/exhibits/" + picture.ID)
		if file.text != photo(t) || file.header.Get("Content-Type") != "image/png" || file.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''photo.png" ||
			file.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(file.header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("it is %d bytes with %v", len(file.text), file.header)
		}
		b.get(on+"/exhibits/file_none").is(404, "no such file")
		other := o.inReview("T-1")
		b.get("/cases/"+string(other.ID)+"/exhibits/"+picture.ID).is(404, "no such file")
	})
	o.run(t, "a page that has gone stale adds and removes nothing", func(t *testing.T) {
		before := o.everything()
		b.attaches(on, c.Revision, "", document{"other.pdf", letterOf(t, 2)}).is(409, "The case changed while this page was open", "delivery.pdf")
		b.post(on+"/exhibits/"+letter.ID+"/remove", url.Values{"revision": {strconv.FormatInt(c.Revision, 10)}}).is(409, "The case changed while this page was open")
		if o.everything() != before {
			t.Error("something was changed")
		}
	})
	o.run(t, "pressed twice, it says what was done", func(t *testing.T) {
		b.follow(b.attaches(on, c.Revision, "", document{"delivery.pdf", letterOf(t, 3)})).is(200, "What was sent is on the case.")
	})
	o.run(t, "before the approval the pack is measured", func(t *testing.T) {
		b.get(on+"/approve").is(200, "The pack, if this is contested", "the report and 2 files: ", "Visa: no limit is known here", "Nobody has named the one that passes it on", "at most 17 pages")
		b.get(on+"/override").is(200, "the report and 2 files: ")
	})
	b.follow(b.post(on+"/exhibits/"+picture.ID+"/remove", b.get(on).form(on+"/exhibits/"+picture.ID+"/remove"))).is(200, "The file was taken off", "Analyst Obi took a file off")
	b.get(on+"/exhibits/"+picture.ID).is(404, "no such file")

	b.follow(b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))).is(200, "Download the PDF with 1 file", "The report alone")
	content, err := report.Verify([]byte(b.get(on + "/report?format=json").text))
	o.must(err)
	if content.State != report.Intact {
		t.Errorf("the report is %+v", content)
	}
	kept, err := o.Store.Report(t.Context(), c.ID)
	o.must(err)
	sealed, err := report.Open(kept.Content)
	o.must(err)
	listed := sealed.Content().Attachments
	if len(listed) != 1 || listed[0].SHA256 != letter.SHA256 || listed[0].Pages != 3 || listed[0].Description != "Signed for at the door" || listed[0].AddedBy != "Analyst Obi" {
		t.Errorf("the report lists %+v", listed)
	}
	if shop := sealed.Content().Case.Shop; shop == "" {
		t.Error("the report does not name the shop")
	}
	alone, whole, again := b.get(on+"/report?format=pdf").text, b.get(on+"/report?format=pack"), b.get(on+"/report?format=pack")
	if got, want := pagesIn(t, whole.text), pagesIn(t, alone)+3; got != want {
		t.Errorf("the pack has %d pages, want %d", got, want)
	}
	if whole.text != again.text {
		t.Error("the second time it has other bytes")
	}
	if whole.header.Get("Content-Type") != "application/pdf" || whole.header.Get("Content-Disposition") != `attachment; filename="`+pack.Name(c.ID)+`"` {
		t.Errorf("the pack comes with %v", whole.header)
	}
	o.run(t, "the API gives the same pack", func(t *testing.T) {
		program := o.browser()
		program.bearer = o.tokens[auth.Auditor]
		if file := program.get("/api/v1" + on + "/report?format=pack"); file.text != whole.text || file.header.Get("X-Fingerprint") != sealed.Fingerprint() {
			t.Errorf("it is %d with %v", file.status, file.header)
		}
	})
	o.run(t, "a closed case takes no file and gives none up", func(t *testing.T) {
		before, revision := o.everything(), o.latest(c.ID).Revision
		b.attaches(on, revision, "", document{"late.pdf", letterOf(t, 1)}).is(409, "The case is closed")
		b.post(on+"/exhibits/"+letter.ID+"/remove", url.Values{"revision": {strconv.FormatInt(revision, 10)}}).is(409, "The case is closed")
		if o.everything() != before {
			t.Error("something was changed")
		}
		if text := b.get(on).text; strings.Contains(text, `action="`+on+`/exhibits`) {
			t.Error("the page offers to change them")
		}
	})
	o.run(t, "the record holds what was added and taken off", func(t *testing.T) {
		var notes []string
		for row, err := range o.Store.RecordRows(t.Context(), c.ID, 0) {
			o.must(err)
			if row.Kind == audit.Note {
				notes = append(notes, string(row.Payload.Bytes))
			}
		}
		all := strings.Join(notes, "\n")
		if len(notes) != 5 || !strings.Contains(notes[2], `"removed"`) || strings.Count(all, picture.SHA256) != 2 || strings.Count(all, letter.SHA256) != 1 || !strings.Contains(notes[4], `"pack":"`) {
			t.Errorf("its notes are\n%s", all)
		}
	})
	o.verified()
}

// TestEvidenceThatSomebodyChangedIsHandedOutNowhere: whatever of a report, its pack and its files is changed in the database, pages, API
// and the verifier of the record say so.
func TestEvidenceThatSomebodyChangedIsHandedOutNowhere(t *testing.T) {
	o := newOffice(t).withShop()
	b, program := o.as(auth.Analyst), o.browser()
	program.bearer = o.tokens[auth.Auditor]
	c, on := o.notReceived(b)
	b.follow(b.attaches(on, c.Revision, "Signed for at the door", document{"delivery.pdf", letterOf(t, 3)}))
	b.follow(b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))).is(200, "Download the PDF with 1 file")
	b.get(on+"/report?format=pack").is(200, "%PDF-")
	b.get(on).is(200, "Analyst Obi had the report and its files made into one PDF")
	o.tamper("DROP TRIGGER reports_stay", "DROP TRIGGER exhibits_stay", "DROP TRIGGER report_packs_stay",
		"CREATE TABLE old_reports AS SELECT * FROM reports", "CREATE TABLE old_exhibits AS SELECT * FROM exhibits", "CREATE TABLE old_packs AS SELECT * FROM report_packs")
	every := []string{"json", "html", "pdf", "pack"}
	letters, err := o.Store.Exhibits(t.Context(), c.ID)
	o.must(err)
	for _, x := range []struct {
		name, change, says string
		refused            []string
	}{
		{"the report's content", "UPDATE reports SET content = CAST(replace(CAST(content AS TEXT), 'Signed for', 'Left') AS BLOB)", "the stored content of the evidence report of round 1 gives", every},
		{"the report's fingerprint", "UPDATE reports SET fingerprint = '" + strings.Repeat("07aa", 16) + "'", "the fingerprint stored beside the evidence report of round 1 is", every},
		{"the pack's bytes", "UPDATE report_packs SET bytes = CAST('%PDF-1.7 other' AS BLOB)", "the stored content of the pack of round 1 gives", every[3:]},
		{"the pack's bytes and their hash", "UPDATE report_packs SET bytes = CAST('x' AS BLOB), sha256 = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'", "the stored content of the pack of round 1 gives", every[3:]},
		{"a file's bytes", "UPDATE exhibits SET bytes = CAST('%PDF-1.7 other' AS BLOB)", `the stored bytes of "delivery.pdf" have the SHA-256`, every[3:]},
		{"a file's bytes and their hash", "UPDATE exhibits SET bytes = CAST('x' AS BLOB), sha256 = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'", `"delivery.pdf", which the report lists as`, every[3:]},
	} {
		o.run(t, x.name, func(t *testing.T) {
			o.tamper(x.change)
			for _, format := range every {
				status := 200
				if slices.Contains(x.refused, format) {
					status = 500
				}
				page, answer := b.get(on+"/report?format="+format), program.get("/api/v1"+on+"/report?format="+format)
				if page.status != status || answer.status != status {
					t.Errorf("as %s the page is %d and the answer %d, want %d", format, page.status, answer.status, status)
				}
				if status == 500 {
					page.is(500, "Not what was sealed", x.says, "countersign audit verify", "Go to the queue")
				}
			}
			file := b.get(on + "/exhibits/" + letters[0].ID)
			switch {
			case strings.HasPrefix(x.name, "a file's"):
				file.is(500, "Not what was sealed", "the stored content of the file "+letters[0].ID+" gives")
			case strings.HasPrefix(x.name, "the report's"): // nothing beside a record is handed out while any of it is wrong
				file.is(500, "Not what was sealed", x.says)
			default:
				file.is(200, "%PDF-")
			}
			if len(x.refused) == 4 {
				if p := b.get(on).is(200, "is not what was sealed, so nothing of it is handed out", x.says); strings.Contains(p.text, "Download the PDF") {
					t.Error("the page offers it all the same")
				}
			}
			found, err := o.Store.VerifyRecord(t.Context(), nil)
			if o.must(err); len(found.Breaks) != 1 || found.Breaks[0].Case != c.ID {
				t.Errorf("the record verifies as %v", found)
			}
			o.tamper("UPDATE reports SET (content, fingerprint) = (SELECT content, fingerprint FROM old_reports o WHERE o.case_id = reports.case_id)",
				"UPDATE exhibits SET (bytes, sha256) = (SELECT bytes, sha256 FROM old_exhibits o WHERE o.id = exhibits.id)",
				"UPDATE report_packs SET (bytes, sha256) = (SELECT bytes, sha256 FROM old_packs o WHERE o.case_id = report_packs.case_id)")
			b.get(on+"/report?format=pack").is(200, "%PDF-")
		})
	}
	o.verified()
}

// TestAPackFromBeforePacksWereSealedIsMadeAnew: what an earlier version kept is not handed out, and keeps nobody from the pack.
func TestAPackFromBeforePacksWereSealedIsMadeAnew(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	b.follow(b.attaches(on, c.Revision, "Signed for at the door", document{"delivery.pdf", letterOf(t, 3)}))
	b.follow(b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))).is(200, "Download the PDF with 1 file")
	o.tamper("INSERT INTO report_packs (case_id, round, sha256, pages, bytes, created_at) VALUES ('" + string(c.ID) + "', 1, '" + strings.Repeat("07aa", 16) + "', 9, CAST('an old pack' AS BLOB), 1)")
	for range 2 {
		b.get(on+"/report?format=pack").is(200, "%PDF-")
	}
	o.verified()
}

func TestFilesThatACaseDoesNotTake(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c, on := o.notReceived(b)
	before := o.everything()
	for _, row := range []struct {
		sentence string
		file     document
		status   int
		says     string
	}{
		{"nothing chosen", document{}, 400, "No file was chosen"},
		{"an encrypted letter", document{"locked.pdf", lockedLetter(t)}, 400, "locked.pdf is encrypted. Remove the password"},
		{"a page that calls itself a letter", document{"page.pdf", "<html><script>alert(1)</script>"}, 400, "page.pdf is HTML, expected PDF, PNG or JPEG"},
		{"a picture that calls itself a letter", document{"photo.pdf", photo(t)}, 400, "photo.pdf is called as what it is not: it is PNG"},
		{"a book", document{"book.pdf", letterOf(t, 301)}, 400, "book.pdf has 301 pages; at most 300 are taken"},
		{"half a picture", document{"half.png", photo(t)[:60]}, 400, "half.png is damaged"},
		{"a file above the limit of one", document{"large.pdf", "%PDF-1.7\n" + strings.Repeat("x", report.MostFileBytes)}, 400, "large.pdf has more than 20 MB"},
		{"more than a case has room for", document{"huge.pdf", "%PDF-1.7\n" + strings.Repeat("x", int(pack.Room.Bytes)+2<<20)}, 413, "so none was added"},
		{"a name that turns around", document{"invoice\u202efdp.png", photo(t)}, 400, "the file's name is no name"},
	} {
		o.run(t, row.sentence, func(t *testing.T) {
			p := b.attaches(on, c.Revision, "What it <b>shows</b>", row.file).is(row.status, row.says)
			if kept := p.parse().find("input", "name", "description"); row.status == 400 && (len(kept) != 1 || kept[0].attrs["value"] != "What it <b>shows</b>") {
				t.Errorf("what was typed is lost: %+v", kept)
			}
		})
	}
	o.run(t, "a good one beside a bad one", func(t *testing.T) {
		b.attaches(on, c.Revision, "", document{"photo.png", photo(t)}, document{"locked.pdf", lockedLetter(t)}).is(400, "locked.pdf is encrypted")
	})
	o.run(t, "a description that is no line", func(t *testing.T) {
		b.attaches(on, c.Revision, "one\ntwo", document{"photo.png", photo(t)}).is(400, "Description has characters that cannot be printed")
		b.attaches(on, c.Revision, strings.Repeat("long ", 100), document{"photo.png", photo(t)}).is(413, "Description has 500 bytes")
	})
	o.run(t, "more than there may be", func(t *testing.T) {
		b.attaches(on, c.Revision, "", slicesOf(pack.Room.Files+1, document{"photo.png", photo(t)})...).is(409, "This file is on the case already")
	})
	o.run(t, "a form that says nothing of what it saw", func(t *testing.T) {
		b.post(on+"/exhibits/file_x/remove", url.Values{}).is(428)
	})
	o.run(t, "a page of another site", func(t *testing.T) {
		other := o.as(auth.Analyst)
		other.site = "cross-site"
		other.attaches(on, c.Revision, "", document{"photo.png", photo(t)}).is(403)
	})
	if o.everything() != before {
		t.Error("something was changed")
	}
	o.run(t, "a case of the bank takes none", func(t *testing.T) {
		d := o.inReview("T-1")
		b.attaches("/cases/"+string(d.ID), d.Revision, "", document{"photo.png", photo(t)}).is(409, "A case of this desk takes no files")
	})
	o.verified()
}

func slicesOf(n int, one document) (all []document) {
	for range n {
		all = append(all, one)
	}
	return all
}

// What the receiver would not take is said before anybody approves, and keeps nobody from it: a deadline does not wait.
func TestThePackIsHeldAgainstWhatIsTaken(t *testing.T) {
	o := newOffice(t).withShop()
	b := o.as(auth.Analyst)
	c := b.chargeback(o, url.Values{"order_id": {"20140"}, "network": {"stripe"}, "reason_code": {"product_not_received"}, "stage": {"chargeback"}, "amount": {"149.00"}, "currency": {"USD"}})
	on := "/cases/" + string(c.ID)
	b.get(on+"/approve").is(200, "It holds the report: ", "Stripe: at most 4.50 MB · at most 49 pages", "Nothing is known against it")

	b.follow(b.attaches(on, c.Revision, "The whole correspondence", document{"letters.pdf", letterOf(t, 49)}))
	b.get(on+"/approve").is(200, "It holds the report and 1 file: 5", "Would not be taken:", "; Stripe takes 49.", "Leave out what the first page does not need")
	b.get(on+"/override").is(200, "; Stripe takes 49.")

	c = o.latest(c.ID)
	b.follow(b.attaches(on, c.Revision, "東京", document{"photo.png", photo(t)}))
	b.get(on+"/approve").is(200, "Cannot be made: The PDF cannot draw '東' (U+6771)", "it stands in a file's name or description", "Export the report as HTML")

	b.follow(b.post(on+"/approve", b.get(on+"/approve").form(on+"/approve"))).is(200, "Download the PDF with 2 files")
	b.get(on+"/report?format=pack").is(422, "cannot draw")
	if text := b.get(on + "/report?format=json").text; !strings.Contains(text, `"provider":"Stripe"`) || !strings.Contains(text, "東京") {
		t.Errorf("the report says %s", text)
	}
	o.verified()
}
