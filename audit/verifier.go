package audit

import (
	"crypto/sha256"

	"countersign"
)

// Projection is what the case itself says, kept beside its record so that a queue can be drawn without reading the chain.
type Projection struct {
	Status  countersign.Status
	Outcome countersign.Outcome // empty while the case is open
	// Kept is what is stored beside the record, of each kind of thing that somebody looked at: none of a kind is an empty list, and
	// a kind without a list is not compared.
	Kept map[Thing][]Kept
}

// Verifier walks chains in one pass: Case, then that case's rows by seq, then the next Case. Its memory does not grow with
// the rows, only with erased payloads and what is kept beside the record within one case, and with what it has to report. It
// allocates nothing for a row that matches, unless that seals what is kept beside the record.
//
// A Verifier belongs to one goroutine. To use every core, give each its own and its share of the cases, and Merge the
// reports. Rows, heads and cases must be read in one snapshot: a row that is written in between would look like tampering.
type Verifier struct {
	chain    chain
	open     bool // a case was begun
	redacted bool
	found    Report
	scratch  []byte
}

// NewVerifier returns a verifier that has seen nothing.
func NewVerifier() *Verifier { return &Verifier{} }

// Case begins the next case: its head, and what the case says of itself. Every case of the store must come, those without a
// row too: a record that is gone as a whole is found only that way.
func (v *Verifier) Case(head Head, says Projection) {
	v.begin(head, says)
	v.found.Cases++
}

// Row checks the next row. A nil payload means that none is stored, as after an erasure. Rows of a case that was not begun
// are a break of their own. Neither row nor payload is kept.
func (v *Verifier) Row(r Row, p *Payload) {
	if !v.open || r.Case != v.chain.head.Case {
		v.begin(Head{Case: r.Case}, Projection{})
		v.chain.fail(r.Seq, "there are record rows for this case, but no such case")
	}
	v.found.Rows++
	if p == nil && !v.redacted {
		v.found.Erased++
	}
	if v.chain.broken != nil {
		v.chain.reconsider(&r)
		return
	}
	v.check(&r, p)
	v.chain.last = mark{r.Seq, r.Hash, r.Prev}
}

// check goes from the outside in: is this the row that belongs here, is it what was written, is its payload.
func (v *Verifier) check(r *Row, p *Payload) {
	v.scratch = r.appendPreimage(v.scratch[:0])
	if !v.chain.admit(r, sha256.Sum256(v.scratch)) {
		return
	}
	switch {
	case p != nil && commit(v.scratch[:0], p.Salt, p.Bytes) != r.Commitment:
		v.chain.fail(r.Seq, "its payload was changed: what is stored is not what the row was sealed over")
	case p != nil:
		v.chain.read(r, p.Bytes)
	case !v.redacted:
		v.chain.miss(r)
	}
}

// Report ends the last case and says what was found so far. Asking twice gives the same answer.
func (v *Verifier) Report() Report {
	v.end()
	v.found.Redacted = v.redacted
	return Merge(v.found)
}

func (v *Verifier) begin(head Head, says Projection) {
	v.end()
	v.open = true
	v.chain = chain{
		head: head, says: says, gone: v.chain.gone[:0], sealed: v.chain.sealed[:0],
		status: column{value: v.chain.status.value[:0]}, outcome: column{value: v.chain.outcome.value[:0]},
	}
}

func (v *Verifier) end() {
	if !v.open {
		return
	}
	v.open = false
	v.chain.finish(v.redacted)
	if v.chain.broken != nil {
		v.found.Breaks = append(v.found.Breaks, *v.chain.broken)
	}
	v.found.Unchecked = append(v.found.Unchecked, v.chain.unchecked...)
}

// abandon gives up the case that the input broke off in. What was not read is not missing.
func (v *Verifier) abandon() {
	if v.chain.broken == nil {
		v.open = false
	}
}
