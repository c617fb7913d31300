package verify

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"countersign"
)

// source is a step whose result is read once, when the first citation asks for it.
type source struct {
	countersign.Step
	read   bool
	result any
}

// at returns what the result holds at a dotted path such as entries[0].amount_minor.
func (s *source) at(path string) (value any, ok bool) {
	if !s.read {
		s.read, s.result = true, parse(s.Result)
	}
	if path == "" || len(path) > longestPath {
		return nil, false
	}
	return lookup(s.result, path)
}

// longestPath bounds what a hostile path can cost. No result of ours is nested this deep.
const longestPath = 256

// parse keeps numbers as they are spelled. A result that is not one JSON object holds nothing.
func parse(doc []byte) any {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	return object
}

// lookup walks one part of the path at a time. A key may itself hold dots and brackets, so every prefix of the path that is
// a key is tried, the longest first; the keys decide, never the path alone.
func lookup(value any, path string) (any, bool) {
	if path == "" {
		return value, true
	}
	switch node := value.(type) {
	case map[string]any:
		return member(node, path)
	case []any:
		return item(node, path)
	}
	return nil, false
}

func member(object map[string]any, path string) (any, bool) {
	for end := len(path); end > 0; end-- {
		if end < len(path) && path[end] != '.' && path[end] != '[' {
			continue
		}
		value, ok := object[path[:end]]
		if !ok {
			continue
		}
		if found, ok := lookup(value, rest(path[end:])); ok {
			return found, true
		}
	}
	return nil, false
}

// item reads [12] and goes on behind it.
func item(list []any, path string) (any, bool) {
	index, after, ok := strings.Cut(path, "]")
	if !ok || !strings.HasPrefix(index, "[") || after != "" && after[0] != '.' && after[0] != '[' {
		return nil, false
	}
	n, err := strconv.Atoi(index[1:])
	if err != nil || n < 0 || n >= len(list) || strconv.Itoa(n) != index[1:] {
		return nil, false
	}
	return lookup(list[n], rest(after))
}

// rest drops the dot between two parts. A dot with nothing behind it stays, and is found nowhere.
func rest(path string) string {
	if len(path) > 1 && path[0] == '.' && path[1] != '[' {
		return path[1:]
	}
	return path
}

func scalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// spells reports whether cited is the value, spelled as JSON spells it. A string may be cited with or without its quotes
// and escapes; a number only as it stands: 4999 is not 4999.0.
func spells(cited string, value any) bool {
	s, ok := value.(string)
	if !ok {
		return scalar(value) && cited == spelling(value)
	}
	return cited == s || unescaped(cited, s) || unescaped(`"`+cited+`"`, s)
}

func unescaped(token, want string) bool {
	var s string
	return strings.HasPrefix(token, `"`) && json.Unmarshal([]byte(token), &s) == nil && s == want
}

// spelling is how the value stands in the result; a string without its quotes.
func spelling(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return "null"
	}
}
