package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// chain is what the verifier remembers of the case it is walking. Once broken it is only counted: what follows a break proves
// nothing, and repeating it would hide the one step a person has to look at.
type chain struct {
	head      Head
	says      Projection
	last      mark
	status    column
	outcome   column
	lastGone  int64 // the last row without payload that may have changed the case
	noteGone  int64 // the last note without payload
	gone      []erasure
	sealed    []sealing // what the record says of bytes that are kept beside it
	gap       bool      // the break is that a step is missing here
	broken    *Break
	unchecked []Break
}

// mark is as much of the row before as the next one is compared with.
type mark struct {
	seq        int64
	hash, prev Hash
}

// column is the last value the record gave to a column of the case, and where.
type column struct {
	seq   int64  // 0 while the record has said nothing
	value []byte // a buffer that outlives the case
}

// erasure is a row without payload; recorded once a later row says so.
type erasure struct {
	seq      int64
	recorded bool
}

func (c *chain) fail(seq int64, why string, args ...any) {
	c.broken = &Break{Case: c.head.Case, Seq: seq, Why: fmt.Sprintf(why, args...)}
}

// admit reports whether the row is the one that belongs here, as it was written. sum is the hash of its own fields.
func (c *chain) admit(r *Row, sum Hash) bool {
	switch next := c.last.seq + 1; {
	case r.Seq != next:
		c.misnumbered(r, next, sum)
	case r.Version != Version:
		c.fail(next, "it is written in format version %d, which nothing here can read", r.Version)
	case next > c.head.Seq:
		c.fail(next, "it was added after the end of the record: the head of the case is at step %d", c.head.Seq)
	case sum != r.Hash:
		c.altered(r, next)
	case r.Prev != c.last.hash:
		c.unlinked(r, next)
	case next == 1 && r.Kind != Opened:
		c.fail(next, "the record begins with kind %q, and every record begins with %q", clip([]byte(r.Kind)), Opened)
	case !namesSomebody(r.Actor):
		c.fail(next, "it says that %q did it, which names nobody", clip([]byte(r.Actor)))
	}
	return c.broken == nil
}

// namesSomebody asks for the form kind:id only: a kind of actor that is newer than this verifier is no sign of tampering.
func namesSomebody(actor string) bool {
	i := strings.IndexByte(actor, ':')
	return i > 0 && i < len(actor)-1
}

// misnumbered tells a row that was given another number from one that is missing and one that is there twice. A row that
// continues from the one before and still does not hash to itself is in its place: only its number is wrong.
func (c *chain) misnumbered(r *Row, next int64, sum Hash) {
	switch {
	case sum != r.Hash && r.Prev == c.last.hash:
		c.fail(next, "a stored field was changed: the row in this place carries the number %d and was sealed with another", r.Seq)
	case r.Seq > next:
		c.gap = true
		c.fail(next, "%s", c.missing(next, r.Seq-1)+": "+c.before()+fmt.Sprintf(" step %d", r.Seq))
	case r.Seq < 1:
		c.fail(next, "the row in this place carries the number %d, and steps are counted from 1", r.Seq)
	default:
		c.fail(r.Seq, "the history forks: more than one row claims to be this step")
	}
}

func (c *chain) missing(from, to int64) string {
	if from == to {
		return "the step is missing"
	}
	return fmt.Sprintf("steps %d to %d are missing", from, to)
}

func (c *chain) before() string {
	if c.last.seq == 0 {
		return "the record begins with"
	}
	return fmt.Sprintf("step %d is followed by", c.last.seq)
}

// altered tells a row that was moved to another number from one whose fields were changed. Rows are moved to a place nearby,
// if at all; looking further would let a hostile export buy a lot of hashing with a short line.
func (c *chain) altered(r *Row, next int64) {
	const nearby = 32
	var scratch []byte
	moved := *r
	for moved.Seq = max(1, next-nearby); moved.Seq <= next+nearby; moved.Seq++ {
		scratch = moved.appendPreimage(scratch[:0])
		if sha256.Sum256(scratch) == r.Hash {
			c.fail(next, "the steps are out of order: the row in this place was written as step %d", moved.Seq)
			return
		}
	}
	c.fail(next, "a stored field was changed: the row no longer matches its own hash")
}

func (c *chain) unlinked(r *Row, next int64) {
	switch {
	case next == 1:
		c.fail(next, "the first step names a row before it, and there can be none")
	case r.Prev == c.last.prev:
		c.fail(next, "the history forks: this row and the one before it continue from the same row")
	default:
		c.fail(next, "it does not continue from step %d as that is stored now: one of the two was replaced", next-1)
	}
}

