package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/llm"
	"countersign/llm/llmtest"
	"countersign/redact"
)

// A block of thinking with spaces, escapes and a field that nobody here knows; any encoder would spell it otherwise.
const (
	signed   = `{ "type":"thinking", "thinking":"They say <b>\u00e9\/</b> & more\u2028", "signature" : "EqoB<&>==", "later":[1, 2.50] }`
	redacted = `{"type" :"redacted_thinking","data":"\u0041b+/="}`
	words    = `{"type":"text","text":"Let me \u003clook\u003e.","citations":null}`
)

// thinker thinks before it calls, in every turn that it may think in, and decides when it is told to.
func thinker(t *testing.T, kind llmtest.ModelKind) *llmtest.Messages {
	s := llmtest.ServeMessages(t, kind, func(r llmtest.MessagesRequest) (string, string) {
		content := called(fmt.Sprintf("toolu_%da", r.Turn), `{ "a" : 1 }`) + " , " + called(fmt.Sprintf("toolu_%db", r.Turn), `{}`)
		if r.Force != "" || strings.Contains(string(r.Body), "Answer with a call of the tool submit_decision") {
			content = `{"type":"tool_use","id":"toolu_last","name":"submit_decision","input":{}}`
		}
		if r.Thinking {
			block := strings.Replace(signed, "EqoB", fmt.Sprintf("EqoB%d", r.Turn), 1)
			content = block + "\n," + redacted + "," + words + "," + content
		}
		return "[ " + content + " ]", "tool_use"
	})
	s.Insists = true
	return s
}

var minds = []struct {
	name string
	kind llmtest.ModelKind
	how  Thinking
}{
	{"an older model that is told to think", llmtest.Older, Enabled},
	{"an older model that is not", llmtest.Older, AsServed},
	{"a newer model that thinks by default", llmtest.Newer, AsServed},
	{"a newer model that is told to think", llmtest.Newer, Adaptive},
	{"a newer model that is told not to", llmtest.Newer, Disabled},
	{"a model that never stops thinking", llmtest.Stubborn, AsServed},
	{"a model without thinking", llmtest.Thoughtless, AsServed},
}

// TestThinkingGoesBackByteForByte: a server that signs its thinking answers 400 to a turn that does not bring it back.
func TestThinkingGoesBackByteForByte(t *testing.T) {
	for _, mind := range minds {
		t.Run(mind.name, func(t *testing.T) {
			s := thinker(t, mind.kind)
			m := model(t, s.URL, minded(mind.how))
			req := llmtest.First()
			for turn := range 4 {
				reply := llmtest.Complete(t, m, req)
				if len(reply.Attempts) != 1 || len(reply.Calls) != 2 {
					t.Fatalf("turn %d: %d attempts, calls %+v, refused %q", turn+1, len(reply.Attempts), reply.Calls, s.Refused())
				}
				if reply.Thinking && !strings.Contains(string(reply.Opaque), redacted) {
					t.Errorf("Opaque lost a redacted block: %s", reply.Opaque)
				}
				req = goOn(req, reply)
			}
			if thinks := strings.Contains(s.Bodies()[3], signed[:30]); thinks != (strings.Contains(s.Bodies()[3], redacted)) {
				t.Errorf("one kind of thinking came back without the other: %s", s.Bodies()[3])
			}
		})
	}
}

