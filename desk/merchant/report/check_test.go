package report

import (
	"errors"
	"testing"

	"countersign"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, field string
		break_      func(*Content)
	}{
		{"a report is of an order", "case.order", func(c *Content) { c.Case.Order = " " }},
		{"a report is of a case", "case.id", func(c *Content) { c.Case.ID = "" }},
		{"nobody decided", "decision.by", func(c *Content) { c.Decision.By = "" }},
		{"a decision is contest or accept", "decision.outcome", func(c *Content) { c.Decision.Outcome = "MANUAL_REVIEW_REQUIRED" }},
		{"who decides against the recommendation says why", "decision.reason", func(c *Content) { c.Decision.Followed = false }},
		{"a person and a program read the same amount", "dispute.amount.text", func(c *Content) { c.Dispute.Amount.Text = "USD 4,285.30" }},
		{"an amount is a whole number", "decision.accepted.minor", func(c *Content) { c.Decision.Accepted.Minor = "1.5" }},
		{"an amount is of a currency", "decision.contested.currency", func(c *Content) { c.Decision.Contested.Currency = "XXX" }},
		{"a time has its zone", "dispute.due_at", func(c *Content) { c.Dispute.DueAt = "2026-12-07T23:59:59" }},
		{"and that zone is UTC", "timeline[2].at", func(c *Content) { c.Timeline[2].At = "2026-12-07T23:59:59+01:00" }},
		{"a fact is present, absent or unknown", "facts[0].state", func(c *Content) { c.Facts[0].State = "yes" }},
		{"a fact has a weight", "facts[1].weight", func(c *Content) { c.Facts[1].Weight = "" }},
		{"a fact points at exhibits that are there", "facts[0].exhibits", func(c *Content) { c.Facts[0].Exhibits = []string{"E99"} }},
		{"exhibits are numbered once", "exhibits", func(c *Content) { c.Exhibits[1].ID = "E1" }},
		{"in one sequence with the clauses", "exhibits", func(c *Content) { c.Clauses[0].ID = "E2" }},
		{"as people count", "exhibits", func(c *Content) { c.Exhibits[0].ID = "E01" }},
		{"an exhibit says where it was read", "exhibits[0].table", func(c *Content) { c.Exhibits[0].Table = "" }},
		{"or who typed it in, and not both", "exhibits[4].table", func(c *Content) { c.Exhibits[4].Table = "refund" }},
		{"a row has a cell for each column", "exhibits[1].rows[1]", func(c *Content) { c.Exhibits[1].Rows[1] = c.Exhibits[1].Rows[1][1:] }},
		{"a clause has a quote", "clauses[0].quote", func(c *Content) { c.Clauses[0].Quote = "" }},
		{"that code found", "clauses[1].status", func(c *Content) { c.Clauses[1].Status = "not_found" }},
		{"a file has its hash", "attachments[0].sha256", func(c *Content) { c.Attachments[0].SHA256 = "b7" }},
		{"the record has its head", "audit.head", func(c *Content) { c.Audit.Head = "" }},
		{"who withholds says why", "withheld[0].why", func(c *Content) { c.Withheld[0].Why = "" }},
		{"who withholds is named", "withheld[0].by", func(c *Content) { c.Withheld[0].By = "" }},
		{"text is text", "facts[0].value", func(c *Content) { c.Facts[0].Value = "a\xff" }},
		{"a report has its format", "format", func(c *Content) { c.Format = 0 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := sample()
			test.break_(&c)
			_, err := Seal(c)
			var e *countersign.Error
			if !errors.As(err, &e) || e.Field != test.field || e.Kind != countersign.Invalid {
				t.Errorf("got %v, want an error in %s", err, test.field)
			}
		})
	}
}
