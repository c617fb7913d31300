package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign/llm"
	"countersign/llm/anthropic"
	"countersign/llm/exchange"
	"countersign/llm/llmtest"
	"countersign/llm/openai"
	"countersign/llm/scripted"

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
		{"a word that is not in the list is found", func(s *server) { s.loose = true }, map[What]Result{StrictSchema: No}, Limited, `mood is "furious", which is not in its list`},
		{"one call at a time is found", func(s *server) { s.single = true }, map[What]Result{SeveralCalls: No}, Limited, "one call at a time"},
		{"calls that are merged are found", func(s *server) { s.merges = true }, map[What]Result{SeveralCalls: No}, Limited, "run into each other"},
		{"calls that are repeated are found", func(s *server) { s.repeats = true }, map[What]Result{SeveralCalls: No}, Limited, "3 for 1 came"},
		{"a server that takes no results cannot be used", func(s *server) { s.refusesResults = true }, map[What]Result{ToolResults: No}, Unusable, "cannot be told what they found"},
		{"results that do not reach the model are found", func(s *server) { s.missesResults = true }, map[What]Result{ToolResults: No}, Limited, "not with what stood in them"},
		{"a conversation that is cut is found, and how much arrives", func(s *server) { s.context = 10_000 },
			map[What]Result{LongContext: No, Usage: OK}, Limited, " tokens arrived whole."},
		{"so is one that is cut to very little", func(s *server) { s.context = 2500 },
			map[What]Result{LongContext: No, Usage: No}, Limited, "could not repeat the first message"},
		{"a long conversation that is refused is found", func(s *server) { s.refusesLong = 8000 }, map[What]Result{LongContext: No}, Limited, "the prompt is too long"},
		{"and how much of it is taken", func(s *server) { s.refusesLong = 8000 }, map[What]Result{LongContext: No}, Limited, " tokens arrived whole."},
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

