package web

import (
	"context"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/pipeline/review"
)

// packPanel is what would be sent of a case, beside what its receiver is known to take.
type packPanel struct {
	Holds, Receiver, Limits, Free string
	Made                          bool // or a problem says why not
	Problems                      []desk.PackProblem
	Unmeasured                    string // why nobody can say
}

// pack measures what would be sent, were the case decided so by this reader; nil for a decision after which nothing is sent. It
// informs: what would not be taken keeps nobody from deciding, for a deadline does not wait.
func (v *visit) pack(f *file, d review.Decided) *packPanel {
	if f.desk.Pack == nil || f.Status != countersign.InReview || d.Outcome != f.desk.Split {
		return nil
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), longestLook)
	defer cancel()
	d.By = v.who.Actor
	measured, err := f.desk.Pack(ctx, v.Store.View, f.Case, d)
	if err != nil {
		v.Log.WarnContext(v.r.Context(), "the pack of a case could not be measured", "case", string(f.ID), "error", err)
		return &packPanel{Unmeasured: "It cannot be measured now: the records or the files could not be read in time. The report will be made all the same."}
	}
	p := &packPanel{Holds: "the report", Receiver: measured.Receiver, Limits: strings.Join(measured.Limits, " · "), Free: measured.Free, Made: measured.Size != ""}
	if measured.Files > 0 {
		p.Holds += " and " + many(measured.Files, "file", "files")
	}
	if p.Made {
		p.Holds += ": " + many(measured.Pages, "page", "pages") + ", " + measured.Size
	}
	for _, problem := range measured.Problems {
		p.Problems = append(p.Problems, desk.PackProblem{Text: stopped(capital(legible(problem.Text))), Try: stopped(capital(problem.Try)), Refused: problem.Refused})
	}
	return p
}
