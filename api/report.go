package api

import (
	"context"

	"countersign"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
)

type reportPath struct {
	CasePath
	Format string `query:"format" enum:"json,html,pdf,pack" doc:"json when left out; pack is the PDF with the files of the case behind it."`
}

type reportAnswer struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Fingerprint string `header:"X-Fingerprint" doc:"The SHA-256 of the canonical content, which every rendering carries."`
	Body        []byte
}

// packFormat is the PDF with the files that people added to the case behind it.
const packFormat report.Format = "pack"

var reportTypes = map[report.Format]string{report.JSON: "application/json", report.HTML: "text/html; charset=utf-8", report.PDF: "application/pdf", packFormat: "application/pdf"}

// getReport renders the evidence report that was sealed when a person decided the case: the same bytes each time. Before that there
// is none.
func (a *api) getReport(ctx context.Context, in *reportPath) (*reportAnswer, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	format := report.Format(in.Format)
	if format == "" {
		format = report.JSON
	}
	if reportTypes[format] == "" {
		return nil, invalid("query.format", "%q is not one of json, html, pdf, pack", clip(in.Format))
	}
	if _, err := a.Store.Case(ctx, id); err != nil {
		return nil, err
	}
	sealed, file, err := a.rendered(ctx, id, format)
	if err != nil {
		return nil, err
	}
	return &reportAnswer{reportTypes[format], `attachment; filename="` + reportName(id, format) + `"`, sealed.Fingerprint(), file}, nil
}

func (a *api) rendered(ctx context.Context, id countersign.CaseID, format report.Format) (report.Report, []byte, error) {
	if format == packFormat {
		return pack.Of(ctx, a.Store, id, requestOf(ctx).principal.Actor)
	}
	sealed, err := pack.Sealed(ctx, a.Store, id)
	if err != nil {
		return report.Report{}, nil, err
	}
	file, err := sealed.Render(format)
	return sealed, file, err
}

func reportName(id countersign.CaseID, format report.Format) string {
	if format == packFormat {
		return pack.Name(id)
	}
	return string(id) + "-evidence." + string(format)
}
