package web

import (
	"encoding/json"
	"strings"
	"time"

	"countersign/auth"
	"countersign/desk/merchant/library"
	"countersign/store"
)

// policies are the pages of the shop's library.
func (g *gallery) policies() {
	v, who := g.visit(anApprover), &file{names: map[string]string{anApprover.PersonID: anApprover.Name, anAdmin.PersonID: anAdmin.Name}}
	all := invented()
	shelf := func(v *visit, p libraryScreen, all []store.DocumentVersion) libraryScreen {
		p.Documents, p.Waiting = v.documents(all, who)
		p.MayBring, p.Accept, p.Most = v.may(auth.Import), library.Extensions, size(library.MostBytes)
		return p
	}
	g.library(v, "nothing yet", "/library", shelf(v, libraryScreen{}, nil))
	g.library(v, "several documents", "", shelf(v, libraryScreen{}, all))
	g.library(v, "some files were refused", "", shelf(v, libraryScreen{ValidFrom: "2026-03-01",
		Kept: []keptFile{{"returns-2026.pdf", "is version v3 of “Returns policy”", "/library/doc_returns-v3"}},
		Wrong: []notKept{{Why: "File terms.pdf is called .pdf and holds HTML. Give it the name of what it is, or save it as what it is called."},
			{Why: "File scan.pdf has no text: its pages are pictures. Upload the document that was printed, or run it through text recognition and look at the result."},
			{"File shipping.html is version v1 of “Shipping” already, undated; if it were valid from 2027-06-01, it would be out of force on days on which it counts now, so nothing was changed. If that is meant, change its days on its page in the library, /library/doc_shipping-v1.", "/library/doc_shipping-v1"}}}, all))
	auditor := g.visit(anAuditor)
	g.library(auditor, "for somebody who brings nothing in", "", shelf(auditor, libraryScreen{}, all[:2]))
	for i, state := range []string{"not in force any more", "in force, come to see a clause", "waits to be confirmed, with pages to look at"} {
		clause := map[int][2]int{1: {18, 73}}[i]
		p, err := v.policyScreen(all[i], clause, all, []store.DocumentAct{{VersionID: all[i].ID, Act: "added", ValidFrom: all[i].ValidFrom, At: all[i].CreatedAt, Actor: all[i].CreatedBy},
			{VersionID: all[i].ID, Act: "dated", ValidUntil: "2026-12-31", At: all[i].CreatedAt.Add(time.Hour), Actor: anAdmin.Actor.String()}}, who)
		if err != nil {
			panic(err) // unreachable: the readings above are JSON
		}
		if i == 0 {
			p.Wrong = "Valid until 2025-01-01 is before 2026-03-01. Expected the last day on which the version was valid, or nothing."
		}
		address := map[int]string{1: p.Href}[i]
		g.hang(v, "library_policy", state, address, screen{Title: p.Title + " " + p.Name, Section: "Library", Page: p})
	}
}

func (g *gallery) library(v *visit, state, address string, p libraryScreen) {
	g.hang(v, "library", state, address, screen{Title: "Library", Section: "Library", Page: p})
}

// invented are versions of three documents.
func invented() []store.DocumentVersion {
	const returns = "# Returns policy\n\nUnused items may be returned within 30 days of delivery. The customer pays the postage.\n\n## What is excluded\n- opened software\n- worn shoes\n- gift cards"
	pages := []string{strings.ReplaceAll(returns, "30", "14"), "\n", "\nR\uFFFDf\uFFFDnds ar\uE000 paid within 5 w\uE001rking days."}
	reading := func(e library.Extraction) string {
		b, err := json.Marshal(e)
		if err != nil {
			panic(err) // unreachable: texts and numbers
		}
		return string(b)
	}
	whole := reading(library.Extraction{Pages: []library.Page{{Characters: len(returns)}}})
	paged := reading(library.Extraction{Paged: true, Look: []string{"Page 4 is damaged and could not be read.",
		"Left out of the text that can be quoted, because it is struck out: “Unused items may be returned within 60 days of \u202edelivery.” (60 characters, behind “# Returns policy”)."},
		Notes: []string{"“Everything Shop” stands at the top of 3 pages. It is left out of the text that can be quoted."}, Pages: []library.Page{
			{Characters: len(pages[0])}, {Start: len(pages[0]), State: library.Picture}, {Start: len(pages[0] + pages[1]), Characters: 42, Odd: 4}}})
	version := func(document, title string, number int, kind library.Kind, file, text, reading, from string, days int) store.DocumentVersion {
		at := galleryTime.AddDate(0, 0, -days)
		return store.DocumentVersion{ID: "doc_" + document + "-v" + string(rune('0'+number)), DocumentID: document, Title: title, Number: number, File: file, Kind: string(kind),
			Size: 48_213, SHA256: strings.Repeat("9f3c", 16), Reading: reading, ValidFrom: from, CreatedAt: at, CreatedBy: anApprover.Actor.String(), ConfirmedAt: at.Add(5 * time.Minute),
			ConfirmedBy: anAdmin.Actor.String(), Text: text}
	}
	all := []store.DocumentVersion{
		version("returns", "Returns policy", 1, library.Markdown, "returns.md", returns, whole, "", 300),
		version("returns", "Returns policy", 2, library.Markdown, "returns.md", strings.ReplaceAll(returns, "30", "21"), whole, "2026-03-01", 200),
		version("returns", "Returns policy", 3, library.PDF, "returns-2026.pdf", strings.Join(pages, ""), paged, "2026-12-01", 1),
		version("shipping", "Shipping and \u202edelivery", 1, library.HTML, "shipping <b>.html", "# Shipping\n\nOrders are shipped within two working days.", whole, "", 300),
	}
	all[2].ConfirmedBy, all[2].ConfirmedAt = "", time.Time{}
	return all
}
