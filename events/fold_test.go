package events

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Every pair of a standing and a word has its line, and only one.
func TestTheTableIsWhole(t *testing.T) {
	words := []From{Asks, Waits, For, Against, Ended}
	for _, from := range append([]From{Nothing}, words...) {
		for _, to := range words {
			n := 0
			for _, row := range Table {
				if row.From == from && slices.Contains(row.To, to) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s → %s stands in %d lines", from, to, n)
			}
		}
	}
	for _, status := range Statuses {
		if stands[status] == "" {
			t.Errorf("nobody knows where %s leaves a dispute", status)
		}
		for _, stage := range Stages {
			if Says(stage, status) == "" {
				t.Errorf("%s at %s has no words", status, stage)
			}
		}
	}
}

// An inquiry has taken no money, and nothing here says otherwise.
func TestAnInquirysWordsNeverSpeakOfMoneyThatWasTaken(t *testing.T) {
	for _, status := range Statuses {
		words := strings.ToLower(strings.ReplaceAll(Says(Inquiry, status), "No money was taken.", ""))
		for _, never := range []string{"funds", "amount", "money", "withdrawn"} {
			if strings.Contains(words, never) {
				t.Errorf("of an inquiry that is %s it is said: %s", status, Says(Inquiry, status))
			}
		}
	}
}

func anEvent(t *rapid.T, label string) Known {
	return Known{Seen: 1, Event: Event{Version: 1, ID: rapid.StringN(1, 3, 3).Draw(t, label), Type: "x", CreatedAt: time.Unix(int64(rapid.IntRange(0, 5).Draw(t, label+" at")), 0).UTC(),
		Dispute: &Dispute{ID: "dp", Stage: Chargeback, Status: rapid.SampledFrom(Statuses).Draw(t, label+" status"), Round: rapid.IntRange(1, 3).Draw(t, label+" round")}}}
}

// An event more never makes a dispute turn back: this is why it does not matter which of two came first.
func TestATurnIsNeverTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Known
		for range rapid.IntRange(1, 8).Draw(t, "events") {
			all = append(all, anEvent(t, "event"))
		}
		fewer, _ := Fold(all[:len(all)-1])
		whole, _ := Fold(all)
		if len(fewer) > 0 && fewer[0].TurnedSince(whole[0]) {
			t.Fatalf("with one event more it turned back: %+v, before %+v", whole[0], fewer[0])
		}
		slices.Reverse(all)
		again, _ := Fold(all)
		if diff := cmp.Diff(whole, again); diff != "" {
			t.Fatalf("in another order it stands otherwise:\n%s", diff)
		}
	})
}

// A later word that is older counts for nothing, one of the same moment by its rank, and a newer one turns.
func TestALateWordTakesNothingBack(t *testing.T) {
	word := func(second int64, status Status, round int) Known {
		return Known{Seen: 1, Event: Event{Version: 1, ID: string(status), Type: "x", CreatedAt: time.Unix(second, 0).UTC(), Dispute: &Dispute{ID: "dp", Stage: Chargeback, Status: status, Round: round}}}
	}
	for name, row := range map[string]struct {
		all    []Known
		status Status
		round  int
		turns  int
	}{
		"older":                  {[]Known{word(5, Lost, 1), word(1, NeedsResponse, 1)}, Lost, 1, 0},
		"of the same moment":     {[]Known{word(5, Lost, 1), word(5, UnderReview, 1)}, Lost, 1, 0},
		"newer":                  {[]Known{word(5, Lost, 1), word(6, Won, 1)}, Won, 1, 1},
		"there and back":         {[]Known{word(5, Lost, 1), word(6, Won, 1), word(7, Lost, 1)}, Lost, 1, 2},
		"asked again":            {[]Known{word(5, Won, 1), word(6, NeedsResponse, 1)}, NeedsResponse, 1, 1},
		"another round":          {[]Known{word(5, Won, 1), word(6, Lost, 2)}, Lost, 2, 0},
		"of an earlier round":    {[]Known{word(5, Lost, 2), word(6, Won, 1)}, Lost, 2, 0},
		"decided the same again": {[]Known{word(5, Lost, 1), word(6, Accepted, 1)}, Accepted, 1, 0},
	} {
		if got, _ := Fold(row.all); got[0].Status != row.status || got[0].Round != row.round || got[0].Turns != row.turns {
			t.Errorf("%s: got %+v", name, got[0])
		}
	}
}

// FuzzParse: what Parse takes, it can write and take again, and means the same.
func FuzzParse(f *testing.F) {
	seeds := []string{`{"id":"1","type":"x","created_at":"2026-12-01T12:00:00Z","dispute":{"id":"d","status":"won"}}`,
		`{"id":"1","type":"x","created_at":"2026-12-01T12:00:00+01:00","dispute":{"id":"d","status":"warning_closed","round":2,"amount":{"minor":1,"currency":"JPY"},"due_at":"2026-12-01T12:00:00.5Z"}}`,
		`{"id":"1","type":"x","created_at":"2026-12-01T12:00:00Z","refund":{"id":"r","order_id":"o","status":"failed"}}`, `{"id":1}`, `[`, `{"a":{"a":{}}}`, "{\"id\":\"\\ud800\"}"}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse([]byte(e.Said()))
		if err != nil || again.Said() != e.Said() || again.Fingerprint() != e.Fingerprint() {
			t.Errorf("%q was taken as %s, and that as %s: %v", raw, e.Said(), again.Said(), err)
		}
	})
}
