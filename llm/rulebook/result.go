package rulebook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"countersign/llm"
)

// Result is one tool result in the form a model is shown it: {"ref":"S3","ok":true,"result":{…}}. Strings in it may
// carry the fences of text that somebody else wrote.
type Result struct {
	Ref    string          `json:"ref"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

// Into reads the result into v, which should be a pointer to a struct. It is an error when the call failed.
func (r Result) Into(v any) error {
	if !r.OK {
		return &FailedError{r.Ref, r.Error}
	}
	return json.Unmarshal(r.Result, v)
}

// FailedError is a result that cannot be read because the call gave none.
type FailedError struct{ Ref, Why string }

func (e *FailedError) Error() string {
	if e.Ref == "" {
		return "the call gave no result"
	}
	return "step " + e.Ref + " failed: " + e.Why
}

// read collects what the conversation has shown. A tool message that is not a result counts as a failed one.
func read(req llm.Request) Seen {
	seen := Seen{Results: map[string]Result{}}
	tools := map[string]string{}
	for _, m := range req.Messages {
		switch m.Role {
		case llm.User:
			seen.open(m.Text.String())
		case llm.Assistant:
			for _, c := range m.Calls {
				tools[c.ID] = c.Name
			}
		case llm.ToolRole:
			seen.Results[tools[m.CallID]] = result(m.Text.String())
		}
	}
	return seen
}

// open keeps the first user message; later ones are nudges.
func (s *Seen) open(text string) {
	if s.Case != "" {
		return
	}
	s.Case, s.Canary = text, canary(text)
	for line := range strings.Lines(text) {
		if r := result(line); r.Ref != "" {
			s.Given = append(s.Given, r)
		}
	}
}

func result(text string) (r Result) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{Error: "the result is not JSON"}
	}
	return r
}

// canary finds the line that the conversation's owner put first or last. A line of the same form in between may be the
// customer's own words and is not looked at while one of those is there.
func canary(text string) (value string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if v, ok := canaryLine(lines[0]); ok {
		return v
	}
	for _, line := range lines {
		if v, ok := canaryLine(line); ok {
			value = v
		}
	}
	return value
}

func canaryLine(line string) (string, bool) {
	v, ok := strings.CutPrefix(strings.TrimRight(line, " \r"), "canary: ")
	return v, ok && v != "" && !strings.Contains(v, " ")
}

// At is the value at a dotted path, as JSON spells it; texts without their quotes. A failed call holds none, an empty text is none,
// and lists and objects are no values.
func (r Result) At(path string) (string, bool) {
	if !r.OK {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(r.Result))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", false
	}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		value = member(value, step)
	}
	switch v := value.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func member(value any, step string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i < len(v) {
			return v[i]
		}
	}
	return nil
}
