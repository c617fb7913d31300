package policy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"countersign"
	"github.com/google/go-cmp/cmp"
)

const whole = `{"mode":"act","allowed_types":["failed_transfer","duplicate_charge"],"min_confidence":0.9,"min_evidence":2,"caps":{"NGN":5000000}}`

func TestParseLimits(t *testing.T) {
	t.Run("what is printed can be read back", func(t *testing.T) {
		printed, _ := json.MarshalIndent(Default(), "", "  ")
		got, err := ParseLimits(append(printed, '\n'))
		if diff := cmp.Diff(Default(), got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
	t.Run("nothing allowed and no cap set is a policy", func(t *testing.T) {
		got, err := ParseLimits([]byte(`{"mode":"shadow","allowed_types":[],"min_confidence":1,"min_evidence":1,"caps":{}}`))
		if want := (Limits{Shadow, []string{}, 1, 1, map[string]int64{}}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v %+v", err, got)
		}
	})
}

func TestParseLimitsRefuses(t *testing.T) {
	for _, row := range []struct{ name, old, new, want string }{
		{"a mode that is none", `"act"`, `"on"`, `mode: "on" is not a mode; expected "act" or "shadow"`},
		{"a mode that is a number", `"act"`, `1`, `mode: 1 is not a mode; expected "act" or "shadow"`},
		{"a mode that is null", `"act"`, `null`, `mode: null is not a mode; expected "act" or "shadow"`},
		{"a missing mode", `"mode":"act",`, ``, `mode: is missing; expected act or shadow`},
		{"missing caps", `,"caps":{"NGN":5000000}`, ``, `caps: is missing; expected minor units by currency; without a cap for its currency no case is automatic`},
		{"an unknown field", `"mode"`, `"moda":1,"mode"`, `moda: is not a limit; expected mode, allowed_types, min_confidence, min_evidence and caps`},
		{"a field in other letters", `"mode"`, `"Mode":"act","mode"`, `Mode: is not a limit; expected mode, allowed_types, min_confidence, min_evidence and caps`},
		{"a field that stands there twice", `"mode"`, `"mode":"shadow","mode"`, `policy: "mode" stands there twice; expected each name once`},
		{"a type that has no fix", `"duplicate_charge"`, `"other"`, `allowed_types[1]: "other" cannot be automatic; only failed_transfer and duplicate_charge have a fix that records can justify`},
		{"a type that is a number", `"duplicate_charge"`, `7`, `allowed_types[1]: 7 cannot be automatic; only failed_transfer and duplicate_charge have a fix that records can justify`},
		{"a type that stands there twice", `"duplicate_charge"`, `"failed_transfer"`, `allowed_types[1]: "failed_transfer" stands there twice; expected each category once`},
		{"types that are no list", `["failed_transfer","duplicate_charge"]`, `"failed_transfer"`, `allowed_types: "failed_transfer" is not a list; expected a list of categories`},
		{"types that are null", `["failed_transfer","duplicate_charge"]`, `null`, `allowed_types: null is not a list; expected a list of categories`},
		{"a confidence above one", `0.9`, `90`, `min_confidence: 90 is not a confidence; expected a number above 0 and at most 1`},
		{"a confidence of nothing", `0.9`, `0`, `min_confidence: 0 is not a confidence; expected a number above 0 and at most 1`},
		{"a confidence in quotes", `0.9`, `"0.9"`, `min_confidence: "0.9" is not a confidence; expected a number above 0 and at most 1`},
		{"a confidence that is null", `0.9`, `null`, `min_confidence: null is not a confidence; expected a number above 0 and at most 1`},
		{"no evidence at all", `"min_evidence":2`, `"min_evidence":0`, `min_evidence: 0 is not a number of steps; expected a whole number from 1 to 100`},
		{"half a piece of evidence", `"min_evidence":2`, `"min_evidence":1.5`, `min_evidence: 1.5 is not a number of steps; expected a whole number from 1 to 100`},
		{"a negative cap", `5000000`, `-1`, `caps.NGN: -1 is not a cap; expected whole minor units, where 0 means that nothing in NGN is automatic`},
		{"a cap with a fraction", `5000000`, `50000.00`, `caps.NGN: 50000.00 is not a cap; expected whole minor units, where 0 means that nothing in NGN is automatic`},
		{"a cap that overflows", `5000000`, `9223372036854775808`, `caps.NGN: 9223372036854775808 is not a cap; expected whole minor units, where 0 means that nothing in NGN is automatic`},
		{"a cap in quotes", `5000000`, `"5000000"`, `caps.NGN: "5000000" is not a cap; expected whole minor units, where 0 means that nothing in NGN is automatic`},
		{"a currency nobody knows", `"NGN"`, `"NAIRA"`, `caps.NAIRA: "NAIRA" is not a currency of ISO 4217; expected three capitals, such as NGN`},
		{"a currency in small letters", `"NGN"`, `"ngn"`, `caps.ngn: "ngn" is not a currency of ISO 4217; expected three capitals, such as NGN`},
		{"a currency that stands there twice", `"NGN"`, `"NGN":1,"NGN"`, `caps: "NGN" stands there twice; expected each name once`},
		{"caps that are a list", `{"NGN":5000000}`, `[1]`, "caps: [1] is not a JSON object; expected the form that `policy show` prints"},
		{"caps that are null", `{"NGN":5000000}`, `null`, "caps: null is not a JSON object; expected the form that `policy show` prints"},
		{"an end that is missing", `5000000}}`, `5000000`, "policy: is broken JSON; expected the form that `policy show` prints"},
		{"something after the end", `5000000}}`, `5000000}} {}`, "policy: has something after its end; expected one JSON object"},
		{"nothing at all", whole, ``, "policy:  is not a JSON object; expected the form that `policy show` prints"},
		{"a very long value, cut short", `"act"`, `"` + strings.Repeat("ọ", 500) + `"`, `mode: "` + strings.Repeat("ọ", 39) + `… is not a mode; expected "act" or "shadow"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := strings.Replace(whole, row.old, row.new, 1)
			if text == whole {
				t.Fatal("the row changes nothing")
			}
			got, err := ParseLimits([]byte(text))
			var e *countersign.Error
			if !errors.As(err, &e) || e.Kind != countersign.Invalid || e.Field == "" || err.Error() != row.want {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
			if !cmp.Equal(got, Limits{}) {
				t.Errorf("half a policy came back: %+v", got)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	base := Version(Default(), nil)
	for _, row := range []struct {
		name   string
		change func(*Limits)
	}{
		{"the mode", func(l *Limits) { l.Mode = Shadow }},
		{"a type", func(l *Limits) { l.AllowedTypes = l.AllowedTypes[:1] }},
		{"the confidence", func(l *Limits) { l.MinConfidence = 0.91 }},
		{"the evidence", func(l *Limits) { l.MinEvidence = 3 }},
		{"a cap", func(l *Limits) { l.Caps["NGN"]++ }},
		{"a cap more", func(l *Limits) { l.Caps["USD"] = 1 }},
	} {
		t.Run(row.name+" changes it", func(t *testing.T) {
			l := Default()
			row.change(&l)
			if Version(l, nil) == base {
				t.Error("it did not")
			}
		})
	}
	t.Run("a rule's name changes it", func(t *testing.T) {
		if Version(Default(), []Rule{{Name: "a/1"}}) == Version(Default(), []Rule{{Name: "a/2"}}) {
			t.Error("it did not")
		}
	})
	t.Run("the same limits have the same version", func(t *testing.T) {
		read, err := ParseLimits([]byte(whole))
		if err != nil || Version(read, nil) != base || !strings.HasPrefix(base, "p-") {
			t.Errorf("%s, %s, %v", Version(read, nil), base, err)
		}
	})
}

func FuzzParseLimits(f *testing.F) {
	for _, seed := range []string{whole, `{}`, `{"caps":{"NGN":null}}`, `[]`, `{"mode":"act"`, `{"mode":"act","mode":"act"}`, ``, `null`, "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLimits(text)
		var e *countersign.Error
		if err != nil {
			if !errors.As(err, &e) || e.Kind != countersign.Invalid || e.Field == "" && !strings.Contains(string(text), `""`) {
				t.Fatalf("%#v", err)
			}
			return
		}
		printed, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseLimits(printed); err != nil || !cmp.Equal(again, l) {
			t.Fatalf("%s: %v", printed, err)
		}
	})
}
