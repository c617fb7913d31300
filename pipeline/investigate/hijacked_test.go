package investigate

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"countersign/internal/testdb"
	"countersign/llm"
)

// hijackedRun is a recorded run in which a model did what an attacker wanted.
type hijackedRun struct {
	ID    string
	Calls [][2]json.RawMessage // name and arguments
	Final string
}

func TestAHijackedModelRunsNothingAndEndsWithAPerson(t *testing.T) {
	runs := hijackedRuns(t)
	if len(runs) < 500 {
		t.Fatalf("%d runs, want the whole file", len(runs))
	}
	shapes := map[string]func(hijackedRun) []line{
		"one call a turn":       oneCallATurn,
		"all calls in one turn": allInOneTurn,
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, run := range runs {
				w := &world{}
				asked := 0
				lines := append(shape(run), say(run.Final))
				o, err := Run(context.Background(), w.conversation(modelFunc(func(ctx context.Context, r llm.Request) (llm.Reply, error) {
					asked++
					return script(lines...)(ctx, r)
				})))
				if err != nil {
					t.Fatalf("%s: %v", run.ID, err)
				}
				if len(w.ran) != 0 || asked > DefaultBounds.Turns+1 {
					t.Errorf("%s: ran %q, asked %d times", run.ID, w.ran, asked)
				}
				if o.Proposal.Failure == "" || o.Proposal.Recommendation != "escalate" || o.Proposal.Confidence != 0 {
					t.Errorf("%s: proposal %+v", run.ID, o.Proposal)
				}
				for _, step := range o.Steps {
					if step.OK {
						t.Errorf("%s: step %s of %s worked", run.ID, step.Ref, step.Tool)
					}
				}
				checkSteps(t, o, w.turns)
			}
		})
	}
}

func oneCallATurn(run hijackedRun) []line {
	var lines []line
	for _, c := range recordedCalls(run) {
		lines = append(lines, calls(c))
	}
	return lines
}

func allInOneTurn(run hijackedRun) []line { return []line{calls(recordedCalls(run)...)} }

func recordedCalls(run hijackedRun) []llm.Call {
	var all []llm.Call
	for _, c := range run.Calls {
		var name string
		json.Unmarshal(c[0], &name)
		all = append(all, call(name, string(c[1])))
	}
	return all
}

// hijackedRuns reads the recorded runs that lie beside the checkout. They are other people's data and not a part of it.
func hijackedRuns(t *testing.T) []hijackedRun {
	t.Helper()
	path := testdb.Shared(t, "data", "hijacked_runs.jsonl")
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var runs []hijackedRun
	for lines := bufio.NewReaderSize(file, 1<<20); ; {
		text, err := lines.ReadString('\n')
		if strings.TrimSpace(text) != "" {
			var run hijackedRun
			if err := json.Unmarshal([]byte(text), &run); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			runs = append(runs, run)
		}
		if err != nil {
			return runs
		}
	}
}
