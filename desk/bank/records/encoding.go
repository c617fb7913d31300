package records

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"countersign"
)

// Encoding is how a file's bytes are text, in words that say what this was concluded from.
type Encoding string

const (
	UTF8        Encoding = "UTF-8"
	UTF8Marked  Encoding = "UTF-8 with a byte order mark"
	UTF16LE     Encoding = "UTF-16LE with a byte order mark"
	UTF16BE     Encoding = "UTF-16BE with a byte order mark"
	UTF16LEBare Encoding = "UTF-16LE, guessed: every second byte is zero"
	UTF16BEBare Encoding = "UTF-16BE, guessed: every second byte is zero"
	Windows1252 Encoding = "Windows-1252, guessed: the bytes are not UTF-8"
)

const (
	mark      = "\xef\xbb\xbf" // what editors write before UTF-8
	maxAliens = 20             // characters that a person is shown to judge an encoding by
)

// marked is the encoding that the first bytes of a file tell, plain UTF-8 if they tell none. Names of columns are ASCII, so
// that zeros between them can only be UTF-16.
func marked(head []byte) Encoding {
	switch {
	case bytes.HasPrefix(head, []byte(mark)):
		return UTF8Marked
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return UTF16LE
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return UTF16BE
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return UTF16LEBare
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return UTF16BEBare
	}
	return UTF8
}

// proofread reads a file to its end and finds the one encoding that all of it is in. A file that is in none, or in two, is
// an error that names the line: rows that were read in a wrong encoding would be stored as other names.
func proofread(head []byte, in io.Reader) (Encoding, []string, error) {
	p := proof{encoding: marked(head), line: 1}
	if err := p.read(bufio.NewReaderSize(p.encoding.decode(in), headSize)); err != nil {
		return p.encoding, nil, err
	}
	return p.verdict()
}

// proof is what is known of a file's bytes so far. Lines are counted from 1; 0 is nowhere.
type proof struct {
	encoding  Encoding
	line      int
	wide      int       // where a character beyond ASCII stands that is right in UTF-8
	alien     int       // where a byte stands that is not
	nothing   int       // where a byte stands that Windows-1252 has no character for
	nobody    byte      // which it is
	lost      int       // where another program wrote that it could not read a character
	aliens    [256]bool // which bytes they are
	sightings []rune    // the first few of them as Windows-1252 has them
}

func (p *proof) read(in *bufio.Reader) error {
	for before := rune(0); ; {
		r, size, err := in.ReadRune()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errTorn):
			return countersign.Errorf(countersign.Invalid, "line %d holds half a character of UTF-16: the file is cut off or changes its encoding there", p.line)
		case err != nil:
			return fmt.Errorf("reading the file at line %d: %w", p.line, err)
		case r == 0:
			return countersign.Errorf(countersign.Invalid, "line %d holds a NUL byte: the file is no text, or changes its encoding there", p.line)
		case r == utf8.RuneError && size == 1:
			_ = in.UnreadRune()       // cannot fail: a rune was read just now
			alien, _ := in.ReadByte() // nor can this
			p.met(alien)
		default:
			p.passed(r, before)
		}
		before = r
	}
}

// passed takes note of a character that is as it should be.
func (p *proof) passed(r, before rune) {
	switch {
	case r == '\r', r == '\n' && before != '\r':
		p.line++
	case r == utf8.RuneError && p.lost == 0:
		p.lost = p.line
	case r >= utf8.RuneSelf && p.wide == 0:
		p.wide = p.line
	}
}

// met takes note of a byte that is not UTF-8.
func (p *proof) met(b byte) {
	if p.alien == 0 {
		p.alien = p.line
	}
	r := windows1252(b)
	if r == utf8.RuneError && p.nothing == 0 {
		p.nothing, p.nobody = p.line, b
	}
	if !p.aliens[b] && len(p.sightings) < maxAliens {
		p.sightings = append(p.sightings, r)
	}
	p.aliens[b] = true
}

