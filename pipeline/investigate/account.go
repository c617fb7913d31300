package investigate

import (
	"fmt"
	"strings"

	"countersign"
	"countersign/llm"
)

// offline is the provider that is no AI. It may stand in for models that gave no answer, and never unnoticed.
const offline = "rulebook"

// account takes down who was asked in a turn, what that cost, and whether the offline reviewer stood in for somebody.
func (t *talk) account(turn Turn) {
	AddUse(&t.use, turn)
	by, answered := turn.By()
	stoodIn := answered && by.Provider == offline && len(turn.Asked) > 1
	if stoodIn && t.stoodIn == "" {
		t.stoodIn = instead(turn.Asked)
	}
	if stoodIn || turn.Failure == countersign.Unfunded {
		for _, who := range turn.Asked {
			if who.Kind == llm.NoBudget {
				t.unfunded = who.Why
			}
		}
	}
}

// AddUse adds to a use who was asked in a turn and what that cost: the last who answered is the one who is named.
func AddUse(use *countersign.ModelUse, turn Turn) {
	for _, who := range turn.Asked {
		use.Cost = use.Cost.Plus(who.Costs)
		if who.Assumed != nil {
			use.AssumedTokens = add(add(use.AssumedTokens, who.Assumed.Input), who.Assumed.Output)
		}
	}
	if by, ok := turn.By(); ok {
		use.Provider, use.Name = by.Provider, by.Name
	}
}

// instead says for whom the offline reviewer went on.
func instead(asked []Asked) string {
	var silent []string
	for _, who := range asked[:len(asked)-1] {
		if who.Kind != llm.NoBudget {
			silent = append(silent, who.Name)
		}
	}
	if len(silent) == 0 {
		return "no model was asked, and the offline reviewer, which is no AI, went on"
	}
	return fmt.Sprintf("%s gave no answer, and the offline reviewer, which is no AI, went on", strings.Join(distinct(silent), " and "))
}

func distinct(names []string) (all []string) {
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			all = append(all, name)
		}
		seen[name] = true
	}
	return all
}
