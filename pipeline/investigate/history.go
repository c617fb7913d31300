package investigate

import (
	"encoding/json"
	"fmt"
	"strings"

	"countersign/llm"
	"countersign/redact"
)

// history is a turn as the next request tells it: what the model said, one result for each of its calls, and a word from us
// where one is due. Everything in it comes from the record, and what the model wrote is made harmless first: it may have
// copied what somebody else put there for the next reader.
func (t *talk) history(turn Turn) []llm.Message {
	said := llm.Message{Role: llm.Assistant, Text: t.harmless(turn.Text), Opaque: turn.Opaque.Bytes()}
	if turn.Text == "" && len(turn.Calls) == 0 && turn.Opaque == "" {
		said.Text = redact.Mask("(no answer)") // chat templates want the roles to alternate, and refuse an empty message
	}
	var results []llm.Message
	for i, call := range turn.Calls {
		said.Calls = append(said.Calls, llm.Call{ID: call.ID, Name: t.spelled(call.Name), Args: t.harmlessArgs(call.Args)})
		results = append(results, llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: redact.JSON([]byte(t.shown(turn, i)))})
	}
	messages := append([]llm.Message{said}, results...)
	if word := t.word(turn); word != "" {
		messages = append(messages, llm.Message{Role: llm.User, Text: redact.Mask(word)})
	}
	return messages
}

// shown is the text of the i-th call's result.
func (t *talk) shown(turn Turn, i int) string {
	if i < len(turn.Steps) {
		return turn.Steps[i].Shown
	}
	return t.Fence.Failed("", "no result is on record") // unreachable unless the record lost a row
}

// word is what we say after a turn, if anything: that only the decision is left, or the nudge.
func (t *talk) word(turn Turn) string {
	name := t.Brief.Decision.Name
	switch {
	case t.final(turn.Number + 1):
		return fmt.Sprintf("There are no turns left. Call %s now, with what you have found so far. "+
			"If it is not enough to decide, recommend %s.", name, t.Brief.Escalation)
	case len(turn.Calls) > 0:
		return ""
	case turn.Stop == llm.StopLength:
		return fmt.Sprintf("The reply was cut off before it called a tool. Be brief: call a tool, or call %s.", name)
	}
	return fmt.Sprintf("The reply called no tool, and text is not read as an answer. Call a tool, or call %s.", name)
}

// spelled is a tool's name as it is sent back to the model. Servers answer 400 to a history with a name that they would not
// accept themselves, and a name may be a message to whoever reads it next: of a name that was never offered only the letters
// are kept.
func (t *talk) spelled(name string) string {
	if _, ok := t.offered[name]; ok || name == t.Brief.Decision.Name {
		return name
	}
	name = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

// harmlessArgs is a call's arguments as they are sent back to the model. What is not one strict object becomes {}, because
// several servers answer 500 to a history with broken arguments in it. The record keeps what the model really wrote.
func (t *talk) harmlessArgs(args string) string {
	object, err := readObject(args)
	if err != nil {
		return "{}"
	}
	plain, _, err := t.Fence.Encode("", object)
	if err != nil {
		return "{}"
	}
	return string(plain)
}

// harmless is text of the model's as it is sent back to it. It is treated like the plain part of a tool result: masked, and
// without anything that a chat template would take for its own, while the names of steps in it stay.
func (t *talk) harmless(text string) redact.Text {
	plain, _, err := t.Fence.Encode("", said{text})
	var back said
	if err != nil || json.Unmarshal(plain, &back) != nil {
		return redact.Mask("(too long to repeat)")
	}
	return redact.Mask(back.Text)
}

type said struct {
	Text string `json:"text"`
}
