package investigate

import (
	"countersign"
	"countersign/llm"
)

// serverFailures says what became of the proposal when no usable answer came.
var serverFailures = map[llm.ErrorKind]countersign.Failure{
	llm.Unreachable: countersign.Unreachable,
	llm.Refused:     countersign.RefusedByServer,
	llm.TimedOut:    countersign.TimedOut,
	llm.Unreadable:  countersign.NoAnswer,
	llm.PassedOver:  countersign.Unreachable,
	llm.NoBudget:    countersign.Unfunded,
}

// sentences say to an analyst what happened.
var sentences = map[countersign.Failure]string{
	countersign.NoAnswer:        "The model gave no usable answer",
	countersign.NoDecision:      "The model reached no decision in the turns it had",
	countersign.MalformedTwice:  "The model's decision could not be read, nor could it after it was told why",
	countersign.CutReply:        "The model's answer was cut off before it was complete",
	countersign.Unreachable:     "The model's server could not be reached, or kept failing",
	countersign.RefusedByServer: "The model's server refused the request",
	countersign.TimedOut:        "The model did not decide in the time it had",
	countersign.BudgetSpent:     "The model used up its tokens or tool calls before it decided",
	countersign.Unfunded:        "No model was asked any more",
}

// escalation is the hard-coded proposal: a person, confidence zero, no claim, and what went wrong. It is made from the
// record of the turn alone.
func (t *talk) escalation(turn Turn) *countersign.Proposal {
	summary := sentences[turn.Failure]
	for _, detail := range []string{turn.Note, turn.Error} {
		if detail != "" {
			summary += " (" + detail + ")"
		}
	}
	return &countersign.Proposal{
		Recommendation: t.Brief.Escalation,
		Summary:        summary + ". A person must investigate this case.",
		Claims:         []countersign.Claim{},
		Turn:           turn.Number,
		Failure:        turn.Failure,
		Partial:        t.doubt(),
		StoodIn:        t.stoodIn,
		Budget:         t.unfunded,
	}
}

// proposed is the model's own proposal, without the fence's marks, which it may have copied together with what stood between
// them.
func (t *talk) proposed(turn Turn, decisions []int) *countersign.Proposal {
	p, canary, err := t.decision(turn, decisions)
	if err != nil { // unreachable unless the reader became stricter since the turn was recorded
		turn.end(countersign.NoDecision, "a decision that was accepted earlier can no longer be read: "+err.Error())
		return t.escalation(turn)
	}
	t.judge(canary)
	p.Turn, p.Partial, p.StoodIn, p.Budget = turn.Number, t.doubt(), t.stoodIn, t.unfunded
	t.unfence(&p)
	return &p
}

func (t *talk) unfence(p *countersign.Proposal) {
	texts := []*string{&p.Summary, &p.CustomerMessage}
	for i := range p.Claims {
		texts = append(texts, &p.Claims[i].Text)
		for j := range p.Claims[i].Citations {
			texts = append(texts, &p.Claims[i].Citations[j].Value)
		}
	}
	for i := range p.Quotes {
		texts = append(texts, &p.Quotes[i].Document, &p.Quotes[i].Quote)
	}
	for _, text := range texts {
		*text = t.Fence.Strip(*text)
	}
}
