package web

import (
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
)

func (g *gallery) records() {
	v := g.visit(anAuditor)
	g.hang(v, "record", "what there is", "/record", screen{Title: "Record", Section: "Record", Page: recordScreen{Cases: "884 cases", Rows: "14,312 rows"}})
	g.hang(g.visit(anAnalyst), "record", "of a new installation", "", screen{Title: "Record", Section: "Record", Page: recordScreen{Cases: "0 cases", Rows: "0 rows"}})
	g.verifications()
	g.chains()
}

func (g *gallery) verifications() {
	const task = "k7q2mzx4b9"
	running := verifyScreen{Task: task, Running: true, Did: 9_120, Of: 14_312, DidText: "9,120 of about 14,312"}
	g.verification("running", "/record/verify/"+task, screen{Refresh: 1}, running)
	intact := verifyScreen{Task: task, Took: "1.4 s"}
	intact.found(audit.Report{OK: true, Cases: 884, Rows: 14_312})
	g.verification("intact", "", screen{}, intact)
	broken := verifyScreen{Task: task, Took: "1.4 s"}
	report := audit.Report{Cases: 884, Rows: 14_311, Breaks: []audit.Break{
		{Case: "D-1027", Seq: 17, Why: "its payload was changed: what is stored is not what the row was sealed over"},
		{Case: "D-0412", Seq: 9, Why: "the step is missing: step 8 is followed by step 10"}}}
	for n := range mostBreaks + 7 {
		report.Breaks = append(report.Breaks, audit.Break{Case: countersign.CaseID(fmt.Sprintf("D-%04d", 500+n)), Seq: 3, Why: "it does not continue from step 2 as that is stored now: one of the two was replaced"})
	}
	broken.found(report)
	g.verification("broken", "", screen{}, broken)
	g.verification("could not be read", "", screen{}, verifyScreen{Task: task, Failed: "The record could not be read to its end, so nothing is said about it."})
}

func (g *gallery) verification(state, address string, s screen, p verifyScreen) {
	s.Title, s.Section, s.Page = "Verifying the record", "Record", p
	g.hang(g.visit(anAuditor), "verify", state, address, s)
}

// chains are a case's record, row by row.
func (g *gallery) chains() {
	g.chain("intact", "/cases/D-1029/record", g.turnedDown("D-1029").file())
	g.chain("broken", "/cases/D-1027/record", g.turnedDown("D-1027").file().tampered(17, "was paid out", "was never paid out"))

	erased := g.turnedDown("D-1028")
	erased.later = append(erased.later, deed{24 * time.Hour, audit.Erased, anAdmin.Actor, fields{"erased": []int64{1, 4}, "why": "the customer asked for it"}})
	f := erased.file()
	f.rows[0].Payload, f.rows[3].Payload = nil, nil
	d := diary{head: f.head, rows: f.rows}
	f.report = d.verified(f.Case)
	g.chain("a payload erased", "/cases/D-1028/record", f)

	written := g.turnedDown("D-1068")
	written.Notes = markupText + turnedText
	g.chain("hostile: what the customer wrote", "/cases/D-1068/record", written.file())
}

func (g *gallery) chain(state, address string, f *file) {
	v := g.visit(anAuditor)
	p := caseRecordScreen{ID: string(f.ID), Title: complaint(f.Reason), Record: v.record(f), Head: f.head.Hash.String(), Verified: v.moment(v.now)}
	for _, row := range f.rows {
		p.Rows = append(p.Rows, v.recordRow(f, row))
	}
	g.hang(v, "case_record", state, address, screen{Title: "Record of " + p.ID, Section: "Record", Page: p})
}
