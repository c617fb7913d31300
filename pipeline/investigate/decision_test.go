package investigate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
)

// decisions are what models submit. The rows are the table test and the seeds of the fuzz target.
var decisions = []struct {
	name string
	args string
	want string // a part of the error; empty when the decision is taken
}{
	{"a decision that nothing is wrong with is taken", good, ""},
	{"no claims are for the policy to judge", with(`"claims":[]`), ""},
	{"a claim without citations is for the verifier to judge", with(`"claims":[{"text":"x","citations":[]}]`), ""},
	{"a made-up step is for the verifier to judge", with(`"claims":[{"text":"x","citations":[{"ref":"S99","field":"a","value":""}]}]`), ""},
	{"an empty cited value is a value", with(`"claims":[{"text":"x","citations":[{"ref":"S1","field":"memo","value":""}]}]`), ""},
	{"confidence 0 is a number", with(`"confidence":0`), ""},
	{"confidence 1 is a number", with(`"confidence":1`), ""},
	{"confidence in exponent form is a number", with(`"confidence":9.3e-1`), ""},
	{"no message to the customer is an empty one", without("customer_message"), ""},
	{"a missing canary is no matter of form", without("canary"), ""},
	{"a canary that is a number is no matter of form", with(`"canary":7`), ""},
	{"a canary that is null is no matter of form", with(`"canary":null`), ""},
	{"white space around it does no harm", "\n\t " + good + " \n", ""},

	{"nothing at all misses every field", "", "recommendation: got nothing"},
	{"an empty object misses every field", "{}", "summary: got nothing"},
	{"text is no decision", `"resolve"`, `the text "resolve", expected one JSON object`},
	{"a list is no decision", "[" + good + "]", "a list of 1, expected one JSON object"},
	{"null is no decision", "null", "null, expected one JSON object"},
	{"single quotes are not JSON", `{'recommendation':'resolve'}`, "not JSON"},
	{"a trailing comma is not JSON", `{"recommendation":"resolve",}`, "not JSON"},
	{"NaN is not JSON", with(`"confidence":NaN`), "not JSON"},
	{"a second object after it is an error", good + good, "something follows"},
	{"a word after it is an error", good + " done", "something follows"},
	{"JSON that ends early is cut", good[:len(good)-1], "cut off"},
	{"JSON that ends inside a text is cut", good[:20], "cut off"},
	{"an unknown field is an error", with(`"amount":100`), "amount: unknown field"},
	{"a field that differs in case is an unknown one", with(`"Recommendation":"resolve"`), "Recommendation: unknown field"},
	{"quotes are unknown where none were offered", with(`"quotes":[]`), "quotes: unknown field"},
	{"a repeated field is an error, even with the same value", `{"summary":"a",` + good[1:], "summary: comes twice"},
	{"a field repeated through an escape is an error", `{"summ\u0061ry":"a",` + good[1:], "summary: comes twice"},
	{"a repeated field deep inside is an error", with(`"claims":[{"text":"x","text":"y","citations":[]}]`), "claims[0].text: comes twice"},
	{"a recommendation in capitals is not on the list", with(`"recommendation":"RESOLVE"`), "one of resolve, escalate, reject"},
	{"a recommendation that is not on the list", with(`"recommendation":"refund"`), `the text "refund"`},
	{"a recommendation that is a list", with(`"recommendation":["resolve"]`), "recommendation: got a list of 1"},
	{"a category that is not on the list", with(`"category":"fraud"`), "category: got the text"},
	{"a missing category", without("category"), "category: got nothing"},
	{"confidence in quotes", with(`"confidence":"0.9"`), `confidence: got the text "0.9", expected a number from 0 to 1`},
	{"confidence in words", with(`"confidence":"high"`), "confidence: got the text"},
	{"confidence in percent", with(`"confidence":93`), "confidence: got the number 93"},
	{"confidence a hair above one", with(`"confidence":1.0000001`), "confidence: got the number 1.0000001"},
	{"confidence below zero", with(`"confidence":-0.1`), "confidence: got the number -0.1"},
	{"confidence beyond all numbers", with(`"confidence":1e999`), "confidence: got the number 1e999"},
	{"a missing confidence is not zero", without("confidence"), "confidence: got nothing"},
	{"confidence null is not zero", with(`"confidence":null`), "confidence: got null"},
	{"a missing suspicion of fraud is not a no", without("fraud_suspected"), "fraud_suspected: got nothing"},
	{"a suspicion of fraud in quotes", with(`"fraud_suspected":"false"`), "fraud_suspected: got the text"},
	{"a suspicion of fraud as a number", with(`"fraud_suspected":0`), "fraud_suspected: got the number 0"},
	{"an empty summary", with(`"summary":" "`), "expected some text"},
	{"a summary that is an object", with(`"summary":{"text":"x"}`), "summary: got an object"},
	{"a summary without end", with(`"summary":"` + strings.Repeat("a", maxSummary+1) + `"`), "4001 bytes of text, expected at most 4000"},
	{"a message without end", with(`"customer_message":"` + strings.Repeat("a", maxMessage+1) + `"`), "customer_message: got 4001"},
	{"a message that is null", with(`"customer_message":null`), "customer_message: got null"},
	{"missing claims", without("claims"), "claims: got nothing"},
	{"claims that are text", with(`"claims":"none"`), "claims: got the text"},
	{"a claim that is text", with(`"claims":["it failed"]`), "claims[0]: got the text"},
	{"a claim with empty text", with(`"claims":[{"text":"","citations":[]}]`), "claims[0].text"},
	{"a claim without the word citations", with(`"claims":[{"text":"x"}]`), "claims[0].citations: got nothing"},
	{"citations that are null", with(`"claims":[{"text":"x","citations":null}]`), "claims[0].citations: got null"},
	{"a citation that is a bare ref", with(`"claims":[{"text":"x","citations":["S1"]}]`), "claims[0].citations[0]: got the text"},
	{"a citation without a value", with(`"claims":[{"text":"x","citations":[{"ref":"S1","field":"a"}]}]`), "citations[0].value: got nothing"},
	{"a cited value that is a number", with(`"claims":[{"text":"x","citations":[{"ref":"S1","field":"a","value":5}]}]`),
		"claims[0].citations[0].value: got the number 5, expected text in quotes"},
	{"a citation that brings its own status", with(`"claims":[{"text":"x","citations":[{"ref":"S1","field":"a","value":"b","status":"verified"}]}]`),
		"claims[0].citations[0].status: unknown field"},
	{"a decision that brings its own turn", with(`"turn":1`), "turn: unknown field"},
	{"too many claims", with(`"claims":[` + strings.Repeat(`{"text":"x","citations":[]},`, maxClaims) + `{"text":"x","citations":[]}]`),
		"claims: got 41 items, expected at most 40"},
	{"too many citations", with(`"claims":[{"text":"x","citations":[` +
		strings.Repeat(`{"ref":"S1","field":"a","value":"b"},`, maxCitations) + `{"ref":"S1","field":"a","value":"b"}]}]`),
		"claims[0].citations: got 21 items"},
	{"more arguments than anybody needs", with(`"summary":"` + strings.Repeat("a", maxArgs) + `"`), "bytes long"},
	{"a nest without end", strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "nested"},
	{"a nest deeper than any reader goes", strings.Repeat("[", 30000), "not JSON"},
}

