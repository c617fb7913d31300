package merchant

import (
	"strings"

	"countersign"
	"countersign/desk/merchant/rules"
	"countersign/desk/merchant/shop"
	"countersign/llm"
	"countersign/llm/rulebook"
)

// Playbook is how the offline reviewer works this desk's cases: everything it needs was given to it, so it decides at once.
//
// It sees what any model sees and reads that anew instead of asking package rules: two readers of the same records that can
// disagree are worth more than one that is asked twice.
func Playbook() rulebook.Playbook {
	return rulebook.Playbook{Knows: knows, Decide: decide, DecisionTool: decision.Name}
}

func knows(offered []llm.Tool) bool {
	for _, t := range offered {
		if t.Name == decision.Name && string(t.Schema) == string(decision.Schema) {
			return true
		}
	}
	return false
}

func decide(seen rulebook.Seen) (any, error) { return behold(seen).opinion().submit(seen.Canary), nil }

// submission is the arguments of submit_decision.
type submission struct {
	Recommendation string  `json:"recommendation"`
	Confidence     float64 `json:"confidence"`
	Summary        string  `json:"summary"`
	Canary         string  `json:"canary"`
	Claims         []said  `json:"claims"`
	Quotes         []quote `json:"quotes"`
}

// said is one sentence and what shows it.
type said struct {
	Text      string     `json:"text"`
	Citations []citation `json:"citations"`
}

type citation struct {
	Ref   string `json:"ref"`
	Field string `json:"field"`
	Value string `json:"value"`
}

type quote struct {
	Document string `json:"document"`
	Quote    string `json:"quote"`
}

// opinion is what the offline reviewer makes of a case.
type opinion struct {
	recommendation string
	confidence     float64
	lead           string
	said           []said
	quotes         []quote
}

// How sure the reviewer says it is. It has no sense of probability: these are grades.
const (
	sure    = 0.9
	halfway = 0.5
	hardly  = 0.3
)

func (o opinion) submit(canary string) submission {
	s := submission{Recommendation: o.recommendation, Confidence: o.confidence, Canary: canary, Claims: []said{}, Quotes: []quote{}}
	sentences := []string{o.lead}
	for _, c := range o.said {
		sentences = append(sentences, c.Text)
		if len(c.Citations) > 0 {
			s.Claims = append(s.Claims, c)
		}
	}
	s.Summary, s.Quotes = strings.Join(sentences, " "), append(s.Quotes, o.quotes...)
	return s
}

// opinion weighs what was seen. Whatever it cannot tell ends with a person.
func (s *sight) opinion() opinion {
	back, open := s.with(shop.Returned, s.refunds), len(s.returns.rows)
	switch {
	case s.blind():
		return s.hand(hardly, "Not everything could be read, so a person should look.")
	case !s.orderFound:
		return s.hand(hardly, "The shop's records hold no such order.")
	case s.doubtful():
		return s.hand(halfway, "The records hold something that is not settled yet.")
	case open > 0 && len(back) == 0:
		return s.hand(halfway, "The customer returned goods, or asked to, and no money went back yet.")
	case len(back) > 0:
		return s.agree("Money went back for this order, so there is nothing left to contest.")
	}
	return s.answer()
}

// answer is the opinion about an order that was paid, with nothing returned and nothing refunded.
func (s *sight) answer() opinion {
	arrived := s.arrived()
	switch s.reason {
	case string(countersign.NotReceived):
		if arrived {
			return s.contest("The order was delivered, so the claim that nothing arrived can be answered.")
		}
		return s.hand(halfway, "Nothing shows that the order arrived.")
	case string(countersign.DuplicateCharge):
		if len(s.payments.rows) == 1 {
			return s.contest("The order was paid once.")
		}
		return s.hand(halfway, "There is more than one payment on record for the order.")
	case string(countersign.Unauthorised), string(countersign.WrongAmount):
		return s.hand(halfway, "The shop's records alone do not settle this kind of claim.")
	}
	if arrived {
		return s.contest("The order was delivered, nothing came back, and the policy says what would have been owed.")
	}
	return s.hand(halfway, "The records leave it open.")
}

func (s *sight) contest(lead string) opinion { return s.propose(rules.Contest, sure, lead) }
func (s *sight) agree(lead string) opinion   { return s.propose(rules.Accept, sure, lead) }
func (s *sight) hand(confidence float64, lead string) opinion {
	return s.propose(rules.Review, confidence, lead)
}

func (s *sight) propose(recommendation string, confidence float64, lead string) opinion {
	return opinion{recommendation: recommendation, confidence: confidence, lead: lead, said: s.happened(), quotes: s.clauses()}
}
