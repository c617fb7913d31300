package investigate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"countersign"
)

const (
	maxArgs  = 64 << 10 // bytes of one call's arguments; an honest decision is a tenth of it
	maxDepth = 16       // an honest decision is four levels deep
)

// errCut is the answer to arguments that end before they are complete. It is kept apart from malformed ones, because it
// says something else about the server.
var errCut = countersign.Errorf(countersign.Invalid, "the arguments were cut off before they were complete")

// readObject reads arguments that must be one JSON object and nothing after it. It is stricter than encoding/json where that
// would quietly choose: a key that comes twice is an error, and keys keep their case. Numbers stay as they were spelled.
// Empty arguments are an object without members, which is what many servers send for a call without any.
func readObject(args string) (map[string]any, error) {
	if bare := strings.TrimSpace(args); bare == "" || bare == "{}" {
		return map[string]any{}, nil
	}
	if len(args) > maxArgs {
		return nil, malformed("the arguments are %d bytes long, expected at most %d", len(args), maxArgs)
	}
	if err := wellFormed(args); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	value, err := readValue(d, "", 0)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, malformed("the arguments are %s, expected one JSON object", spell(value))
	}
	return object, nil
}

// wellFormed tells JSON that ends early from JSON that is wrong, and both from one value. Only a reader that wanted more
// tells the first two apart.
func wellFormed(args string) error {
	if json.Valid([]byte(args)) {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(args))
	var first json.RawMessage
	switch err := d.Decode(&first); {
	case err == nil:
		return malformed("something follows the arguments at byte %d, expected one JSON object and no more", d.InputOffset())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	default:
		return malformed("the arguments are not JSON: %v", err)
	}
}

// readValue reads the next value; what it reads is known to be well-formed.
func readValue(d *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, malformed("the arguments are nested more than %d levels deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, malformed("the arguments are not JSON: %v", err) // unreachable unless the two readings of it differ
	}
	switch token {
	case json.Delim('{'):
		return readMembers(d, path, depth)
	case json.Delim('['):
		return readItems(d, path, depth)
	}
	return token, nil
}

func readMembers(d *json.Decoder, path string, depth int) (any, error) {
	members := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, malformed("the arguments are not JSON: %v", err)
		}
		key := token.(string)
		if _, twice := members[key]; twice {
			return nil, malformed("comes twice, expected once").In(clip(join(path, key), 80))
		}
		if members[key], err = readValue(d, join(path, key), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return members, err
}

func readItems(d *json.Decoder, path string, depth int) (any, error) {
	items := []any{}
	for d.More() {
		item, err := readValue(d, fmt.Sprintf("%s[%d]", path, len(items)), depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.Token()
	return items, err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func malformed(format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, format, args...)
}

// spell names a value for somebody who must correct it: what it is, and how it begins.
func spell(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the text %q", clip(v, 60))
	case json.Number:
		return "the number " + clip(v.String(), 60)
	case bool:
		return fmt.Sprint(v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return "an object"
}

// clip shortens s to at most n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// properties are the names that a tool's schema lists. A schema that cannot be read lists none.
func properties(schema json.RawMessage) map[string]bool {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	json.Unmarshal(schema, &object)
	names := map[string]bool{}
	for name := range object.Properties {
		names[name] = true
	}
	return names
}
