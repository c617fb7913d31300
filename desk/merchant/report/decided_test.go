package report

import (
	"strings"
	"testing"
)

// TestTheReportSaysWhatADecisionIsBesideTheRecommendation: who says the same in other words has decided nothing against it.
func TestTheReportSaysWhatADecisionIsBesideTheRecommendation(t *testing.T) {
	for _, row := range []struct {
		recommended, outcome string
		followed             bool
		reason               string
		accepted             int64
		says                 string
	}{
		{"CONTEST", "contest", true, "", 0, "CONTEST, as recommended"},
		{"CONTEST", "contest", true, "It was delivered.", 0, "CONTEST, as recommended, in their own words"},
		{"CONTEST", "contest", false, "It was delivered.", 0, "CONTEST, as recommended, in their own words"},
		{"CONTEST", "contest", false, "A part was.", 100_00, "CONTEST, for a part; the whole was recommended"},
		{"CONTEST", "accept", false, "We owe it.", 428_53, "ACCEPT, against the recommendation"},
		{"ACCEPT", "contest", false, "It was delivered.", 0, "CONTEST, against the recommendation"},
		{"ACCEPT", "accept", true, "We owe it.", 428_53, "ACCEPT, as recommended, in their own words"},
		{"MANUAL_REVIEW_REQUIRED", "contest", false, "It was delivered.", 0, "CONTEST, and no outcome was recommended"},
	} {
		c := sample()
		c.Net.Recommendation = row.recommended
		c.Decision.Outcome, c.Decision.Followed, c.Decision.Reason = row.outcome, row.followed, row.reason
		c.Decision.Contested, c.Decision.Accepted = usd(428_53-row.accepted), usd(row.accepted)
		for _, f := range []Format{HTML, PDF} {
			text := textOf(t, f, rendered(t, c, f))
			_, said, _ := strings.Cut(text, "The person decided ")
			if !strings.HasPrefix(said, row.says+" ") && !strings.Contains(text, row.says+" Policy") {
				t.Errorf("%+v: %s says %.80q", row, f, said)
			}
		}
	}
}

// Each clause says how it was found, and no heading says it for all of them.
func TestAClauseSaysHowItWasFound(t *testing.T) {
	for _, f := range []Format{HTML, PDF} {
		text := textOf(t, f, rendered(t, sample(), f))
		for _, says := range []string{"stands there, word for word", "stands there, but for the typesetting"} {
			if strings.Count(text, says) != 1 {
				t.Errorf("%s says %q %d times", f, says, strings.Count(text, says))
			}
		}
		if strings.Count(text, "word for word") != 1 {
			t.Errorf("%s says word for word of both", f)
		}
	}
}
