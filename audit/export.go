package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"countersign"
)

// ExportVersion is the form of the file that Writer writes and VerifyExport reads.
const ExportVersion = 1

// MaxLine is the longest line of an export, in bytes. Nothing longer is written or read.
const MaxLine = 64 << 20

// Header opens an export.
type Header struct {
	At       int64 // when it was made, microseconds since 1970-01-01T00:00:00Z; 0 leaves it out
	Redacted bool  // payloads and salts are left out
}

// Writer writes an export: JSON Lines that VerifyExport, or a stranger with docs/audit-format.md, can check without any
// database. It writes what it is given and judges nothing: a broken record is exported as the broken record it is.
//
// Cases come in ascending order of their id's bytes (a database may sort text otherwise), each followed by its rows by seq. A
// file that was cut short lacks its last line, which Close writes. After an error every call returns that error.
type Writer struct {
	out      io.Writer
	redacted bool
	line     bytes.Buffer
	encode   *json.Encoder
	end      endLine
	last     countersign.CaseID
	err      error
}

// The lines of an export, as docs/audit-format.md describes them.
type (
	headerLine struct {
		Version  int   `json:"countersign_export"`
		Redacted bool  `json:"redacted"`
		At       int64 `json:"at,omitempty"`
	}
	caseLine struct {
		Case    countersign.CaseID  `json:"case"`
		Head    headField           `json:"head"`
		Status  countersign.Status  `json:"status"`
		Outcome countersign.Outcome `json:"outcome"`
	}
	headField struct {
		Seq  int64 `json:"seq"`
		Hash Hash  `json:"hash"`
	}
	rowLine struct {
		Case          countersign.CaseID `json:"case"`
		Version       int                `json:"version"`
		Seq           int64              `json:"seq"`
		Kind          Kind               `json:"kind"`
		Actor         string             `json:"actor"`
		At            int64              `json:"at"`
		Commitment    Hash               `json:"commitment"`
		Prev          Hash               `json:"prev_hash"`
		Hash          Hash               `json:"hash"`
		Salt          *string            `json:"salt,omitempty"`
		Payload       *string            `json:"payload,omitempty"`
		PayloadBase64 []byte             `json:"payload_base64,omitempty"` // only for bytes that are not UTF-8, which no honest row has
	}
	endLine struct {
		End   bool  `json:"end"`
		Cases int64 `json:"cases"`
		Rows  int64 `json:"rows"`
	}
)

// NewWriter writes the header to w. It does not buffer beyond a line.
func NewWriter(w io.Writer, h Header) *Writer {
	x := &Writer{out: w, redacted: h.Redacted, end: endLine{End: true}}
	x.encode = json.NewEncoder(&x.line)
	x.encode.SetEscapeHTML(false)
	x.put(headerLine{ExportVersion, h.Redacted, h.At})
	return x
}

// Case begins the next case.
func (x *Writer) Case(head Head, says Projection) error {
	x.follow(head.Case)
	x.put(caseLine{head.Case, headField{head.Seq, head.Hash}, says.Status, says.Outcome})
	x.end.Cases++
	return x.err
}

// Row writes the next row of the case; with another case's row it goes on to rows that have no case. A nil payload is one that
// was erased.
func (x *Writer) Row(r Row, p *Payload) error {
	if r.Case != x.last {
		x.follow(r.Case)
	}
	line := rowLine{
		Case: r.Case, Version: r.Version, Seq: r.Seq, Kind: r.Kind, Actor: r.Actor, At: r.At,
		Commitment: r.Commitment, Prev: r.Prev, Hash: r.Hash,
	}
	if p != nil && !x.redacted {
		line.carry(p)
	}
	x.put(line)
	x.end.Rows++
	return x.err
}

func (l *rowLine) carry(p *Payload) {
	salt := hex.EncodeToString(p.Salt)
	l.Salt = &salt
	if utf8.Valid(p.Bytes) {
		payload := string(p.Bytes)
		l.Payload = &payload
		return
	}
	l.PayloadBase64 = p.Bytes
}

// Close writes the last line. It does not close the underlying writer.
func (x *Writer) Close() error {
	x.put(x.end)
	return x.err
}

// follow insists on the order that lets a reader see, without remembering every case, that none comes twice.
func (x *Writer) follow(id countersign.CaseID) {
	if x.err == nil && id <= x.last {
		x.err = fmt.Errorf("write export: case %q cannot come after case %q: expected ascending order of bytes", id, x.last)
	}
	x.last = id
}

func (x *Writer) put(line any) {
	if x.err != nil {
		return
	}
	x.line.Reset()
	if err := x.encode.Encode(line); err != nil {
		x.err = fmt.Errorf("write export: %w", err)
		return
	}
	if x.line.Len() > MaxLine {
		x.err = fmt.Errorf("write export: case %q: a line of %d bytes, expected at most %d", x.last, x.line.Len(), MaxLine)
		return
	}
	if _, err := x.out.Write(x.line.Bytes()); err != nil {
		x.err = fmt.Errorf("write export: %w", err)
	}
}
