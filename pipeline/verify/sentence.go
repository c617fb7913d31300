package verify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A quote may be a part of a sentence, but not the part that a "not" or an "unless" outside of it turns into something else:
// "eligible for a refund", of what is "not eligible for a refund". So the rest of the sentence is read for the words below, and
// so is the line that leads into a list. What is read as too much of a sentence refuses an honest quote, which can be made
// again of the whole sentence; what is read as too little lets a false one pass. Every doubt about where a sentence begins or
// ends is therefore decided for the longer one.

// negating words turn the clause they stand in, and the list that it leads into.
var negating = wordList(`
	not no never none nothing nobody nowhere neither nor cannot cant dont wont isnt arent doesnt didnt shouldnt mustnt wouldnt couldnt
	without non unable unlikely hardly rarely seldom scarcely barely ineligible impossible inadmissible invalid void refuse refuses refused
	refusing refusal reject rejects rejected deny denies denied decline declines declined prohibit prohibits prohibited forbid forbids
	forbidden disallow disallowed cease ceases ceased expired revoked abolished
	nicht kein keine keinen keinem keiner keines nie niemals weder noch ohne unmöglich ungültig verboten
	ne pas jamais aucun aucune ni sans non interdit impossible
	no nunca jamás ningún ninguna ninguno ni sin tampoco prohibido imposible
	né mai nessun nessuno nessuna senza vietato
	não nem nenhum nenhuma sem proibido
	niet geen nooit noch zonder verboden
	nie bez nigdy żaden żadna żadne
	inte ej aldrig ingen inget inga utan ikke aldri uten uden
	не ни нет без никогда нельзя
	لا ليس ليست لن لم غير دون بدون
	kò kì`)

// excepting words turn more than their own clause: what is on the other side of a comma, a semicolon or a dash as well.
var excepting = wordList(`
	unless except excepting excepted exception exceptions exclude excludes excluded excluding exclusion exclusions save barring
	otherwise only but however although though notwithstanding despite excl
	untrue true false falsely incorrect myth former formerly previously obsolete outdated
	außer ausser ausgenommen ausgeschlossen ausnahme ausnahmen sofern nur aber jedoch falsch
	sauf hormis excepté exception exclu exclus exclue exclues seulement uniquement mais toutefois faux
	salvo excepto excepción excluido excluidos excluida excluidas solo sólo solamente pero falso
	tranne eccetto escluso esclusi esclusa escluse soltanto solamente ma però
	exceto exceção excluído excluídos somente apenas mas porém
	behalve tenzij uitgezonderd uitgesloten uitzondering alleen maar
	oprócz chyba wyjątkiem tylko ale
	utom undantag endast unntatt undtagen kun
	кроме исключением исключая только но
	إلا باستثناء عدا سوى فقط`)

// withinWords are both in scripts that set no space around a word, or bind it to others.
var withinWords = []string{"不", "未", "无", "無", "非", "没", "沒", "勿", "毋", "除", "否", "ない", "なく", "ません", "않", "없", "못", "아니", "제외", "ไม่", "ยกเว้น", "ห้าม"}

func wordList(s string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(s) {
		all[Fold(word).text] = true
	}
	return all
}

// mostOfSentence bounds how much of a sentence is read on one side of a quote, in bytes.
const mostOfSentence = 2_000

// leavesOut reports whether text[start:end] leaves out what turns it: a word in the rest of its sentence or in the line above its
// list, or that it is struck out.
func leavesOut(text string, start, end int) bool {
	first, last := max(0, start-mostOfSentence), min(len(text), end+mostOfSentence)
	text, start, end = text[first:last], start-first, end-first
	begin := begins(text, start)
	before, behind := text[begin:start], text[end:ends(text, end)]
	if struck(text[:start]) || turns(behind, negating) || turns(behind, excepting) || turns(before, excepting) {
		return true
	}
	above := leadIn(text, begin)
	label := len(strings.Fields(above)) == 1 // "Excluded:" names what the list is of; "Never:" turns it
	return turns(above, negating) || turns(above, excepting) && !label || turns(before, negating) && !closed(before, text[start:end]+behind)
}

