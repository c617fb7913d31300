package investigate

import (
	"errors"
	"fmt"
	"strings"

	"countersign"
	"countersign/llm"
	"countersign/redact"
)

// ruling is what becomes of a turn's calls. It is made before any of them runs, so that no tool runs for a model that has
// already decided, or has had its last chance to.
type ruling struct {
	accepted bool
	refusal  string // the result of a decision that was not accepted
	closed   string // why no tool runs in this turn; empty when they run
}

func (t *talk) rule(turn *Turn) ruling {
	decisions := turn.decisions(t.Brief.Decision.Name)
	switch {
	case turn.Failure != "":
		return ruling{closed: "not run: there was no reply"} // and so no call either
	case len(decisions) > 0:
		return t.ruleDecision(turn, decisions)
	case len(turn.Calls) == 0:
		t.ruleSilence(turn)
	case t.final(turn.Number):
		only := fmt.Sprintf("only %s was offered", t.Brief.Decision.Name)
		turn.end(countersign.NoDecision, "on the last turn "+only+", and the model called something else")
		return ruling{closed: "not run: " + only}
	}
	return ruling{}
}

// ruleDecision takes a decision that is well-formed, and sends back once what is wrong with one that is not. Other calls
// beside a decision that ends the conversation are not run: it cannot rest on what came after it.
func (t *talk) ruleDecision(turn *Turn, decisions []int) ruling {
	_, _, err := t.decision(*turn, decisions)
	if err == nil {
		return ruling{accepted: true, closed: "not run: the decision in the same turn ended the investigation"}
	}
	r := ruling{refusal: "the decision was not accepted: " + err.Error()}
	if !t.returned && !t.final(turn.Number) {
		turn.Note = redact.Mask("sent back: " + err.Error()).String()
		return r
	}
	r.closed = "not run: the investigation ended in this turn"
	turn.end(t.unfit(err), err.Error())
	return r
}

// unfit names the failure of a decision that will not go back.
func (t *talk) unfit(err error) countersign.Failure {
	switch {
	case errors.Is(err, errCut):
		return countersign.CutReply
	case t.returned:
		return countersign.MalformedTwice
	}
	return countersign.NoDecision // malformed for the first time, with no turn left to correct it
}

// decision reads the one decision of a turn. Two in one turn are none: nobody can tell which of them is meant.
func (t *talk) decision(turn Turn, decisions []int) (countersign.Proposal, canary, error) {
	if len(decisions) > 1 {
		return countersign.Proposal{}, canary{}, malformed("%d decisions in one turn, expected exactly one", len(decisions))
	}
	if turn.cut(decisions[0]) {
		return countersign.Proposal{}, canary{}, errCut
	}
	return t.form.read(turn.Calls[decisions[0]].Args)
}

// ruleSilence nudges once. Prose is never read as an answer, however much it looks like a call.
func (t *talk) ruleSilence(turn *Turn) {
	empty := strings.TrimSpace(turn.Text) == ""
	switch {
	case !t.nudged && !t.final(turn.Number):
		turn.Note = "nudged: " + silence(*turn, empty)
	case empty:
		turn.end(countersign.NoAnswer, silence(*turn, empty))
	case turn.Stop == llm.StopLength:
		turn.end(countersign.CutReply, silence(*turn, empty))
	default:
		turn.end(countersign.NoDecision, silence(*turn, empty))
	}
}

// silence says what came in place of a call.
func silence(turn Turn, empty bool) string {
	switch cut := turn.Stop == llm.StopLength; {
	case empty && turn.Thinking && cut:
		return "the whole output limit was spent on reasoning, which is never read as an answer"
	case empty && turn.Thinking:
		return "only reasoning came, which is never read as an answer"
	case empty && cut:
		return "the output limit was reached before anything was said"
	case empty:
		return "the reply was empty"
	case cut:
		return "the reply was cut off in its prose and called no tool"
	}
	return "the reply was prose and called no tool"
}
