package records

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"countersign"
)

// Delimiter is what stands between the cells of a CSV file.
type Delimiter string

const (
	Comma     Delimiter = "comma"
	Semicolon Delimiter = "semicolon"
	Tab       Delimiter = "tab"
	Pipe      Delimiter = "pipe"
)

var delimiters = []Delimiter{Comma, Semicolon, Tab, Pipe}

var delimiterBytes = map[Delimiter]byte{Comma: ',', Semicolon: ';', Tab: '\t', Pipe: '|'}

// delimiterOf finds the delimiter of a file in its header: the one that parts it into the most columns of the array, or if
// that decides nothing, into the most cells. No column's name holds any of them.
func delimiterOf(a Array, head []byte, e Encoding) (Delimiter, error) {
	if d, said, err := declared(head, e); said {
		return d, err
	}
	best, most := []Delimiter{}, [2]int{}
	for _, d := range delimiters {
		known, wide := parted(a, head, e, d)
		switch now := [2]int{known, wide}; slices.Compare(now[:], most[:]) {
		case 1:
			best, most = []Delimiter{d}, now
		case 0:
			best = append(best, d)
		}
	}
	if len(best) > 1 && most[1] > 1 {
		return "", countersign.Errorf(countersign.Invalid, "the header can be parted in more than one way, expected one of %s between its columns", joined(best))
	}
	return best[0], nil
}

// parted says how many columns of the array a delimiter makes of the header, and how many cells.
func parted(a Array, head []byte, e Encoding, d Delimiter) (known, wide int) {
	g := newGrid(e.decode(bytes.NewReader(head)), d)
	_ = g.next() // a header that is broken is told of by whoever reads it
	for _, c := range g.cells {
		if _, is := tables[a].index[string(c.text)]; is {
			known++
		}
	}
	return known, g.wide
}

// declared is the delimiter that a first line such as "sep=;" declares, as one widespread spreadsheet has it.
func declared(head []byte, e Encoding) (d Delimiter, said bool, err error) {
	text, _ := io.ReadAll(e.decode(bytes.NewReader(head))) // what cannot be decoded was refused before
	line := strings.TrimPrefix(string(text), mark)
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	sign, said := strings.CutPrefix(strings.ToLower(strings.Trim(line, `"`)), "sep=")
	if !said {
		return "", false, nil
	}
	for _, d := range delimiters {
		if sign == string(delimiterBytes[d]) {
			return d, true, nil
		}
	}
	return "", true, countersign.Errorf(countersign.Invalid, "line 1 declares the delimiter %s, expected a comma, a semicolon, a tab or a pipe", shown(sign))
}