// TestAModelThatCannotBeForcedIsAskedInWords: one that thinks at all times refuses to be forced, and is no worse for it.
func TestAModelThatCannotBeForcedIsAskedInWords(t *testing.T) {
	s := &server{mind: llmtest.Stubborn}
	r := Run(t.Context(), dialects["anthropic"](t, s), Options{})
	if diff := cmp.Diff(everything(), found(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Cost.Attempts <= r.Cost.Calls || r.Cost.Attempts != s.asked {
		t.Errorf("cost %+v, the server was asked %d times: a refusal is an attempt", r.Cost, s.asked)
	}
}

// TestThinkingIsGivenBackWithResults: the second turn of a conversation is one of the same model.
func TestThinkingIsGivenBackWithResults(t *testing.T) {
	brain, n := &server{}, 0
	strict := llmtest.ServeMessages(t, llmtest.Newer, func(r llmtest.MessagesRequest) (string, string) {
		n++
		content := fmt.Sprintf(`{"type":"thinking","thinking":"","signature":"sig-%d"}`, n)
		_, calls, _, _ := brain.answer(turnsOf(r.Messages), r.Force)
		for i, c := range calls {
			content += fmt.Sprintf(`,{"type":"tool_use","id":"toolu_%d_%d","name":%q,"input":%s}`, n, i, c.name, c.args)
		}
		return "[" + content + "]", "tool_use"
	})
	m, err := anthropic.New(anthropic.Config{Server: exchange.Server{BaseURL: strict.URL + "/v1", Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	r := Run(t.Context(), m, Options{})
	if diff := cmp.Diff(everything(), found(r)); diff != "" || len(strict.Refused()) > 0 {
		t.Errorf("refused %q (-want +got):\n%s", strict.Refused(), diff)
	}
	for _, body := range strict.Bodies() {
		if strings.Contains(body, "tool_result") && !strings.Contains(body, `"signature":"sig-`) {
			t.Errorf("results came without the thinking before them: %s", body)
		}
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	for _, row := range []struct {
		name    string
		handler http.HandlerFunc
		says    string
		try     string
	}{
		{"one that is down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "answered 503", "is the server running"},
		{"one that refuses the key", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":"no such key: %s%s, customer 4539578763621486"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
		}, "answered 401", "check the API key"},
		{"one that is something else", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "a web page", "check the base URL"},
	} {
		for dialect, dial := range map[string]func(exchange.Server) (llm.Model, error){
			"openai":    func(s exchange.Server) (llm.Model, error) { return openai.New(openai.Config{Server: s}) },
			"anthropic": func(s exchange.Server) (llm.Model, error) { return anthropic.New(anthropic.Config{Server: s}) },
		} {
			t.Run(row.name+"/"+dialect, func(t *testing.T) {
				s := httptest.NewServer(row.handler)
				defer s.Close()
				m, err := dial(exchange.Server{BaseURL: s.URL + "/v1", Model: "m", APIKey: "sk-probe-canary", Attempts: 1})
				if err != nil {
					t.Fatal(err)
				}
				r := Run(t.Context(), m, Options{})
				if r.Verdict.Use != Unclear || !strings.Contains(r.Verdict.Says, row.says) || !strings.Contains(r.Verdict.Try, row.try) {
					t.Errorf("verdict %+v", r.Verdict)
				}
				for _, f := range r.Findings {
					if f.Result != Unknown || f.What == "" || f.Says == "" {
						t.Errorf("%+v: nothing was answered", f)
					}
				}
				if len(r.Findings) != len(everything()) || r.Cost.Calls != 1 || r.Cost.Failures != 1 || r.Cost.Attempts != 1 {
					t.Errorf("%d findings, cost %+v: want every one, after one question that failed", len(r.Findings), r.Cost)
				}
				if text, _ := json.Marshal(r); strings.Contains(string(text), "canary") || strings.Contains(string(text), "4539578763621486") {
					t.Errorf("the report repeats what it must not: %s", text)
				}
			})
		}
	}
}

func TestAProbeKeepsToItsBounds(t *testing.T) {
	for _, row := range []struct {
		name    string
		options Options
		asked   int
		says    string
	}{
		{"calls", Options{Calls: 3}, 3, "3 model calls are the limit of this check"},
		{"tokens", Options{Tokens: 2500}, 5, "2500 tokens are the limit of this check"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &server{}
			r := Run(t.Context(), dialects["openai"](t, s), row.options)
			if s.asked != row.asked || r.Cost.Calls != row.asked || r.about(LongContext).Result != Unknown || !strings.Contains(r.about(LongContext).Says, row.says) {
				t.Errorf("asked %d times, want %d; %+v", s.asked, row.asked, r.about(LongContext))
			}
			if r.Verdict.Use != Limited || !strings.Contains(r.Verdict.Says, "what could not be found out: ") || !strings.Contains(r.Verdict.Says, "long conversations") {
				t.Errorf("verdict %+v: what is not known must be said", r.Verdict)
			}
		})
	}
	t.Run("its own time, between questions", func(t *testing.T) {
		m := scripted.Func(func(int, llm.Request) (llm.Reply, error) {
			return scripted.Calls(scripted.Call("read_payment", `{"payment":"maple"}`)), nil
		})
		r := Run(t.Context(), lingering{m}, Options{Time: 200 * time.Millisecond})
		if r.Cost.Calls != 1 || r.about(ToolCalls).Result != OK || r.about(ForcedTool).Says != "Not asked: the 200ms for this check were used up." {
			t.Errorf("%+v", r)
		}
	})
	t.Run("its own time", func(t *testing.T) {
		held := make(chan struct{})
		defer close(held)
		r := Run(t.Context(), holding(t, held), Options{Time: 20 * time.Millisecond})
		if r.Verdict.Use != Unclear || r.Cost.Calls != 1 || r.Cost.Input == 0 || !r.Cost.Estimated {
			t.Errorf("%+v, %+v: a call that was given up may have been paid for", r.Verdict, r.Cost)
		}
	})
	t.Run("its caller's wish", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &server{}
		m := dialects["openai"](t, s)
		r := Run(ctx, stopping{m, cancel}, Options{})
		if s.asked != 1 || r.about(ToolCalls).Result != OK || r.about(ForcedTool).Says != "Not asked: the check was stopped." || r.Verdict.Use != Limited {
			t.Errorf("asked %d times: %+v", s.asked, r)
		}
	})
}

// holding is a model whose server does not answer while held is open.
func holding(t *testing.T, held <-chan struct{}) llm.Model {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	m, err := openai.New(openai.Config{Server: exchange.Server{BaseURL: s.URL + "/v1", Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stopping is a model after whose first answer the caller gives up.
type stopping struct {
	llm.Model
	cancel func()
}

func (s stopping) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	defer s.cancel()
	return s.Model.Complete(ctx, r)
}

// lingering is a model that comes back with its answer when the time is up.
type lingering struct{ llm.Model }

func (l lingering) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := l.Model.Complete(ctx, r)
	<-ctx.Done()
	return reply, err
}

// panicking is a provider with a bug.
type panicking struct{ llm.Model }

func (panicking) Identity() llm.Identity { return llm.Identity{Provider: "test", Name: "broken"} }
func (panicking) Complete(context.Context, llm.Request) (llm.Reply, error) {
	panic("index out of range")
}

func TestABrokenProviderIsOneThatGaveNoAnswer(t *testing.T) {
	if r := Run(t.Context(), panicking{}, Options{}); r.Verdict.Use != Unclear || !strings.Contains(r.Verdict.Says, "panicked") {
		t.Errorf("verdict %+v", r.Verdict)
	}
}

func TestWhatAProbeCosts(t *testing.T) {
	clock := time.Date(2026, 12, 1, 9, 0, 0, 0, time.FixedZone("WAT", 3600))
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	reported := Run(t.Context(), dialects["openai"](t, &server{}), Options{Now: now})
	if c := reported.Cost; c.Estimated || c.Input < 16_000 || c.Input > 80_000 || c.Output != int64(10*c.Calls) {
		t.Errorf("cost %+v", c)
	}
	if reported.At.Format(time.RFC3339) != "2026-12-01T08:00:01Z" || reported.Took != time.Second || reported.Model.Provider != "openai" {
		t.Errorf("%+v", reported)
	}
	if c := Run(t.Context(), dialects["openai"](t, &server{noUsage: true}), Options{}).Cost; !c.Estimated || c.Input < 16_000 || c.Output != 0 {
		t.Errorf("cost without usage %+v", c)
	}
}

// What a server says it counted is its own word: it ends the check, and is no number to overflow a sum with.
func TestAnAbsurdCountEndsTheCheck(t *testing.T) {
	absurd := scripted.Func(func(int, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "hm", Stop: llm.StopEnd, Usage: &llm.Usage{Input: math.MaxInt64, Output: math.MaxInt64}}, nil
	})
	if c := Run(t.Context(), absurd, Options{}).Cost; c.Calls != 1 || c.Input != math.MaxInt64 || c.Output != math.MaxInt64 {
		t.Errorf("%+v; want one question", c)
	}
}

// An answer that came half may be paid for, one that was refused is not.
func TestWhatWasNotAnsweredMayBePaidFor(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		paid   bool
	}{
		{"an answer that broke off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"choices":`)
		}, true},
		{"a server that was busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, false},
	} {
		s := httptest.NewServer(row.answer)
		defer s.Close()
		m, err := openai.New(openai.Config{Server: exchange.Server{BaseURL: s.URL + "/v1", Model: "m", Attempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if c := Run(t.Context(), m, Options{}).Cost; (c.Input > 0) != row.paid || c.Estimated != row.paid || c.Failures != 1 {
			t.Errorf("%s: %+v", row.name, c)
		}
	}
}

// TestTheQuestionsReadAsTheyWereWritten: masking leaves no mark on them, and nothing in them is about a case.
func TestTheQuestionsReadAsTheyWereWritten(t *testing.T) {
	word := secret()
	if len(word) != 12 || word == secret() {
		t.Errorf("the word is %q", word)
	}
	long := longQuestion(16_000, word)
	for _, q := range []llm.Request{callQuestion(), forcedQuestion(), strictQuestion(), severalQuestion(), long} {
		for _, m := range q.Messages {
			if strings.Contains(m.Text.String(), "*") || m.Text.String() == "" {
				t.Errorf("masked or empty: %q", m.Text)
			}
		}
		if q.Force != "" && !q.Offers(q.Force) {
			t.Errorf("%s is forced and not offered", q.Force)
		}
	}
	if first := long.Messages[0].Text.String(); !strings.Contains(first, word) || strings.Count(string(long.Transcript()), word) != 1 {
		t.Errorf("the word stands elsewhere than in the first message: %q", first)
	}
	if n := llm.Estimate(long); n < 16_000 || n > 17_000 {
		t.Errorf("%d tokens", n)
	}
}