// turns reports whether a part of a sentence has one of the words. A hyphen may be the word's or the line's, so it is read both
// ways.
func turns(part string, words map[string]bool) bool {
	if strings.TrimSpace(part) == "" {
		return false
	}
	f := Fold(strings.ToLower(part))
	for _, s := range []string{f.text, f.spell(0, len(f.text), f.dashes)} {
		for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !inWord(r) && r != '\'' }) {
			word = strings.Trim(word, "'")
			_, elided, _ := strings.Cut(word, "'") // n'est, l'exception
			if words[word] || words[elided] || strings.HasSuffix(word, "n't") || strings.HasPrefix(word, "n'") || foreign(word) {
				return true
			}
		}
	}
	return false
}

func foreign(word string) bool {
	return slices.ContainsFunc(withinWords, func(part string) bool { return strings.Contains(word, part) })
}

// closed reports whether what stands before a quote is a clause that ends there, at the one semicolon or long dash of its
// sentence. A "not" of that clause is not the quote's; with a second dash, or a colon, it may be.
func closed(before, rest string) bool {
	rest = strings.ReplaceAll(rest, "--", "—")
	before = strings.ReplaceAll(strings.TrimSpace(before), "--", "—")
	ends := strings.HasSuffix(before, ";") || strings.HasSuffix(before, "—")
	return ends && !strings.Contains(before, ":") && strings.Count(before+rest, ";")+strings.Count(before+rest, "—") == 1
}

// struck reports whether what follows is between the marks that strike a text out in Markdown.
func struck(before string) bool {
	paragraph := before[strings.LastIndex(before, "\n\n")+1:]
	return strings.Count(paragraph, "~~")%2 == 1
}

// begins is where the sentence begins that text[at] stands in.
func begins(text string, at int) int {
	whole := true // nothing yet of a sentence that goes on behind an empty line: a running head may be between its parts
	for i := at; i > 0; i-- {
		g, ok := gapBefore(text, i)
		switch {
		case !ok:
		case g.item(text, i) || g.parts(text, i) || whole && g.paragraph(text, i):
			return i
		case g.lines > 1 || g.page:
			whole = false
		}
	}
	return 0
}

// additions begin what is a sentence by its full stop only: "Except for sale items."
var additions = wordList(`unless except excepting excluding barring außer ausgenommen sauf hormis salvo excepto tranne eccetto exceto behalve tenzij кроме`)

// ends is where the sentence ends that text[:at] ends in.
func ends(text string, at int) int {
	for i := at; i < len(text); i++ {
		g, ok := gapBefore(text, i)
		if ok && (g.item(text, i) && g.listed() && !g.goesOn() || g.parts(text, i) || g.paragraph(text, i)) && !turns(firstWord(text[i:]), additions) {
			return i
		}
	}
	return len(text)
}

// gap is the white space before a place where something begins, and what is before it.
type gap struct {
	before string // without white space and closing marks
	line   string // the last line of it
	lines  int    // how many lines end in the gap
	page   bool   // whether a page does
}

const closers, openers = `)]}"'*_~` + "`”’»›", `([{"'*_~#` + "`“‘„«‹¿¡"

// gapBefore is the gap that ends at i; not ok if there is none.
func gapBefore(text string, i int) (g gap, ok bool) {
	r, _ := utf8.DecodeRuneInString(text[i:])
	last, _ := utf8.DecodeLastRuneInString(text[:i])
	if !utf8.RuneStart(text[i]) || unicode.IsSpace(r) || !unicode.IsSpace(last) && !strings.ContainsRune(fullWidthStops, last) {
		return gap{}, false
	}
	before := strings.TrimRightFunc(text[:i], unicode.IsSpace)
	space := text[len(before):i]
	g.line = before[strings.LastIndexByte(before, '\n')+1:]
	g.before = strings.TrimRight(before, closers)
	g.lines, g.page = strings.Count(space, "\n"), strings.Contains(space, "\f")
	return g, true
}

// item reports whether an item of a list begins behind the gap.
func (g gap) item(text string, i int) bool {
	return (g.lines > 0 || g.before == "") && isItem(text[i:])
}

var bullet = []string{"-", "*", "+", "•", "‣", "◦", "▪", "●", "○", "–", "·", "⁃"}

// isItem reports whether a line is an item of a list: a bullet or a number like 3. or 7.12), and a blank.
func isItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	mark, rest, ok := strings.Cut(line, " ")
	number := strings.TrimRight(mark, ".)")
	counted := number != "" && number != mark && len(number) <= 5 && strings.Trim(number, "0123456789.") == ""
	return ok && rest != "" && (slices.Contains(bullet, mark) || counted)
}

