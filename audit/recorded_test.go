package audit

import (
	"fmt"
	"slices"
	"testing"

	"countersign"
)

// recorded is one case as a store would hold it: what it says of itself, its head, its rows, and their payloads.
type recorded struct {
	head     Head
	says     Projection
	rows     []Row
	payloads []*Payload
}

var (
	worker  = countersign.Actor{Kind: countersign.Worker, ID: "w-1"}
	analyst = countersign.Actor{Kind: countersign.Person, ID: "ada@example.com"}
)

// entry makes an entry with a salt that depends on everything in it, so that tests are the same every time.
func entry(kind Kind, actor countersign.Actor, payload string) Entry {
	sum := Commit([]byte(kind), []byte(payload))
	return Entry{Kind: kind, Actor: actor, At: 1_796_030_000_000_000, Salt: Salt(sum[:16]), Payload: []byte(payload)}
}

// story is a case from its opening to its end, in nine rows.
func story() []Entry {
	return []Entry{
		entry(Opened, analyst, `{"round":1,"status":"queued","notes":"the ATM kept my money"}`),
		entry(Started, worker, `{"round":1,"status":"investigating"}`),
		entry(ModelTurn, worker, `{"round":1,"turn":1,"request":"{\"messages\":[]}","response":"{}"}`),
		entry(ToolCall, worker, `{"round":1,"ref":"S1","ok":true,"result":{"id":"TX-9","status":"failed"}}`),
		entry(Facts, worker, `{"round":1,"items":[{"name":"debit_posted","state":"present"}]}`),
		entry(Proposal, worker, `{"round":1,"recommendation":"resolve","confidence":0.95}`),
		entry(Verdict, worker, `{"round":1,"kind":"review","status":"in_review"}`),
		entry(Decision, analyst, `{"round":1,"verb":"approve"}`),
		entry(Closed, analyst, `{"round":1,"status":"closed","outcome":"resolved"}`),
	}
}

func record(t testing.TB, id string, entries ...Entry) *recorded {
	t.Helper()
	rows, head, err := Append(Head{Case: countersign.CaseID(id)}, entries...)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{head: head, rows: rows, says: Projection{Status: countersign.Closed, Outcome: countersign.Resolved}}
	for _, e := range entries {
		r.payloads = append(r.payloads, &Payload{Salt: slices.Clone(e.Salt[:]), Bytes: slices.Clone(e.Payload)})
	}
	return r
}

// more appends to a record as the store would.
func (c *recorded) more(t testing.TB, entries ...Entry) {
	t.Helper()
	rows, head, err := Append(c.head, entries...)
	if err != nil {
		t.Fatal(err)
	}
	c.head, c.rows = head, append(c.rows, rows...)
	for _, e := range entries {
		c.payloads = append(c.payloads, &Payload{Salt: e.Salt[:], Bytes: e.Payload})
	}
}

// remove takes the row at that step out, payload and all.
func (c *recorded) remove(seq int) {
	c.rows = slices.Delete(c.rows, seq-1, seq)
	c.payloads = slices.Delete(c.payloads, seq-1, seq)
}

// insert puts a row in at an index of the stream, with the payload of the given step.
func (c *recorded) insert(i int, r Row, p *Payload) {
	c.rows = slices.Insert(c.rows, i, r)
	c.payloads = slices.Insert(c.payloads, i, p)
}

// reseal recomputes a row's commitment and hash, as somebody would who knows the format.
func (c *recorded) reseal(i int) {
	r, p := &c.rows[i], c.payloads[i]
	r.Commitment = Commit(p.Salt, p.Bytes)
	r.Hash = sum(*r)
}

func sum(r Row) Hash {
	v := NewVerifier()
	v.scratch = r.appendPreimage(nil)
	return sha(v.scratch)
}

func (c *recorded) walk(v *Verifier) {
	v.Case(c.head, c.says)
	c.walkRows(v)
}

func (c *recorded) walkRows(v *Verifier) {
	for i, r := range c.rows {
		v.Row(r, c.payloads[i])
	}
}

func verify(cases ...*recorded) Report {
	v := NewVerifier()
	for _, c := range cases {
		c.walk(v)
	}
	return v.Report()
}

func caseName(i int) string { return fmt.Sprintf("D-%03d", i) }