// TestAForcedTurnAndThinking: the two exclude each other on some models, and on none does the last turn fail for it.
func TestAForcedTurnAndThinking(t *testing.T) {
	for _, mind := range minds {
		for _, tools := range [][]llm.Tool{{llmtest.SubmitDecision}, llmtest.First().Tools} {
			t.Run(fmt.Sprintf("%s, %d tools", mind.name, len(tools)), func(t *testing.T) {
				s := thinker(t, mind.kind)
				m := model(t, s.URL, minded(mind.how))
				req := llmtest.First()
				for range 2 {
					req = goOn(req, llmtest.Complete(t, m, req))
				}
				req = last(req)
				req.Tools = tools
				reply := llmtest.Complete(t, m, req)
				if len(reply.Calls) != 1 || reply.Calls[0].Name != "submit_decision" {
					t.Errorf("the last turn gave %+v", reply.Calls)
				}
				final := string(reply.Request)
				if len(tools) == 1 && strings.Contains(final, "signature") {
					t.Errorf("thinking went back under other tools: %s", final)
				}
				if forced, asked := strings.Contains(final, `"tool_choice"`), strings.Contains(final, "Answer with a call"); forced == asked {
					t.Errorf("forced %v, asked in words %v: want one of them: %s", forced, asked, final)
				}
				if want := map[bool]int{true: 2, false: 1}[mind.kind == llmtest.Stubborn]; len(reply.Attempts) != want {
					t.Errorf("%d attempts, want %d: %q", len(reply.Attempts), want, s.Refused())
				}
			})
		}
	}
	t.Run("a model that cannot be forced is asked in words from the first turn", func(t *testing.T) {
		s := thinker(t, llmtest.Stubborn)
		req := llmtest.First()
		req.Force = "submit_decision"
		reply := llmtest.Complete(t, model(t, s.URL), req)
		if len(reply.Calls) != 1 || len(reply.Attempts) != 2 || reply.Attempts[0].Status != 400 || reply.Attempts[1].Waited != 0 {
			t.Errorf("calls %+v after %+v", reply.Calls, reply.Attempts)
		}
	})
	t.Run("and a refusal of another kind is the end", func(t *testing.T) {
		s := llmtest.Serve(t, refusing("tools.0.input_schema: unknown keyword"))
		req := llmtest.First()
		req.Force = "submit_decision"
		if e := llmtest.Fails(t, model(t, s.URL), req); e.Kind != llm.Refused || s.Asked() != 1 {
			t.Errorf("%v after %d requests", e, s.Asked())
		}
	})
}

// TestAServerThatIsBusyIsNotAskedOtherwise: only a refusal changes what is asked.
func TestAServerThatIsBusyIsNotAskedOtherwise(t *testing.T) {
	s := llmtest.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 0 {
			w.WriteHeader(529)
			fmt.Fprint(w, `{"type":"error","error":{"type":"overloaded_error","message":"overloaded, tool_choice or not"}}`)
			return
		}
		fmt.Fprint(w, llmtest.Message("[]", "end_turn"))
	})
	llmtest.Complete(t, model(t, s.URL), last(llmtest.First()))
	if s.Bodies[0] != s.Bodies[1] {
		t.Errorf("asked %s\nand then %s", s.Bodies[0], s.Bodies[1])
	}
}

// TestThinkingIsBoundToWhatItWasThoughtWith: where that changes, a newer model is not given it back, and an older one still is.
func TestThinkingIsBoundToWhatItWasThoughtWith(t *testing.T) {
	for name, change := range map[string]func(*llm.Request){
		"another system text": func(r *llm.Request) { r.System = redact.Mask("You decide.") },
		"fewer tools":         func(r *llm.Request) { r.Tools = r.Tools[:1] },
		"a tool told otherwise": func(r *llm.Request) {
			r.Tools = []llm.Tool{{Name: "get_transaction", Description: "Another.", Schema: r.Tools[0].Schema}, llmtest.SubmitDecision}
		},
	} {
		for _, mind := range minds[:4] {
			t.Run(name+"/"+mind.name, func(t *testing.T) {
				s := thinker(t, mind.kind)
				m := model(t, s.URL, minded(mind.how))
				req := goOn(llmtest.First(), llmtest.Complete(t, m, llmtest.First()))
				change(&req)
				reply := llmtest.Complete(t, m, req)
				if back := strings.Contains(string(reply.Request), "signature"); back != (mind.how == Enabled) || len(reply.Attempts) != 1 {
					t.Errorf("thinking went back: %v, after %d attempts: %s", back, len(reply.Attempts), reply.Request)
				}
			})
		}
	}
	t.Run("thinking is turned off midway", func(t *testing.T) {
		s := thinker(t, llmtest.Newer)
		req := goOn(llmtest.First(), llmtest.Complete(t, model(t, s.URL), llmtest.First()))
		reply := llmtest.Complete(t, model(t, s.URL, minded(Disabled)), req)
		if len(reply.Attempts) != 1 || strings.Contains(string(reply.Request), "signature") {
			t.Errorf("%d attempts: %s", len(reply.Attempts), reply.Request)
		}
	})
}

