package redact

import (
	"strings"
	"unicode/utf8"
)

// maskIBANs masks IBANs (ISO 13616), in one piece or grouped by spaces or dashes, as ****1234.
func maskIBANs(s string) string {
	var edits []edit
	word := false // whether the sign before i belongs to a word
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		if !word && isLatin(fold(r)) {
			if end, last := ibanAt(s[i:]); end > 0 {
				edits = append(edits, edit{i, i + end, "****" + last})
				i += end
				continue
			}
		}
		word = isAlnum(fold(r))
		i += width
	}
	return apply(s, edits)
}

// ibanAt returns the width of the IBAN that s starts with and its last four signs, 0 if there is none. In one piece, the
// country and its length are enough, so that a mistyped one is masked too, and so is the form alone when it is all digits;
// with spaces in it the check digits must hold, because ordinary words can have the right length.
func ibanAt(s string) (width int, last string) {
	if !ibanStart(s) {
		return 0, ""
	}
	code, ends, pieces := ibanSigns(s)
	n, known := ibanLength[code[:min(2, len(code))]]
	if known && len(code) >= n && (len(code) == n || pieces[n] != pieces[n-1]) {
		if c := code[:n]; checks(c) || pieces[n-1] == 0 && digitsIn(c) >= shortest {
			return ends[n-1], c[n-4:]
		}
	}
	m := strings.LastIndexByte(string(pieces), 0) + 1 // signs in one piece
	switch {
	case m >= 15 && checks(code[:m]) && digitsIn(code[:m]) >= shortest,
		m >= unregistered && digitsIn(code[2:m]) == m-2:
		return ends[m-1], code[m-4 : m]
	}
	return 0, ""
}

// unregistered is how long two letters with nothing but digits behind them must be to be masked although no registry knows
// such an IBAN: people invent account numbers of that form, and ids are shorter or have other signs in them.
const unregistered = 18

// ibanStart looks for the country and the check digits: a quick no for nearly every word.
func ibanStart(s string) bool {
	var head [4]rune
	for i := range head {
		r, width := utf8.DecodeRuneInString(s)
		head[i], s = fold(r), s[width:]
	}
	return isLatin(head[0]) && isLatin(head[1]) && isDigit(head[2]) && isDigit(head[3])
}

// ibanSigns collects up to 34 letters and digits in capitals, skipping single spaces and dashes: the signs, where each ends,
// and in which piece (counted from 0) it stands.
func ibanSigns(s string) (code string, ends []int, pieces []byte) {
	var b strings.Builder
	piece, gap := byte(0), false
	for i, r := range s {
		f := fold(r)
		if !isAlnum(f) {
			if gap || !isSpace(r) && !isDash(r) {
				break
			}
			gap, piece = true, piece+1
			continue
		}
		if b.Len() == 35 { // one more than the longest, to see that it goes on
			break
		}
		gap = false
		b.WriteString(strings.ToUpper(string(f)))
		ends, pieces = append(ends, i+utf8.RuneLen(r)), append(pieces, piece)
	}
	return b.String(), ends, pieces
}

// checks is the mod 97 test of ISO 7064 over the number with its first four signs moved to the end.
func checks(code string) bool {
	if len(code) > 34 {
		return false
	}
	rest := 0
	for _, r := range code[4:] + code[:4] {
		if isDigit(r) {
			rest = (rest*10 + int(r-'0')) % 97
		} else {
			rest = (rest*100 + int(r-'A') + 10) % 97
		}
	}
	return rest == 1
}

func digitsIn(s string) (n int) {
	for _, r := range s {
		if isDigit(r) {
			n++
		}
	}
	return n
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isLatin(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isAlnum(r rune) bool { return isDigit(r) || isLatin(r) }

// ibanLength is the length of an IBAN by country, from the SWIFT registry.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}
