package web

import (
	"context"
	"errors"
	"strings"
	"time"

	"countersign"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

func (g *gallery) imports() {
	form := importScreen{Most: size(mostUpload)}
	for _, a := range records.Arrays {
		form.Arrays = append(form.Arrays, helpFor(a))
	}
	g.importing("as it first is", "/import", form)
	again := form
	again.Mine = []uploadLine{{"/import/checkedtobeimported", "transactions.csv and 2 other files", stands[checked], g.visit(anApprover).moment(galleryTime.Add(-3 * time.Minute))}}
	again.Array, again.Wrong = "accounts", "There is no file in what was sent. Choose at least one."
	g.importing("nothing was chosen, an upload waits", "", again)
	g.checks()
	g.endings()
}

func (g *gallery) importing(state, address string, p importScreen) {
	g.hang(g.visit(anApprover), "import", state, address, screen{Title: "Import records", Section: "Import", Page: p})
}

// uploaded hangs an upload as it stands.
func (g *gallery) uploaded(state string, u uploadView, at progress) {
	if u.files == nil {
		u.files = []sentFile{{name: "accounts.csv"}, {name: "transactions.csv"}, {name: "settlements-2026-11.json"}}
	}
	task := strings.ReplaceAll(slug(state), "-", "") // a page of its own for each: one that follows its task must not come upon another's
	p := importTask(task, u, at)
	g.hang(g.visit(anApprover), "import_task", state, "/import/"+task, screen{Title: p.Heading, Section: "Import", Page: p})
}

// readFiles are what three files were understood to be.
func readFiles() []feed.Report {
	return []feed.Report{
		{File: "accounts.csv", Format: records.CSV, Encoding: records.UTF8, Delimiter: records.Comma, LineEnds: "CRLF", Understood: []feed.Understood{{Array: records.Accounts, Rows: 412}}, New: 9, Same: 403},
		{File: "transactions.csv", Format: records.CSV, Encoding: records.Windows1252, Delimiter: records.Semicolon, LineEnds: "LF", Decimal: records.NoDecimal,
			Understood: []feed.Understood{{Array: records.Transactions, Rows: 18_204}}, New: 17_990, Changed: 214,
			Unknown: []feed.UnknownColumn{{Array: records.Transactions, Name: "branch_code", Rows: 18_204, Line: 1}}},
		{File: "settlements-2026-11.json", Format: records.JSON, Understood: []feed.Understood{{Array: records.Settlements, Rows: 8_112}}, New: 8_112},
	}
}

// refusedRows are the first things that were wrong with rows.
func refusedRows() []records.Problem {
	all := []records.Problem{
		{File: "transactions.csv", Array: records.Transactions, Row: 17, Line: 18, Field: "amount_minor", Value: `"1.250,00"`, Want: "a whole number of minor units, such as 4500", ID: "TX-880017"},
		{File: "transactions.csv", Array: records.Transactions, Row: 41, Line: 42, Field: "occurred_at", Value: `"2026-11-20 10:00"`, Want: "a time with a zone (2026-11-28T09:14:00Z) or a date (2026-11-28)", ID: "TX-880041"},
		{File: "transactions.csv", Array: records.Transactions, Row: 52, Line: 53, Field: "currency", Value: "", Want: "an ISO 4217 currency, such as NGN", ID: "TX-880052"},
		{File: "accounts.csv", Array: records.Accounts, Row: 7, Line: 8, Field: "customer_id", Value: `"C-9999"`, Want: "a customer in this import or on record", ID: "A-7"},
		{File: "transactions.csv", Array: records.Transactions, Row: 60, Line: 61, Field: "id", Value: `"\u202e<b>mark-file</b>` + strings.Repeat("9", 60) + `…" (120 bytes)`, Want: "an id of at most 64 bytes", ID: "\u202e<b>mark-file</b>"},
	}
	return all
}

// checks are uploads of which nothing is stored yet.
func (g *gallery) checks() {
	g.uploaded("being checked", uploadView{phase: checking}, progress{Doing: "comparing transactions", Did: 8_400, Of: 26_728})
	g.uploaded("asked what a file holds", uploadView{phase: unclear, files: []sentFile{{name: "export(3).csv"}}}, progress{})
	g.uploaded("checked, to be imported", uploadView{phase: checked, outcome: outcome{reports: readFiles()}}, progress{})
	some := outcome{reports: readFiles(), wrong: refusedRows(), things: 214}
	some.reports[0].Refused, some.reports[1].Refused = 1, 198
	g.uploaded("checked, with refused rows", uploadView{phase: checked, outcome: some}, progress{})
	same := outcome{reports: readFiles()[:1]}
	same.reports[0].New, same.reports[0].Same = 0, 412
	g.uploaded("checked, nothing new", uploadView{phase: checked, files: []sentFile{{name: "accounts.csv"}}, outcome: same}, progress{})
	g.uploaded("cannot be read", uploadView{phase: spoiled, outcome: outcome{err: countersign.Errorf(countersign.Invalid,
		"transactions.csv: line 2 has 14 cells, and line 1 names 12 columns").Try("export the file again, with quotes around text that holds a semicolon")}}, progress{})
	g.uploaded("the check was broken off", uploadView{phase: unchecked, outcome: outcome{err: errors.New("disk full")}}, progress{})
}

// endings are uploads that are being stored, or were.
func (g *gallery) endings() {
	g.uploaded("being imported", uploadView{phase: importing}, progress{Doing: "storing transactions", Did: 12_000, Of: 26_728})
	g.uploaded("being stopped", uploadView{phase: importing, stopping: true}, progress{Did: 12_000, Of: 26_728})
	g.uploaded("stopped in the middle", uploadView{phase: halted, before: 12_000, outcome: outcome{err: context.Canceled}}, progress{})
	g.uploaded("failed in the middle", uploadView{phase: halted, before: 12_000, outcome: outcome{err: errors.New("disk full")}}, progress{})
	g.uploaded("imported", uploadView{phase: imported, outcome: outcome{reports: readFiles()}}, progress{})
	some := outcome{reports: readFiles()[1:2], wrong: refusedRows()[:3], things: 3}
	some.reports[0].Refused = 3
	g.uploaded("imported, with refused rows", uploadView{phase: imported, files: []sentFile{{name: "transactions.csv"}}, outcome: some}, progress{})
}
