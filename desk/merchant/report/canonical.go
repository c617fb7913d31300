package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign"
)

// Canonical writes the content in its one exact form: JSON without a space, the keys of every object in ascending order, every
// field there, no number but whole ones, and in text an escape only where JSON demands one. It is what RFC 8785 makes of this
// content; docs/report-format.md has the rule. Text that is not UTF-8 has U+FFFD in it afterwards; Check refuses it before.
func Canonical(c Content) []byte {
	var b bytes.Buffer
	writing{&b, c.Format}.value(reflect.ValueOf(c))
	return b.Bytes()
}

// writing is content on its way to its canonical form, in the format that it says it has.
type writing struct {
	*bytes.Buffer
	format int
}

// value writes from the types and not from encoding/json: its choice of escapes and of field order is its own, and may change.
func (b writing) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		b.object(v)
	case reflect.Slice:
		b.list(v)
	case reflect.String:
		writeText(b.Buffer, v.String())
	case reflect.Int, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	default:
		panic("report: the canonical form has no way to write a " + v.Kind().String()) // unreachable: TestCanonical walks every type
	}
}

func (b writing) object(v reflect.Value) {
	for i, f := range fieldsOf(v.Type(), b.format) {
		b.WriteByte("{,"[min(i, 1)])
		writeText(b.Buffer, f.key)
		b.WriteByte(':')
		b.value(v.Field(f.index))
	}
	b.WriteByte('}')
}

func (b writing) list(v reflect.Value) {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.value(v.Index(i))
	}
	b.WriteByte(']')
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func writeText(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		if short, ok := shortEscapes[r]; ok {
			b.WriteString(short)
		} else if r < ' ' {
			fmt.Fprintf(b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

type field struct {
	key   string
	index int
}

// fieldsOf is the fields that one of our structs has in a format, in ascending order of their keys.
func fieldsOf(t reflect.Type, format int) (fields []field) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if since, _ := strconv.Atoi(tag.Get("since")); since <= format {
			fields = append(fields, field{tag.Get("json"), i})
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return fields
}

// maxCanonical is more than any report that a person could read.
const maxCanonical = 64 << 20

// Read reads canonical content strictly: only bytes that Canonical would write are read, so no two readings of one file exist.
// Content of another format version is Unprocessed, everything else that is wrong is Invalid.
func Read(canonical []byte) (Content, error) {
	c, err := decode(canonical)
	if err != nil {
		return Content{}, err
	}
	if again := Canonical(c); !bytes.Equal(again, canonical) {
		return Content{}, countersign.Errorf(countersign.Invalid, "the content is not in its canonical form, from byte %d on", firstDifference(again, canonical)+1)
	}
	return c, c.Check()
}

// decode reads JSON of any spelling into a Content.
func decode(b []byte) (c Content, err error) {
	if len(b) > maxCanonical {
		return c, countersign.Errorf(countersign.TooLarge, "the content has %d bytes; a report has at most %d", len(b), maxCanonical)
	}
	if !utf8.Valid(b) {
		return c, countersign.Errorf(countersign.Invalid, "the content is not UTF-8")
	}
	var version struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return c, countersign.Errorf(countersign.Invalid, "the content is not JSON: %v", err)
	}
	if version.Format == nil {
		return c, countersign.Errorf(countersign.Invalid, "the content is not an evidence report's: it names no format")
	}
	if *version.Format < 1 || *version.Format > FormatVersion {
		return c, countersign.Errorf(countersign.Unprocessed, "the content has format %d, and this program knows formats 1 to %d", *version.Format, FormatVersion).
			Try("use the version of countersign that made it, or a newer one")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, countersign.Errorf(countersign.Invalid, "the content cannot be read: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return c, countersign.Errorf(countersign.Invalid, "something follows the content")
	}
	return c, nil
}

func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Fingerprint is the SHA-256 of canonical content, as 64 hex digits.
func Fingerprint(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Short is the fingerprint for people: groups of eight, to be compared by eye or read out.
func Short(fingerprint string) string {
	var groups []string
	for group := range slices.Chunk([]byte(fingerprint), 8) {
		groups = append(groups, string(group))
	}
	return strings.Join(groups, " ")
}
