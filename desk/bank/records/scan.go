package records

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"countersign"
)

// scanner reads JSON from a stream, one value at a time, in one fixed buffer.
//
// encoding/json is not used for imports: it replaces invalid UTF-8 without a word, lets the last of two equal keys win,
// knows no line numbers, and holds a text of any length in memory. A file that somebody hands a bank must not be read so.
type scanner struct {
	in       io.Reader
	buf      []byte
	pos, end int
	base     int64 // offset in the file of buf[0]
	line     int   // counted from 1
	lineAt   int64 // offset of the line's first byte
	failed   error // what the reader said, other than that it ended
	text     []byte
}

const (
	bufferSize = 64 << 10
	maxDepth   = 32  // of lists and objects inside each other
	maxKey     = 256 // bytes of a name that are kept
	maxWord    = 64  // bytes of a number that are kept
)

func newScanner(in io.Reader) *scanner {
	return &scanner{in: in, buf: make([]byte, bufferSize), line: 1}
}

// cell is one value as it stands in the file.
type cell struct {
	kind kind
	text []byte // of a text or number, as much as was kept; valid until the next read
	size int    // of all of it
	list []string
	line int
}

type kind string

const (
	missing kind = "nothing"
	null    kind = "null"
	words   kind = "a text"
	number  kind = "a number"
	truth   kind = "true or false"
	list    kind = "a list of texts" // and of nothing else
	mixed   kind = "a list"
	object  kind = "an object"
	torn    kind = "a text with a quote that does not belong there" // in CSV alone
)

// broken is the end of reading: from here on nobody can tell rows apart. Columns are counted in bytes.
func (s *scanner) broken(format string, args ...any) error {
	return s.brokenAt(s.base+int64(s.pos), format, args...)
}

// brokenAt is broken at a place that was passed already, on the same line.
func (s *scanner) brokenAt(offset int64, format string, args ...any) error {
	if s.failed != nil {
		return fmt.Errorf("reading the file at line %d: %w", s.line, s.failed)
	}
	return countersign.Errorf(countersign.Invalid, "line %d, column %d: %s", s.line, offset-s.lineAt+1, fmt.Sprintf(format, args...))
}

// more makes at least one byte available, false at the end of the file.
func (s *scanner) more() bool {
	if s.pos < s.end {
		return true
	}
	s.base += int64(s.end)
	s.pos, s.end = 0, 0
	for range 100 { // a reader may return nothing now and then, but not for ever
		n, err := s.in.Read(s.buf)
		s.end = n
		if err != nil {
			s.ended(err)
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.failed = io.ErrNoProgress
	return false
}

// beginning returns at least the first three bytes of the file if there are so many, however small the pieces they come in.
func (s *scanner) beginning() []byte {
	for tries := 0; s.end < 3 && tries < 100; tries++ {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.ended(err)
			break
		}
	}
	return s.buf[:s.end]
}

// ended remembers why nothing more comes, unless the file simply ended.
func (s *scanner) ended(err error) {
	if err != io.EOF {
		s.failed = err
	}
}

// peek skips white space and returns the next byte without taking it; 0 at the end of the file.
func (s *scanner) peek() byte {
	for s.more() {
		switch c := s.buf[s.pos]; c {
		case ' ', '\t', '\r':
			s.pos++
		case '\n':
			s.pos++
			s.line++
			s.lineAt = s.base + int64(s.pos)
		default:
			return c
		}
	}
	return 0
}

// here names what stands at the scanner for a message.
func (s *scanner) here() string {
	if !s.more() {
		return "the file ends"
	}
	c := s.buf[s.pos]
	if c > ' ' && c < 0x7f {
		return "found " + string(rune(c))
	}
	return fmt.Sprintf("found the byte 0x%02x", c)
}

// members reads an object and calls each for every key, which must then read the value. The key is valid until it does.
func (s *scanner) members(each func(key []byte, line int) error) error {
	s.pos++ // {
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.broken("%s where a name in quotes should stand", s.here())
		}
		line := s.line
		key, _, err := s.quoted(maxKey)
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.broken("%s where : should stand after the name %s", s.here(), shown(string(key)))
		}
		s.pos++
		if err := each(key, line); err != nil {
			return err
		}
		if done, err := s.next('}'); done || err != nil {
			return err
		}
	}
}

