package records

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// What a cell of a CSV file may say, where everything is text. Nothing is trimmed, divided or repaired: a cell that a
// spreadsheet has changed is refused with what to do about it, because what it was can no longer be known.

const (
	wantMinor = "a whole number of minor units from 1 to 9007199254740991, in digits alone: 4500 for 45.00"
	wantTruth = "true or false, yes or no, 1 or 0"
)

var truths = map[string]string{"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}

// typed is the cell as JSON would write it for a column of that type. Want is what was expected of a text that cannot be
// that, or that is not what it was.
func (c cell) typed(into any) (out cell, want string) {
	if want := c.damaged(); want != "" {
		return c, want
	}
	switch into.(type) {
	case *int64:
		return c.minor()
	case *bool, **bool:
		word, known := truths[strings.ToLower(string(c.text))]
		if !known {
			return c, wantTruth
		}
		c.kind, c.text, c.size = truth, []byte(word), len(word)
	case *[]string:
		c.kind, c.list = list, flagsIn(string(c.text))
	}
	return c, ""
}

func (c cell) minor() (out cell, want string) {
	n, err := strconv.ParseInt(string(c.text), 10, 64)
	if err != nil || digits(c.text) != len(c.text) || n < 1 || n > MaxAmount {
		return c, wantMinor
	}
	c.kind = number
	return c, ""
}

// flagsIn parts a cell at each bar and each semicolon. A bar or semicolon alone is a list with nothing in it, which clears
// the flags on record; an empty cell says nothing of them.
func flagsIn(text string) []string {
	if text == "|" || text == ";" {
		return []string{}
	}
	list := strings.Split(strings.ReplaceAll(text, ";", "|"), "|")
	for i := range list {
		list[i] = strings.Trim(list[i], " ")
	}
	return list
}

// damaged says what was expected instead of a text that a lost quote, a spreadsheet or an export has spoilt, empty when
// nothing tells that one has.
func (c cell) damaged() (want string) {
	switch {
	case bytes.HasPrefix(c.text, []byte(`="`)):
		return `the text alone, without the ="…" that a spreadsheet puts round it`
	case c.kind == torn:
		return "a text in quotes, with every quote inside it doubled"
	case c.size > maxMemo && bytes.ContainsAny(c.text, "\r\n"):
		return fmt.Sprintf("at most %d bytes; is the quote missing that should close it?", maxMemo)
	case c.size > maxMemo:
		return fmt.Sprintf("at most %d bytes", maxMemo)
	case scientific(c.text):
		return "all digits of the number: a spreadsheet shortened it; format the column as text and export it again"
	case apostrophe(c.text):
		return "the number alone, without the apostrophe that a spreadsheet puts before it"
	}
	return placeholder(string(c.text))
}

// placeholder finds the words that programs write where they have nothing or could not say it.
func placeholder(text string) (want string) {
	switch text {
	case "NULL", "(null)", `\N`, "#N/A":
		return "an empty cell where there is nothing"
	case "#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!":
		return "a value: a spreadsheet could not compute it"
	}
	if len(text) > 1 && strings.Trim(text, "#") == "" {
		return "a value: the spreadsheet's column was too narrow to show it; widen it and export it again"
	}
	return ""
}

// scientific reports whether a text is a number such as 1.91431E+18: with a sign before the exponent, as spreadsheets write
// it, or a fraction. 19E18 may well be an id.
func scientific(b []byte) bool {
	b = bytes.TrimLeft(b, "+-")
	whole, fraction := digits(b), 0
	if b = b[whole:]; len(b) > 0 && (b[0] == '.' || b[0] == ',') {
		fraction = digits(b[1:])
		b = b[1+fraction:]
	}
	if whole == 0 || len(b) < 2 || b[0] != 'e' && b[0] != 'E' {
		return false
	}
	exponent := bytes.TrimLeft(b[1:], "+-")
	signed := len(exponent) < len(b)-1
	return (signed || fraction > 0) && len(exponent) > 0 && digits(exponent) == len(exponent)
}

// apostrophe reports whether a number or date stands behind an apostrophe. 's-Hertogenbosch is a town.
func apostrophe(b []byte) bool {
	return len(b) > 1 && b[0] == '\'' && b[1] >= '0' && b[1] <= '9' && len(bytes.Trim(b[1:], "0123456789.,:/-+ TZ")) == 0
}
