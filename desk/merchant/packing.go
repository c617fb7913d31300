package merchant

import (
	"context"
	"errors"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/pack"
	"countersign/desk/merchant/report"
	"countersign/pipeline/review"
	"countersign/store"
)

// pack makes the report of a case as if that were decided now, with the files of the case, and holds it against what its receiver is
// known to take. What cannot be made is a problem of the pack, not an error.
func (c Config) pack(ctx context.Context, v store.View, of countersign.Case, d review.Decided) (desk.Pack, error) {
	e, err := c.gather(ctx, v, of)
	if err != nil {
		return desk.Pack{}, err
	}
	of.Outcome = d.Outcome
	content, err := e.content(ctx, v, c.Now(), of, d)
	if err != nil {
		return desk.Pack{}, err
	}
	to := report.ProfileFor(content.Dispute.Provider, content.Dispute.Network)
	p := desk.Pack{Files: len(content.Attachments), Receiver: to.Name, Limits: to.Limits(), Free: to.Free()}
	measured, err := measure(ctx, v, of.ID, content)
	if ctx.Err() != nil {
		return desk.Pack{}, ctx.Err()
	}
	if err != nil {
		p.Problems = []desk.PackProblem{unmade(err)}
		return p, nil
	}
	p.Pages, p.Size = measured.Files[0].Pages, report.Size(measured.Files[0].Size)
	for _, problem := range to.Check(measured) {
		p.Problems = append(p.Problems, desk.PackProblem(problem))
	}
	return p, nil
}

func measure(ctx context.Context, v store.View, id countersign.CaseID, content report.Content) (report.Pack, error) {
	sealed, err := report.Seal(content)
	if err != nil {
		return report.Pack{}, err
	}
	return pack.Measure(ctx, v, id, sealed)
}

// unmade says why there would be no PDF. A reason that is not for people is only said to be one.
func unmade(err error) desk.PackProblem {
	p := desk.PackProblem{Text: "the report and the files could not be merged", Try: "tell whoever runs this program", Refused: true}
	if e := (*countersign.Error)(nil); errors.As(err, &e) {
		p.Text, p.Try = e.Message, e.Hint
		part, _, _ := strings.Cut(strings.ReplaceAll(e.Field, "[", "."), ".")
		if where := parts[part]; where != "" {
			p.Text += "; it stands in " + where
		}
	}
	return p
}

// parts are those of a report's content in which somebody else's text may stand.
var parts = map[string]string{"case": "the names of shop and order", "dispute": "what the chargeback says", "decision": "the decision", "proposal": "the proposal",
	"facts": "a fact", "exhibits": "the shop's rows", "clauses": "a quoted clause", "timeline": "the timeline", "attachments": "a file's name or description"}

// carriers are the providers that may stand where a network does, because they hide it.
var carriers = map[string]string{"stripe": "Stripe", "adyen": "Adyen", "paypal": "PayPal"}
