package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"countersign/auth"
	"countersign/desk/merchant/library"
)

// brings sends policies as the library's form does.
func (b *browser) brings(validFrom string, files ...document) page {
	b.t.Helper()
	return b.uploads("/library", files, "valid_from", validFrom)
}

func TestAPolicyIsBroughtInReadAndConfirmed(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Approver)
	b.get("/library").is(200, "No policy is here yet", "Bring policies in")
	sent := b.brings("", document{"returns.html", "<!doctype html><script>no()</script><h1>Returns policy</h1><p>Unused items may be returned within 30&nbsp;days.<p hidden>Never."})
	href := sent.leads()
	b.follow(sent).is(200, "returns.html is the new document “Returns policy”.", "Returns policy v1", "undated: counts as always in force", "waits for its text to be confirmed",
		"# Returns policy Unused items may be returned within 30", "HTML, ", "Approver Obi added it")
	page := b.get(href).is(200, "Look at this before the text is quoted", "Left out of the text that can be quoted, because it is hidden: “Never.” (6 characters, behind “")
	if text := page.parse().find("article", "aria-label", "The text"); len(text) != 1 || strings.Contains(text[0].text, "Never") || strings.Contains(text[0].text, "no()") {
		t.Errorf("the text holds what nobody sees: %+v", text)
	}
	b.get("/library").is(200, "One version waits for a person to look at the text")

	o.run(t, "an analyst and an auditor read it and change nothing", func(t *testing.T) {
		for _, role := range []auth.Role{auth.Analyst, auth.Auditor} {
			other := o.as(role)
			other.get("/library").is(200, "Returns policy")
			other.get(href).is(200, "An approver or an admin confirms the text.")
			other.post(href+"/confirm", nil).is(403)
			other.brings("", document{"a.md", "# A"}).is(403)
		}
	})
	o.run(t, "a clause is shown in its place, and what is no part of the text is not", func(t *testing.T) {
		const text = "# Returns policy\n\nUnused items may be returned within 30\u00A0days."
		start := strings.Index(text, "may be")
		clause := b.get(fmt.Sprintf("%s?start=%d&end=%d#clause", href, start, len(text)-1)).is(200).parse().find("mark", "id", "clause")
		if len(clause) != 1 || clause[0].text != "may be returned within 30\u00A0days" {
			t.Errorf("%+v", clause)
		}
		for _, query := range []string{"start=5&end=5", "start=-1&end=5", "start=5&end=9999", "start=x&end=7", fmt.Sprintf("start=5&end=%d", strings.Index(text, "\u00A0")+1)} {
			if marked := b.get(href+"?"+query).is(200, "Unused items may be returned").parse().find("mark", "id", "clause"); len(marked) > 0 {
				t.Errorf("%s: %+v", query, marked)
			}
		}
	})
	o.run(t, "the file comes back as it was sent, and never as a page", func(t *testing.T) {
		file := b.get(href + "/file")
		if file.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(file.header.Get("Content-Disposition"), "attachment") || !strings.Contains(file.text, "<script>no()") {
			t.Errorf("%v: %s", file.header, file.text)
		}
	})
	o.run(t, "who confirmed it is said, and it is in force", func(t *testing.T) {
		b.follow(b.post(href+"/confirm", nil)).is(200, "The text is confirmed", "in force", "text confirmed by Approver Obi")
		b.get("/library").is(200, "✓ in force")
	})
	o.run(t, "the same text again with a later day changes nothing, and leads to the page where its days can be changed", func(t *testing.T) {
		before := o.everything()
		p := b.brings("2027-06-01", document{"returns.html", "<!doctype html><script>no()</script><h1>Returns policy</h1><p>Unused items may be returned within 30&nbsp;days.<p hidden>Never."}).
			is(422, "File returns.html is version v1 of “Returns policy” already, undated; if it were valid from 2027-06-01, it would be out of force on days on which it counts now")
		if links := p.parse().find("a", "href", href); len(links) == 0 || links[0].text != "Its page" || o.everything() != before {
			t.Errorf("%+v", links)
		}
	})
	o.run(t, "another text under the title is a version of its own, from the day given", func(t *testing.T) {
		b.follow(b.brings("2026-03-01", document{"returns.md", "# Returns policy\n\nWithin 14 days."})).is(200, "version v2 of “Returns policy”", "from 1 Mar 2026", "Other versions: v1")
	})
	o.run(t, "days that cannot be are not kept, and what was typed is", func(t *testing.T) {
		p := b.post(href+"/days", url.Values{"valid_from": {"2026-03-01"}, "valid_until": {"2026-02-01"}}).is(400, "2026-02-01 is before 2026-03-01")
		if kept := p.parse().find("input", "name", "valid_until"); len(kept) != 1 || kept[0].attrs["value"] != "2026-02-01" {
			t.Errorf("%+v", kept)
		}
		b.follow(b.post(href+"/days", url.Values{"valid_from": {""}, "valid_until": {"2026-02-28"}})).is(200, "undated, until 28 Feb 2026", "set its days")
	})
	o.run(t, "of several files those that can be read are taken, and of the others it is said why not", func(t *testing.T) {
		b.brings("", document{"shipping.md", "# Shipping\n\nWithin two working days."}, document{"terms.pdf", "<html>404"}, document{"empty.txt", ""}, document{"x.exe", "hi"}, document{"note.txt", "hi"}).
			is(422, "x.exe ends in .exe, which is not known here", "note.txt has fewer than 20 letters and digits", "shipping.md is the new document “Shipping”", "terms.pdf is called .pdf and holds HTML", "empty.txt is empty")
	})
	o.run(t, "nothing chosen, a day that is none and a form that breaks off change nothing", func(t *testing.T) {
		before := o.everything()
		b.brings("", document{"", ""}).is(400, "No file was chosen")
		b.brings("soon", document{"a.md", "# A\n\nText."}).is(422, `"soon" is not a day`)
		b.brings("", document{"large.txt", strings.Repeat("word ", library.MostBytes/5+1)}).is(422, "more than 20 MB")
		if o.everything() != before {
			t.Error("something was changed")
		}
	})
}
