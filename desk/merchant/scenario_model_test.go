package merchant_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign/llm"
	"countersign/llm/scripted"
)

// script is the model of a scenario, one turn a line. Past the last line its server is gone.
func (s *scene) script(text string) llm.Model {
	s.Helper()
	var turns []turn
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch said, set := strings.CutPrefix(line, "  "); {
		case strings.TrimSpace(line) == "":
		case set && len(turns) == 0:
			s.Fatalf("%q is set in, and there is no turn above it", line)
		case set:
			turns[len(turns)-1].more = append(turns[len(turns)-1].more, said)
		default:
			turns = append(turns, turn{line: line})
		}
	}
	return scripted.Func(func(n int, r llm.Request) (llm.Reply, error) {
		if n >= len(turns) {
			return llm.Reply{}, scripted.Fail(llm.Unreachable, "the script is over")
		}
		reply, err := turns[n].play(r)
		var told *llm.Error
		if err != nil && !errors.As(err, &told) {
			s.Errorf("the scenario's model: %v", err)
		}
		return reply, err
	})
}

// turn is one line of a model's script, and the lines below it that are set in.
type turn struct {
	line string
	more []string
}

func (t turn) play(r llm.Request) (llm.Reply, error) {
	line, short := strings.CutSuffix(t.line, ", reading 12 tokens")
	verb, rest, _ := strings.Cut(line, " ")
	var reply llm.Reply
	switch {
	case verb == "decides":
		args, err := t.decision(strings.Fields(rest), r)
		if err != nil {
			return reply, err
		}
		reply = scripted.Calls(scripted.Call("submit_decision", args))
	case verb == "asks":
		tool, args, _ := strings.Cut(rest, " ")
		reply = scripted.Calls(scripted.Call(tool, args))
	case line == "says nothing":
		reply = scripted.Say("")
	case verb == "says":
		reply = scripted.Say(rest)
	case line == "cannot be reached":
		return reply, scripted.Fail(llm.Unreachable, "no connection")
	default:
		return reply, fmt.Errorf("nobody knows the turn %q", t.line)
	}
	if short {
		reply.Usage = &llm.Usage{Input: 12, Output: 10}
	}
	return reply, nil
}

// decision is the arguments of a decision: a recommendation and how sure the model is, and what the lines below it add.
func (t turn) decision(words []string, r llm.Request) (string, error) {
	if len(words) != 2 {
		return "", fmt.Errorf("a decision is a recommendation and a confidence, not %q", words)
	}
	line, _, _ := strings.Cut(r.Messages[0].Text.String(), "\n")
	canary, summary, claims, quotes := strings.TrimPrefix(line, "canary: "), "This is what I think.", []any{}, []any{}
	for _, more := range t.more {
		place, value, cites := strings.Cut(more, " = ")
		ref, field, _ := strings.Cut(place, " ")
		document, quote, quoting := strings.Cut(strings.TrimPrefix(more, "quotes "), ": ")
		said, sums := strings.CutPrefix(more, "sums up: ")
		switch {
		case more == "canary wrong":
			canary = "abcdefghijklmnopqrst"
		case sums:
			summary = said
		case strings.HasPrefix(more, "quotes ") && quoting:
			quotes = append(quotes, map[string]any{"document": document, "quote": quote})
		case cites:
			claims = append(claims, map[string]any{"text": "So it is.", "citations": []any{map[string]any{"ref": ref, "field": field, "value": value}}})
		default:
			return "", fmt.Errorf("nobody knows what %q adds to a decision", more)
		}
	}
	b, err := json.Marshal(map[string]any{"recommendation": words[0], "confidence": json.Number(words[1]), "summary": summary,
		"canary": canary, "claims": claims, "quotes": quotes})
	return string(b), err
}
