package audit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign"
)

func TestAppendRefuses(t *testing.T) {
	born := Head{Case: "D-1"}
	grown := record(t, "D-1", story()...).head
	with := func(change func(*Entry)) Entry {
		e := entry(Note, worker, `{"text":"x"}`)
		change(&e)
		return e
	}
	payload := func(kind Kind, p string) Entry {
		return with(func(e *Entry) { e.Kind, e.Payload = kind, []byte(p) })
	}
	for _, x := range []struct {
		name  string
		head  Head
		entry Entry
		want  string
	}{
		{"nobody", grown, with(func(e *Entry) { e.Actor = countersign.Actor{} }), `actor ":" names nobody`},
		{"an actor without an id", grown, with(func(e *Entry) { e.Actor.ID = "" }), `actor "worker:" names nobody`},
		{"an actor of no known kind", grown, with(func(e *Entry) { e.Actor.Kind = "model" }), `actor "model:w-1" names nobody`},
		{"an actor whose id is not text", grown, with(func(e *Entry) { e.Actor.ID = "w\xff" }), "names nobody"},
		{"an unknown kind", grown, with(func(e *Entry) { e.Kind = "reset" }), `kind "reset": the kind is unknown`},
		{"an empty kind", grown, with(func(e *Entry) { e.Kind = "" }), "the kind is unknown"},
		{"a first row that is no opening", born, with(func(e *Entry) {}), `a record begins with kind "opened"`},
		{"a time before 1970", grown, with(func(e *Entry) { e.At = -1 }), "time -1 is not after 1970"},
		{"no time", grown, with(func(e *Entry) { e.At = 0 }), "time 0 is not after 1970"},
		{"no salt", grown, with(func(e *Entry) { e.Salt = Salt{} }), "the salt is all zeros"},
		{"no payload", grown, payload(Note, ``), `the payload "" is not a JSON object`},
		{"a list", grown, payload(Note, `[1]`), `the payload "[1]" is not a JSON object`},
		{"null", grown, payload(Note, ` null`), "is not a JSON object"},
		{"broken JSON", grown, payload(Note, `{"a":1`), "is not a JSON object"},
		{"two objects", grown, payload(Note, `{}{}`), "is not a JSON object"},
		{"a payload that is not UTF-8", grown, payload(Note, "{\"a\":\"\xff\"}"), "the payload is not UTF-8"},
		{"a payload that no export could hold", grown, payload(Note, `{"a":"`+strings.Repeat("x", MaxPayload)+`"}`), "expected at most 25165824"},
		{"a status that is a number", grown, payload(Note, `{"status":3}`), `the payload's "status" is 3, expected a string`},
		{"an outcome that is a list", grown, payload(Note, `{"status":"closed","outcome":["a"]}`), `"outcome" is ["a"], expected a string or null`},
		{"a status in what a tool answered", grown, payload(ToolCall, `{"status":"closed"}`), "rows of this kind never change the case"},
		{"an erasure of nothing", grown, payload(Erased, `{"erased":[]}`), "does not list erased steps"},
		{"an erasure of a step to come", grown, payload(Erased, `{"erased":[3,10]}`), "erased step 10 is not one before step 10"},
		{"an erasure of step 0", grown, payload(Erased, `{"erased":[0]}`), "erased step 0 is not one before"},
		{"a head without a case", Head{}, entry(Opened, worker, `{}`), "the case has no usable id"},
		{"a case whose id is not text", Head{Case: "\xff"}, entry(Opened, worker, `{}`), "the case has no usable id"},
		{"a head before the beginning", Head{Case: "D-1", Seq: -1}, entry(Opened, worker, `{}`), "the head is at step -1"},
		{"a head with a step and no hash", Head{Case: "D-1", Seq: 4}, with(func(e *Entry) {}), "only a head at step 0 has a hash of zeros"},
		{"a head with a hash and no step", Head{Case: "D-1", Hash: Hash{1}}, with(func(e *Entry) {}), "only a head at step 0 has a hash of zeros"},
	} {
		t.Run(x.name, func(t *testing.T) {
			good := entry(Opened, worker, `{}`)
			if x.head.Seq > 0 {
				good = entry(Note, worker, `{}`)
			}
			entries := []Entry{x.entry}
			if x.name != "a first row that is no opening" {
				entries = []Entry{good, x.entry}
			}
			if strings.Contains(x.name, "a step to come") {
				entries = []Entry{x.entry}
			}
			rows, head, err := Append(x.head, entries...)
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("error %v, want one with %q", err, x.want)
			}
			if rows != nil || head != x.head {
				t.Errorf("%d rows and head %v came beside the error", len(rows), head)
			}
		})
	}
}

func TestAppendNamesCaseAndEntry(t *testing.T) {
	bad := entry("reset", worker, `{}`)
	_, _, err := Append(Head{Case: "D-1"}, entry(Opened, worker, `{}`), bad)
	if want := `append to the record of case "D-1": entry 2, kind "reset": `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want it to begin with %s", err, want)
	}
}

func TestAppendingNothingChangesNothing(t *testing.T) {
	rows, head, err := Append(Head{Case: "D-1"})
	if len(rows) != 0 || head != (Head{Case: "D-1"}) || err != nil {
		t.Errorf("rows %v, head %v, error %v", rows, head, err)
	}
}

func TestEveryKindCanBeAppended(t *testing.T) {
	entries := []Entry{}
	for _, k := range Kinds {
		payload := `{}`
		if k == Erased {
			payload = `{"erased":[1]}`
		}
		entries = append(entries, entry(k, worker, payload))
	}
	if _, _, err := Append(Head{Case: "D-1"}, entries...); err != nil {
		t.Error(err)
	}
}

// TestHowEntriesAreSplitDoesNotMatter appends the same entries at once and in any groups: one turn's rows or one row a
// transaction make the same chain.
func TestHowEntriesAreSplitDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		whole, end, err := Append(Head{Case: "D-1"}, entries...)
		if err != nil {
			t.Fatal(err)
		}
		var parts []Row
		head := Head{Case: "D-1"}
		for rest := entries; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "group")
			rows, next, err := Append(head, rest[:n]...)
			if err != nil {
				t.Fatal(err)
			}
			parts, head, rest = append(parts, rows...), next, rest[n:]
		}
		if diff := cmp.Diff(whole, parts); diff != "" || head != end {
			t.Fatalf("head %v, want %v; rows (-whole +parts):\n%s", head, end, diff)
		}
	})
}
