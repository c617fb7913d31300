package library

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// A PDF does not say which of its lines are headings. What a reader takes for the title is the first line in larger letters than
// the rest of its page.
const (
	larger       = 1.2 // times the size of most letters
	longestTitle = 120 // in characters; what is longer is an announcement
	leastTitle   = 3
)

// title looks for the first heading on a page, empty when nothing there is larger than the rest.
func (p *pdf) title(at requests.Page, text string) string {
	page, err := p.instance.GetPageTextStructured(&requests.GetPageTextStructured{Page: at, Mode: requests.GetPageTextStructuredModeRects, CollectFontInformation: true})
	if err != nil {
		return "" // a file has a name too
	}
	return asTitle(linesOf(text, large(page.Rects)))
}

// large is the first text in larger letters, without its spaces: the pieces may be words or single letters.
func large(pieces []*responses.GetPageTextStructuredRect) (found string) {
	body, size := bodySize(pieces), 0.0
	for _, piece := range pieces {
		text := spaceless(piece.Text)
		switch s := letterSize(piece); {
		case text == "":
		case found == "" && s >= larger*body, found != "" && s == size:
			found, size = found+text, s
		case found != "":
			return found
		}
	}
	return found
}

func spaceless(s string) string { return strings.Join(strings.Fields(s), "") }

// linesOf finds the lines of a page that say this, which has no spaces.
func linesOf(page, says string) string {
	lines := strings.Split(page, "\n")
	for i := range lines {
		sum := ""
		for j := i; j < len(lines) && strings.HasPrefix(says, sum); j++ {
			if sum += spaceless(lines[j]); sum == says && sum != "" {
				return strings.Join(lines[i:j+1], " ")
			}
		}
	}
	return ""
}

// asTitle refuses what is no title: a number, an announcement, letters that were not understood.
func asTitle(line string) string {
	title := strings.Join(strings.Fields(line), " ")
	n := utf8.RuneCountInString(title)
	if !strings.ContainsFunc(title, unicode.IsLetter) || n < leastTitle || n > longestTitle || odd(title) > 0 {
		return ""
	}
	return title
}

// bodySize is the size of most letters.
func bodySize(pieces []*responses.GetPageTextStructuredRect) (size float64) {
	letters := map[float64]int{}
	for _, piece := range pieces {
		s := letterSize(piece)
		letters[s] += utf8.RuneCountInString(piece.Text)
		if letters[s] > letters[size] {
			size = s
		}
	}
	return size
}

// letterSize is the size of a piece's letters in half points.
func letterSize(piece *responses.GetPageTextStructuredRect) float64 {
	if piece.FontInformation == nil {
		return 0
	}
	return math.Round(2*piece.FontInformation.RenderedSize) / 2
}
