package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign/llm"
	"countersign/redact"
)

// evidence is everything that was heard. A question that was never reached has no request.
type evidence struct {
	secret                        string // the word in the first message of the long conversation
	call, forced, strict, several heard
	results                       heard
	long, shorter                 heard // shorter is asked when the long conversation did not arrive
}

func (e evidence) all() []heard {
	return []heard{e.call, e.forced, e.strict, e.several, e.results, e.long, e.shorter}
}

// judge says what the evidence shows. It is pure: the same evidence gives the same findings.
func judge(e evidence) ([]Finding, Verdict) {
	findings := []Finding{
		judged(ToolCalls, e.call, judgeCall),
		judged(ForcedTool, e.forced, judgeForced),
		judged(StrictSchema, e.strict, judgeStrict),
		judged(SeveralCalls, e.several, judgeSeveral),
		judgeResults(e.results),
		judgeLong(e),
		judgeUsage(e.all()),
	}
	return findings, decide(e, findings)
}

// judged is a finding about an answer, or that there is none.
func judged(what What, h heard, judge func(heard) Finding) Finding {
	f := unknown(h.silence())
	if h.answered() {
		f = judge(h)
	}
	f.What = what
	return f
}

func ok(says string) Finding      { return Finding{Result: OK, Says: says} }
func no(says, try string) Finding { return Finding{Result: No, Says: says, Try: try} }
func unknown(says string) Finding { return Finding{Result: Unknown, Says: says} }

// silence says why there is no answer to judge.
func (h heard) silence() string {
	switch {
	case h.why != "":
		return "Not asked: " + h.why + "."
	case h.err != nil:
		return "No answer: " + said(h.err.Error()) + "."
	}
	return "Not asked: the first question had no answer."
}

// toServer is the advice for a server that gives no tool calls.
const toServer = "turn on the server's reading of tool calls for this model, or choose a model that was made for tools"

func judgeCall(h heard) Finding {
	switch {
	case len(h.usable()) > 0:
		return ok("A tool call comes back as a tool call.")
	case len(h.reply.Calls) > 0:
		return no("It called a tool that was not offered, or with arguments that are no JSON object.", toServer)
	case strings.Contains(h.reply.Text, readPayment.Name):
		return no("It wrote the tool call as text, and text is not run.", toServer)
	case h.reply.Stop == llm.StopLength:
		return unknown("It had called no tool when its output was cut off.")
	}
	return no("It answered in words where it was to call a tool.", toServer)
}

// usable are the calls of tools that were offered whose arguments are one object.
func (h heard) usable() (calls []llm.Call) {
	for _, c := range h.reply.Calls {
		if _, err := c.Object(); err == nil && h.asked.Offers(c.Name) {
			calls = append(calls, c)
		}
	}
	return calls
}

func judgeForced(h heard) Finding {
	if calls := h.usable(); len(calls) > 0 && calls[0].Name == h.asked.Force {
		return ok("It calls the one tool that it is told to call.")
	}
	return no("It does not call the one tool that it is told to call.",
		"more cases will end with a person because their turns ran out; another server or model may obey")
}

func judgeStrict(h heard) Finding {
	calls := h.usable()
	if len(calls) == 0 {
		return unknown("It called no tool, so there were no arguments to look at.")
	}
	if wrong := outside(calls[0]); wrong != "" {
		return no("Arguments do not keep to the schema: "+wrong+".",
			"decisions that do not fit are sent back once, and then end with a person; turn on strict tools or a grammar, if the server has them")
	}
	return ok("Arguments keep to a schema: a list of words, a range of numbers, no field too many.")
}

// outside says where the arguments of a call of sortLetter leave its schema.
func outside(c llm.Call) string {
	var (
		fields   map[string]json.RawMessage
		mood     string
		urgency  int
		answered *bool
	)
	object, _ := c.Object() // a usable call has one
	_ = json.Unmarshal(object, &fields)
	switch {
	case json.Unmarshal(fields["mood"], &mood) != nil || !slices.Contains(moods, mood):
		return wrong("mood", fields, "which is not in its list")
	case json.Unmarshal(fields["urgency"], &urgency) != nil || urgency < 1 || urgency > 3:
		return wrong("urgency", fields, "which is not in its range")
	case json.Unmarshal(fields["answered"], &answered) != nil || answered == nil:
		return wrong("answered", fields, "and neither true nor false")
	case len(fields) != 3:
		return "there is a field too many"
	}
	return ""
}

