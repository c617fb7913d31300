package web

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/desk"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
)

// packFormat is the PDF with the files that people added behind it.
const packFormat report.Format = "pack"

var reportTypes = map[report.Format]string{report.JSON: "application/json", report.HTML: "text/html; charset=utf-8", report.PDF: "application/pdf", packFormat: "application/pdf"}

// caseReport sends the evidence report that was sealed when a person decided the case: the same bytes each time. The HTML form is a
// page of its own, which may not be framed and runs nothing.
func caseReport(v *visit) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	format := report.Format(cmp.Or(v.r.URL.Query().Get("format"), "html"))
	if reportTypes[format] == "" {
		return countersign.Errorf(countersign.Invalid, "There is no report in the form %q.", clip(string(format))).Try("Expected html, pdf, pack or json.")
	}
	file, err := v.rendered(f, format)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", reportTypes[format])
	switch format {
	case report.HTML: // its styles stand in the file itself, so that it can be kept and checked
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox")
	case packFormat:
		h.Set("Content-Disposition", `attachment; filename="`+pack.Name(f.ID)+`"`)
	default:
		h.Set("Content-Disposition", `attachment; filename="`+string(f.ID)+"-evidence."+string(format)+`"`)
	}
	v.w.WriteHeader(http.StatusOK)
	_, err = v.w.Write(file)
	return err
}

func (v *visit) rendered(f *file, format report.Format) ([]byte, error) {
	if format == packFormat {
		_, file, err := pack.Of(v.r.Context(), v.Store, f.ID, v.who.Actor)
		return file, err
	}
	round, _ := strconv.Atoi(v.r.URL.Query().Get("round")) // the last one, where that says nothing
	sealed, err := pack.SealedRound(v.r.Context(), v.Store, f.ID, round)
	if err != nil {
		return nil, err
	}
	return sealed.Render(format)
}

// reportPanel is where the report of a decided case can be had.
type reportPanel struct {
	Href        string
	Fingerprint string   // in groups, to be read aloud
	Files       string   // that go with it, in words; empty when there are none
	None        string   // why there is none
	Altered     string   // that what is stored is not the report; None then says how
	Decided     string   // the decision, in amounts
	Warned      []string // what there was to know of it
	Withheld    string   // what a person left out, and why
}

// reports reports whether there may be a report of the case: it is closed, at a desk that makes them.
func (f *file) reports() bool { return f.desk.Reports && f.Status == countersign.Closed }

// split says which part of the amount was contested and which accepted.
func (f *file) split() string {
	switch {
	case f.Amount.Currency == "":
		return ""
	case f.Outcome == countersign.AcceptedOutcome:
		return f.Amount.String() + " was accepted."
	case f.Contested == nil, *f.Contested == f.Amount: // older cases keep a part that was the whole
		return f.Amount.String() + " is contested."
	}
	return f.Contested.String() + " is contested, and " + countersign.Money{Minor: f.Amount.Minor - f.Contested.Minor, Currency: f.Amount.Currency}.String() + " was accepted."
}

// decided is the last decision on the case.
func (f *file) decided() decision {
	for i := len(f.rows) - 1; i >= 0; i-- {
		if d, ok := decisionOf(f.rows[i]); ok {
			return d
		}
	}
	return decision{}
}

// withheld is what the last decision left out of the report.
func (f *file) withheld() string {
	d := f.decided()
	if len(d.Withheld) == 0 {
		return ""
	}
	var titles []string
	for _, name := range d.Withheld {
		titles = append(titles, f.left(name))
	}
	return "Left out of the report: " + strings.Join(titles, ", ") + " (" + legible(d.Why) + ")."
}

// left names what was left out: a fact by its name, a clause by what it says.
func (f *file) left(name string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(name, desk.ClausePrefix))
	if err != nil || f.Proposal == nil || n < 1 || n > len(f.Proposal.Quotes) {
		return plain(name)
	}
	q := f.Proposal.Quotes[n-1]
	return "the clause “" + legible(q.Quote) + "” of " + legible(strings.TrimSpace(q.Document+" "+q.Version))
}

func (f *file) sealedReport() *reportPanel {
	switch {
	case !f.reports():
		return nil
	case countersign.KindOf(f.unsealed) == countersign.NotFound:
		return &reportPanel{None: "No report was made of this decision; the record says why."}
	case countersign.KindOf(f.unsealed) == countersign.Altered:
		return &reportPanel{Altered: "What is stored as the evidence report of this case is not what was sealed, so nothing of it is handed out.", None: legible(advised(answer.Told(f.unsealed)))}
	case f.unsealed != nil:
		return &reportPanel{None: "The report cannot be read now."}
	}
	p := &reportPanel{Decided: f.split(), Warned: f.decided().Warnings, Withheld: f.withheld(), Href: "/cases/" + string(f.ID) + "/report", Fingerprint: report.Short(f.sealed.Fingerprint)}
	if n := len(f.exhibits); n > 0 {
		p.Files = many(n, "file", "files")
	}
	return p
}
