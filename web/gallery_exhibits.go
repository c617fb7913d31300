package web

import (
	"context"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/desk"
	"countersign/pipeline/review"
	"countersign/store"
)

// withFiles adds files to an invented case, as people name them.
func (t *tale) withFiles() *tale {
	t.exhibits = []store.Exhibit{
		{ID: "file_1", Name: "UPS proof of delivery 1Z-20140.pdf", Description: "From the carrier's portal, with the signature at the door", Type: "application/pdf", Size: 184_220, Pages: 2},
		{ID: "file_2", Name: "Письмо клиента \u202egnp.exe.png", Type: "image/png", Size: 61_044, Pages: 1},
	}
	for i := range t.exhibits {
		e := &t.exhibits[i]
		e.CaseID, e.AddedAt, e.AddedBy, e.SHA256 = t.ID, galleryTime.Add(time.Duration(i-9)*time.Minute), anAnalyst.Actor.String(), strings.Repeat("9f3c61d0ab"[i:], 8)[:64]
		t.later = append(t.later, deed{time.Minute, audit.Note, anAnalyst.Actor, fields{"round": 1, "file": "added", "id": e.ID, "name": e.Name, "description": e.Description}})
	}
	return t
}

// packed stands for the desk's own measuring: what goes by a provider that hides the network is too much for it.
func packed(_ context.Context, _ store.View, c countersign.Case, _ review.Decided) (desk.Pack, error) {
	if c.Terms.Network != "stripe" {
		return desk.Pack{Pages: 4, Size: "212 kB", Receiver: "Visa", Free: "It is within the smallest limits that are known of any provider: at most 2.00 MB, at most 17 pages. Nobody has named the one that passes it on."}, nil
	}
	return desk.Pack{Files: 2, Pages: 57, Size: "5.12 MB", Receiver: "Stripe", Limits: []string{"at most 4.50 MB", "at most 49 pages"}, Problems: []desk.PackProblem{
		{Text: string(c.ID) + "-evidence-pack.pdf has 5.12 MB; Stripe takes 4.50 MB of this type", Try: "make it smaller, or leave out what the first page does not need", Refused: true},
		{Text: "there are 57 pages; Stripe takes 49", Try: "leave out what the first page does not need: short beats long", Refused: true}}}, nil
}

// undrawn is a pack that cannot be made, for a name in a script that its fonts lack.
func undrawn(context.Context, store.View, countersign.Case, review.Decided) (desk.Pack, error) {
	return desk.Pack{Receiver: "Visa", Problems: []desk.PackProblem{{Text: "the PDF cannot draw '東' (U+6771): it does not know this script; it stands in the shop's rows",
		Try: "export the report as HTML, which carries every text", Refused: true}}}, nil
}

// filed are cases with files for their report.
func (g *gallery) filed() {
	g.showCase(anAnalyst, "a chargeback with files for its report", g.aboutOrder("C-2031").withFiles().file())
	g.showCase(anAuditor, "a chargeback with files, seen by an auditor", g.aboutOrder("C-2032").withFiles().file())

	v := g.visit(anAnalyst)
	page, err := v.caseScreen(g.aboutOrder("C-2033").withFiles().file())
	if err != nil {
		panic(err) // unreachable: a sample's records can be read
	}
	page.Wrong, page.Exhibits.Description = "File invoice.pdf is encrypted. Remove the password or the restrictions and add it again: nobody who receives it can open it either.", "The invoice"
	g.hang(v, "case", "a chargeback, a file was refused", "", screen{Title: page.ID + " " + page.Title, Section: "Queue", Page: page})

	done := g.aboutOrder("C-2034").withFiles()
	done.decide(3*time.Minute, anAnalyst.Actor, "approve", fields{"outcome_wanted": countersign.Contested})
	done.later = append(done.later, deed{0, audit.Note, anAnalyst.Actor, fields{"round": 1, "report": audit.ReportMade + strings.Repeat("4be1", 16)}})
	done.close(0, anAnalyst.Actor, countersign.Contested, countersign.ByPerson)
	closed := done.file()
	closed.sealed = store.Report{CaseID: done.ID, Fingerprint: strings.Repeat("4be1", 16)}
	g.showCase(anAnalyst, "a chargeback that was contested, its report with files", closed)
	g.altered(*closed)
}

// altered is a decided case whose stored report somebody changed since.
func (g *gallery) altered(closed file) {
	why := countersign.Errorf(countersign.Altered, "nothing of what is kept beside the record of case %s is served: step 9 of its record does not match: the stored content of the evidence report of round 1 gives the fingerprint %s, but the record sealed %s, in this step",
		closed.ID, strings.Repeat("07aa", 16), closed.sealed.Fingerprint).Try(store.Restore)
	closed.sealed, closed.unsealed = store.Report{}, why
	g.showCase(anAnalyst, "a chargeback whose report was changed since", &closed)
}

// packs are decisions whose pack would not be taken, or cannot be made.
func (g *gallery) packs() {
	heavy := g.aboutOrder("C-2035").withFiles()
	heavy.Terms.Network, heavy.Terms.ReasonCode = "stripe", "product_not_received"
	g.confirm("approve", "approve: the pack would not be taken", heavy.file(), nil)
	script := g.aboutOrder("C-2036").file()
	script.desk.Pack = undrawn
	g.confirm("approve", "approve: no PDF could be made", script, nil)
}