// wrong says what stands in a field, and what is the matter with it.
func wrong(name string, fields map[string]json.RawMessage, how string) string {
	if len(fields[name]) == 0 {
		return name + " is missing"
	}
	return name + " is " + said(string(fields[name])) + ", " + how
}

func judgeSeveral(h heard) Finding {
	calls, apart := h.usable(), map[string]bool{}
	for _, c := range calls {
		if name := argument(c, "payment"); codes[name] != "" {
			apart[name] = true
		}
	}
	switch {
	case len(h.reply.Calls) == 0:
		return unknown("It called no tool, so there was nothing to tell apart.")
	case len(calls) < len(h.reply.Calls):
		return no("Several calls in one reply run into each other: some have arguments that cannot be read.",
			"turn off parallel tool calls in the server, or use a newer version of it")
	case len(calls) == 1 && len(apart) == 1:
		return no("It makes one call at a time, where three were asked for.",
			"investigations will take more turns, and more of them will run out")
	case len(calls) != len(codes) || len(apart) != len(codes):
		return no(fmt.Sprintf("Three calls for three payments were asked for, and %d for %d came.", len(calls), len(apart)),
			"calls may be merged or repeated on the way: use a newer version of the server, or another model")
	}
	return ok("Several calls in one reply come apart, each with its own arguments.")
}

// judgeResults is about the second turn of a conversation: many servers take a tool's result worse than they ask for one.
func judgeResults(h heard) Finding {
	f := judged(ToolResults, h, func(h heard) Finding {
		calls := h.usable()
		switch {
		case slices.ContainsFunc(calls, func(c llm.Call) bool { return slices.Contains(slices.Collect(maps.Values(codes)), argument(c, "word")) }):
			return ok("It takes in the results of its tools, and goes on from them.")
		case len(calls) > 0 && calls[0].Name == readPayment.Name:
			return ok("It goes on after the results of its tools.")
		case len(h.reply.Calls) > 0:
			return no("It called a tool after the results came, but not with what stood in them.",
				"the results of tools may not reach the model: check the server's chat template, or choose another model")
		}
		return unknown("It stopped calling tools after the first results.")
	})
	if refused(h.err) {
		f.Result, f.Says = No, "It does not take a conversation with results of tools in it: "+said(h.err.Error())+"."
		f.Try = "check the server's chat template, or choose another model: nothing can be investigated without results"
	}
	return f
}

func judgeLong(e evidence) Finding {
	size, still := tokens(e.long), ""
	if e.shorter.knows(e.secret) {
		still = fmt.Sprintf(" One of some %d tokens arrived whole.", tokens(e.shorter))
	}
	f := judged(LongContext, e.long, func(h heard) Finding {
		switch {
		case h.knows(e.secret):
			return ok(fmt.Sprintf("A conversation of some %d tokens arrives whole, with its first message.", size))
		case len(h.reply.Calls) == 0 && h.reply.Text == "":
			return unknown("It gave no answer to a long conversation.")
		}
		return no(fmt.Sprintf("It could not repeat the first message of a conversation of some %d tokens.", size), enlarge)
	})
	if refused(e.long.err) {
		f.Result, f.Try = No, enlarge
		f.Says = fmt.Sprintf("It refuses a conversation of some %d tokens: %s.", size, said(e.long.err.Error()))
	}
	f.Says += still
	return f
}

// enlarge is the advice for a context that is too small. Local servers cut silently at a default of a few thousand tokens.
const enlarge = "give the model more context in the server's settings (num_ctx, --ctx-size, --max-model-len); " +
	"until then cases that do not fit end with a person"