func (p *proof) verdict() (Encoding, []string, error) {
	const save = "save the whole file as UTF-8"
	var notes []string
	if p.lost > 0 {
		notes = append(notes, fmt.Sprintf("line %d holds the sign � that a program writes for a character it cannot read: it was lost before the file came here", p.lost))
	}
	switch {
	case p.alien == 0:
		return p.encoding, notes, nil
	case p.encoding == UTF8Marked:
		return p.encoding, nil, countersign.Errorf(countersign.Invalid, "line %d is not UTF-8, as the mark at the beginning of the file says: the file changes its encoding there", p.alien).Try(save)
	case p.wide > 0:
		return p.encoding, nil, countersign.Errorf(countersign.Invalid, "line %d is UTF-8 and line %d is not: the file changes its encoding between them", p.wide, p.alien).Try(save)
	case p.nothing > 0:
		return p.encoding, nil, countersign.Errorf(countersign.Invalid, "line %d holds the byte 0x%02x, which neither UTF-8 nor Windows-1252 has at such a place", p.nothing, p.nobody).Try(save)
	}
	return Windows1252, append(notes, "read as Windows-1252, the letters and signs beyond ASCII are "+spaced(p.sightings)+": if these are wrong, "+save), nil
}

func spaced(runes []rune) string {
	return strings.TrimSpace(strings.Join(strings.Split(strings.Map(printable, string(runes)), ""), " "))
}

// decode makes UTF-8 of a file. A byte order mark stays in front of it.
func (e Encoding) decode(in io.Reader) io.Reader {
	switch e {
	case UTF8, UTF8Marked:
		return in
	case Windows1252:
		return newDecoder(in, nextWindows1252)
	case UTF16LE, UTF16LEBare:
		return newDecoder(in, func(in *bufio.Reader) (rune, error) { return nextUTF16(in, binary.LittleEndian) })
	}
	return newDecoder(in, func(in *bufio.Reader) (rune, error) { return nextUTF16(in, binary.BigEndian) })
}

// decoder is a file read as UTF-8, character by character.
type decoder struct {
	in   *bufio.Reader
	next func(*bufio.Reader) (rune, error)
	all  []byte // as much as was decoded at once
	rest []byte // what of it was not yet read
	err  error  // what comes behind it
}

func newDecoder(in io.Reader, next func(*bufio.Reader) (rune, error)) *decoder {
	return &decoder{in: bufio.NewReader(in), next: next, all: make([]byte, 0, bufferSize)}
}

func (d *decoder) Read(b []byte) (int, error) {
	if len(d.rest) == 0 {
		d.decode()
	}
	if len(d.rest) == 0 {
		return 0, d.err
	}
	n := copy(b, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

func (d *decoder) decode() {
	d.all = d.all[:0]
	for d.err == nil && len(d.all) <= cap(d.all)-utf8.UTFMax {
		var r rune
		if r, d.err = d.next(d.in); d.err == nil {
			d.all = utf8.AppendRune(d.all, r)
		}
	}
	d.rest = d.all
}

// beyondASCII is what Windows-1252 has where Latin-1 has control characters. Five places are empty.
var beyondASCII = []rune("€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ")

// windows1252 is the character of a byte, the replacement character for one that has none.
func windows1252(b byte) rune {
	if b >= 0x80 && b < 0xa0 {
		return beyondASCII[b-0x80]
	}
	return rune(b)
}

func nextWindows1252(in *bufio.Reader) (rune, error) {
	b, err := in.ReadByte()
	return windows1252(b), err
}

// errTorn is half a character of UTF-16.
var errTorn = errors.New("half a character of UTF-16")

func nextUTF16(in *bufio.Reader, order binary.ByteOrder) (rune, error) {
	first, err := nextUnit(in, order)
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	second, err := nextUnit(in, order)
	if whole := utf16.DecodeRune(first, second); err == nil && whole != utf8.RuneError {
		return whole, nil
	}
	if err == nil || err == io.EOF {
		err = errTorn
	}
	return 0, err
}

func nextUnit(in *bufio.Reader, order binary.ByteOrder) (rune, error) {
	first, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	second, err := in.ReadByte()
	if err == io.EOF {
		err = errTorn
	}
	return rune(order.Uint16([]byte{first, second})), err
}
