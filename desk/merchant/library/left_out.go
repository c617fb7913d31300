package library

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// omission is a passage of a file that is no part of the text that may be quoted, because no reader of the document takes it for one
// of its rules. A clause that was struck out says what the shop does not do any more.
type omission struct {
	why    string // as the end of a sentence: it is struck out
	pieces []string
	behind string // the words before it
	at     int    // how much of the text was kept when it was met
}

// Why a passage is left out.
const (
	struckOut = "it is struck out"
	deleted   = "it is deleted in a tracked change"
	concealed = "it is hidden"
	commented = "it is a comment"
	notProse  = "it is in a drawing, a formula or a field of a form"
	tooDeep   = "it is nested too deep to be read"
)

// omissions are all of a file, in their order.
type omissions []omission

// add takes in a passage that is left out behind the text that was kept so far. What holds no word is none, and what follows another
// without anything between belongs to it: Word cuts a clause into as many pieces as it likes.
func (o *omissions) add(why, text, kept string) { o.addAt(len(kept), why, text, kept) }

// addAt is add where only the end of what was kept is at hand, and how much it is in all.
func (o *omissions) addAt(at int, why, text, before string) {
	if !hasWords(text) {
		return
	}
	if last := len(*o) - 1; last >= 0 && (*o)[last].why == why && (*o)[last].at == at {
		(*o)[last].pieces = append((*o)[last].pieces, text)
		return
	}
	*o = append(*o, omission{why, []string{text}, lastWords(before), at})
}

// text is what was left out, on one line.
func (o omission) text() string { return strings.Join(strings.Fields(strings.Join(o.pieces, "")), " ") }

func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// listedOmissions is how many passages are told one by one.
const listedOmissions = 20

// told says what was left out, how much of it, why and where, a sentence each.
func (o omissions) told() (all []string) {
	for i, one := range o {
		if i == listedOmissions {
			return append(all, o[i:].others())
		}
		all = append(all, one.told())
	}
	return all
}

func (o omission) told() string {
	where := "at the beginning"
	if o.behind != "" {
		where = "behind “" + o.behind + "”"
	}
	text := o.text()
	return fmt.Sprintf("Left out of the text that can be quoted, because %s: “%s” (%s characters, %s).", o.why, excerpt(text), thousands(utf8.RuneCountInString(text)), where)
}

func (o omissions) others() string {
	characters := 0
	for _, one := range o {
		characters += utf8.RuneCountInString(one.text())
	}
	return fmt.Sprintf("Left out of the text that can be quoted are %s passages more, %s characters in all.", thousands(len(o)), thousands(characters))
}

// excerpt is the beginning of a passage, enough to find it by.
func excerpt(s string) string {
	const most = 100
	if runes := []rune(s); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return s
}

// placed is how many bytes of a text are looked at to say where something is.
const placed = 400

// lastWords is the end of a text, enough to find the place by.
func lastWords(text string) string {
	const most = 40
	text = strings.ToValidUTF8(text[max(0, len(text)-placed):], "")
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= most {
		return string(runes)
	}
	tail := string(runes[len(runes)-most:])
	if _, whole, ok := strings.Cut(tail, " "); ok {
		tail = whole
	}
	return "…" + tail
}

// overlaid is a text of which each letter has a line through it as a sign of its own, which is how people strike out where nothing
// else lets them.
var overlaid = regexp.MustCompile(`\S\pM*[\x{0335}\x{0336}]\pM*(?:\s*\S\pM*[\x{0335}\x{0336}]\pM*)*`)

var overlay = strings.NewReplacer("\u0335", "", "\u0336", "")

// withoutOverlaid takes such text off every page.
func (e *Extraction) withoutOverlaid() {
	if !strings.ContainsAny(e.Text, "\u0335\u0336") {
		return
	}
	var b strings.Builder
	var starts []int
	for i := range e.Pages {
		text := e.Page(i)
		starts = append(starts, b.Len())
		for at := overlaid.FindStringIndex(text); at != nil; at = overlaid.FindStringIndex(text) {
			b.WriteString(text[:at[0]])
			e.left.add(struckOut, overlay.Replace(text[at[0]:at[1]]), b.String())
			text = text[at[1]:]
		}
		b.WriteString(text)
	}
	e.Text = b.String()
	for i, start := range starts {
		e.Pages[i].Start = start
	}
}
