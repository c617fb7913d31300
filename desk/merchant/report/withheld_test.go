package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestWithhold(t *testing.T) {
	without := func(t *testing.T, fact string) (Content, []string) {
		t.Helper()
		c := sample()
		c.Withheld = nil
		still, err := c.Withhold(fact, "A. Okafor", "2026-12-01T08:40:02Z", "internal note about another customer")
		if err != nil {
			t.Fatal(err)
		}
		return c, still
	}
	t.Run("the content holds who and why, and not the fact", func(t *testing.T) {
		c, still := without(t, "late")
		if bytes.Contains(Canonical(c), []byte("two days later than promised")) || bytes.Contains(Canonical(c), []byte("Dispatch")) {
			t.Error("the fact is still there")
		}
		if want := []Withheld{{FactWithheld, 1, "A. Okafor", "2026-12-01T08:40:02Z", "internal note about another customer"}}; !reflect.DeepEqual(c.Withheld, want) || still != nil {
			t.Errorf("got %v and %v", c.Withheld, still)
		}
		sealed(t, c)
	})
	t.Run("both renderings say that something is not there", func(t *testing.T) {
		c, _ := without(t, "late")
		for _, f := range []Format{HTML, PDF} {
			file, err := sealed(t, c).Render(f)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(textOf(t, f, file), "1 fact withheld by A. Okafor: internal note about another customer") {
				t.Errorf("%s does not", f)
			}
		}
	})
	t.Run("an exhibit that nothing else points to goes with it, and its number stays free", func(t *testing.T) {
		c, _ := without(t, "refunded")
		if ids := c.exhibitIDs(); strings.Join(ids, " ") != "E1 E2 E3 E5 E6 E7 E8" {
			t.Errorf("left are %v", ids)
		}
		sealed(t, c)
	})
	t.Run("one that others point to stays", func(t *testing.T) {
		if c, _ := without(t, "late"); len(c.Exhibits) != len(sample().Exhibits) {
			t.Error("it went")
		}
	})
	t.Run("places that still say it are named", func(t *testing.T) {
		c := sample()
		c.Decision.Summary += " It left two days later than promised."
		still, err := c.Withhold("late", "A. Okafor", "", "it is our carrier's doing")
		if err != nil || strings.Join(still, " ") != "decision.summary" {
			t.Errorf("got %v, %v", still, err)
		}
	})
	t.Run("a second one for the same reason is counted", func(t *testing.T) {
		c, _ := without(t, "late")
		if _, err := c.Withhold("ip_country", "A. Okafor", "", "internal note about another customer"); err != nil || len(c.Withheld) != 1 || c.Withheld[0].Count != 2 {
			t.Errorf("got %v, %v", c.Withheld, err)
		}
	})
	t.Run("without a reason, a person or such a fact nothing is withheld", func(t *testing.T) {
		for _, args := range [][3]string{{"late", "A. Okafor", " "}, {"late", "", "why"}, {"no such", "A. Okafor", "why"}} {
			c := sample()
			if _, err := c.Withhold(args[0], args[1], "", args[2]); err == nil || !reflect.DeepEqual(c, sample()) {
				t.Errorf("%q: got %v", args, err)
			}
		}
	})
	t.Run("the content that it was taken out of is as it was", func(t *testing.T) {
		all := sample()
		c := all
		if _, err := c.Withhold("refunded", "A. Okafor", "", "why"); err != nil || !reflect.DeepEqual(all, sample()) {
			t.Errorf("it was changed, or %v", err)
		}
	})
}

// word finds a clause as it is.
func word(clause string) func(text string) string {
	return func(text string) string {
		if strings.Contains(text, clause) {
			return clause
		}
		return ""
	}
}

func TestWithholdClauses(t *testing.T) {
	const why = "it is about returns, and none was made"
	c := sample()
	c.Withheld = nil
	still, err := c.WithholdClauses([]string{"E6"}, "A. Okafor", "2026-12-01T08:40:02Z", why, word)
	if err != nil || still != nil {
		t.Fatalf("got %v and %v", still, err)
	}
	t.Run("it is not in the report, and the numbers of the others stay", func(t *testing.T) {
		if bytes.Contains(Canonical(c), []byte("risk of loss")) || strings.Join(c.exhibitIDs(), " ") != "E1 E2 E3 E4 E5 E7 E8" {
			t.Errorf("left are %v of\n%s", c.exhibitIDs(), Canonical(c))
		}
	})
	t.Run("both renderings say how many clauses and how many facts are left out", func(t *testing.T) {
		c := c
		if _, err := c.Withhold("late", "A. Okafor", "", why); err != nil {
			t.Fatal(err)
		}
		if _, err := c.WithholdClauses([]string{"E7"}, "A. Okafor", "", why, word); err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{HTML, PDF} {
			text := textOf(t, f, rendered(t, c, f))
			if !strings.Contains(text, "2 clauses withheld by A. Okafor: "+why) || !strings.Contains(text, "1 fact withheld by A. Okafor: "+why) || strings.Contains(text, "Clauses quoted") {
				t.Errorf("%s does not: %s", f, text)
			}
		}
	})
	t.Run("places that still quote it are named", func(t *testing.T) {
		c := sample()
		c.Decision.Summary += " " + c.Clauses[1].Quote
		quote := c.Clauses[1].Quote
		c.Proposal.Summary = c.Decision.Summary
		if still, err := c.WithholdClauses([]string{"E7"}, "A. Okafor", "", why, word); err != nil || strings.Join(still, "|") != "decision.summary and proposal.summary, with “"+quote+"”" {
			t.Errorf("got %v, %v", still, err)
		}
	})
	t.Run("without a reason, a person or such a clause nothing is withheld", func(t *testing.T) {
		for _, args := range [][3]string{{"E6", "A. Okafor", " "}, {"E6", "", "why"}, {"E1", "A. Okafor", "why"}} {
			c := sample()
			if _, err := c.WithholdClauses([]string{args[0]}, args[1], "", args[2], word); err == nil || !reflect.DeepEqual(c, sample()) {
				t.Errorf("%q: got %v", args, err)
			}
		}
	})
}

// TestSays: a value is said as a whole, and a part of another number is none.
func TestSays(t *testing.T) {
	for _, row := range []struct {
		text, value string
		want        bool
	}{
		{"We gave USD 1,234.56 back.", "USD 1,234.56", true},
		{"we gave\nusd\u00a01234.56, and more", "USD 1,234.56", true},
		{"It is JPY 1,234.", "JPY 1,234", true},
		{"It is JPY 1,234,567.", "JPY 1,234", false},
		{"It was JPY 1,234,567, and then JPY 1,234.", "JPY 1,234", true},
		{"It is USD 15.00.", "USD 15", false},
		{"It is USD 50.005.", "USD 50.00", false},
		{"It is parcel 11Z-1001.", "1Z-1001", false},
		{"It is parcel 1Z-1001.", "1Z-1001", true},
		{"yes", "yes", false},
	} {
		if got := Says(row.text, row.value); got != row.want {
			t.Errorf("%q says %q: %v", row.text, row.value, got)
		}
	}
}

// textOf is what a reader sees of a rendering, as one line.
func textOf(t *testing.T, f Format, file []byte) string {
	t.Helper()
	var b strings.Builder
	if f == HTML {
		for _, l := range strings.Split(string(file), "\n") {
			b.WriteString(textOfLine(l) + " ")
		}
	} else {
		for _, s := range streams(file)[1:] {
			for _, l := range strings.Split(string(s), "\n") {
				b.WriteString(shown(l) + " ")
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
