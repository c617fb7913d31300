package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maskEmails masks e-mail addresses, and payment handles of the same form, as a***@***: the first sign stays.
func maskEmails(s string) string {
	var edits []edit
	from := 0
	for i, r := range s {
		if i < from || fold(r) != '@' && r != '﹫' {
			continue
		}
		start := localStart(s[from:i]) + from
		end := i + utf8.RuneLen(r) + domainEnd(s[i+utf8.RuneLen(r):])
		if start == i || end == i+utf8.RuneLen(r) {
			continue
		}
		_, width := utf8.DecodeRuneInString(s[start:])
		edits = append(edits, edit{start + width, end, "***@***"})
		from = end
	}
	return apply(s, edits)
}

// localStart returns where the part before the @ begins, len(s) when there is none.
func localStart(s string) int {
	start := len(s)
	for start > 0 {
		r, width := utf8.DecodeLastRuneInString(s[:start])
		if !isNameSign(r) && !strings.ContainsRune("._%+-'", r) {
			break
		}
		start -= width
	}
	return start
}

// domainEnd returns how much of s is a domain: dotted labels of which the last has letters only, or one word of letters.
// Anything else, such as a module version, is none.
func domainEnd(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return !isNameSign(r) && r != '.' && r != '-' })
	if end < 0 {
		end = len(s)
	}
	domain := strings.TrimRight(s[:end], ".-")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if utf8.RuneCountInString(last) < 2 || strings.IndexFunc(last, func(r rune) bool { return unicode.IsDigit(r) }) >= 0 {
		return 0
	}
	return len(domain)
}

func isNameSign(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_')
}
