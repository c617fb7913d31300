package probe

import (
	"strings"
	"testing"

	"countersign/llm"
)

// says is an answer in words.
func says(q llm.Request, text string, stop llm.Stop) heard {
	return heard{asked: q, reply: llm.Reply{Text: text, Stop: stop, Usage: &llm.Usage{Input: 1 << 20}}}
}

// calls is an answer of calls, each a name and its arguments.
func calls(q llm.Request, calls ...string) heard {
	h := says(q, "", llm.StopTools)
	for i := 0; i+1 < len(calls); i += 2 {
		h.reply.Calls = append(h.reply.Calls, llm.Call{Name: calls[i], Args: calls[i+1]})
	}
	return h
}

func failed(q llm.Request, kind llm.ErrorKind) heard {
	return heard{asked: q, err: &llm.Error{Kind: kind, Message: "it says no."}}
}

// able is what is heard of a server that can do everything.
func able() evidence {
	return evidence{
		secret: "quince",
		call:   calls(callQuestion(), "read_payment", `{"payment":"maple"}`),
		forced: calls(forcedQuestion(), "report", `{"word":"hello"}`),
		strict: calls(strictQuestion(), "sort_letter", `{"mood":"tense","urgency":3,"answered":false}`),
		several: calls(severalQuestion(), "read_payment", `{"payment":"maple"}`, "read_payment", `{"payment":"birch"}`,
			"read_payment", `{"payment":"cedar"}`),
		results: calls(severalQuestion(), "report", `{"word":"violet"}`),
		long:    calls(longQuestion(4000, "quince"), "report", `{"word":"quince"}`),
	}
}

