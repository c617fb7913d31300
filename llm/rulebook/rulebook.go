// Package rulebook is the offline reviewer: it answers like a model, by fixed rules, with no AI in it and no network. It
// reads the same tool results a model would be shown, and proposes what they support.
//
// It knows how to hold the conversation and nothing of disputes: what to ask and what to conclude is a Playbook, which a
// desk brings. It is as untrusted as any other model; nobody may take its word because it is ours.
package rulebook

import (
	"context"
	"encoding/json"
	"fmt"

	"countersign/llm"
)

// Playbook is how one desk's conversations are worked.
type Playbook struct {
	// Knows reports whether a conversation that offers these tools belongs to this playbook. On the last, forced turn the
	// decision tool is the only one there, so it is what to look for.
	Knows func(tools []llm.Tool) bool
	// Ask lists the tools to call, each once and without arguments, all in the first turn unless the engine asks fewer at once. One that is not offered is
	// left out.
	Ask []string
	// Decide turns what was seen into the arguments of DecisionTool: a value that marshals to a JSON object. It must be
	// deterministic. An error becomes an answer in words, which ends with a person.
	Decide func(Seen) (decision any, err error)
	// DecisionTool is the tool that ends the conversation.
	DecisionTool string
}

// Seen is everything a conversation has shown so far.
type Seen struct {
	Case    string            // the first user message, whole
	Canary  string            // empty when the message holds no canary line
	Given   []Result          // what the first message held already, in order
	Results map[string]Result // by tool; of several results of one tool, the last
}

// Engine is the offline reviewer.
type Engine struct {
	playbooks []Playbook
	atOnce    int // calls in one turn, 0 for as many as there are
}

// New is an engine that works with the first playbook that knows a conversation.
func New(playbooks ...Playbook) *Engine { return &Engine{playbooks: playbooks} }

// AtOnce is the same reviewer asking at most n things in one turn, for somebody who watches. It sees and proposes the same, in
// more turns.
func (e *Engine) AtOnce(n int) *Engine { return &Engine{e.playbooks, n} }

// Identity says in every record that no AI was at work.
func (e *Engine) Identity() llm.Identity {
	return llm.Identity{Provider: "rulebook", Name: "offline rules, no AI"}
}

// Complete asks in the first turn and decides in the second, or later if it asks fewer things at once. The same request gets the same reply, byte for byte.
//
// Usage is an estimate of four bytes a token, so that the check for a conversation that was not wholly read has numbers to
// work with; nothing was counted and nothing cost anything.
func (e *Engine) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.Canceled, Message: "the caller gave up", Err: err}
	}
	reply := e.answer(req)
	req.Number(reply.Calls)
	reply.Request, reply.Response = req.Transcript(), reply.Transcript()
	reply.Usage = &llm.Usage{Input: int64(len(reply.Request) / 4), Output: int64(len(reply.Response) / 4)}
	return reply, nil
}

func (e *Engine) answer(req llm.Request) llm.Reply {
	for _, p := range e.playbooks {
		if p.Knows(req.Tools) {
			return p.answer(req, e.atOnce)
		}
	}
	return words("I have no rules for this kind of case, so I make no proposal.")
}

func (p Playbook) answer(req llm.Request, atOnce int) llm.Reply {
	if questions := p.questions(req); len(questions) > 0 {
		if atOnce > 0 && len(questions) > atOnce {
			questions = questions[:atOnce]
		}
		return llm.Reply{Calls: questions, Stop: llm.StopTools}
	}
	return p.decide(read(req))
}

// questions are the calls still to be made. A call that failed is not made again: its failure is what there is to know.
func (p Playbook) questions(req llm.Request) (calls []llm.Call) {
	asked := map[string]bool{}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			asked[c.Name] = true
		}
	}
	for _, tool := range p.Ask {
		if req.Offers(tool) && !asked[tool] {
			calls = append(calls, llm.Call{Name: tool, Args: "{}"})
		}
	}
	return calls
}

func (p Playbook) decide(seen Seen) llm.Reply {
	decision, err := p.Decide(seen)
	if err != nil {
		return words(fmt.Sprintf("I make no proposal: %s.", err))
	}
	args, err := json.Marshal(decision)
	if err != nil {
		return words(fmt.Sprintf("I make no proposal: my decision cannot be written down: %s.", err))
	}
	return llm.Reply{Calls: []llm.Call{{Name: p.DecisionTool, Args: string(args)}}, Stop: llm.StopTools}
}

func words(text string) llm.Reply { return llm.Reply{Text: text, Stop: llm.StopEnd} }