// reconsider looks at a row after a break for one thing only: a step that seemed to be missing turns out to be out of place.
func (c *chain) reconsider(r *Row) {
	if c.gap && r.Seq == c.broken.Seq {
		c.fail(r.Seq, "the steps are out of order: this one comes later than its number says")
		c.gap = false
	}
}

// read takes from a payload what the end of the case is compared with.
func (c *chain) read(r *Row, payload []byte) {
	switch {
	case r.Kind == Erased:
		c.record(r.Seq, payload)
	case r.Kind.changesCase():
		c.state(r.Seq, payload)
		if k, ok := Sealing(r.Kind, payload); ok {
			c.sealed = append(c.sealed, sealing{k, r.Seq})
		}
	}
}

func (c *chain) state(seq int64, payload []byte) {
	status, outcome := statement(payload)
	if status != nil {
		c.status.set(seq, status)
	}
	if outcome != nil {
		c.outcome.set(seq, outcome)
	}
}

func (s *column) set(seq int64, value []byte) {
	s.seq, s.value = seq, append(s.value[:0], word(value)...)
}

// word is a JSON value as a word: a string's content, nothing for null, anything else as it is spelled.
func word(value []byte) []byte {
	if value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return value
	}
	return []byte(s)
}

// record takes note of payloads that this row says were erased.
func (c *chain) record(seq int64, payload []byte) {
	steps, err := erasedSteps(payload, seq)
	if err != nil {
		c.fail(seq, "it says that payloads were erased, but not which: %v", err)
		return
	}
	for _, s := range steps {
		i, ok := slices.BinarySearchFunc(c.gone, s, func(e erasure, s int64) int { return cmp.Compare(e.seq, s) })
		if !ok {
			c.fail(s, "step %d says that this step's payload was erased, but it is still there", seq)
			return
		}
		c.gone[i].recorded = true
	}
}

// miss remembers a row without a payload until a later row says why.
func (c *chain) miss(r *Row) {
	switch {
	case r.Kind == Erased:
		c.fail(r.Seq, "its payload, which said whose payloads were erased, is gone: that one is never erased")
		return
	case r.Kind.changesCase():
		c.lastGone = r.Seq
	}
	if r.Kind == Note {
		c.noteGone = r.Seq
	}
	c.gone = append(c.gone, erasure{seq: r.Seq})
}

// finish compares the end of the walk with the head and with what the case says of itself.
func (c *chain) finish(redacted bool) {
	if c.broken != nil {
		return
	}
	switch next := c.last.seq + 1; {
	case next == 1 && c.head.Seq <= 0:
		c.fail(next, "the case has no record at all, not even of its opening")
	case next == 1:
		c.fail(next, "the whole record is missing: the head of the case is at step %d", c.head.Seq)
	case next <= c.head.Seq:
		c.fail(next, "the end was cut off: the record stops at step %d, the head of the case is at step %d", next-1, c.head.Seq)
	case c.last.hash != c.head.Hash:
		c.fail(c.head.Seq, "the head of the case names another row as this step: the last row or the head was replaced")
	case c.unrecorded() > 0:
		c.fail(c.unrecorded(), "its payload is gone, and no later step says that it was erased")
	case !redacted:
		c.compare("status", string(c.says.Status), c.status)
		c.compare("outcome", string(c.says.Outcome), c.outcome)
		c.compareKept()
	}
}

// unrecorded is the first step whose payload is gone without a word, 0 if there is none.
func (c *chain) unrecorded() int64 {
	for _, e := range c.gone {
		if !e.recorded {
			return e.seq
		}
	}
	return 0
}

// compare holds one stored column against the last thing the record said about it.
func (c *chain) compare(name, stored string, recorded column) {
	switch {
	case c.broken != nil:
	case c.lastGone > recorded.seq:
		c.unchecked = append(c.unchecked, Break{c.head.Case, c.lastGone, fmt.Sprintf(
			"the case says its %s is %q; the payload of this step may have said so, and it is erased", name, stored)})
	case stored == string(recorded.value):
	case recorded.seq == 0:
		c.fail(c.last.seq, "the case says its %s is %q, and no step of the record ever said so", name, stored)
	default:
		c.fail(recorded.seq, "the case says its %s is %q, but the record last said %q, in this step", name, stored, recorded.value)
	}
}
