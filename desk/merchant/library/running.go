package library

import (
	"fmt"
	"strings"
	"unicode"
)

// A header or a footer stands on nearly every page, and in the middle of every sentence that goes over two. What is the same at the
// top or at the bottom of most pages, but for its numbers, is no part of the text.
const (
	leastPages   = 3 // with fewer nobody can tell
	runningLines = 3 // how many lines of a header or a footer are looked at
)

// withoutRunning takes headers and footers off pages and says which.
func withoutRunning(pages []string) (bare []string, notes []string) {
	lines := make([][]string, len(pages))
	written := 0
	for i, page := range pages {
		if page != "" {
			lines[i] = strings.Split(page, "\n")
			written++
		}
	}
	for _, e := range []edge{top, bottom} {
		for range runningLines {
			line, on := e.common(lines)
			if on < leastPages || on*2 <= written {
				break
			}
			e.drop(lines, line)
			notes = append(notes, fmt.Sprintf("“%s” stands at the %s of %d pages. It is left out of the text that can be quoted.", clip(line), e, on))
		}
	}
	for _, page := range lines {
		bare = append(bare, strings.TrimSpace(strings.Join(page, "\n")))
	}
	return bare, notes
}

// edge is an end of a page.
type edge string

const (
	top    edge = "top"
	bottom edge = "bottom"
)

// of is the line at the edge of a page, empty for a page without lines. A page that has nothing but that line keeps it: it would be
// empty otherwise, which is said of scanned pages.
func (e edge) of(page []string) string {
	switch {
	case len(page) < 2:
		return ""
	case e == top:
		return page[0]
	}
	return page[len(page)-1]
}

// common is the line that most pages have at the edge, spelled as on the first of them, and on how many it is.
func (e edge) common(pages [][]string) (line string, on int) {
	first, count := map[string]string{}, map[string]int{}
	for _, page := range pages {
		at := e.of(page)
		key := withoutNumbers(at)
		if strings.TrimSpace(at) == "" {
			continue
		}
		if count[key]++; count[key] == 1 {
			first[key] = at
		}
		if count[key] > on {
			line, on = first[key], count[key]
		}
	}
	return line, on
}

func (e edge) drop(pages [][]string, line string) {
	for i, page := range pages {
		switch {
		case withoutNumbers(e.of(page)) != withoutNumbers(line):
		case e == top:
			pages[i] = page[1:]
		default:
			pages[i] = page[:len(page)-1]
		}
	}
}

// withoutNumbers is a line in which every number looks the same.
func withoutNumbers(line string) string {
	return strings.Join(strings.FieldsFunc(line, unicode.IsDigit), "#")
}
