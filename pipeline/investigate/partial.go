package investigate

import (
	"fmt"
	"strings"

	"countersign/llm"
	"countersign/redact"
)

// A server whose context is too small for a conversation drops the oldest messages and answers as if nothing had happened.
// Two signs of it are looked for, and each is a reason for a person:
//
//   - The canary in the first user message, which such a server drops first, must be repeated by the decision.
//   - The input tokens that the server says it read, cached ones included, must not be clearly fewer than what was sent.
//
// Many local servers report no tokens at all. That is unknown, not zero, and by itself no doubt: the canary stands in the
// very message that is dropped first, so a model that repeats it has seen the oldest part of what it was sent.

// fewer is how many times too few tokens must be reported before it is a doubt. llm.Estimate is low already; the margin is
// for text that a vocabulary happens to know by heart.
const fewer = 2

// weigh compares what the server says it read in a turn with what it was sent. It looks at the request that the turn
// answered, so it comes before the turn becomes a part of the conversation.
func (t *talk) weigh(turn Turn) {
	if turn.Usage == nil || turn.Usage.Input <= 0 {
		return
	}
	if least := llm.Estimate(t.request()) / fewer; turn.Usage.Input < least {
		t.doubts = append(t.doubts, fmt.Sprintf("on turn %d the server read %d tokens of a request of at least %d",
			turn.Number, turn.Usage.Input, least))
	}
}

// judge compares the canary of a decision with the one that the model was shown.
func (t *talk) judge(c canary) {
	shown, _ := strings.CutPrefix(redact.Mask(canaryLine(t.Canary)).String(), canaryLine(""))
	switch {
	case t.Canary == "":
		t.doubts = append(t.doubts, "the first message held no canary")
	case !c.given:
		t.doubts = append(t.doubts, "the decision does not repeat the canary of the first message")
	case strings.TrimSpace(c.value) != shown:
		t.doubts = append(t.doubts, "the decision repeats another canary than the one in the first message")
	}
}

// doubt is every doubt in one sentence, empty when there is none.
func (t *talk) doubt() string { return strings.Join(t.doubts, "; ") }