// parts reports whether one sentence ends before the gap and another begins behind it.
func (g gap) parts(text string, i int) bool {
	if g.before == "" {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(g.before)
	return strings.ContainsRune(fullWidthStops, last) || strings.ContainsRune(stopping, last) && begin(text[i:]) && !g.abbreviated()
}

const stopping, fullWidthStops = ".!?؟।۔", "。！？"

// begin reports whether a text begins as sentences do: with a letter, and no small one. With a digit most do not.
func begin(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, openers))
	return unicode.IsLetter(r) && !unicode.IsLower(r)
}

var abbreviations = wordList(`eg ie etc incl excl approx no nos nr art arts sec sect par para p pp vs cf ca mr mrs ms dr st co inc ltd corp max min fig vol dept est resp bzw usw
	ggf inkl zzgl abs ziff str gem sog evtl av env sr sra núm pág ecc`)

// abbreviated reports whether the full stop before the gap may be an abbreviation's or a number's.
func (g gap) abbreviated() bool {
	if !strings.HasSuffix(g.before, ".") {
		return false
	}
	word := g.before[strings.LastIndexFunc(g.before, unicode.IsSpace)+1:]
	word = strings.Trim(strings.TrimSuffix(word, "."), openers+closers)
	last, _ := utf8.DecodeLastRuneInString(word)
	return utf8.RuneCountInString(word) < 2 || unicode.IsDigit(last) || strings.Contains(word, ".") || abbreviations[strings.ToLower(word)]
}

// listed reports whether what ends before the gap is an item of a list itself, and no line that a list goes on with.
func (g gap) listed() bool {
	for line := range strings.Lines(g.before[strings.LastIndex(g.before, "\n\n")+1:]) {
		if isItem(line) {
			return true
		}
	}
	return false
}

// paragraph reports whether a paragraph or a heading ends before the gap, whose last line need be no sentence. One that ends
// in a comma or a colon goes on, and so does one that a small letter or a list follows.
//
// A heading without a sign is a line that was ended on purpose: the first word of the next would have fitted into it, and a
// fifth of the line more, as letters are not of one width.
func (g gap) paragraph(text string, i int) bool {
	heading := g.lines > 0 && (strings.HasPrefix(g.line, "#") || strings.HasPrefix(text[i:], "#"))
	if g.lines == 1 && begin(text[i:]) {
		next, _, _ := strings.Cut(text[i:], "\n")
		used := utf8.RuneCountInString(strings.TrimSpace(g.line)) + 1 + utf8.RuneCountInString(firstWord(next))
		heading = heading || 5*used <= 4*utf8.RuneCountInString(next)
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[i:], openers))
	return (heading || g.lines > 1) && !g.page && !g.goesOn() && !unicode.IsLower(r) && (!isItem(text[i:]) || g.listed())
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s[:min(len(s), 64)], " ")
	return word
}

// goesOn reports whether what is before the gap says itself that it is not over.
func (g gap) goesOn() bool {
	last := g.before[strings.LastIndexFunc(g.before, unicode.IsSpace)+1:]
	return strings.HasSuffix(last, ",") || strings.HasSuffix(last, ";") || strings.HasSuffix(last, ":") || slices.Contains([]string{"and", "or", "und", "oder", "et", "ou", "y", "o", "e"}, last)
}

// leadIn is what leads into the list that an item begins at text[at:]: the line right above its first item, or one further up
// that ends in a colon. Empty for what is no item, and where a sentence or a heading is above the list.
func leadIn(text string, at int) string {
	if !isItem(text[at:]) {
		return ""
	}
	for {
		above := strings.TrimRightFunc(text[:at], unicode.IsSpace)
		block := strings.LastIndex(above, "\n\n") + 1
		line, rest := "", text[block:]
		for lines := range strings.Lines(above[block:]) {
			if isItem(lines) {
				break
			}
			line, rest = line+lines, rest[len(lines):]
		}
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		switch apart := len(line) == len(strings.TrimSpace(above[block:])) && strings.Count(text[len(above):at], "\n") > 1; {
		case line == "" && block > 0:
			at = block // a list whose items stand apart: what leads into it is further up
		case strings.HasSuffix(line, ":"), line != "" && !apart && !strings.HasPrefix(strings.TrimSpace(line), "#") && !stops(line):
			return line[begins(line, len(line)-1):]
		default:
			return ""
		}
	}
}

// stops reports whether a text ends as a sentence does.
func stops(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, closers))
	return strings.ContainsRune(stopping+fullWidthStops, last)
}
