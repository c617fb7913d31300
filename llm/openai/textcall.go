package openai

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"countersign/llm"
)

// adoptTextCall turns an answer that is one tool call written out as text into that call. Servers without a parser for
// their model's own markup answer so. It is strict because a mistake the other way would let text that somebody planted in
// a record act: see textCall and quoted. Everything it does not adopt stays text.
func adoptTextCall(reply *llm.Reply, req llm.Request) {
	if len(reply.Calls) > 0 || reply.Stop == llm.StopLength {
		return
	}
	call, markup, ok := textCall(reply.Text)
	if !ok || !req.Offers(call.Name) || quoted(markup, req.Messages) {
		return
	}
	reply.Text, reply.Calls = "", []llm.Call{call}
}

var functionMarkup = regexp.MustCompile(`^<function=([a-zA-Z0-9_-]{1,64})>(?s:(.*))</function>$`)

// textCall reads a text that is, whole, one call in one of three forms:
//
//	<tool_call>{"name":"x","arguments":{…}}</tool_call>
//	{"name":"x","arguments":{…}}
//	<function=x>{…}</function>
//
// markup is the part by which a copy of it would be recognised.
func textCall(text string) (call llm.Call, markup string, ok bool) {
	text = strings.TrimSpace(text)
	if parts := functionMarkup.FindStringSubmatch(text); parts != nil {
		args := strings.TrimSpace(parts[2])
		return llm.Call{Name: parts[1], Args: args}, "function=" + parts[1] + args, isObject(args)
	}
	if inner, found := strings.CutPrefix(text, "<tool_call>"); found {
		if text, found = strings.CutSuffix(inner, "</tool_call>"); !found {
			return llm.Call{}, "", false
		}
	}
	call, ok = namedCall(strings.TrimSpace(text))
	return call, text, ok
}

// namedCall reads {"name":…,"arguments":{…}} with nothing else in it. Some models say parameters for arguments.
func namedCall(text string) (llm.Call, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil || len(fields) != 2 {
		return llm.Call{}, false
	}
	args, ok := fields["arguments"]
	if !ok {
		args = fields["parameters"]
	}
	var name string
	if json.Unmarshal(fields["name"], &name) != nil || name == "" || !isObject(string(args)) {
		return llm.Call{}, false
	}
	return llm.Call{Name: name, Args: string(args)}, !repeatsKey(text)
}

func isObject(args string) bool {
	return strings.HasPrefix(args, "{") && json.Valid([]byte(args))
}

// repeatsKey reports whether the outer object has more than its two keys, which a map would hide: two readers could then
// disagree about which call it is.
func repeatsKey(text string) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	keys := 0
	for _, _ = d.Token(); d.More(); keys++ {
		var value json.RawMessage
		_, _ = d.Token() // namedCall has parsed the text, so nothing here can fail
		_ = d.Decode(&value)
	}
	return keys != 2
}

// quoted reports whether the call stands in a user or tool message. The model then copied it from what somebody else
// wrote, and it is not the model's own wish. Both sides are folded to letters and digits first, since the text reaches a
// message inside JSON, escaped and fenced. A match by chance only costs a nudge.
func quoted(markup string, messages []llm.Message) bool {
	needle := fold(markup)
	for _, m := range messages {
		if m.Role != llm.Assistant && strings.Contains(fold(m.Text.String()), needle) {
			return true
		}
	}
	return false
}

// fold keeps letters and digits, in lower case, and resolves JSON escapes. Twice, because JSON may stand inside JSON.
// Letters beyond the basic plane are dropped with the surrogate pairs that JSON may spell them by.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= 0xFFFF && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, unescape(unescape(s)))
}

var escape = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case 'u':
			if r, err := strconv.ParseUint(e[2:], 16, 16); err == nil {
				return string(rune(r))
			}
			return ""
		case 'n', 't', 'r', 'b', 'f':
			return " "
		}
		return e[1:]
	})
}
