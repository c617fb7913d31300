package merchant_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"countersign"
	"countersign/audit"
	"countersign/desk/merchant/report"
	"countersign/pipeline"
)

// want is one line of a section want.
type want struct{ key, value string }

func (w want) String() string { return w.key + ": " + w.value }

func wanted(f txtar.File) (wants []want) {
	if f.Name != "want" {
		return nil
	}
	for line := range strings.Lines(string(f.Data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			wants = append(wants, want{key, strings.TrimSpace(value)})
		}
	}
	return wants
}

// compare prints what was wanted beside what came, in the form in which it is wanted.
func (s *scene) compare(f txtar.File) {
	s.Helper()
	got := s.describe()
	var wants, came []string
	met := map[string]bool{}
	for _, w := range wanted(f) {
		met[w.key] = true
		is, known := got[w.key]
		if !known {
			s.Fatalf("nobody knows what %q of a case is", w.key)
		}
		if w.key == "because" && strings.Contains(is, w.value) {
			is = w.value
		}
		wants, came = append(wants, w.String()), append(came, want{w.key, is}.String())
	}
	for _, key := range []string{"status", "recommends", "reasons"} {
		if !met[key] {
			s.Errorf("want says nothing of %s", key)
		}
	}
	if diff := cmp.Diff(wants, came); diff != "" {
		c := s.theCase()
		s.Errorf("(-want +got):\n%s\nthe model said: %s\nthe reasons are: %v\nthe facts are: %v", diff, c.Proposal.Summary, c.Verdict.Reasons, c.Facts.Items)
	}
}

// describe is the case in the words of a section want.
func (s *scene) describe() map[string]string {
	s.Helper()
	c := s.theCase()
	if c.Proposal == nil || c.Verdict == nil {
		s.Fatalf("the case is %s and was not investigated", c.Status)
	}
	var codes, because, quotes []string
	for _, r := range c.Verdict.Reasons {
		codes, because = append(codes, string(r.Code)), append(because, r.Text)
	}
	for _, q := range c.Proposal.Quotes {
		quotes = append(quotes, q.Status)
	}
	got := map[string]string{
		"status": string(c.Status), "recommends": c.Recommendation, "wanted": c.Proposal.Recommendation, "reasons": list(codes), "because": strings.Join(because, " "),
		"quotes": list(quotes), "caveats": fmt.Sprint(len(c.Verdict.Caveats)), "outcome": "none", "report": "none", "round": fmt.Sprint(c.Round),
	}
	if c.Outcome != "" {
		got["outcome"] = fmt.Sprintf("%s by %s", c.Outcome, c.HandledBy)
	}
	if content, there := s.report(); there {
		got["report"] = fmt.Sprintf("contests %s, accepts %s", content.Decision.Contested.Text, content.Decision.Accepted.Text)
	}
	for _, fact := range c.Facts.Items {
		got["fact "+fact.Name] = strings.TrimSpace(string(fact.State) + " " + fact.Value)
		got["source of "+fact.Name] = fact.Source
	}
	return got
}

func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// report is what the case's evidence report says, if it has one.
func (s *scene) report() (report.Content, bool) {
	s.Helper()
	kept, err := s.store.Report(s.Context(), s.id)
	if countersign.KindOf(err) == countersign.NotFound {
		return report.Content{}, false
	}
	s.must(err)
	sealed, err := report.Open(kept.Content)
	s.must(err)
	if sealed.Fingerprint() != kept.Fingerprint {
		s.Errorf("the report has the fingerprint %s and is kept under %s", sealed.Fingerprint(), kept.Fingerprint)
	}
	return sealed.Content(), true
}

// holds checks what must hold of every case, however it ends: nothing was decided by the program, the record verifies, and every
// round replays to its verdict.
func (s *scene) holds() {
	s.Helper()
	c := s.theCase()
	if c.HandledBy == countersign.ByPolicy || c.Verdict.Kind != countersign.Review {
		s.Errorf("the case is %s, handled by %q", c.Verdict.Kind, c.HandledBy)
	}
	if len(c.Verdict.Caveats) > 0 && c.Recommendation != "MANUAL_REVIEW_REQUIRED" {
		s.Errorf("it recommends %s beside the caveats %q", c.Recommendation, c.Verdict.Caveats)
	}
	s.verifies()
	for round := 1; round <= c.Round; round++ {
		s.replays(round)
	}
}

func (s *scene) verifies() {
	s.Helper()
	found, err := s.store.VerifyRecord(s.Context(), nil)
	s.must(err)
	if !found.OK {
		s.Errorf("the record does not verify: %+v", found)
	}
}

func (s *scene) replays(round int) {
	s.Helper()
	again, err := pipeline.Replay(s.desk.Rules, s.store.RecordRows(s.Context(), s.id, 0), round)
	s.must(err)
	text, err := json.Marshal(again)
	s.must(err)
	if recorded := s.recorded(round); string(text) != recorded {
		s.Errorf("round %d replays to another verdict\nrecorded: %s\nreplayed: %s", round, recorded, text)
	}
}

// recorded is the verdict of a round as its row spells it.
func (s *scene) recorded(round int) (verdict string) {
	s.Helper()
	for row, err := range s.store.RecordRows(s.Context(), s.id, 0) {
		s.must(err)
		var r struct {
			Round   int
			Verdict json.RawMessage
		}
		if row.Kind == audit.Verdict && json.Unmarshal(row.Payload.Bytes, &r) == nil && r.Round == round {
			verdict = string(r.Verdict)
		}
	}
	return verdict
}
