package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign"
)

// drawEntries draws a record that a store could have written: an opening, then anything.
func drawEntries(t *rapid.T) []Entry {
	n := rapid.IntRange(1, 12).Draw(t, "rows")
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = drawEntry(t, i)
	}
	return entries
}

func drawEntry(t *rapid.T, i int) Entry {
	kind := Opened
	if i > 0 {
		kind = rapid.SampledFrom(Kinds[:len(Kinds)-1]).Draw(t, "kind") // all but erased
	}
	text, err := json.Marshal(rapid.String().Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	return Entry{
		Kind:    kind,
		Actor:   rapid.SampledFrom([]countersign.Actor{worker, analyst}).Draw(t, "actor"),
		At:      rapid.Int64Min(1).Draw(t, "at"),
		Salt:    Salt(append(rapid.SliceOfN(rapid.Byte(), 15, 15).Draw(t, "salt"), 1)),
		Payload: []byte(`{"round":1,"text":` + string(text) + `}`),
	}
}

func drawRecorded(t *rapid.T, id string) *recorded {
	entries := drawEntries(t)
	rows, head, err := Append(Head{Case: countersign.CaseID(id)}, entries...)
	if err != nil {
		t.Fatal(err)
	}
	c := &recorded{head: head, rows: rows}
	for _, e := range entries {
		c.payloads = append(c.payloads, &Payload{Salt: e.Salt[:], Bytes: e.Payload})
	}
	return c
}

// flips are all that a row and its payload consist of. Each flips one bit of it.
var flips = map[string]func(r *Row, p *Payload, bit int){
	"version":    func(r *Row, p *Payload, bit int) { r.Version ^= 1 << (bit % 31) },
	"case":       func(r *Row, p *Payload, bit int) { r.Case = countersign.CaseID(flip(string(r.Case), bit)) },
	"seq":        func(r *Row, p *Payload, bit int) { r.Seq ^= 1 << (bit % 64) },
	"kind":       func(r *Row, p *Payload, bit int) { r.Kind = Kind(flip(string(r.Kind), bit)) },
	"actor":      func(r *Row, p *Payload, bit int) { r.Actor = flip(r.Actor, bit) },
	"at":         func(r *Row, p *Payload, bit int) { r.At ^= 1 << (bit % 64) },
	"commitment": func(r *Row, p *Payload, bit int) { r.Commitment[bit/8%32] ^= 1 << (bit % 8) },
	"prev":       func(r *Row, p *Payload, bit int) { r.Prev[bit/8%32] ^= 1 << (bit % 8) },
	"hash":       func(r *Row, p *Payload, bit int) { r.Hash[bit/8%32] ^= 1 << (bit % 8) },
	"salt":       func(r *Row, p *Payload, bit int) { p.Salt = []byte(flip(string(p.Salt), bit)) },
	"payload":    func(r *Row, p *Payload, bit int) { p.Bytes = []byte(flip(string(p.Bytes), bit)) },
}

func flip(s string, bit int) string {
	b := []byte(s)
	b[bit/8%len(b)] ^= 1 << (bit % 8)
	return string(b)
}

// TestAnyFlippedBitIsFoundWhereItIs is the promise of the package in one sentence.
func TestAnyFlippedBitIsFoundWhereItIs(t *testing.T) {
	for field, turn := range flips {
		t.Run(field, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawRecorded(t, "D-002")
				before, after := drawRecorded(t, "D-001"), drawRecorded(t, "D-003")
				i := rapid.IntRange(0, len(c.rows)-1).Draw(t, "row")
				turn(&c.rows[i], c.payloads[i], rapid.IntRange(0, 1<<16).Draw(t, "bit"))
				got := verify(before, c, after)
				if len(got.Breaks) == 0 {
					t.Fatal("nothing was found")
				}
				if field == "case" {
					foundInAnotherCase(t, got, c, i)
					return
				}
				if b := got.Breaks[0]; len(got.Breaks) != 1 || b.Case != "D-002" || b.Seq != int64(i+1) {
					t.Fatalf("found %v, want step %d of D-002", got.Breaks, i+1)
				}
			})
		})
	}
}

// foundInAnotherCase checks what becomes of a row whose case was changed. The reader sees it under the other name, with no such
// case, or, when the name happens to be a neighbour's, as a row too many; the case it was taken from lacks it. Every break is
// in one of the two.
func foundInAnotherCase(t *rapid.T, got Report, c *recorded, i int) {
	for _, b := range got.Breaks {
		if b.Case == c.rows[i].Case || b.Case == "D-002" && b.Seq == int64(i+1) {
			continue
		}
		if b.Case == "D-002" && strings.Contains(b.Why, "no such case") && i < len(c.rows)-1 {
			continue // the stream came back to D-002 after another name: for a reader, a second time
		}
		t.Fatalf("found %v, want step %d of D-002 and the row under its new name", got.Breaks, i+1)
	}
}

// TestHonestRecordsAreNeverCalledBroken is the other half: a verifier that cries wolf is switched off.
func TestHonestRecordsAreNeverCalledBroken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRecorded(t, "D-001"), drawRecorded(t, "D-002")
		got := verify(a, b)
		if !got.OK || got.Cases != 2 || got.Rows != int64(len(a.rows)+len(b.rows)) {
			t.Fatal(got)
		}
		read, err := VerifyExport(strings.NewReader(exported(t, Header{}, a, b)))
		if err != nil || !read.OK || read.Rows != got.Rows {
			t.Fatalf("its export: %v, %v", read, err)
		}
	})
}
