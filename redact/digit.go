package redact

import (
	"unicode"
	"unicode/utf8"
)

// digitAt reads the digit that s starts with: its value and its width in bytes, or false. Every script's decimal digits
// count, since a full-width or Arabic card number is as good as any.
func digitAt(s string) (value byte, width int, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	if b := s[0]; b < utf8.RuneSelf {
		return b - '0', 1, '0' <= b && b <= '9'
	}
	r, width := utf8.DecodeRuneInString(s)
	value, ok = digitValue(r)
	return value, width, ok
}

// digitValue counts from the start of the table's range: Unicode encodes decimal digits in unbroken runs of ten from zero.
func digitValue(r rune) (byte, bool) {
	if !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	for _, x := range unicode.Nd.R16 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10), true
		}
	}
	for _, x := range unicode.Nd.R32 {
		if rune(x.Lo) <= r && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10), true
		}
	}
	return 0, false // unreachable unless a digit is outside its own table
}

// fold makes the full-width forms of ASCII, and every decimal digit, plain ASCII.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if '！' <= r && r <= '～' {
		return r - '！' + '!'
	}
	if v, ok := digitValue(r); ok {
		return rune('0' + v)
	}
	return r
}
