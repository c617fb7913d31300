package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/redact"
)

func TestObject(t *testing.T) {
	for _, row := range []struct {
		name, args, want string
		err              error
	}{
		{"an object is returned as it was written", ` {"a": 1} `, `{"a": 1}`, nil},
		{"nothing at all is the empty object", "", `{}`, nil},
		{"white space is the empty object", " \n", `{}`, nil},
		{"a string without its end is cut", `{"order_id": "1`, "", ErrArgsCut},
		{"an object without its end is cut", `{"a":{"b":[1,2]`, "", ErrArgsCut},
		{"one brace is cut", `{`, "", ErrArgsCut},
		{"a missing colon is malformed, however it ends", `{"a" 1`, "", ErrArgsMalformed},
		{"single quotes are malformed", `{'a':1}`, "", ErrArgsMalformed},
		{"words are malformed", `id TX-1`, "", ErrArgsMalformed},
		{"a list is malformed", `[{"a":1}]`, "", ErrArgsMalformed},
		{"an object inside a string is malformed", `"{\"a\":1}"`, "", ErrArgsMalformed},
		{"null is malformed", `null`, "", ErrArgsMalformed},
		{"two objects are malformed", `{"a":1}{"a":2}`, "", ErrArgsMalformed},
		{"a list without its end is malformed, since it was no object", `[1,`, "", ErrArgsMalformed},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Call{Args: row.args}.Object()
			if string(got) != row.want || !errors.Is(err, row.err) {
				t.Errorf("Object of %q = %q, %v; want %q, %v", row.args, got, err, row.want, row.err)
			}
		})
	}
}

func TestReplayableIsAlwaysAnObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := `{"order_id":"1042","lines":[1,2.5,null],"note":"a \"quoted\" word"}`
		args := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, len(whole)), func(n int) string { return whole[:n] })).Draw(t, "args")
		var object map[string]any
		if err := json.Unmarshal([]byte(Call{Args: args}.Replayable()), &object); err != nil || object == nil {
			t.Fatalf("Replayable of %q is %q: %v", args, Call{Args: args}.Replayable(), err)
		}
	})
}

// conversation has one assistant message per count of calls, numbered as a provider would.
func conversation(counts ...int) (r Request) {
	r.Messages = []Message{{Role: User, Text: redact.Mask("a case")}}
	for _, n := range counts {
		calls := make([]Call, n)
		r.Number(calls)
		r.Messages = append(r.Messages, Message{Role: Assistant, Calls: calls})
	}
	return r
}

func TestNumber(t *testing.T) {
	ids := func(r Request) (ids []string) {
		for _, m := range r.Messages {
			for _, c := range m.Calls {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	want := []string{"c00010001", "c00010002", "c00030001"}
	if diff := cmp.Diff(want, ids(conversation(2, 0, 1))); diff != "" {
		t.Errorf("ids follow turn and place, and a turn without calls counts (-want +got):\n%s", diff)
	}

	r := conversation(1, 1)
	r.Messages = append(r.Messages[:1], r.Messages[2:]...) // the caller dropped the first turn
	again := []Call{{ID: "theirs"}}
	r.Number(again)
	if again[0].ID != "c00030001" {
		t.Errorf("id = %s: after a dropped turn it must still differ from c00020001", again[0].ID)
	}
}

func TestIdsAreNineLettersAndDigitsAndUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := conversation(rapid.SliceOfN(rapid.IntRange(0, 50), 0, 12).Draw(t, "calls per turn")...)
		seen := map[string]bool{}
		for _, m := range r.Messages {
			for _, c := range m.Calls {
				if seen[c.ID] || len(c.ID) != 9 {
					t.Fatalf("id %q is repeated or not nine characters long", c.ID)
				}
				seen[c.ID] = true
			}
		}
	})
}

func TestEstimate(t *testing.T) {
	system := strings.Repeat("You read records and propose. ", 40)
	brief := strings.Repeat("The customer says that a transfer failed and the money did not come back. ", 20)
	r := Request{System: redact.Mask(system), Messages: []Message{{Role: User, Text: redact.Mask(brief)}}}
	// 300 words of plain English are near 1.3 tokens a word in every vocabulary in use.
	words := int64(len(strings.Fields(system + brief)))
	if got := Estimate(r); got > words*13/10 || got < words/2 {
		t.Errorf("estimate for %d words = %d tokens: too high to be a floor, or too low to notice anything", words, got)
	}
	before := Estimate(r)
	r.Messages = append(r.Messages, Message{Role: Assistant, Calls: []Call{{Name: "get_transaction", Args: `{"a":"` + strings.Repeat("x", 100) + `"}`}}})
	r.Tools = []Tool{{Name: "t", Description: strings.Repeat("d", 400), Schema: json.RawMessage(`{}`)}}
	if after := Estimate(r); after < before+20+50 {
		t.Errorf("estimate grew from %d to %d: calls and tools must count", before, after)
	}
}

func TestTranscriptIsDeterministic(t *testing.T) {
	r := conversation(2)
	r.Tools, r.Force = []Tool{{Name: "a"}, {Name: "b"}}, "b"
	want := `{"messages":[{"role":"user","text":"a case"},{"role":"assistant","calls":[{"id":"c00010001","name":"","args":""},` +
		`{"id":"c00010002","name":"","args":""}]}],"tools":["a","b"],"force":"b"}`
	if diff := cmp.Diff(want, string(r.Transcript())); diff != "" {
		t.Error(diff)
	}
	reply := Reply{Text: "<b>", Calls: []Call{{ID: "c00010001", Name: "a", Args: `{}`}}, Stop: StopTools}
	if got, want := string(reply.Transcript()), `{"text":"<b>","calls":[{"id":"c00010001","name":"a","args":"{}"}],"stop":"tools"}`; got != want {
		t.Errorf("transcript = %s, want %s", got, want)
	}
}

func ExampleCall_Object() {
	_, err := Call{Args: `{"order_id": "1`}.Object()
	fmt.Println(errors.Is(err, ErrArgsCut))
	// Output: true
}
