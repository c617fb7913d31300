package records

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with one row: where it stands, what was found and what was expected. It is an error, so that
// whoever refuses a row later can say so in the same words.
type Problem struct {
	File  string
	Array Array
	Row   int    // counted from 1 within its array; 0 when the array as a whole is meant
	Line  int    // of the value, or of the row when the value is missing; 0 when not read from a file
	Field string // empty when the row as a whole is meant
	Value string // what was found: quoted, clipped and, for account numbers and contact details, masked; empty when missing
	Want  string // what was expected instead
	ID    string // of the row, as far as it could be read; not masked, and no part of the sentence
}

// String is one line: "june.json:12: transactions row 3: amount_minor is -5, expected a whole number …".
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Line)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(p.place())
	if p.Value == "" {
		return b.String() + " is missing, expected " + p.Want
	}
	return b.String() + " is " + p.Value + ", expected " + p.Want
}

func (p Problem) Error() string { return p.String() }

func (p Problem) place() string {
	s := string(p.Array)
	if p.Row > 0 {
		s += " row " + strconv.Itoa(p.Row)
	}
	switch {
	case s == "":
		return p.Field
	case p.Field == "":
		return s
	}
	return s + ": " + p.Field
}

// shown quotes text for a Problem: one line, nothing a terminal would obey, and short.
func shown(text string) string {
	const most = 60
	if len(text) <= most {
		return strconv.Quote(text)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + fmt.Sprintf("… (%d bytes)", len(text))
}

// private are the columns whose values are never repeated in a message, which may end in a log.
var private = map[string]bool{"number": true, "counterparty_account": true, "email": true, "phone": true}

func shownIn(field, text string) string {
	if !private[field] || text == "" {
		return shown(text)
	}
	return fmt.Sprintf("%s (%d bytes)", Mask(text), len(text))
}

// Mask is how an account number is shown: ****1234. A number of fewer than eight characters shows none of them.
func Mask(number string) string {
	runes := []rune(number)
	if len(runes) < 8 {
		return "****"
	}
	return "****" + strings.Map(printable, string(runes[len(runes)-4:]))
}

func printable(r rune) rune {
	if strconv.IsPrint(r) {
		return r
	}
	return '?'
}
