package report

import (
	"slices"
	"strings"

	"countersign"
)

// Withhold takes the named fact out of the content, with the exhibits that only it points to, and leaves who did it, when and
// why. Nothing else that leaves the house says what it was; places that still do, such as a summary that repeats the value, are
// returned, for the person to reword before the report is sealed.
//
// The case's record keeps the choice and the fact: withholding is from the reader of the report, not from an auditor.
func (c *Content) Withhold(fact, by, at, why string) (stillSaid []string, err error) {
	i := slices.IndexFunc(c.Facts, func(f Fact) bool { return f.Name == fact })
	if i < 0 {
		return nil, countersign.Errorf(countersign.Invalid, "%q is no fact of this report", fact).In("withhold")
	}
	if err := answered(by, why); err != nil {
		return nil, err
	}
	gone := c.Facts[i]
	c.Facts = slices.Delete(slices.Clone(c.Facts), i, i+1)
	for _, id := range gone.Exhibits {
		if !c.cited(id) {
			c.drop(id)
		}
	}
	c.noteWithheld(FactWithheld, by, at, why)
	return c.saying(gone.Value), nil
}

// What may be withheld.
const (
	FactWithheld   = "fact"
	ClauseWithheld = "clause"
)

// WithholdClauses takes quoted clauses out of the content, as Withhold takes a fact. What repeats a clause's words in a text is handed in:
// this package knows of no glyphs that mean the same. The places that still say a clause are returned with the words that do.
func (c *Content) WithholdClauses(ids []string, by, at, why string, repeats func(clause string) func(text string) (words string)) (stillSaid []string, err error) {
	if err := answered(by, why); err != nil {
		return nil, err
	}
	gone := []Clause{}
	for _, id := range ids {
		i := slices.IndexFunc(c.Clauses, func(q Clause) bool { return q.ID == id })
		if i < 0 {
			return nil, countersign.Errorf(countersign.Invalid, "%q is no clause of this report", id).In("withhold")
		}
		gone = append(gone, c.Clauses[i])
	}
	for _, q := range gone {
		c.drop(q.ID)
		c.noteWithheld(ClauseWithheld, by, at, why)
	}
	for _, q := range gone {
		stillSaid = append(stillSaid, c.repeating(repeats(q.Quote))...)
	}
	return stillSaid, nil
}

// answered refuses to leave something out that nobody, or no reason, answers for.
func answered(by, why string) error {
	if strings.TrimSpace(by) == "" || strings.TrimSpace(why) == "" {
		return countersign.Errorf(countersign.Invalid, "something is left out by a person, for a reason").In("withhold").Try("say why, in words that the reader of the report may see")
	}
	return nil
}

func (c *Content) cited(exhibit string) bool {
	return slices.ContainsFunc(c.Facts, func(f Fact) bool { return slices.Contains(f.Exhibits, exhibit) })
}

// drop leaves the other numbers as they are: a gap shows that something was there.
func (c *Content) drop(exhibit string) {
	c.Exhibits = slices.DeleteFunc(slices.Clone(c.Exhibits), func(e Exhibit) bool { return e.ID == exhibit })
	c.Clauses = slices.DeleteFunc(slices.Clone(c.Clauses), func(q Clause) bool { return q.ID == exhibit })
	c.Attachments = slices.DeleteFunc(slices.Clone(c.Attachments), func(a Attachment) bool { return a.ID == exhibit })
}

func (c *Content) noteWithheld(what, by, at, why string) {
	c.Withheld = slices.Clone(c.Withheld)
	for i, w := range c.Withheld {
		if w.What == what && w.By == by && w.Why == why {
			c.Withheld[i].Count++
			return
		}
	}
	c.Withheld = append(c.Withheld, Withheld{What: what, Count: 1, By: by, At: at, Why: why})
}

// telling is how long a value must be to be looked for elsewhere: "2" or "yes" is found everywhere and says nothing.
const telling = 5

func (c Content) saying(value string) (paths []string) {
	c.texts(func(path, text string) {
		if Says(text, value) {
			paths = append(paths, path)
		}
	})
	return paths
}

func (c Content) repeating(words func(text string) string) (places []string) {
	var said []string
	at := map[string][]string{}
	c.texts(func(path, text string) {
		w := words(text)
		if w == "" {
			return
		}
		if at[w] = append(at[w], path); len(at[w]) == 1 {
			said = append(said, w)
		}
	})
	for _, w := range said {
		places = append(places, strings.Join(at[w], " and ")+", with “"+w+"”")
	}
	return places
}

// Says reports whether a text has a value in it that tells something, broken over lines or not, in any case, with or without the commas
// between thousands. A number is another where a digit more stands before or behind it: USD 15.00 does not say USD 1, nor USD 15.
func Says(text, value string) bool {
	text, value = plainly(text), plainly(value)
	for at := 0; len(value) >= telling; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		if at += i; !cutsNumber(text[:at], value) && !cutsNumber(value, text[at+len(value):]) {
			return true
		}
		at++
	}
	return false
}

// cutsNumber reports whether what stands on both sides of a place is one number.
func cutsNumber(before, behind string) bool {
	return endsInDigit(before) && beginsWithDigit(strings.TrimPrefix(behind, ".")) || endsInDigit(strings.TrimSuffix(before, ".")) && beginsWithDigit(behind)
}

func endsInDigit(s string) bool     { return s != "" && digit(s[len(s)-1]) }
func beginsWithDigit(s string) bool { return s != "" && digit(s[0]) }
func digit(b byte) bool             { return '0' <= b && b <= '9' }

// plainly is a text on one line, in small letters, with its numbers as nobody groups them.
func plainly(text string) string {
	line := strings.ToLower(strings.Join(strings.Fields(text), " "))
	var b strings.Builder
	for i := range len(line) {
		if line[i] != ',' || !endsInDigit(line[:i]) || !beginsWithDigit(line[i+1:]) {
			b.WriteByte(line[i])
		}
	}
	return b.String()
}
