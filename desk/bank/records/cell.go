package records

import (
	"bytes"
	"fmt"
	"strconv"

	"countersign"
)

// put writes the cell into a column. When it does not fit it returns what was found and what was expected.
func (c cell) put(field string, into any) (found, want string) {
	want = c.fits(into)
	if want == "" {
		return "", ""
	}
	return c.found(field), want
}

// fits writes the cell into a column and returns what would have fitted, empty when it did.
func (c cell) fits(into any) (want string) {
	switch p := into.(type) {
	case *string:
		return c.putText(p)
	case *int64:
		return c.putAmount(p)
	case *bool:
		return c.putTruth(p)
	case **bool:
		*p = new(bool)
		return c.putTruth(*p)
	case *countersign.When:
		return c.putWhen(p)
	case *[]string:
		*p = c.list
		if *p == nil {
			*p = []string{} // an empty list says that there are none; only a missing one says nothing
		}
		return c.mustBe(list)
	}
	panic(fmt.Sprintf("a column of type %T", into)) // unreachable unless a column of a new type is added to the tables
}

func (c cell) mustBe(k kind) (want string) {
	if c.kind != k {
		return string(k)
	}
	return ""
}

func (c cell) putText(p *string) (want string) {
	if c.kind == number {
		// Not every program that wrote this file could hold all its digits: 9007199254740993 becomes …992 in many.
		return "a text: write it as a string, in quotes"
	}
	if c.size > maxMemo {
		return fmt.Sprintf("at most %d bytes", maxMemo)
	}
	*p = string(c.text)
	return c.mustBe(words)
}

func (c cell) putAmount(p *int64) (want string) {
	if c.kind != number || c.size > len(c.text) || bytes.ContainsAny(c.text, ".eE") {
		return wantAmount
	}
	n, err := strconv.ParseInt(string(c.text), 10, 64)
	if err != nil {
		return wantAmount
	}
	*p = n
	return ""
}

func (c cell) putTruth(p *bool) (want string) {
	*p = string(c.text) == "true"
	if c.kind != truth {
		return "true or false, without quotes"
	}
	return ""
}

func (c cell) putWhen(p *countersign.When) (want string) {
	if c.kind != words || c.size > maxWord {
		return wantWhen
	}
	w, err := countersign.ParseWhen(string(c.text))
	if err != nil {
		return wantWhen
	}
	*p = w
	return ""
}

// found spells the cell for a message.
func (c cell) found(field string) string {
	switch {
	case c.kind == words && c.size > len(c.text):
		return fmt.Sprintf("a text of %d bytes", c.size)
	case c.kind == words:
		return shownIn(field, string(c.text))
	case c.kind == number && c.size > len(c.text):
		return fmt.Sprintf("a number of %d digits", c.size)
	case c.kind == number && private[field]:
		return string(c.kind)
	case c.kind == number || c.kind == truth:
		return string(c.text)
	}
	return string(c.kind)
}
