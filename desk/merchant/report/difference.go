package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// mostDifferences is how many are named: after a few, a person looks at the file.
const mostDifferences = 5

// differences says in words where a file is not what it would be.
func differences(f Format, file, again []byte) (where []string) {
	switch f {
	case HTML:
		where = lineDifferences("line", string(file), string(again), textOfLine)
	case PDF:
		where = pageDifferences(streams(file), streams(again))
	}
	if len(where) == 0 && !bytes.Equal(file, again) {
		where = []string{fmt.Sprintf("from byte %d on", firstDifference(file, again)+1)}
	}
	where = slices.Compact(where)
	return where[:min(len(where), mostDifferences)]
}

// lineDifferences compares line by line; where lines were added or removed, it names the first that is another.
func lineDifferences(unit, file, again string, text func(string) string) (where []string) {
	got, want := strings.Split(file, "\n"), strings.Split(again, "\n")
	for i := range max(len(got), len(want)) {
		g, w := lineAt(got, i), lineAt(want, i)
		if g == w {
			continue
		}
		where = append(where, fmt.Sprintf("%s %d has %s where the content gives %s", unit, i+1, quoted(text(g)), quoted(text(w))))
		if len(got) != len(want) || len(where) == mostDifferences {
			break
		}
	}
	return where
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func quoted(text string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return "nothing to read"
	}
	if letters := []rune(text); len(letters) > 160 {
		text = string(letters[:160]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

var tag = regexp.MustCompile(`<[^>]*>`)

// textOfLine is what a line of the page shows, or the line itself when all of it is markup.
func textOfLine(line string) string {
	if strings.HasPrefix(line, contentBegins) {
		return "the content inside, in another form"
	}
	if text := strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(line, " "))); text != "" {
		return text
	}
	return line
}

// pageDifferences compares the drawings of two PDFs: their streams in order, of which the first is the content itself.
func pageDifferences(file, again [][]byte) (where []string) {
	for i := range max(len(file), len(again)) {
		if i >= len(file) || i >= len(again) {
			return append(where, fmt.Sprintf("the file has %d parts where the content gives %d", len(file), len(again)))
		}
		if i == 0 || bytes.Equal(file[i], again[i]) {
			continue
		}
		if !bytes.Contains(again[i], []byte(" Tj ET")) {
			where = append(where, "a font, or another part that is no page: the file may have been saved anew by another program")
			continue
		}
		where = append(where, lineDifferences(fmt.Sprintf("page %d, stroke", i), string(file[i]), string(again[i]), shown)...)
	}
	return where
}