// TestThinkingThatIsNoLongerTakenIsLeftOut: a change of account, or of the model behind its name, makes signatures void.
func TestThinkingThatIsNoLongerTakenIsLeftOut(t *testing.T) {
	for _, how := range []struct {
		kind llmtest.ModelKind
		how  Thinking
	}{{llmtest.Newer, AsServed}, {llmtest.Older, Enabled}} {
		s := thinker(t, how.kind)
		s.Insists = false
		m := model(t, s.URL, minded(how.how))
		req := llmtest.First()
		reply := llmtest.Complete(t, m, req)
		reply.Opaque = json.RawMessage(strings.Replace(string(reply.Opaque), "EqoB", "other", 1))
		again := llmtest.Complete(t, m, goOn(req, reply))
		if len(again.Attempts) != 2 || len(again.Calls) != 2 || len(s.Refused()) != 1 {
			t.Errorf("%s: %d attempts, refused %q", how.how, len(again.Attempts), s.Refused())
		}
	}
}

// TestAnotherProvidersMessagesAreSentAsTheyRead: a conversation may change its provider midway.
func TestAnotherProvidersMessagesAreSentAsTheyRead(t *testing.T) {
	change := func(old, new string) func(string) string {
		return func(mine string) string { return strings.Replace(mine, old, new, 1) }
	}
	for name, opaque := range map[string]func(mine string) string{
		"nothing":                 func(string) string { return "" },
		"another dialect's":       change(`"anthropic"`, `"other"`),
		"no JSON":                 func(mine string) string { return mine[:len(mine)-1] },
		"a list":                  func(string) string { return "[" + signed + "]" },
		"another model's":         change("test-model", "older-model"),
		"another server's":        change("127.0.0.1", "localhost"),
		"one with a call too few": change(called("toolu_1b", "{}"), words),
		"one with a call more":    change(called("toolu_1b", "{}"), called("toolu_1b", "{}")+","+called("toolu_1c", "{}")),
		"an empty one":            func(mine string) string { return mine[:strings.Index(mine, `"content":`)] + `"content":[]}` },
	} {
		for _, mind := range minds {
			t.Run(name+"/"+mind.name, func(t *testing.T) {
				s := thinker(t, mind.kind)
				m := model(t, s.URL, minded(mind.how))
				reply := llmtest.Complete(t, m, llmtest.First())
				s.Insists = false
				before := string(reply.Opaque)
				reply.Opaque, reply.Text = json.RawMessage(opaque(before)), "I looked."
				if string(reply.Opaque) == before {
					t.Fatalf("nothing was changed in %s", before)
				}
				again := llmtest.Complete(t, m, goOn(llmtest.First(), reply))
				body := s.Bodies()[1]
				if len(again.Attempts) != 1 || strings.Contains(body, "signature") || !strings.Contains(body, `{"type":"text","text":"I looked."}`) ||
					strings.Count(body, `"id":"c0001000`) != 2 || strings.Count(body, `"tool_use_id":"c0001000`) != 2 {
					t.Errorf("%d attempts: %s", len(again.Attempts), body)
				}
				quiet := reply
				quiet.Calls = nil
				if again = llmtest.Complete(t, m, nudged(llmtest.First(), quiet)); len(again.Attempts) != 1 || !strings.Contains(string(again.Request), "I looked.") {
					t.Errorf("without calls: %d attempts: %s", len(again.Attempts), again.Request)
				}
			})
		}
	}
}

// TestAnOlderModelThinksAgainAfterAnothersTurn: what somebody else called keeps it from thinking until the user has spoken.
func TestAnOlderModelThinksAgainAfterAnothersTurn(t *testing.T) {
	s := thinker(t, llmtest.Older)
	m := model(t, s.URL, minded(Enabled))
	others := func(id string) llm.Reply {
		return llm.Reply{Calls: []llm.Call{{ID: id, Name: "get_transaction", Args: "{}"}}}
	}
	word := llm.Message{Role: llm.User, Text: redact.Mask("Go on.")}
	req := goOn(llmtest.First(), others("c00010001"))
	req.Messages = append(req.Messages, word)
	req = goOn(req, others("c00020001"))
	for turn, thinks := range []bool{false, false, true, true} {
		if turn == 2 {
			req.Messages = append(req.Messages, word)
		}
		reply := llmtest.Complete(t, m, req)
		if reply.Thinking != thinks || len(reply.Attempts) != 1 {
			t.Errorf("turn %d: thinks %v after %d attempts, want %v at once", turn+3, reply.Thinking, len(reply.Attempts), thinks)
		}
		req = goOn(req, reply)
	}
}

