package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"countersign/desk/bank"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/llm/scripted"
)

// turn is one line of a script.
type turn struct {
	play   func(llm.Request) (llm.Reply, error)
	edits  []string // the lines below it that are set in: what is changed in its decision
	always bool
}

// model reads the section model of a scenario; testdata/README.md says how one is written.
func model(t testing.TB, text string) llm.Model {
	t.Helper()
	turns, err := readScript(text)
	if err != nil {
		t.Fatalf("the model of this scenario: %v", err)
	}
	return scripted.Func(func(n int, r llm.Request) (llm.Reply, error) {
		if n >= len(turns) && (len(turns) == 0 || !turns[len(turns)-1].always) {
			return llm.Reply{}, scripted.Fail(llm.Unreachable, "the script is over")
		}
		now := turns[min(n, len(turns)-1)]
		reply, err := now.play(r)
		if err != nil {
			return reply, err
		}
		return edited(reply, r, now.edits)
	})
}

func readScript(text string) (turns []turn, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "  ") && len(turns) == 0:
			return nil, fmt.Errorf("%q is set in, and there is no turn above it", line)
		case strings.HasPrefix(line, "  "):
			last := &turns[len(turns)-1]
			last.edits = append(last.edits, strings.TrimSpace(line))
		default:
			next, err := readTurn(line)
			if err != nil {
				return nil, err
			}
			turns = append(turns, next)
		}
	}
	return turns, nil
}

// readTurn reads one line: what stands after its last commas first.
func readTurn(line string) (turn, error) {
	if said, ok := strings.CutSuffix(line, ", again and again"); ok {
		now, err := readTurn(said)
		now.always = true
		return now, err
	}
	if said, ok := strings.CutSuffix(line, ", cut off"); ok {
		return altered(said, func(r *llm.Reply) { r.Stop = llm.StopLength })
	}
	if said, count, ok := strings.Cut(line, ", reading "); ok {
		n, err := strconv.ParseInt(strings.TrimSuffix(count, " tokens"), 10, 64)
		if err != nil {
			return turn{}, fmt.Errorf("%q: how many tokens?", line)
		}
		return altered(said, func(r *llm.Reply) { r.Usage = &llm.Usage{Input: n, Output: 10} })
	}
	verb, rest, _ := strings.Cut(line, " ")
	play, ok := verbs[verb]
	if !ok {
		return turn{}, fmt.Errorf("a turn begins with asks, says, thinks, decides, reviewer, cannot, refuses, takes or answers, not with %q", verb)
	}
	return turn{play: play(rest), always: verb == "reviewer"}, nil
}

func altered(line string, alter func(*llm.Reply)) (turn, error) {
	now, err := readTurn(line)
	play := now.play
	now.play = func(r llm.Request) (llm.Reply, error) {
		reply, err := play(r)
		alter(&reply)
		return reply, err
	}
	return now, err
}

// verbs are the first words of a turn, and what the rest of its line means.
var verbs = map[string]func(rest string) func(llm.Request) (llm.Reply, error){
	"asks": func(rest string) func(llm.Request) (llm.Reply, error) { return replies(asks(rest)) },
	"says": func(rest string) func(llm.Request) (llm.Reply, error) { return replies(scripted.Say(spoken(rest))) },
	"thinks": func(string) func(llm.Request) (llm.Reply, error) {
		return replies(llm.Reply{Thinking: true, Stop: llm.StopEnd})
	},
	"decides":  decides,
	"reviewer": func(string) func(llm.Request) (llm.Reply, error) { return reviewer },
	"cannot":   func(string) func(llm.Request) (llm.Reply, error) { return fails(llm.Unreachable, "no connection") },
	"refuses":  func(string) func(llm.Request) (llm.Reply, error) { return fails(llm.Refused, "the key is wrong") },
	"takes":    func(string) func(llm.Request) (llm.Reply, error) { return fails(llm.TimedOut, "no first byte") },
	"answers":  func(string) func(llm.Request) (llm.Reply, error) { return fails(llm.Unreadable, "this is HTML") },
}

