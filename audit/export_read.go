package audit

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"countersign"
)

// VerifyExport verifies a file that Writer wrote, with no database. The report says what the file shows; an error says that
// the file cannot be judged: it is cut short, is no export, or has a line that means nothing. Such an error is a
// *countersign.Error that names line and field; only reading r itself gives another. The report beside an error covers the
// lines before it.
//
// It takes hostile files: memory is bounded by the longest line (MaxLine) and the number of breaks.
//
// An export proves what it holds. It cannot prove that no whole case was left out of it.
func VerifyExport(r io.Reader) (Report, error) {
	x := exportReader{verifier: NewVerifier()}
	err := x.read(r)
	if err != nil {
		x.verifier.abandon()
	}
	return Merge(x.verifier.Report(), x.own), err
}

// VerifyExportCase is VerifyExport for one case of the file: the others are read, since the file must be whole, and not
// reported. A file that does not hold the case is an error of the kind NotFound.
func VerifyExportCase(r io.Reader, id countersign.CaseID) (Report, error) {
	x := exportReader{verifier: NewVerifier(), only: id}
	err := x.read(r)
	if err != nil {
		x.verifier.abandon()
	} else if !x.met {
		err = countersign.Errorf(countersign.NotFound, "the export does not hold the case %q", clip([]byte(id)))
	}
	x.own.Breaks = slices.DeleteFunc(x.own.Breaks, func(b Break) bool { return b.Case != "" && b.Case != id })
	return Merge(x.verifier.Report(), x.own), err
}

type exportReader struct {
	verifier    *Verifier
	only        countersign.CaseID // the one case that is verified; every case when empty
	met         bool               // a line of that case was read
	last        countersign.CaseID
	ended       bool
	cases, rows int64
	own         Report // what is wrong with the file rather than with a chain
}

func (x *exportReader) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine+1)
	n := 0
	for lines.Scan() {
		n++
		l, err := parseLine(n, lines.Bytes())
		if err == nil {
			err = x.line(l)
		}
		if err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return invalid(n+1, "", "is longer than %d bytes", MaxLine)
	case err != nil:
		return fmt.Errorf("read export after line %d: %w", n, err)
	case !x.ended:
		return invalid(n+1, "", "is missing: the file was cut off before its last line, which counts cases and rows")
	}
	return nil
}

// line takes one line by what it holds: the header is the first, a case has a head, the last has an end, all others are rows.
func (x *exportReader) line(l *line) error {
	switch {
	case l.number == 1:
		x.header(l)
	case x.ended:
		return invalid(l.number, "", "comes after the last line of the export")
	case l.has("end"):
		x.trailer(l)
	case l.has("head"):
		x.caseLine(l)
	default:
		x.rowLine(l)
	}
	return l.finish()
}

func (x *exportReader) header(l *line) {
	if v := l.integer("countersign_export"); l.err == nil && v != ExportVersion {
		l.fail("countersign_export", "is %d, expected %d: this export is of another version", v, ExportVersion)
	}
	x.verifier.redacted = l.boolean("redacted")
	if l.has("at") {
		l.integer("at")
	}
}

func (x *exportReader) caseLine(l *line) {
	head := Head{Case: countersign.CaseID(l.text("case"))}
	says := Projection{Status: countersign.Status(l.text("status")), Outcome: countersign.Outcome(l.text("outcome"))}
	inner := l.object("head")
	head.Seq, head.Hash = inner.integer("seq"), inner.hash("hash")
	if l.nested(inner); l.finish() != nil {
		return
	}
	x.follow(head.Case)
	if x.wanted(head.Case) {
		x.verifier.Case(head, says)
	}
	x.cases++
}

func (x *exportReader) rowLine(l *line) {
	r := Row{
		Case: countersign.CaseID(l.text("case")), Version: int(l.integer("version")), Seq: l.integer("seq"),
		Kind: Kind(l.text("kind")), Actor: l.text("actor"), At: l.integer("at"),
		Commitment: l.hash("commitment"), Prev: l.hash("prev_hash"), Hash: l.hash("hash"),
	}
	p := l.payload(x.verifier.redacted)
	if l.finish() != nil {
		return
	}
	if r.Case != x.last {
		x.follow(r.Case)
	}
	if x.wanted(r.Case) {
		x.verifier.Row(r, p)
	}
	x.rows++
}

func (x *exportReader) wanted(id countersign.CaseID) bool {
	x.met = x.met || id == x.only
	return x.only == "" || id == x.only
}