// elements reads a list and calls each where a value begins.
func (s *scanner) elements(each func() error) error {
	s.pos++ // [
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.peek()
		if err := each(); err != nil {
			return err
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// next takes a comma, or the bracket that ends a list or object.
func (s *scanner) next(last byte) (done bool, err error) {
	switch s.peek() {
	case last:
		s.pos++
		return true, nil
	case ',':
		s.pos++
		if s.peek() == last {
			return false, s.broken("a comma with nothing after it")
		}
		return false, nil
	}
	return false, s.broken("%s where , or %c should stand", s.here(), last)
}

// value reads one value of any kind.
func (s *scanner) value(depth, keep int) (cell, error) {
	first := s.peek()
	c := cell{line: s.line}
	if depth > maxDepth {
		return c, s.broken("lists and objects stand more than %d deep inside each other", maxDepth)
	}
	var err error
	switch first {
	case '"':
		c.kind = words
		c.text, c.size, err = s.quoted(keep)
	case '{':
		c.kind = object
		err = s.members(func([]byte, int) error { _, err := s.value(depth+1, 0); return err })
	case '[':
		c.kind = list
		err = s.elements(func() error { return s.item(&c, depth, keep) })
	default:
		err = s.word(&c)
	}
	return c, err
}

// item reads one value of a list into the list's cell.
func (s *scanner) item(c *cell, depth, keep int) error {
	v, err := s.value(depth+1, keep)
	switch {
	case err != nil:
		return err
	case v.kind != words:
		c.kind = mixed
	case len(c.list) <= maxFlags && keep > 0:
		c.list = append(c.list, string(v.text))
	}
	return nil
}

// quoted reads a text and returns the first keep bytes of it, and the size of all of it. A control character that JSON
// would have escaped is kept: what the column thinks of it is decided later, and it need not cost the other rows. Only a
// line break ends everything, because it most likely means that the closing quote was lost.
func (s *scanner) quoted(keep int) (text []byte, size int, err error) {
	s.pos++ // "
	s.text = s.text[:0]
	for s.more() {
		chunk := s.buf[s.pos:s.end]
		n := 0
		for n < len(chunk) && chunk[n] != '"' && chunk[n] != '\\' && chunk[n] != '\n' {
			n++
		}
		s.keep(chunk[:n], size, keep)
		size += n
		s.pos += n
		if n == len(chunk) {
			continue
		}
		switch chunk[n] {
		case '"':
			s.pos++
			return s.text, size, nil
		case '\n':
			return nil, 0, s.broken("a line ends inside a text; the closing quote is missing, or write \\n")
		}
		escaped, err := s.escape()
		if err != nil {
			return nil, 0, err
		}
		s.keep(escaped, size, keep)
		size += len(escaped)
	}
	return nil, 0, s.broken("the file ends inside a text")
}

func (s *scanner) keep(b []byte, size, keep int) {
	if room := keep - size; room > 0 {
		s.text = append(s.text, b[:min(room, len(b))]...)
	}
}

// escape reads one backslash and what belongs to it, a surrogate pair as one. Half a pair becomes bytes that are not valid
// UTF-8, which every column refuses.
func (s *scanner) escape() ([]byte, error) {
	r, err := s.escaped()
	if err != nil || !high(r) || !s.more() || s.buf[s.pos] != '\\' {
		return appendHalf(nil, r), err
	}
	second, err := s.escaped()
	if whole := utf16.DecodeRune(r, second); whole != utf8.RuneError {
		return utf8.AppendRune(nil, whole), err
	}
	return appendHalf(appendHalf(nil, r), second), err
}

func high(r rune) bool { return r >= 0xd800 && r < 0xdc00 }

func appendHalf(b []byte, r rune) []byte {
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r)
	}
	return append(b, 0xed, byte(0x80|r>>6&0x3f), byte(0x80|r&0x3f))
}

// escaped reads one backslash and its letter, and after a u four digits.
func (s *scanner) escaped() (rune, error) {
	s.pos++ // \
	if !s.more() {
		return 0, s.broken("the file ends inside a text")
	}
	c := s.buf[s.pos]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		s.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, s.broken("%s after a backslash, which JSON does not know", s.here())
	}
	s.pos++
	return s.hex4()
}

func (s *scanner) hex4() (rune, error) {
	var digits [4]byte
	for i := range digits {
		if !s.more() {
			return 0, s.broken("the file ends inside a text")
		}
		digits[i] = s.buf[s.pos]
		s.pos++
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, s.broken("\\u must be followed by four hexadecimal digits")
	}
	return rune(n), nil
}

// word reads what stands without quotes: a number, true, false or null.
func (s *scanner) word(c *cell) error {
	start := s.base + int64(s.pos)
	s.text = s.text[:0]
	for s.more() && bare(s.buf[s.pos]) {
		s.keep(s.buf[s.pos:s.pos+1], c.size, maxWord)
		c.size++
		s.pos++
	}
	c.text = s.text
	switch w := string(c.text); {
	case w == "":
		return s.broken("%s where a value should stand", s.here())
	case w == "null":
		c.kind = null
	case w == "true", w == "false":
		c.kind = truth
	case jsonNumber(c.text):
		c.kind = number
	default:
		return s.brokenAt(start, "%s is not JSON: text stands in quotes, and the only words are true, false and null", shown(w))
	}
	return nil
}

func bare(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

// jsonNumber reports whether b is a number as JSON writes it: no leading zero, no leading plus, digits round the point.
func jsonNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	whole := digits(b)
	if whole == 0 || b[0] == '0' && whole > 1 {
		return false
	}
	if b = b[whole:]; len(b) > 0 && b[0] == '.' {
		fraction := digits(b[1:])
		if fraction == 0 {
			return false
		}
		b = b[1+fraction:]
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = bytes.TrimLeft(b[1:], "+-")
		return len(b) > 0 && digits(b) == len(b)
	}
	return len(b) == 0
}

func digits(b []byte) (n int) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}
