package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// members walks the top level of a JSON object: each key between its quotes, as it is spelled, and each value's raw bytes.
// It parses nothing below the top level and allocates nothing. Text that is no JSON object ends the walk early; callers to
// whom that matters ask json.Valid first.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest, ok := after(object, '{')
		for ok {
			var key, value []byte
			if key, rest, ok = cutValue(rest); !ok || len(key) < 2 || key[0] != '"' {
				return
			}
			if rest, ok = after(rest, ':'); !ok {
				return
			}
			if value, rest, ok = cutValue(rest); !ok || !yield(key[1:len(key)-1], value) {
				return
			}
			rest, ok = after(rest, ',')
		}
	}
}

// after skips space and one expected byte.
func after(b []byte, want byte) ([]byte, bool) {
	b = skipSpace(b)
	if len(b) == 0 || b[0] != want {
		return nil, false
	}
	return b[1:], true
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// cutValue cuts one JSON value off the front: a string, a balanced object or list, or anything up to the next delimiter.
func cutValue(b []byte) (value, rest []byte, ok bool) {
	b = skipSpace(b)
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:])
			if depth == 0 && i < len(b) {
				return b[:i+1], b[i+1:], true
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return b[:i+1], b[i+1:], true
			}
			if depth < 0 {
				return b[:i], b[i:], i > 0
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return b[:i], b[i:], i > 0
			}
		}
	}
	return nil, nil, false
}

// stringEnd is the index of the quote that closes the string at the front of b, len(b) if nothing does. It leaps from quote
// to quote, and a quote counts when the backslashes before it are even in number.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		leap := bytes.IndexByte(b[i:], '"')
		if leap < 0 {
			return len(b)
		}
		i += leap
		slashes := i - 1
		for b[slashes] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 1 {
			return i
		}
	}
	return len(b)
}

var statusKey = []byte(`"status"`)

// statement reads what a payload says about the case: its top-level "status", and the "outcome" beside it. A payload without a
// status says nothing, whatever else it has: a decision that still waits for a second person may well name an outcome. Most
// payloads have none, so the bytes are searched for the quoted word before anything is parsed. Said twice, the last counts.
func statement(payload []byte) (status, outcome []byte) {
	if !bytes.Contains(payload, statusKey) {
		return nil, nil
	}
	for key, value := range members(payload) {
		switch string(key) {
		case "status":
			status = value
		case "outcome":
			outcome = value
		}
	}
	if status == nil {
		return nil, nil
	}
	return status, outcome
}

// erasedSteps reads {"erased":[3,4]}, the payload of the row at seq that says whose payloads were erased.
func erasedSteps(payload []byte, seq int64) ([]int64, error) {
	var list struct {
		Erased []int64 `json:"erased"`
	}
	if err := json.Unmarshal(payload, &list); err != nil || len(list.Erased) == 0 {
		return nil, fmt.Errorf(`the payload %q does not list erased steps, expected {"erased":[3,4]}`, clip(payload))
	}
	for _, s := range list.Erased {
		if s < 1 || s >= seq {
			return nil, fmt.Errorf("erased step %d is not one before step %d", s, seq)
		}
	}
	return list.Erased, nil
}