// follow notices a case that comes twice. Writer cannot write one, so somebody put the lines together by hand.
func (x *exportReader) follow(id countersign.CaseID) {
	if id <= x.last && x.rows+x.cases > 0 {
		x.own.Breaks = append(x.own.Breaks, Break{id, 0, "the export has lines of this case in more than one place, or out of order"})
	}
	x.last = id
}

func (x *exportReader) trailer(l *line) {
	x.ended = true
	l.boolean("end")
	if cases, rows := l.integer("cases"), l.integer("rows"); l.finish() == nil && (cases != x.cases || rows != x.rows) {
		x.own.Breaks = append(x.own.Breaks, Break{Why: fmt.Sprintf(
			"lines were added or removed: its last line counts %s and %s, and it holds %s and %s",
			count(cases, "case"), count(rows, "row"), count(x.cases, "case"), count(x.rows, "row"))})
	}
}

// line is one line of an export. Each field is taken once, by name; the first one that is missing or malformed is the line's
// error, and so is whatever is left when the line is finished.
type line struct {
	number int
	fields map[string][]byte
	err    error
}

func parseLine(number int, b []byte) (*line, error) {
	if !utf8.Valid(b) {
		return nil, invalid(number, "", "is not UTF-8")
	}
	if !json.Valid(b) || skipSpace(b)[0] != '{' {
		return nil, invalid(number, "", "is %q, expected a JSON object", clip(b))
	}
	l := &line{number: number, fields: make(map[string][]byte, 12)}
	for key, value := range members(b) {
		if _, twice := l.fields[string(key)]; twice {
			return nil, invalid(number, clip(key), "is there twice")
		}
		l.fields[string(key)] = value
	}
	return l, nil
}

func invalid(number int, field, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return countersign.Errorf(countersign.Invalid, "line %d of the export %s", number, why).In(field)
}

func (l *line) fail(field, format string, args ...any) {
	if l.err == nil {
		l.err = invalid(l.number, field, format, args...)
	}
}

func (l *line) has(field string) bool { return l.fields[field] != nil }

// take returns the raw value of a field that must be there.
func (l *line) take(field string) []byte {
	value, ok := l.fields[field]
	if !ok {
		l.fail(field, "lacks it")
	}
	delete(l.fields, field)
	return value
}

func (l *line) text(field string) (s string) {
	if value := l.take(field); l.err == nil && (value[0] != '"' || json.Unmarshal(value, &s) != nil) {
		l.fail(field, "has %s, expected a string", clip(value))
	}
	return s
}

func (l *line) integer(field string) int64 {
	value := l.take(field)
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		l.fail(field, "has %s, expected a whole number", clip(value))
	}
	return n
}

func (l *line) boolean(field string) bool {
	value := string(l.take(field))
	if value != "true" && value != "false" {
		l.fail(field, "has %s, expected true or false", clip([]byte(value)))
	}
	return value == "true"
}

func (l *line) hash(field string) Hash {
	h, err := ParseHash(l.text(field))
	if err != nil {
		l.fail(field, "has %v", err)
	}
	return h
}

func (l *line) object(field string) *line {
	value := l.take(field)
	if l.err == nil && value[0] != '{' {
		l.fail(field, "has %s, expected an object", clip(value))
	}
	if l.err != nil {
		return &line{number: l.number, err: l.err}
	}
	inner, err := parseLine(l.number, value)
	if err != nil {
		return &line{number: l.number, err: err}
	}
	return inner
}

// nested ends an object inside the line.
func (l *line) nested(inner *line) {
	if err := inner.finish(); err != nil && l.err == nil {
		l.err = err
	}
}

// payload takes salt and payload, which come together or not at all.
func (l *line) payload(redacted bool) *Payload {
	name := "payload"
	if l.has("payload_base64") {
		name = "payload_base64"
	}
	switch {
	case redacted || !l.has(name) && !l.has("salt"):
		return nil // in a redacted export, whatever is left over is an unknown field
	case name == "payload":
		return &Payload{Salt: l.salt(), Bytes: []byte(l.text(name))}
	}
	b, err := base64.StdEncoding.DecodeString(l.text(name))
	if err != nil {
		l.fail(name, "has a value that is not base64")
	}
	return &Payload{Salt: l.salt(), Bytes: b}
}

func (l *line) salt() []byte {
	b, err := hex.DecodeString(l.text("salt"))
	if err != nil {
		l.fail("salt", "has a value that is not hex")
	}
	return b
}

// finish returns the line's error. A field that nobody took is one: two readers must not understand one line differently.
func (l *line) finish() error {
	if l.err == nil && len(l.fields) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(l.fields)))
		l.fail(clip([]byte(first)), "has this field, which is unknown here")
	}
	return l.err
}