func replies(reply llm.Reply) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) { return reply, nil }
}

func fails(kind llm.ErrorKind, message string) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) { return llm.Reply{}, scripted.Fail(kind, message) }
}

func spoken(rest string) string {
	if rest == "nothing" {
		return ""
	}
	return rest
}

// allTools are the bank's.
const allTools = "get_transaction get_ledger_entries get_settlement_status get_device_and_location get_customer_profile " +
	"get_customer_history get_merchant_info get_related_transactions"

func asks(rest string) llm.Reply {
	rest, args, _ := strings.Cut(rest, " {")
	if rest == "everything" {
		rest = allTools
	}
	var calls []llm.Call
	for _, name := range strings.Fields(rest) {
		calls = append(calls, scripted.Call(name, ""))
	}
	if args != "" {
		calls[len(calls)-1].Args = "{" + args
	}
	return scripted.Calls(calls...)
}

var offline = rulebook.New(bank.Playbook())

// reviewer answers as the offline reviewer does. Bytes and usage are the script's own.
func reviewer(r llm.Request) (llm.Reply, error) {
	reply, err := offline.Complete(context.Background(), r)
	return llm.Reply{Text: reply.Text, Calls: reply.Calls, Stop: reply.Stop}, err
}

// decides makes a decision: three words, or as it is sent.
func decides(rest string) func(llm.Request) (llm.Reply, error) {
	if strings.HasPrefix(rest, "{") {
		return replies(scripted.Calls(scripted.Call("submit_decision", rest)))
	}
	words := strings.Fields(rest)
	return func(r llm.Request) (llm.Reply, error) {
		if len(words) != 3 {
			return llm.Reply{}, fmt.Errorf("a decision is a recommendation, a category and a confidence, not %q", rest)
		}
		line, _, _ := strings.Cut(r.Messages[0].Text.String(), "\n")
		return scripted.Calls(scripted.Call("submit_decision", written(decision{
			"recommendation": words[0], "category": words[1], "confidence": json.Number(words[2]), "fraud_suspected": false, "summary": "This is what I think.",
			"canary": strings.TrimPrefix(line, "canary: "), "customer_message": "Hello, we looked into it.", "claims": []any{},
		}))), nil
	}
}

// decision is the arguments of submit_decision.
type decision map[string]any

func written(d decision) string {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // unreachable: it was read from JSON or built of words
	}
	return string(b)
}

// edited changes the decision of a reply, if there is one in it.
func edited(reply llm.Reply, r llm.Request, edits []string) (llm.Reply, error) {
	reply.Calls = append([]llm.Call(nil), reply.Calls...)
	for i, call := range reply.Calls {
		if call.Name != "submit_decision" || len(edits) == 0 {
			continue
		}
		var d decision
		if err := json.Unmarshal([]byte(call.Args), &d); err != nil {
			return reply, errors.New("a decision that is written as it is sent cannot be changed by the lines below it")
		}
		for _, edit := range edits {
			if err := d.edit(edit); err != nil {
				return reply, err
			}
		}
		reply.Calls[i].Args = written(d)
	}
	return reply, nil
}

func (d decision) edit(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "fraud suspected":
		d["fraud_suspected"] = true
	case line == "without canary":
		delete(d, "canary")
	case line == "canary wrong":
		d["canary"] = "abcdefghijklmnopqrst"
	case line == "without claims":
		d["claims"] = []any{}
	case verb == "confidence":
		d["confidence"] = json.Number(rest)
	case verb == "recommends":
		d["recommendation"] = rest
	case verb == "category":
		d["category"] = rest
	case strings.HasPrefix(verb, "S"):
		field, value, ok := strings.Cut(rest, " = ")
		if !ok {
			return fmt.Errorf("a claim is written S3 status = failed, not %q", line)
		}
		claims, _ := d["claims"].([]any)
		d["claims"] = append(claims, map[string]any{"text": "So it is.", "citations": []any{map[string]any{"ref": verb, "field": field, "value": value}}})
	default:
		return fmt.Errorf("nobody knows what %q changes in a decision", line)
	}
	return nil
}
