package web

import (
	"cmp"
	"net/http"

	"countersign"
	"countersign/desk/merchant/report"
)

var reportTypes = map[report.Format]string{report.JSON: "application/json", report.HTML: "text/html; charset=utf-8", report.PDF: "application/pdf"}

// caseReport sends the evidence report that was sealed when a person decided the case: the same bytes each time. The HTML form is a
// page of its own, which may not be framed and runs nothing.
func caseReport(v *visit) error {
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	format := report.Format(cmp.Or(v.r.URL.Query().Get("format"), "html"))
	if reportTypes[format] == "" {
		return countersign.Errorf(countersign.Invalid, "There is no report in the form %q.", clip(string(format))).Try("Expected html, pdf or json.")
	}
	kept, err := v.Store.Report(v.r.Context(), f.ID)
	if err != nil {
		return err
	}
	sealed, err := report.Open(kept.Content)
	if err != nil {
		return err
	}
	file, err := sealed.Render(format)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", reportTypes[format])
	if format == report.HTML { // its styles stand in the file itself, so that it can be kept and checked
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox")
	} else {
		h.Set("Content-Disposition", `attachment; filename="`+string(f.ID)+"-evidence."+string(format)+`"`)
	}
	v.w.WriteHeader(http.StatusOK)
	_, err = v.w.Write(file)
	return err
}

// reportPanel is where the report of a decided case can be had.
type reportPanel struct {
	Href        string
	Fingerprint string // in groups, to be read aloud
	None        string // why there is none
}

// report looks whether a closed case of a desk that makes reports has one.
func (v *visit) report(f *file) *reportPanel {
	if f.desk.Fresh == nil || f.Status != countersign.Closed {
		return nil
	}
	kept, err := v.Store.Report(v.r.Context(), f.ID)
	switch countersign.KindOf(err) {
	case countersign.NotFound:
		return &reportPanel{None: "No report was made of this decision; the record says why."}
	}
	if err != nil {
		return &reportPanel{None: "The report cannot be read now."}
	}
	return &reportPanel{Href: "/cases/" + string(f.ID) + "/report", Fingerprint: report.Short(kept.Fingerprint)}
}
