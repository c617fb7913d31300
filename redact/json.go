package redact

import (
	"bytes"
	"encoding/json"
)

// MaskJSON masks inside the string values of a JSON document and leaves numbers, keys, order and spacing as they are, so
// that the result is valid JSON with the same shape. What is not valid JSON is masked as free text instead: nothing gets
// past because it was malformed.
func MaskJSON(doc []byte) []byte {
	if !json.Valid(doc) {
		return []byte(mask(string(doc)))
	}
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		i := bytes.IndexByte(doc, '"')
		if i < 0 {
			break
		}
		out, doc = append(out, doc[:i]...), doc[i:]
		end := stringEnd(doc)
		token := doc[:end]
		doc = doc[end:]
		if rest := bytes.TrimLeft(doc, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			out = append(out, token...)
		} else {
			out = append(out, maskToken(token)...)
		}
	}
	return append(out, doc...)
}

// stringEnd is the length of the JSON string that b starts with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b) // unreachable: the document is valid
}

func maskToken(token []byte) []byte {
	if bytes.IndexByte(token, '\\') < 0 && harmless(string(token)) {
		return token
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return []byte(`""`) // unreachable: the document is valid
	}
	masked := mask(s)
	if masked == s {
		return token
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(masked); err != nil {
		return []byte(`""`) // unreachable: every string can be encoded
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
