package anthropic

import (
	"strings"

	"countersign/llm"
	"countersign/llm/exchange"
)

// plan is how a request is asked. It changes only when the server refuses it.
type plan struct {
	req      llm.Request
	bound    string // what thinking of this request would be bound to; see fingerprint
	thinking Thinking
	forced   bool // tool_choice names the tool; else it is asked for in words
	thoughts bool // thinking of earlier turns is sent back
}

// plan is how a request is asked first.
//
// Thinking that is Enabled and a forced tool exclude each other, and a run of tool calls is one turn to such a model: all of
// it has thinking, or none. So a forced turn is sent without any, and so is a turn that goes on from calls which somebody
// else made.
func (m *Model) plan(req llm.Request) *plan {
	p := &plan{req: req, bound: fingerprint(req), thinking: m.cfg.Thinking, forced: req.Force != "", thoughts: m.cfg.Thinking != Disabled}
	if p.thinking == Enabled && (p.forced || !m.begunByThinking(req)) {
		p.thinking, p.thoughts = AsServed, false
	}
	return p
}

// begunByThinking reports whether the run of calls that a request goes on from, if any, began with thinking of this model.
func (m *Model) begunByThinking(req llm.Request) bool {
	begun, first := true, true
	for _, msg := range req.Messages {
		switch {
		case msg.Role == llm.User:
			begun, first = true, true // a new run
		case msg.Role == llm.Assistant && first:
			own, ok := m.own(msg)
			begun, first = ok && own.Content[0].isThought(), false
		}
	}
	return begun
}

// amend changes what a server refused to be asked: to be forced while it thinks, which models do by default and no setting
// tells, or to take thinking back, whose signature a change of account or of model behind the same name makes void.
func (p *plan) amend(body []byte) bool {
	said := exchange.Complaint(body)
	switch {
	case p.forced && strings.Contains(said, "tool_choice"):
		p.forced = false
	case p.thoughts && strings.Contains(said, "thinking") && holdsThinking(p.req):
		p.thoughts = false
		if p.thinking == Enabled {
			p.thinking = AsServed
		}
	default:
		return false
	}
	return true
}

// word asks for the tool that cannot be forced, empty when there is none or it is.
func (p *plan) word() string {
	if p.req.Force == "" || p.forced {
		return ""
	}
	return "Answer with a call of the tool " + p.req.Force + ", and with nothing else."
}