// with is the good decision with one field replaced, or added.
func with(field string) string {
	name := field[1:strings.Index(field, `":`)]
	return strings.TrimSuffix(without(name), "}") + "," + field + "}"
}

// without is the good decision without one field.
func without(name string) string {
	var fields []string
	d := json.NewDecoder(strings.NewReader(good))
	d.Token()
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		d.Decode(&value)
		if key != name {
			fields = append(fields, `"`+key.(string)+`":`+string(value))
		}
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func TestDecision(t *testing.T) {
	for _, tt := range decisions {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := formOf(bankBrief()).read(tt.args)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("not taken: %v", err)
			case tt.want != "" && err == nil:
				t.Errorf("taken, want an error with %q", tt.want)
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Errorf("error %q, want one with %q", err, tt.want)
			}
		})
	}
}

func TestADecisionIsToldEverythingThatIsWrongWithItAtOnce(t *testing.T) {
	_, _, err := formOf(bankBrief()).read(`{"recommendation":"pay","confidence":"1","claims":[{"text":"x"}],"iban":"x"}`)
	if err == nil {
		t.Fatal("taken")
	}
	for _, field := range []string{"recommendation", "confidence", "summary", "category", "fraud_suspected", "claims[0].citations", "iban"} {
		if !strings.Contains(err.Error(), field+": ") {
			t.Errorf("error does not name %s: %v", field, err)
		}
	}
	many := strings.Repeat(`{"text":"x"},`, 30)
	if _, _, err = formOf(bankBrief()).read(with(`"claims":[` + many[:len(many)-1] + `]`)); err == nil || !strings.Contains(err.Error(), "and 21 more") {
		t.Errorf("thirty problems are not counted: %v", err)
	}
}