// tokens is how long a conversation was by our estimate, in round figures.
func tokens(h heard) int64 { return llm.Estimate(h.asked) / 100 * 100 }

// knows reports whether an answer holds the word, in a call or in words.
func (h heard) knows(word string) bool {
	if !h.answered() {
		return false
	}
	return strings.Contains(h.reply.Text, word) ||
		slices.ContainsFunc(h.reply.Calls, func(c llm.Call) bool { return strings.Contains(c.Args, word) })
}

// fewer is how many times too few tokens must be reported before they cannot be true, as in an investigation.
const fewer = 2

func judgeUsage(all []heard) Finding {
	f := unknown("Nothing was answered.")
	for _, h := range all {
		if !h.answered() {
			continue
		}
		switch u, least := h.reply.Usage, llm.Estimate(h.asked)/fewer; {
		case u == nil:
			f = no("It does not say how many tokens it read and wrote.",
				"limits and budgets in tokens hold nothing for it; those in turns, calls and time do. Turn usage on in the server, if it can")
		case u.Input < least:
			f = no(fmt.Sprintf("It says that it read %d tokens of a request of at least %d.", u.Input, least),
				"it reads less than it is sent, or counts wrong: such cases end with a person. See the finding on long conversations")
		default:
			f = ok("It says how many tokens it read and wrote, and they can be true.")
		}
		if f.Result == No {
			break
		}
	}
	f.What = Usage
	return f
}

// decide is what the findings come to.
func decide(e evidence, findings []Finding) Verdict {
	result := map[What]Result{}
	var lacks, unsure []string
	for _, f := range findings {
		result[f.What] = f.Result
		switch f.Result {
		case No:
			lacks = append(lacks, f.Says)
		case Unknown:
			unsure = append(unsure, names[f.What])
		}
	}
	switch {
	case e.call.why != "":
		return Verdict{Unclear, "Nothing was asked, so nothing is known.", "run the check again"}
	case e.call.err != nil:
		return unclear(e.call.err)
	case result[ToolCalls] == Unknown:
		return Verdict{Unclear, "It was not found out whether it calls tools.", "run the check again"}
	case result[ToolCalls] == No:
		return Verdict{Unusable, "Without tool calls nothing can be investigated: every case would go to a person.", toServer}
	case result[ToolResults] == No && refused(e.results.err):
		return Verdict{Unusable, "It asks for tools and cannot be told what they found: every case would go to a person.", findings[4].Try}
	case len(lacks) > 0:
		return Verdict{Limited, "It can investigate, with limits: more cases will go to a person than need be.", "see what was found below"}
	case len(unsure) > 0:
		return Verdict{Limited, "It can investigate; what could not be found out: " + strings.Join(unsure, ", ") + ".", "run the check again"}
	}
	return Verdict{Use: Ready, Says: "It can investigate."}
}

// names are the things in the words of the sentence that lists what is not known.
var names = map[What]string{
	ToolCalls: "tool calls", ForcedTool: "a forced tool", StrictSchema: "strict arguments", SeveralCalls: "several calls at once",
	ToolResults: "results of tools", LongContext: "long conversations", Usage: "counted tokens",
}

// unclear is the verdict on a server that did not answer the first question.
func unclear(err error) Verdict {
	v := Verdict{Use: Unclear, Says: "It gave no answer, so nothing is known: " + said(err.Error()) + "."}
	switch {
	case refused(err):
		v.Try = "check the API key and the name of the model"
	case kindOf(err) == llm.Unreadable:
		v.Try = "check the base URL, and that it is a server of this kind"
	case kindOf(err) == llm.Canceled:
		v.Try = "run the check again"
	default:
		v.Try = "is the server running, and is the base URL right?"
	}
	return v
}

func kindOf(err error) llm.ErrorKind {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func refused(err error) bool { return kindOf(err) == llm.Refused }

// said is somebody else's text inside a sentence of ours: masked, on one line, not long.
func said(text string) string {
	text = strings.Join(strings.Fields(redact.Mask(text).String()), " ")
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "…"
	}
	return strings.TrimRight(text, ".")
}
