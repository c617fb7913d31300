package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everything is what an able server is found to do.
func everything() map[What]Result {
	return map[What]Result{ToolCalls: OK, ForcedTool: OK, StrictSchema: OK, SeveralCalls: OK, ToolResults: OK, LongContext: OK, Usage: OK}
}

func found(r Report) map[What]Result {
	all := map[What]Result{}
	for _, f := range r.Findings {
		all[f.What] = f.Result
	}
	return all
}

func (r Report) about(what What) Finding {
	for _, f := range r.Findings {
		if f.What == what {
			return f
		}
	}
	return Finding{}
}

func TestWhatAServerLacksIsFound(t *testing.T) {
	for _, row := range []struct {
		name  string
		flaw  func(*server)
		lacks map[What]Result
		use   Use
		says  string // in the finding on the first thing that it lacks, or in the verdict
	}{
		{"a server that can do everything is ready", func(*server) {}, nil, Ready, "It can investigate."},
		{"a server that writes tool calls as text cannot be used", func(s *server) { s.writesCalls = true },
			map[What]Result{ToolCalls: No, ForcedTool: No, StrictSchema: Unknown, SeveralCalls: Unknown, ToolResults: Unknown, LongContext: OK},
			Unusable, "every case would go to a person"},
		{"nor can one that answers in words", func(s *server) { s.answersInWords = true },
			map[What]Result{ToolCalls: No, ForcedTool: No, StrictSchema: Unknown, SeveralCalls: Unknown, ToolResults: Unknown, LongContext: No},
			Unusable, "every case would go to a person"},
		{"a forced tool that is ignored is found", func(s *server) { s.ignoresForce = true },
			map[What]Result{ForcedTool: No, StrictSchema: Unknown}, Limited, "does not call the one tool"},
		{"a word that is not in the list is found", func(s *server) { s.loose = true }, map[What]Result{StrictSchema: No}, Limited, `"furious" is not in its list`},
		{"one call at a time is found", func(s *server) { s.single = true }, map[What]Result{SeveralCalls: No}, Limited, "one call at a time"},
		{"calls that are merged are found", func(s *server) { s.merges = true }, map[What]Result{SeveralCalls: No}, Limited, "run into each other"},
		{"calls that are repeated are found", func(s *server) { s.repeats = true }, map[What]Result{SeveralCalls: No}, Limited, "3 with 1 came"},
		{"a server that takes no results cannot be used", func(s *server) { s.refusesResults = true }, map[What]Result{ToolResults: No}, Unusable, "cannot be told what they found"},
		{"results that do not reach the model are found", func(s *server) { s.missesResults = true }, map[What]Result{ToolResults: No}, Limited, "not with what stood in them"},
		{"a conversation that is cut is found, and how much arrives", func(s *server) { s.context = 10_000 },
			map[What]Result{LongContext: No, Usage: OK}, Limited, "the beginning was gone; one of 4"},
		{"so is one that is cut to very little", func(s *server) { s.context = 2500 },
			map[What]Result{LongContext: No, Usage: No}, Limited, "nor of one of 4"},
		{"a long conversation that is refused is found", func(s *server) { s.refusesLong = 8000 }, map[What]Result{LongContext: No}, Limited, "the prompt is too long"},
		{"usage that is not reported is found", func(s *server) { s.noUsage = true }, map[What]Result{Usage: No}, Limited, "does not say how many tokens"},
		{"usage that cannot be true is found", func(s *server) { s.wrongUsage = true }, map[What]Result{Usage: No}, Limited, "it read 10 tokens"},
	} {
		for dialect, dial := range dialects {
			t.Run(row.name+"/"+dialect, func(t *testing.T) {
				s := &server{}
				row.flaw(s)
				r := Run(t.Context(), dial(t, s), Options{})
				want := everything()
				for what, result := range row.lacks {
					want[what] = result
				}
				if diff := cmp.Diff(want, found(r)); diff != "" {
					t.Errorf("findings (-want +got):\n%s\n%+v", diff, r.Findings)
				}
				text, _ := json.Marshal(r)
				if r.Verdict.Use != row.use || !strings.Contains(strings.ReplaceAll(string(text), `\"`, `"`), row.says) {
					t.Errorf("verdict %+v, want %s and %q in the report", r.Verdict, row.use, row.says)
				}
				if r.Cost.Attempts != s.asked || r.Cost.Calls != s.asked {
					t.Errorf("cost %+v, the server was asked %d times", r.Cost, s.asked)
				}
			})
		}
	}
}