func TestThinkingAloneIsNotTheEndOfAMessage(t *testing.T) {
	s := llmtest.ServeMessages(t, llmtest.Newer, func(r llmtest.MessagesRequest) (string, string) {
		return "[" + signed + `,{"type":"text","text":"\n\n"}]`, "max_tokens"
	})
	m := model(t, s.URL)
	reply := llmtest.Complete(t, m, llmtest.First())
	if !reply.Thinking || strings.TrimSpace(reply.Text) != "" || reply.Stop != llm.StopLength {
		t.Errorf("reply %+v", llmtest.Said(reply))
	}
	again := llmtest.Complete(t, m, nudged(llmtest.First(), reply))
	if body := s.Bodies()[1]; len(again.Attempts) != 1 || !strings.Contains(body, signed+`,{"type":"text","text":"(no answer)"}]`) {
		t.Errorf("%d attempts: %s", len(again.Attempts), body)
	}
}

// TestWhateverWasSaidCanBeSentBack: no answer that was read makes a request that the server refuses.
func TestWhateverWasSaidCanBeSentBack(t *testing.T) {
	var content string
	s := llmtest.ServeMessages(t, llmtest.Newer, func(llmtest.MessagesRequest) (string, string) { return content, "tool_use" })
	m := model(t, s.URL)
	block := rapid.SampledFrom([]string{
		redacted, words, called("toolu_1", "{}"), called("toolu_2", `{"a":1}`), called("toolu_1", "{}"), called("", "{}"), called("c00010001", "{}"),
		called("a b", "{}"), called("toolu_3", `"{\"a\": 1"`), called("toolu_4", "null"), called("toolu_5", "[1]"),
		`{"type":"tool_use","id":"toolu_6","name":"no such tool!","input":{}}`, `{"type":"tool_use"}`, `{"type":"text"}`,
		`{"type":"text","text":""}`, `{"type":"text","text":" \n"}`, `{"type":"text","text":7}`, `{"type":"server_tool_use","id":"srv"}`, `{"a":1}`, `null`,
	})
	rapid.Check(t, func(rt *rapid.T) {
		req := llmtest.First()
		before := len(s.Refused())
		for turn := range rapid.IntRange(1, 4).Draw(rt, "turns") {
			content = "[" + strings.Join(rapid.SliceOfN(block, 0, 6).Draw(rt, "blocks"), ",") + "]"
			if rapid.Bool().Draw(rt, "thinks") {
				content = strings.Replace("["+strings.Replace(signed, "EqoB", fmt.Sprintf("EqoB%d", turn), 1)+","+content[1:], ",]", "]", 1)
			}
			reply, err := m.Complete(t.Context(), req)
			if err != nil {
				rt.Fatal(err, s.Refused())
			}
			if req = goOn(req, reply); len(reply.Calls) == 0 || rapid.Bool().Draw(rt, "word") {
				req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: redact.Mask("Call a tool.")})
			}
			if rapid.IntRange(0, 9).Draw(rt, "lost result") == 0 && len(reply.Calls) > 1 {
				req.Messages = append(req.Messages[:len(req.Messages)-1:len(req.Messages)-1], llm.Message{Role: llm.User, Text: redact.Mask("Go on.")})
			}
		}
		content = "[]"
		if _, err := m.Complete(t.Context(), req); err != nil {
			rt.Fatal(err)
		}
		if refused := s.Refused()[before:]; len(refused) > 0 {
			rt.Fatalf("refused: %q", refused)
		}
	})
}

func refusing(message string) func(w http.ResponseWriter, r *http.Request, n int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, llmtest.Quote(message))
	}
}