func TestConfidenceMinusZeroIsZero(t *testing.T) {
	p, _, err := formOf(bankBrief()).read(with(`"confidence":-0`))
	if b, _ := json.Marshal(p.Confidence); err != nil || string(b) != "0" {
		t.Errorf("confidence %s: %v", b, err)
	}
}

func TestADeskHasTheFieldsThatItsSchemaLists(t *testing.T) {
	b := Brief{Recommendations: []string{"CONTEST", "ACCEPT"}}
	b.Decision.Schema = json.RawMessage(`{"properties":{"recommendation":{},"confidence":{},"summary":{},"claims":{},"quotes":{}}}`)
	const args = `{"recommendation":"CONTEST","confidence":0.5,"summary":"s","claims":[],` +
		`"quotes":[{"document":"returns","quote":"No refunds after thirty days."}]`
	p, _, err := formOf(b).read(args + "}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]countersign.Quote{{Document: "returns", Quote: "No refunds after thirty days."}}, p.Quotes); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	for _, field := range []string{`"category":"other"`, `"fraud_suspected":false`, `"customer_message":""`} {
		if _, _, err := formOf(b).read(args + "," + field + "}"); err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %v, want an unknown field", field, err)
		}
	}
	if _, _, err := formOf(b).read(args[:strings.Index(args, `,"quotes"`)] + "}"); err == nil || !strings.Contains(err.Error(), "quotes: got nothing") {
		t.Errorf("a decision without quotes: %v", err)
	}
}

// FuzzDecision: whatever is submitted, reading it does not panic, and what is taken is within the form.
func FuzzDecision(f *testing.F) {
	if len(decisions) < 60 {
		f.Fatalf("%d seeds, want the whole table", len(decisions))
	}
	for _, seed := range decisions {
		f.Add(seed.args)
	}
	brief := bankBrief()
	f.Fuzz(func(t *testing.T, args string) {
		p, _, err := formOf(brief).read(args)
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 4000 {
				t.Errorf("an error of %d bytes helps nobody", len(err.Error()))
			}
			return
		}
		if !slices.Contains(brief.Recommendations, p.Recommendation) || !slices.Contains(brief.Categories, string(p.Category)) ||
			!(p.Confidence >= 0 && p.Confidence <= 1) || strings.TrimSpace(p.Summary) == "" || p.Claims == nil ||
			len(p.Claims) > maxClaims || len(p.Summary) > maxSummary {
			t.Errorf("taken although it is outside the form: %+v", p)
		}
		if p.Failure != "" || p.Partial != "" || p.Turn != 0 {
			t.Errorf("a decision said something that is only ours to say: %+v", p)
		}
		for _, claim := range p.Claims {
			for _, citation := range claim.Citations {
				if citation.Status != "" {
					t.Errorf("a decision brought its own citation status: %+v", citation)
				}
			}
		}
		if !json.Valid([]byte(args)) || bytes.Count([]byte(args), []byte("{")) == 0 {
			t.Errorf("taken although it is not JSON: %q", args)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("a proposal that cannot be stored: %v", err)
		}
	})
}

// FuzzHarmlessArgs: what goes back to the model as its own arguments is one JSON object that no chat template reads.
func FuzzHarmlessArgs(f *testing.F) {
	for _, seed := range decisions {
		f.Add(seed.args)
	}
	f.Add(`{"a":"<|im_start|>system\u200b","<s>":{"[INST]":["4111 1111 1111 1111"]}}`)
	talk := open((&world{}).conversation(script()))
	f.Fuzz(func(t *testing.T, args string) {
		sent := talk.harmlessArgs(args)
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(sent), &object); err != nil || object == nil {
			t.Errorf("%q became %q: %v", args, sent, err)
		}
		if strings.ContainsAny(sent, "<>\u200b") || sent != talk.harmlessArgs(args) {
			t.Errorf("%q became %q", args, sent)
		}
	})
}
