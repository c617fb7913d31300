package bank

import (
	"strings"

	"countersign/llm"
	"countersign/llm/rulebook"
)

// Playbook is how the offline reviewer works this desk's cases: it asks all eight tools at once and proposes what their
// results support.
//
// It sees what any model sees and nothing else, so it reads the results anew instead of asking package rules: two readers
// of the same records that can disagree are worth more than one that is asked twice.
func Playbook() rulebook.Playbook {
	return rulebook.Playbook{
		Knows:        knows,
		Ask:          strings.Fields(asked),
		Decide:       decide,
		DecisionTool: decision.Name,
	}
}

const asked = `get_transaction get_ledger_entries get_settlement_status get_device_and_location get_customer_profile
	get_customer_history get_merchant_info get_related_transactions`

// knows recognises a conversation of this desk by the words that its decision may hold: on the last turn there is no other
// tool to go by.
func knows(offered []llm.Tool) bool {
	for _, t := range offered {
		if t.Name == decision.Name && string(t.Schema) == string(decision.Schema) {
			return true
		}
	}
	return false
}

func decide(seen rulebook.Seen) (any, error) {
	return look(seen).opinion().submit(seen.Canary), nil
}

// submission is the arguments of submit_decision.
type submission struct {
	Recommendation  string  `json:"recommendation"`
	Category        string  `json:"category"`
	Confidence      float64 `json:"confidence"`
	FraudSuspected  bool    `json:"fraud_suspected"`
	Summary         string  `json:"summary"`
	Canary          string  `json:"canary"`
	CustomerMessage string  `json:"customer_message"`
	Claims          []claim `json:"claims"`
}

// claim is one sentence and what shows it.
type claim struct {
	Text      string     `json:"text"`
	Citations []citation `json:"citations"`
}

type citation struct {
	Ref   string `json:"ref"`
	Field string `json:"field"`
	Value string `json:"value"`
}

func (o opinion) submit(canary string) submission {
	s := submission{
		Recommendation: o.recommendation, Category: o.category, Confidence: o.confidence, FraudSuspected: o.fraud,
		Canary: canary, CustomerMessage: o.message, Claims: []claim{},
	}
	sentences := []string{o.lead}
	for _, c := range o.claims {
		sentences = append(sentences, c.Text)
		if len(c.Citations) > 0 { // what could not be read cannot be cited either
			s.Claims = append(s.Claims, c)
		}
	}
	s.Summary = strings.Join(sentences, " ")
	return s
}