func TestJudgement(t *testing.T) {
	for _, row := range []struct {
		name  string
		heard func(*evidence)
		what  What
		want  Result
		says  string
		use   Use
	}{
		{"a call as asked", func(*evidence) {}, ToolCalls, OK, "comes back as a tool call", Ready},
		{"a call of a tool that was not offered is none", func(e *evidence) { e.call = calls(callQuestion(), "wire_money", "{}") }, ToolCalls, No, "not offered", Unusable},
		{"nor one whose arguments are broken", func(e *evidence) { e.call = calls(callQuestion(), "read_payment", "{") }, ToolCalls, No, "no JSON object", Unusable},
		{"a call in words is text", func(e *evidence) { e.call = says(callQuestion(), "read_payment(maple)", llm.StopEnd) }, ToolCalls, No, "as text", Unusable},
		{"words are words", func(e *evidence) { e.call = says(callQuestion(), "Maple is a tree.", llm.StopEnd) }, ToolCalls, No, "in words", Unusable},
		{"an output that was cut says nothing about calls", func(e *evidence) { e.call = says(callQuestion(), "Hm", llm.StopLength) }, ToolCalls, Unknown, "cut off", Unclear},

		{"another tool than the forced one", func(e *evidence) { e.forced = calls(forcedQuestion(), "read_payment", `{}`) }, ForcedTool, No, "does not call", Limited},
		{"no answer to the forced one is unknown", func(e *evidence) { e.forced = failed(forcedQuestion(), llm.TimedOut) }, ForcedTool, Unknown, "No answer: timed_out: it says no.", Limited},

		{"a word that is in the list", func(*evidence) {}, StrictSchema, OK, "keep to a schema", Ready},
		{"no word", strict(`{"urgency":3,"answered":false}`), StrictSchema, No, "mood is missing", Limited},
		{"a number out of its range", strict(`{"mood":"calm","urgency":4,"answered":false}`), StrictSchema, No, "urgency is 4", Limited},
		{"a number below it", strict(`{"mood":"calm","urgency":0,"answered":false}`), StrictSchema, No, "urgency is 0", Limited},
		{"a number that is a text", strict(`{"mood":"calm","urgency":"3","answered":false}`), StrictSchema, No, `urgency is "3"`, Limited},
		{"neither yes nor no", strict(`{"mood":"calm","urgency":3,"answered":null}`), StrictSchema, No, "answered is null, and neither true nor false", Limited},
		{"a field too many", strict(`{"mood":"calm","urgency":3,"answered":true,"why":"x"}`), StrictSchema, No, "a field too many", Limited},
		{"what stands in a wrong argument is masked and cut", strict(`{"mood":"4539578763621486` + strings.Repeat(" x", 500) + `","urgency":3,"answered":true}`),
			StrictSchema, No, "****1486 x", Limited},
		{"words say nothing about a schema", func(e *evidence) { e.strict = says(strictQuestion(), "tense", llm.StopEnd) }, StrictSchema, Unknown, "no arguments", Limited},

		{"three calls for two payments", several("maple", "birch", "birch"), SeveralCalls, No, "3 for 2 came", Limited},
		{"two calls", several("maple", "cedar"), SeveralCalls, No, "2 for 2 came", Limited},
		{"four calls", several("maple", "cedar", "birch", "birch"), SeveralCalls, No, "4 for 3 came", Limited},
		{"three calls for payments that do not exist", several("oak", "ash", "elm"), SeveralCalls, No, "3 for 0 came", Limited},
		{"one call for all of them", several("maple, birch and cedar"), SeveralCalls, No, "1 for 0 came", Limited},
		{"one call", several("birch"), SeveralCalls, No, "one call at a time", Limited},
		{"three calls in another order", several("cedar", "birch", "maple"), SeveralCalls, OK, "come apart", Ready},
		{"words say nothing about calls", func(e *evidence) { e.several = says(severalQuestion(), "No.", llm.StopEnd) }, SeveralCalls, Unknown, "nothing to tell apart", Limited},

		{"words after the results", func(e *evidence) { e.results = says(severalQuestion(), "Violet.", llm.StopEnd) }, ToolResults, Unknown, "stopped calling", Limited},
		{"another call after the results", func(e *evidence) { e.results = calls(severalQuestion(), "read_payment", `{"payment":"cedar"}`) }, ToolResults, OK, "goes on after", Ready},
		{"no answer to results", func(e *evidence) { e.results = failed(severalQuestion(), llm.Unreachable) }, ToolResults, Unknown, "No answer", Limited},
		{"results that are refused", func(e *evidence) { e.results = failed(severalQuestion(), llm.Refused) }, ToolResults, No, "does not take a conversation with results", Unusable},

		{"the word in words", func(e *evidence) { e.long = says(e.long.asked, "It is quince.", llm.StopEnd) }, LongContext, OK, "arrives whole", Ready},
		{"another word", func(e *evidence) { e.long = calls(e.long.asked, "report", `{"word":"apple"}`) }, LongContext, No, "could not repeat", Limited},
		{"another word, and the word from a shorter one", func(e *evidence) {
			e.long, e.shorter = calls(e.long.asked, "report", `{"word":"apple"}`), calls(longQuestion(1000, "quince"), "report", `{"word":"quince"}`)
		}, LongContext, No, "One of some 1", Limited},
		{"no word at all", func(e *evidence) { e.long = says(e.long.asked, "", llm.StopLength) }, LongContext, Unknown, "no answer to a long", Limited},
		{"a refusal, and the word from a shorter one", func(e *evidence) {
			e.long, e.shorter = failed(e.long.asked, llm.Refused), calls(longQuestion(1000, "quince"), "report", `{"word":"quince"}`)
		}, LongContext, No, "it says no. One of some 1", Limited},
		{"no answer to a long one", func(e *evidence) { e.long = failed(e.long.asked, llm.TimedOut) }, LongContext, Unknown, "No answer", Limited},

		{"no usage in one answer of many", func(e *evidence) { e.strict.reply.Usage = nil }, Usage, No, "does not say how many", Limited},
		{"too little usage in one answer of many", func(e *evidence) { e.long.reply.Usage = &llm.Usage{Input: 100} }, Usage, No, "it read 100 tokens of a request of at least", Limited},
		{"half of the estimate can be true", func(e *evidence) { e.long.reply.Usage = &llm.Usage{Input: llm.Estimate(e.long.asked) / 2} }, Usage, OK, "can be true", Ready},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := able()
			row.heard(&e)
			findings, verdict := judge(e)
			f := Report{Findings: findings}.about(row.what)
			if f.Result != row.want || !strings.Contains(f.Says, row.says) || len(f.Says) > 1000 || strings.Contains(f.Says, "..") {
				t.Errorf("%s: %s %q, want %s with %q", row.what, f.Result, f.Says, row.want, row.says)
			}
			if (f.Result == No) != (f.Try != "") {
				t.Errorf("%q: what is there to do about it? %q", f.Says, f.Try)
			}
			if verdict.Use != row.use || verdict.Says == "" || (verdict.Use == Ready) != (verdict.Try == "") {
				t.Errorf("verdict %+v, want %s", verdict, row.use)
			}
		})
	}
}

func strict(args string) func(*evidence) {
	return func(e *evidence) { e.strict = calls(strictQuestion(), "sort_letter", args) }
}

func several(payments ...string) func(*evidence) {
	return func(e *evidence) {
		e.several = heard{asked: severalQuestion(), reply: llm.Reply{Usage: &llm.Usage{Input: 1 << 20}}}
		for _, p := range payments {
			e.several.reply.Calls = append(e.several.reply.Calls, llm.Call{Name: "read_payment", Args: `{"payment":"` + p + `"}`})
		}
	}
}

func TestNothingAskedIsNothingKnown(t *testing.T) {
	e := evidence{call: heard{asked: callQuestion(), why: "the check was stopped"}}
	findings, verdict := judge(e)
	if verdict.Use != Unclear || findings[0].Says != "Not asked: the check was stopped." || findings[1].Says != "Not asked: the first question had no answer." {
		t.Errorf("%+v, %+v", verdict, findings)
	}
}
