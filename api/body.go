package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign"
)

// maxBody is the longest body that is read, in bytes. The longest that can be accepted is a fifth of it.
const maxBody = 256 << 10

// readBody reads a body that may be JSON. A length that says too much is refused before a byte is read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, countersign.Errorf(countersign.TooLarge, "is longer than %d bytes", maxBody).In("body")
	case err != nil:
		return nil, invalid("body", "could not be read to its end")
	}
	return raw, checkType(r.Header, len(raw))
}

// checkType refuses a body that says it is something else. Saying nothing is taken for JSON.
func checkType(h http.Header, length int) error {
	if h.Get("Content-Encoding") != "" {
		return newProblem(http.StatusUnsupportedMediaType, "the body must not be compressed", Fault{"header.Content-Encoding", "expected none"})
	}
	sent := h.Get("Content-Type")
	if sent == "" || length == 0 {
		return nil
	}
	kind, params, err := mime.ParseMediaType(sent)
	if charset := params["charset"]; err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return newProblem(http.StatusUnsupportedMediaType, "the body must be JSON in UTF-8", Fault{"header.Content-Type", "expected application/json"})
}

// nothing is the body of a call that takes none: absent, or an empty object.
type nothing struct{}

// read reads the request's body into T, a struct of strings.
func read[T any](ctx context.Context) (sent T, err error) {
	raw := requestOf(ctx).body
	if len(raw) == 0 && mayBeAbsent(sent) {
		return sent, nil
	}
	if faults := decode(raw, &sent); len(faults) > 0 {
		return sent, newProblem(http.StatusBadRequest, sentence(faults), faults...)
	}
	return sent, nil
}

// mayBeAbsent reports whether a call can be made without that body.
func mayBeAbsent(body any) bool {
	switch body.(type) {
	case nothing, newApproval:
		return true
	}
	return false
}

func sentence(faults []Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, strings.TrimPrefix(f.Location, "body.")+": "+f.Message)
	}
	return strings.Join(all, "; ")
}

// decode reads one JSON object of texts, whole numbers and such objects, more strictly than encoding/json: no key twice, none that
// into does not have in exactly that spelling, nothing after the object, and no text that would have to be repaired. null is a
// field left out.
func decode(raw []byte, into any) []Fault {
	if faults := wrong("body", raw, reflect.TypeOf(into).Elem()); len(faults) > 0 {
		return faults[:min(len(faults), 20)]
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return []Fault{{"body", "does not have the form of this call"}} // unreachable unless a body gets a field of another kind
	}
	return nil
}

// wrong is everything that keeps an object from being of the form of t, a struct.
func wrong(place string, raw []byte, t reflect.Type) (faults []Fault) {
	members, fault := object(raw)
	if fault != "" {
		return []Fault{{place, fault}}
	}
	known := fields(t)
	for _, m := range members {
		at := place + "." + clip(m.name)
		if why := m.misplaced(slices.Collect(maps.Keys(known))); why != "" {
			faults = append(faults, Fault{at, why})
			continue
		}
		faults = append(faults, m.wrong(at, known[m.name])...)
	}
	return faults
}

// member is one key of a body with its value as it was sent.
type member struct {
	name  string
	value json.RawMessage
	again bool // the key came before
}

// object cuts a body into its members. The fault says why it is no JSON object.
func object(raw []byte) (members []member, fault string) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, "is empty, expected a JSON object"
	case !utf8.Valid(raw):
		return nil, "is not valid UTF-8"
	}
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(raw, &whole); errors.As(err, &syntax) {
		return nil, fmt.Sprintf("is not JSON: %s, at byte %d", syntax.Error(), syntax.Offset)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, "is not a JSON object"
	}
	for d.More() {
		var m member
		key, _ := d.Token() // what was valid as a whole is valid in parts
		m.name, _ = key.(string)
		_ = d.Decode(&m.value)
		m.again = slices.ContainsFunc(members, func(other member) bool { return other.name == m.name })
		members = append(members, m)
		if len(members) > maxMembers {
			return nil, "has too many fields"
		}
	}
	return members, ""
}

// maxMembers is far above what any body has, so that looking for a key that came before stays cheap.
const maxMembers = 100

// misplaced says why a member cannot be there at all.
func (m member) misplaced(known []string) string {
	switch slices.Sort(known); {
	case m.again:
		return "is there twice"
	case !slices.Contains(known, m.name):
		return "is not a field of this call, " + expected(known)
	}
	return ""
}

// wrong is what keeps a member's value from being a t.
func (m member) wrong(at string, t reflect.Type) []Fault {
	switch {
	case string(m.value) == "null":
		return nil
	case t == reflect.TypeFor[*string](): // text that may be left out
	case t.Kind() == reflect.Pointer && m.value[0] == '{':
		return wrong(at, m.value, t.Elem())
	case t.Kind() == reflect.Pointer:
		return []Fault{{at, "is " + kindOf(m.value[0]) + ", expected an object"}}
	case t.Kind() == reflect.Int64:
		if _, err := strconv.ParseInt(string(m.value), 10, 64); err != nil {
			return []Fault{{at, "expected a whole number"}}
		}
		return nil
	}
	if why := m.notText(); why != "" {
		return []Fault{{at, why}}
	}
	return nil
}

func (m member) notText() string {
	var text string
	switch {
	case m.value[0] != '"' || json.Unmarshal(m.value, &text) != nil:
		return "is " + kindOf(m.value[0]) + ", expected text in quotes"
	case halved(text, m.value):
		return "holds half of a surrogate pair, which is no character"
	}
	return ""
}

func kindOf(first byte) string {
	switch first {
	case '"':
		return "text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

// halved reports whether reading the value had to put the replacement character where none was sent.
func halved(text string, value []byte) bool {
	return strings.ContainsRune(text, utf8.RuneError) && !bytes.ContainsRune(value, utf8.RuneError) &&
		!bytes.Contains(bytes.ToLower(value), []byte(`\ufffd`))
}

// fields are a body's fields by their names.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("json"); name != "" {
			all[strings.Split(name, ",")[0]] = t.Field(i).Type
		}
	}
	return all
}
