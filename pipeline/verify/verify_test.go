package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const result = `{"id":"TX-9","status":"failed","final":true,"amount_minor":4999,"rate":0.50,"big":9007199254740993,"small":-0,"exp":1e3,
	"memo":"S&P \"Foods\"","none":null,"word":"null","digits":"4999","empty":"","settlement":{"status":"failed"},
	"entries":[{"id":"LE-1","tags":["a","b"]},{"id":"LE-2"}],"matrix":[[1,2],[3]],
	"a.b":"dotted","a":{"b":"nested","c.d":{"e":1}},"x[0]":"bracketed","x":["listed","second"],"":"nameless"}`

// steps: S1 succeeded in turn 1, S2 failed in turn 1, S3 was asked for in turn 2 together with the decision; S4 twice.
var steps = []countersign.Step{
	{Ref: "S1", Turn: 1, Tool: "get_transaction", OK: true, Result: json.RawMessage(result)},
	{Ref: "S2", Turn: 1, Tool: "get_settlement_status", OK: false, Error: "could not be read", Result: json.RawMessage(`{"status":"failed"}`)},
	{Ref: "S3", Turn: 2, Tool: "get_ledger_entries", OK: true, Result: json.RawMessage(`{"status":"failed"}`)},
	{Ref: "S4", Turn: 1, Tool: "get_merchant_info", OK: true, Result: json.RawMessage(`{"status":"failed"}`)},
	{Ref: "S4", Turn: 1, Tool: "get_merchant_info", OK: true, Result: json.RawMessage(`{"status":"failed"}`)},
	{Ref: "S5", Turn: 1, Tool: "get_customer_profile", OK: true, Result: json.RawMessage(`{"status":"failed"}`)},
	{Ref: "S6", Turn: 1, Tool: "get_customer_history", OK: true, Result: json.RawMessage(`["failed"]`)},
	{Ref: "S7", Turn: 1, Tool: "get_device_and_location", OK: true, Result: json.RawMessage(`{"status":"failed"} }`)},
}

func cite(ref countersign.StepRef, field, value string) countersign.Citation {
	return countersign.Citation{Ref: ref, Field: field, Value: value}
}

func claims(citations ...countersign.Citation) countersign.Proposal {
	return countersign.Proposal{Turn: 2, Claims: []countersign.Claim{{Text: "The transfer failed.", Citations: citations}}}
}

