// Package redact masks personal data at one choke point: everything that goes to a model, a log or a trace passes here.
//
// It knows what card numbers, bank account numbers, IBANs, e-mail addresses and phone numbers look like in free text. It
// promises that a Text never holds one in a form it knows, and that masking twice is masking once. When it cannot tell an
// account number from some other long number standing alone it masks: a lost digit costs an analyst a look, a leaked one
// cannot be called back. It leaves alone what looks different: times, amounts with separators, ids with letters in them.
//
// It is pattern matching, not understanding. Names, addresses and what somebody spells out in words pass through.
package redact

import "strings"

// Text is text that may leave the house. Only this package can make one; the zero Text is empty.
type Text struct{ s string }

// Mask returns s with card and account numbers as ****1234 (their last four digits), e-mail addresses as a***@*** and
// phone numbers as ****1234. Digits of every script count as digits. Masking masked text changes nothing.
func Mask(s string) Text { return Text{mask(s)} }

// JSON is Mask for a text that is one JSON document: see MaskJSON for what it leaves alone. Text that is not JSON is
// masked as free text.
func JSON(doc []byte) Text { return Text{string(MaskJSON(doc))} }

// Join puts sep between the parts. The parts are masked already, and what they leave alone stays alone; only a card number
// that the joining itself completes is masked now.
func Join(sep string, parts ...Text) Text {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = p.s
	}
	return Text{settle(strings.Join(all, sep), maskCards)}
}

func (t Text) String() string { return t.s }

// MarshalText makes a Text a plain string in JSON and in a log. There is no way back: what comes from outside goes through
// Mask again.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.s), nil }

func mask(s string) string {
	if harmless(s) {
		return s
	}
	return settle(s, func(s string) string { return maskNumbers(maskIBANs(maskEmails(s))) })
}

// settle repeats a pass until it changes nothing, because one mask can leave its last four digits next to others that
// together look like a number again. Nobody writes a text that needs more than two or three passes except to keep a
// worker busy: such a text loses all its digits.
func settle(s string, pass func(string) string) string {
	for range 20 {
		next := pass(s)
		if next == s {
			return s
		}
		s = next
	}
	return strings.Map(blank, s)
}

func blank(r rune) rune {
	if f := fold(r); isDigit(f) || f == '@' || r == '﹫' {
		return '*'
	}
	return r
}

// harmless reports whether s is too plain to hold anything this package masks. Most field values are, and masking runs on
// every one of them.
func harmless(s string) bool {
	digits := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 0x80, b == '@':
			return false
		case '0' <= b && b <= '9':
			digits++
		}
	}
	return digits < fewest
}

// fewest is the length of the shortest number that is masked: a phone number with its country code.
const fewest = 8

// edit replaces s[start:end] by a mask.
type edit struct {
	start, end int
	with       string
}

func apply(s string, edits []edit) string {
	if len(edits) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	from := 0
	for _, e := range edits {
		b.WriteString(s[from:e.start])
		b.WriteString(e.with)
		from = e.end
	}
	b.WriteString(s[from:])
	return b.String()
}
