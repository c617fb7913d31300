package audit

import (
	"crypto/sha256"
	"encoding/binary"

	"countersign"
)

// Version is the byte format that Append writes. It is part of what is hashed, as the last character of both tags.
const Version = 1

const (
	rowTag     = "countersign/row/1"
	payloadTag = "countersign/payload/1"
)

// Row is one step of a case's record as it is stored for ever.
type Row struct {
	Version    int
	Case       countersign.CaseID
	Seq        int64 // counted from 1 in each case, without a gap
	Kind       Kind
	Actor      string // kind:id, as countersign.Actor writes it
	At         int64  // microseconds since 1970-01-01T00:00:00Z; for people only: rows are ordered by Seq
	Commitment Hash   // Commit of the payload
	Prev       Hash   // Hash of the row before, zero for the first
	Hash       Hash   // over everything above
}

// Salt makes a commitment unguessable: without it nobody can try likely payloads against a row whose payload was erased. It
// must be random and is erased together with its payload.
type Salt [16]byte

// Payload is what a row commits to, byte for byte as it was written. It never changes form: what is hashed is what is stored.
type Payload struct {
	Salt  []byte
	Bytes []byte
}

// Commit is the salted commitment that stands in a row for its payload.
func Commit(salt, payload []byte) Hash {
	var room [128]byte
	return commit(room[:0], salt, payload)
}

// commit is Commit with the caller's scratch space; only the short front of the bytes is ever copied into it.
func commit(scratch, salt, payload []byte) (sum Hash) {
	scratch = sized(scratch[:0], payloadTag)
	scratch = sized(scratch, salt)
	scratch = binary.BigEndian.AppendUint64(scratch, uint64(len(payload)))
	h := sha256.New()
	h.Write(scratch)
	h.Write(payload)
	h.Sum(sum[:0])
	return sum
}

// appendPreimage appends the bytes that r.Hash is the SHA-256 of. This function is the format: a change to it needs a new
// Version and new golden vectors, and leaves this one standing.
func (r *Row) appendPreimage(b []byte) []byte {
	b = sized(b, rowTag)
	b = sized(b, r.Case)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Seq))
	b = sized(b, r.Kind)
	b = sized(b, r.Actor)
	b = binary.BigEndian.AppendUint64(b, uint64(r.At))
	b = append(b, r.Commitment[:]...)
	return append(b, r.Prev[:]...)
}

// sized appends one field of any length: its length in eight bytes, then its bytes. Without the length, "ab"+"c" and
// "a"+"bc" would hash alike.
func sized[T ~string | ~[]byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}