func TestACitationIs(t *testing.T) {
	const verified, mismatch = countersign.CitationVerified, countersign.CitationValueMismatch
	for _, row := range []struct {
		name string
		cite countersign.Citation
		want countersign.CitationStatus
	}{
		{"verified when the text is there", cite("S1", "status", "failed"), verified},
		{"verified when the text is spelled with its quotes", cite("S1", "status", `"failed"`), verified},
		{"verified when the text is copied with its escapes", cite("S1", "memo", `S&P \"Foods\"`), verified},
		{"verified when the text is decoded", cite("S1", "memo", `S&P "Foods"`), verified},
		{"verified when the text is spelled with escapes meant for pages", cite("S1", "memo", `"S\u0026P \"Foods\""`), verified},
		{"verified when the text is empty and cited so", cite("S1", "empty", ""), verified},
		{"a mismatch when the text differs in case", cite("S1", "status", "Failed"), mismatch},
		{"a mismatch when there is a blank too many", cite("S1", "status", "failed "), mismatch},
		{"a mismatch when only a part is cited", cite("S1", "memo", "Foods"), mismatch},
		{"a mismatch when the value is empty and something is cited", cite("S1", "empty", "failed"), mismatch},

		{"verified when the number is spelled the same", cite("S1", "amount_minor", "4999"), verified},
		{"verified when the fraction keeps its zero", cite("S1", "rate", "0.50"), verified},
		{"verified when the number has more digits than a float", cite("S1", "big", "9007199254740993"), verified},
		{"verified when the number has an exponent", cite("S1", "exp", "1e3"), verified},
		{"a mismatch when the number has a fraction too many", cite("S1", "amount_minor", "4999.0"), mismatch},
		{"a mismatch when the fraction lost its zero", cite("S1", "rate", "0.5"), mismatch},
		{"a mismatch when a float would round to it", cite("S1", "big", "9007199254740992"), mismatch},
		{"a mismatch when the exponent was worked out", cite("S1", "exp", "1000"), mismatch},
		{"a mismatch when the number is put in quotes", cite("S1", "amount_minor", `"4999"`), mismatch},
		{"a mismatch when the number is grouped", cite("S1", "amount_minor", "4,999"), mismatch},
		{"verified when digits are text and cited as digits", cite("S1", "digits", "4999"), verified},

		{"verified when it is true", cite("S1", "final", "true"), verified},
		{"a mismatch when true is spelled otherwise", cite("S1", "final", "True"), mismatch},
		{"verified when it is null", cite("S1", "none", "null"), verified},
		{"a mismatch when null is cited as nothing", cite("S1", "none", ""), mismatch},
		{"verified when the word null is text", cite("S1", "word", "null"), verified},

		{"verified inside an object", cite("S1", "settlement.status", "failed"), verified},
		{"verified inside a list", cite("S1", "entries[1].id", "LE-2"), verified},
		{"verified inside a list in a list", cite("S1", "entries[0].tags[1]", "b"), verified},
		{"verified inside a matrix", cite("S1", "matrix[1][0]", "3"), verified},
		{"verified at a key with a dot", cite("S1", "a.b", "dotted"), verified},
		{"verified at a key with a dot inside an object", cite("S1", "a.c.d.e", "1"), verified},
		{"verified at a key with a bracket", cite("S1", "x[0]", "bracketed"), verified},
		{"verified beside a key with a bracket", cite("S1", "x[1]", "second"), verified},
		{"a mismatch at an object", cite("S1", "settlement", `{"status":"failed"}`), mismatch},
		{"a mismatch at a list", cite("S1", "matrix[1]", "[3]"), mismatch},
		{"a mismatch past the end of a list", cite("S1", "entries[2].id", "LE-2"), mismatch},
		{"a mismatch before the start of a list", cite("S1", "entries[-1].id", "LE-2"), mismatch},
		{"a mismatch at an index with a sign or a zero in front", cite("S1", "entries[+1].id", "LE-2"), mismatch},
		{"a mismatch at an index with a zero in front", cite("S1", "entries[01].id", "LE-2"), mismatch},
		{"a mismatch at an index that overflows", cite("S1", "entries[99999999999999999999].id", "LE-2"), mismatch},
		{"a mismatch when a list is read without an index", cite("S1", "entries.id", "LE-1"), mismatch},
		{"a mismatch when the index is written as a key", cite("S1", "entries.[1].id", "LE-2"), mismatch},
		{"a mismatch when something stands against the bracket", cite("S1", "entries[1]id", "LE-2"), mismatch},
		{"a mismatch at a bracket that does not close", cite("S1", "entries[1", "LE-2"), mismatch},
		{"a mismatch at a bracket that was never opened", cite("S1", "entries.]", "LE-2"), mismatch},
		{"a mismatch with a dot at the end", cite("S1", "status.", "failed"), mismatch},
		{"a mismatch with a dot in front", cite("S1", ".status", "failed"), mismatch},
		{"a mismatch with two dots", cite("S1", "settlement..status", "failed"), mismatch},
		{"a mismatch below a value", cite("S1", "status.x", "failed"), mismatch},
		{"a mismatch at no field at all", cite("S1", "", "nameless"), mismatch},
		{"a mismatch when the key differs in case", cite("S1", "Status", "failed"), mismatch},
		{"a mismatch at a path that is too long", cite("S1", strings.Repeat("a.", 200), "failed"), mismatch},
		{"a mismatch in a result that is no object", cite("S6", "[0]", "failed"), mismatch},
		{"a mismatch in a result with something behind it", cite("S7", "status", "failed"), mismatch},

		{"of an unknown step when nothing has that name", cite("S9", "status", "failed"), countersign.CitationUnknownStep},
		{"of an unknown step when the name is in small letters", cite("s1", "status", "failed"), countersign.CitationUnknownStep},
		{"of an unknown step when no step is named", cite("", "status", "failed"), countersign.CitationUnknownStep},
		{"of an unknown step when two steps share the name", cite("S4", "status", "failed"), countersign.CitationUnknownStep},
		{"of a failed step, whatever value it holds", cite("S2", "status", "failed"), countersign.CitationFailedStep},
		{"not yet finished when the decision came in the same turn", cite("S3", "status", "failed"), countersign.CitationNotYetFinished},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := Citations(claims(row.cite), steps, nil)
			if got := e.Claims[0].Citations[0].Status; got != row.want {
				t.Errorf("got %s, want %s (%v)", got, row.want, e.Invalid)
			}
			if good := row.want == verified; good != (len(e.Invalid) == 0) || good != (len(e.Steps) == 1) {
				t.Errorf("steps %v, invalid %v", e.Steps, e.Invalid)
			}
		})
	}
}

