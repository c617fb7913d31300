package eval

import (
	"encoding/json"
	"strings"

	"countersign"
	"countersign/llm"
)

// sight is what a conversation has shown a stub so far, by tool. A stub reads results as a model would, fences included.
type sight struct {
	canary  string
	reason  string // the customer's word for it
	results map[string]shown
	texts   []string // everything it was shown, in order
}

// shown is one tool result.
type shown struct {
	Ref    countersign.StepRef        `json:"ref"`
	OK     bool                       `json:"ok"`
	Result map[string]json.RawMessage `json:"result"`
}

// look reads a whole conversation. Of several results of one tool that worked, the first counts.
func look(req llm.Request) sight {
	s := sight{results: map[string]shown{}}
	tools := map[string]string{}
	for i, m := range req.Messages {
		text := m.Text.String()
		for _, c := range m.Calls {
			tools[c.ID] = c.Name
		}
		switch {
		case i == 0:
			s.open(text)
		case m.Role == llm.ToolRole:
			s.read(tools[m.CallID], text)
		}
		if m.Role != llm.Assistant {
			s.texts = append(s.texts, text)
		}
	}
	return s
}

// open reads the first message: its first line is the canary's.
func (s *sight) open(text string) {
	first, rest, _ := strings.Cut(text, "\n")
	s.canary = strings.TrimPrefix(first, "canary: ")
	_, rest, _ = strings.Cut(rest, "reason given: ")
	s.reason, _, _ = strings.Cut(rest, "\n")
}

func (s *sight) read(tool, text string) {
	var r shown
	if json.Unmarshal([]byte(text), &r) == nil && r.OK && s.results[tool].Ref == "" {
		s.results[tool] = r
	}
}

// claim cites a field of a tool's result as it was shown. A field that was not shown is cited all the same, as empty.
func (s sight) claim(tool, field string) countersign.Claim {
	r := s.results[tool]
	value := strings.Trim(string(r.Result[field]), `"`)
	return countersign.Claim{Text: "The record says so.", Citations: []countersign.Citation{{Ref: r.Ref, Field: field, Value: value}}}
}

// decision is the arguments of submit_decision.
type decision struct {
	Recommendation  string              `json:"recommendation"`
	Category        string              `json:"category"`
	Confidence      float64             `json:"confidence"`
	FraudSuspected  bool                `json:"fraud_suspected"`
	Summary         string              `json:"summary"`
	Canary          string              `json:"canary"`
	CustomerMessage string              `json:"customer_message"`
	Claims          []countersign.Claim `json:"claims"`
}

func (d decision) args() string { return asJSON(d) }

// asJSON is what a stub writes as arguments.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: only texts, numbers and lists of them are given
	}
	return string(b)
}
