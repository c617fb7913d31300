package bank

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/pipeline/investigate/fence"
)

// answer is how a result answers a question that the records may leave open.
type answer string

const (
	yes     answer = "yes"
	no      answer = "no"
	unknown answer = "unknown"
)

func answered(is bool) answer {
	if is {
		return yes
	}
	return no
}

// same compares two values where an empty one is not recorded.
func same(a, b string) answer {
	if a == "" || b == "" {
		return unknown
	}
	return answered(a == b)
}

// amount is money as every result shows it: the number that a citation copies, and the text that a person reads.
type amount struct {
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency"`
	Amount      string `json:"amount"`
}

func shownAmount(m countersign.Money) amount { return amount{m.Minor, m.Currency, m.String()} }

// when is a moment as RFC 3339 without digits that say nothing, a date where no time of day is known, or empty.
func when(w countersign.When) string {
	if t, ok := w.Instant(); ok {
		return instant(t)
	}
	return w.String()
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// between is the whole seconds from one moment to another; nil when either has no time of day.
func between(from, to countersign.When) *int64 {
	a, known := from.Instant()
	b, alsoKnown := to.Instant()
	if !known || !alsoKnown {
		return nil
	}
	seconds := int64(b.Sub(a) / time.Second)
	return &seconds
}

// maskedNumber is an account number as a model may see it; nothing at all when none is recorded.
func maskedNumber(number string) string {
	if number == "" {
		return ""
	}
	return records.Mask(number)
}

// shortName is a person as a model may see them: "Adaeze O.". Anything that is not part of a name is dropped, so that a name
// cannot say more than a name.
func shortName(name string) string {
	words := strings.Fields(strings.Map(namePart, name))
	switch len(words) {
	case 0:
		return ""
	case 1:
		return first(words[0], 24)
	}
	return first(words[0], 24) + " " + first(words[len(words)-1], 1) + "."
}

func namePart(r rune) rune {
	switch {
	case unicode.IsLetter(r), unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '-':
		return r
	case unicode.IsSpace(r):
		return ' '
	}
	return -1
}

// first is the first n letters, with the marks that belong to the last of them.
func first(s string, n int) string {
	for i, r := range s {
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// word is a value that is one of the bank's own codes or names: a city, a category, a channel. It is shown bare so that it
// reads and cites well; one that is longer or stranger than such a value is shown as somebody's words.
func word(s string) any {
	if plain(s) {
		return s
	}
	return fence.Words(s)
}

// plain reports whether s could not be mistaken for anything but a code, an id or a name.
func plain(s string) bool {
	return len(s) <= 40 && utf8.ValidString(s) && !looksLikeRef(s) && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !strings.ContainsRune(" -_.,:'’/", r)
	}) < 0
}

// looksLikeRef finds the name of a step, S3, standing by itself: only a real result may have one.
func looksLikeRef(s string) bool {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) > 1 && (part[0] == 'S' || part[0] == 's') && strings.Trim(part[1:], "0123456789") == "" {
			return true
		}
	}
	return false
}

// firstOf is the beginning of a list, and how many items it leaves out.
func firstOf[T any](items []T, most int) (kept []T, leftOut int) {
	if len(items) <= most {
		return items, 0
	}
	return items[:most], len(items) - most
}

// each makes one shown item of each record. An empty list stays a list.
func each[T, U any](items []T, show func(T) U) []U {
	shown := make([]U, 0, len(items))
	for _, item := range items {
		shown = append(shown, show(item))
	}
	return shown
}
