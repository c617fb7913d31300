// Package fence makes text that somebody else wrote fit to be shown to a model.
//
// Merchant names, memos, notes and references are written by people who may want the model to do something. Here they lose
// what a model or its server could mistake for structure (invisible signs, tags, chat-template tokens, step names), and
// are put between two markers that are different in every run, so that no text can close its own fence.
//
// This is one cheap layer and is never counted as the guard. What protects the money is that code corroborates every fix,
// whatever the model was talked into.
//
// It is pure: the same nonce and the same value give the same bytes.
package fence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"countersign"
	"countersign/redact"
)

// Words is somebody else's text inside a tool result: a merchant's name, a memo, a customer's note. Every such field of a
// result must have this type. Encode such results only with Fence.Encode: plain encoding/json keeps private-use marks
// around the text.
type Words string

// The marks that MarshalJSON puts around Words are private-use signs, which cleaning removes from all text. A string that
// carries them without being Words is fenced too, which only makes it more harmless.
const (
	begin = "\uE000"
	end   = "\uE001"
)

// MarshalJSON marks the text for Encode to find.
func (w Words) MarshalJSON() ([]byte, error) { return quote(begin + string(w) + end), nil }

// MaxResult is the most bytes of one tool result that a model is shown. The tools bound their lists; this bounds mistakes.
const MaxResult = 64 << 10

// Fence is the pair of markers of one investigation.
type Fence struct{ open, close string }

// New makes the fence of one run. The nonce must be unpredictable for whoever writes the text, and the same again when a
// crashed run goes on. The markers hold letters only, so that no masking ever touches them.
func New(nonce string) Fence {
	sum := sha256.Sum256([]byte("countersign fence\n" + nonce))
	var tag strings.Builder
	for _, b := range sum[:8] {
		tag.WriteByte('a' + b>>4)
		tag.WriteByte('a' + b&15)
	}
	return Fence{"<untrusted-" + tag.String() + ">", "</untrusted-" + tag.String() + ">"}
}

// Markers are what stands before and after somebody else's text, for the brief to explain.
func (f Fence) Markers() (open, close string) { return f.open, f.close }

// Text is the text cleaned, masked and fenced, on one line, for a message that is not JSON.
func (f Fence) Text(w Words) string { return f.open + prepare(string(w)) + f.close }

// Strip removes this run's markers from a value that the model cites.
func (f Fence) Strip(s string) string {
	return strings.NewReplacer(f.open, "", f.close, "").Replace(s)
}

// Encode turns a tool's result into its two forms: plain, which is stored and which citations are checked against, and
// shown, the JSON object {"ref":"S3","ok":true,"result":…} that the model is sent, where each of the Words stands between
// the markers. Apart from the markers the two hold the same bytes: every text is cleaned and masked in both.
//
// A result that is not a JSON object, or larger than MaxResult, is an error.
func (f Fence) Encode(ref countersign.StepRef, result any) (plain json.RawMessage, shown string, err error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(result); err != nil {
		return nil, "", fmt.Errorf("encode result of %s: %w", ref, err)
	}
	doc := bytes.TrimSpace(b.Bytes())
	if doc[0] != '{' {
		return nil, "", fmt.Errorf("encode result of %s: %T is not a JSON object", ref, result)
	}
	w := writer{fence: f, shown: append([]byte(`{"ref":`), append(quote(string(ref)), `,"ok":true,"result":`...)...)}
	w.document(doc)
	w.shown = append(w.shown, '}')
	if len(w.shown) > MaxResult {
		return nil, "", fmt.Errorf("encode result of %s: %w", ref, errTooLarge)
	}
	return w.plain, string(w.shown), nil
}

var errTooLarge = errors.New("the result is larger than a model is shown")

// Failed is the JSON object that tells the model that a call failed. The message must be safe to show; it is cleaned and
// masked all the same.
func (f Fence) Failed(ref countersign.StepRef, message string) string {
	said := redact.Mask(limit(neutral(message), longest)).String()
	return `{"ref":` + string(quote(string(ref))) + `,"ok":false,"error":` + string(quote(said)) + `}`
}

// writer copies one compact JSON document into its two forms.
type writer struct {
	fence        Fence
	plain, shown []byte
}

func (w *writer) document(doc []byte) {
	for len(doc) > 0 {
		i := bytes.IndexByte(doc, '"')
		if i < 0 {
			break
		}
		w.both(doc[:i])
		n := tokenLen(doc[i:])
		w.text(doc[i : i+n])
		doc = doc[i+n:]
	}
	w.both(doc)
}

func (w *writer) both(b []byte) {
	w.plain, w.shown = append(w.plain, b...), append(w.shown, b...)
}

// tokenLen is the length of the JSON string that b starts with.
func tokenLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b) // unreachable: encoding/json wrote the document
}

func (w *writer) text(token []byte) {
	s := unquote(token)
	if !strings.HasPrefix(s, begin) {
		w.both(quote(redact.Mask(neutral(s)).String()))
		return
	}
	said := quote(prepare(s))
	w.plain = append(w.plain, said...)
	if len(said) == len(`""`) {
		w.shown = append(w.shown, said...)
		return
	}
	w.shown = append(append(w.shown, '"'), w.fence.open...)
	w.shown = append(append(w.shown, said[1:len(said)-1]...), w.fence.close...)
	w.shown = append(w.shown, '"')
}

func unquote(token []byte) string {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return "" // unreachable: encoding/json wrote the token
	}
	return s
}

// quote spells a string as JSON without the escapes meant for HTML pages.
func quote(s string) []byte {
	if plainASCII(s) {
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return []byte(`""`) // unreachable: every string can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// prepare is all that happens to Words before they are fenced. Masking comes after cleaning, which takes away what a card
// number could hide behind, and before cutting, which could leave half of one.
func prepare(s string) string {
	head, rest := foresee(s)
	return cut(redact.Mask(defuse(head)).String(), rest)
}
