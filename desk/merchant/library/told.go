package library

import (
	"fmt"
	"strconv"
)

// listedPages is how many pages are told one by one. Of more, only those that somebody should look at.
const listedPages = 20

// Told says what could be read in a file, in sentences: how much in all, then page by page, then what to look
// at and what to know about it.
func (e Extraction) Told() []string {
	lines := []string{e.sum()}
	if e.Paged {
		for i, p := range e.Pages {
			if len(e.Pages) <= listedPages || p.Doubtful() {
				lines = append(lines, fmt.Sprintf("page %d: %s", i+1, p.Told()))
			}
		}
	} else if e.Pages[0].Doubtful() {
		lines = append(lines, e.Pages[0].Told())
	}
	return append(append(lines, e.Look...), e.Notes...)
}

func (e Extraction) sum() string {
	characters := 0
	for _, p := range e.Pages {
		characters += p.Characters
	}
	if !e.Paged {
		return fmt.Sprintf("%s, %s characters", e.Kind, thousands(characters))
	}
	pages := "pages"
	if len(e.Pages) == 1 {
		pages = "page"
	}
	return fmt.Sprintf("%s, %d %s, %s characters", e.Kind, len(e.Pages), pages, thousands(characters))
}

// Doubtful reports whether a person should look at a page before its text is quoted: it has none, or more than one character in a
// hundred makes no sense.
func (p Page) Doubtful() bool { return p.State != "" || p.Odd*100 > p.Characters }

// Told says in words what could be read on a page.
func (p Page) Told() string {
	switch {
	case p.State == Picture:
		return "no text: it is a picture, and nothing on it can be quoted"
	case p.State == Empty:
		return "empty"
	case p.Odd > 0:
		return fmt.Sprintf("%s characters, %s of them make no sense", thousands(p.Characters), thousands(p.Odd))
	}
	return thousands(p.Characters) + " characters"
}

// thousands writes a number as people read it: 12,345.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