func TestEvidence(t *testing.T) {
	good := cite("S1", "status", "failed")
	for _, row := range []struct {
		name    string
		in      countersign.Proposal
		steps   []countersign.StepRef
		invalid []string
	}{
		{"two values of one step are one piece of evidence", claims(good, cite("S1", "final", "true")), []countersign.StepRef{"S1"}, []string{}},
		{"the same citation twice counts once", claims(good, good), []countersign.StepRef{"S1"}, []string{}},
		{"steps are listed in the order they were made", claims(cite("S5", "status", "failed"), good), []countersign.StepRef{"S1", "S5"}, []string{}},
		{"a wrong value beside a right one of the same step is still invalid", claims(good, cite("S1", "status", "settled")), []countersign.StepRef{"S1"},
			[]string{"S1 (get_transaction) says “failed” at “status”, not “settled”."}},
		{"the same bad citation twice is one sentence", claims(cite("S9", "a", "b"), cite("S9", "a", "b")), []countersign.StepRef{}, []string{"“S9” is no step of this investigation."}},
		{"every bad citation has its sentence", claims(cite("S2", "status", "failed"), cite("S3", "status", "failed"), cite("S1", "stage", "x"), cite("S1", "matrix", "x"), cite("", "", "")), []countersign.StepRef{},
			[]string{"S2 (get_settlement_status) failed, so it shows nothing.", "S3 (get_ledger_entries) had not finished when the decision cited it.",
				"S1 (get_transaction) has nothing at “stage”.", "S1 (get_transaction) has a list or an object at “matrix”, not the value “x”.",
				"A citation without a step is no step of this investigation."}},
		{"a claim that cites nothing is invalid", claims(), []countersign.StepRef{}, []string{"The claim “The transfer failed.” cites nothing."}},
		{"a proposal without claims has no evidence and nothing invalid", countersign.Proposal{Turn: 2}, []countersign.StepRef{}, []string{}},
		{"what the model wrote is cut short in a sentence", claims(cite("S1", "status", strings.Repeat("ọ", 1000))), []countersign.StepRef{},
			[]string{"S1 (get_transaction) says “failed” at “status”, not “" + strings.Repeat("ọ", 80) + "…”."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := Citations(row.in, steps, nil)
			if diff := cmp.Diff(row.steps, e.Steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.invalid, e.Invalid); diff != "" {
				t.Errorf("invalid (-want +got):\n%s", diff)
			}
			if b, err := json.Marshal(e); err != nil || strings.Contains(string(b), "null") {
				t.Errorf("%s, %v", b, err)
			}
		})
	}
}

func TestTheFenceIsStripped(t *testing.T) {
	strip := func(s string) string { return strings.Trim(s, "«»") }
	e := Citations(claims(cite("S1", "status", "«failed»"), cite("S1", "memo", `"«S&P \"Foods\"»"`)), steps, func(s string) string { return strings.NewReplacer("«", "", "»", "").Replace(strip(s)) })
	if len(e.Invalid) > 0 {
		t.Error(e.Invalid)
	}
	if got := e.Claims[0].Citations[0].Value; got != "«failed»" {
		t.Errorf("the evidence must keep what the model wrote, got %s", got)
	}
}

func TestTheProposalIsLeftAsItIs(t *testing.T) {
	p := claims(cite("S1", "status", "failed"))
	Citations(p, steps, nil)
	if p.Claims[0].Citations[0].Status != "" {
		t.Error("the proposal's own citation got a status")
	}
}

// A citation made of a real value at a real path is verified, and the same with one sign more is not.
func TestEveryScalarCanBeCited(t *testing.T) {
	scalars := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }))
	key := rapid.StringMatching(`[a-z.\[\]0]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		value := scalars.Draw(t, "value")
		first, second := key.Draw(t, "first"), key.Draw(t, "second")
		n := rapid.IntRange(0, 3).Draw(t, "index")
		list := make([]any, n+1)
		list[n] = map[string]any{second: value}
		doc, err := json.Marshal(map[string]any{first: list})
		if err != nil {
			t.Fatal(err)
		}
		spelled, _ := json.Marshal(value)
		step := []countersign.Step{{Ref: "S1", OK: true, Result: doc}}
		p := countersign.Proposal{Turn: 1, Claims: []countersign.Claim{{Citations: []countersign.Citation{cite("S1", first+"["+string(rune('0'+n))+"]."+second, string(spelled))}}}}
		if second[0] == '[' {
			t.Skip("a key with a bracket in front is not reached through a dot")
		}
		if e := Citations(p, step, nil); len(e.Invalid) > 0 {
			t.Fatalf("%s: %v", doc, e.Invalid)
		}
		p.Claims[0].Citations[0].Value += "x"
		if e := Citations(p, step, nil); len(e.Steps) > 0 {
			t.Fatalf("%s: a longer value is verified", doc)
		}
	})
}

func FuzzLookup(f *testing.F) {
	for _, path := range []string{"", ".", "[", "]", "[]", "a", "a.b", "a[0]", "a[0", "a]0[", "x[0]", "a..b", "entries[0].tags[1]", "matrix[1][0]", "a.c.d.e", "entries.]", strings.Repeat("a.", 50)} {
		f.Add(result, path, "failed")
	}
	f.Add(`{`, "a", "")
	f.Add(`{"a":{"a":{"a":{"a":1}}},"a.a":{"a":{}}}`, "a.a.a.a", "1")
	f.Fuzz(func(t *testing.T, doc, path, value string) {
		step := []countersign.Step{{Ref: "S1", OK: true, Result: json.RawMessage(doc)}}
		e := Citations(countersign.Proposal{Turn: 1, Claims: []countersign.Claim{{Citations: []countersign.Citation{cite("S1", path, value)}}}}, step, nil)
		if (len(e.Steps) == 1) != (len(e.Invalid) == 0) {
			t.Fatalf("steps %v, invalid %v", e.Steps, e.Invalid)
		}
		if len(e.Steps) == 1 && !json.Valid([]byte(doc)) {
			t.Fatal("verified in a document that is not JSON")
		}
	})
}
