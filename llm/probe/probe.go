// Package probe asks a model server what it can really do, and says it in plain words for whoever is about to rely on it.
//
// It puts a handful of small questions through llm.Model, whatever dialect is behind it: does a tool call come back as one,
// is a forced tool called, is a schema kept to, do several calls come apart, is a result of a tool taken in, does the far end
// of a long conversation arrive, and are tokens reported that can be true. Nothing of any case is in the questions.
//
// What was heard is judged by pure code (judge.go). A finding is ok, no, or unknown: what could not be asked, or was
// answered beside the point, is never said to be missing. A probe decides nothing: a server that does worse than it was
// found to do still ends with a person.
package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"countersign"
	"countersign/llm"
)

// Options bound a probe. Zero fields take the defaults named.
type Options struct {
	Calls   int           // model calls: 8, which is every question
	Tokens  int64         // input and output together, as reported or else estimated: 80,000
	Time    time.Duration // 3 minutes
	Context int64         // tokens of the long conversation, at least: 16,000; what a case with many records can come to

	Now func() time.Time // nil for the clock
}

func (o Options) filled() Options {
	orElse(&o.Calls, 8)
	orElse(&o.Tokens, 80_000)
	orElse(&o.Time, 3*time.Minute)
	orElse(&o.Context, 16_000)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func orElse[N int | int64 | time.Duration](field *N, standard N) {
	if *field <= 0 {
		*field = standard
	}
}

// What is one thing that a server can do or not.
type What string

const (
	ToolCalls    What = "tool_calls"
	ForcedTool   What = "forced_tool"
	StrictSchema What = "strict_schema"
	SeveralCalls What = "several_calls"
	ToolResults  What = "tool_results"
	LongContext  What = "long_context"
	Usage        What = "usage"
)

// Result is what was found about it.
type Result string

const (
	OK      Result = "ok"
	No      Result = "no"
	Unknown Result = "unknown" // not asked, not answered, or answered beside the point
)

// Finding is one of them, in words for an operator. Its texts are masked and hold no key.
type Finding struct {
	What   What   `json:"what"`
	Result Result `json:"result"`
	Says   string `json:"says"`
	Try    string `json:"try,omitempty"` // what to do about it; empty where there is nothing to do
}

// Use is what a server is good for.
type Use string

const (
	Ready    Use = "ready"
	Limited  Use = "limited"  // it can investigate, and some cases will go to a person for its sake
	Unusable Use = "unusable" // every case would go to a person
	Unclear  Use = "unclear"  // it gave no answer, so nothing is known
)

// Verdict says whether a server can be used at all.
type Verdict struct {
	Use  Use    `json:"use"`
	Says string `json:"says"`
	Try  string `json:"try,omitempty"`
}

// Cost is what asking took.
type Cost struct {
	Calls     int   `json:"calls"`              // questions that were put
	Failures  int   `json:"failures,omitempty"` // those that had no answer
	Attempts  int   `json:"attempts"`           // HTTP requests for them
	Input     int64 `json:"input_tokens"`
	Output    int64 `json:"output_tokens"`
	Stored    int64 `json:"stored_tokens,omitempty"` // of Input, put into the server's cache
	Estimated bool  `json:"estimated,omitempty"`     // some of the tokens were not reported, and are our low estimate
}

// Tokens are all of them.
func (c Cost) Tokens() int64 { return countersign.AddCounts(c.Input, c.Output) }

// Report is what a probe found out.
type Report struct {
	Model    llm.Identity  `json:"model"`
	At       time.Time     `json:"at"`
	Took     time.Duration `json:"took_ns"`
	Verdict  Verdict       `json:"verdict"`
	Findings []Finding     `json:"findings"` // one for every What, always in the same order
	Cost     Cost          `json:"cost"`
}

// Run asks. It always comes back with a report: what was not asked because ctx ended or a bound was reached is unknown.
// It costs money where the server does.
func Run(ctx context.Context, model llm.Model, o Options) Report {
	o = o.filled()
	ctx, cancel := context.WithTimeoutCause(ctx, o.Time, errTime)
	defer cancel()
	i := &interview{model: model, bounds: o}
	at := o.Now()
	findings, verdict := judge(i.ask(ctx))
	return Report{Model: model.Identity(), At: at.UTC(), Took: o.Now().Sub(at), Verdict: verdict, Findings: findings, Cost: i.cost}
}

// errTime marks our own time limit, as against the caller's.
var errTime = errors.New("the time for the check is up")

// heard is what came of one question.
type heard struct {
	asked llm.Request
	reply llm.Reply
	err   error
	why   string // why it was not asked; empty when it was
}

// answered reports whether there is a reply to judge.
func (h heard) answered() bool { return h.why == "" && h.err == nil && len(h.asked.Messages) > 0 }

// interview is a probe under way.
type interview struct {
	model  llm.Model
	bounds Options
	cost   Cost
}

// ask puts the questions, and stops at the first when nobody answers.
func (i *interview) ask(ctx context.Context) evidence {
	e := evidence{secret: secret()}
	e.call = i.put(ctx, callQuestion())
	if !e.call.answered() {
		return e
	}
	e.forced = i.put(ctx, forcedQuestion())
	e.strict = i.put(ctx, strictQuestion())
	e.several = i.put(ctx, severalQuestion())
	e.results = i.goOn(ctx, e.several)
	e.long = i.put(ctx, longQuestion(i.bounds.Context, e.secret))
	if e.long.answered() && !e.long.knows(e.secret) || e.long.err != nil {
		e.shorter = i.put(ctx, longQuestion(i.bounds.Context/4, e.secret))
	}
	return e
}

// put asks one question, if the bounds allow it.
func (i *interview) put(ctx context.Context, q llm.Request) (h heard) {
	h.asked = q
	if h.why = i.barred(ctx, q); h.why != "" {
		return h
	}
	i.cost.Calls++
	h.reply, h.err = complete(ctx, i.model, q)
	i.count(h)
	return h
}

// barred says why a question is not asked. What it will cost is guessed high here: the estimate is low by design.
func (i *interview) barred(ctx context.Context, q llm.Request) string {
	switch {
	case context.Cause(ctx) == errTime:
		return fmt.Sprintf("the %s for this check were used up", i.bounds.Time)
	case ctx.Err() != nil:
		return "the check was stopped"
	case i.cost.Calls >= i.bounds.Calls:
		return fmt.Sprintf("%d model calls are the limit of this check", i.bounds.Calls)
	case countersign.AddCounts(i.cost.Tokens(), 2*llm.Estimate(q)) > i.bounds.Tokens:
		return fmt.Sprintf("%d tokens are the limit of this check", i.bounds.Tokens)
	}
	return ""
}

// complete makes the call. A provider that panics is one that gave no answer.
func complete(ctx context.Context, model llm.Model, q llm.Request) (reply llm.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the provider panicked: %v", p)
		}
	}()
	return model.Complete(ctx, q)
}

// count adds what a question took. What a server may have worked on and did not count is taken to have used what was sent.
func (i *interview) count(h heard) {
	attempts, unsaid := h.reply.Attempts, 0
	var e *llm.Error
	if errors.As(h.err, &e) {
		attempts = e.Attempts
	}
	switch u := h.reply.Usage; {
	case h.err != nil:
		i.cost.Failures++
	case u == nil:
		unsaid++
	default:
		i.cost.Input, i.cost.Output = countersign.AddCounts(i.cost.Input, u.Input), countersign.AddCounts(i.cost.Output, u.Output)
		i.cost.Stored = countersign.AddCounts(i.cost.Stored, u.Stored)
	}
	for _, a := range attempts {
		if a.MaybePaid {
			unsaid++
		}
	}
	i.cost.Attempts += len(attempts)
	for range unsaid {
		i.cost.Input, i.cost.Estimated = countersign.AddCounts(i.cost.Input, llm.Estimate(h.asked)), true
	}
}

// secret is a word that no model can guess, of letters only: a row of digits could be masked on its way out.
func secret() string {
	word := make([]byte, 12)
	_, _ = rand.Read(word) // it never fails
	for i, b := range word {
		word[i] = 'a' + b%26
	}
	return string(word)
}
