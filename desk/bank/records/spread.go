package records

import "fmt"

// spread counts how many digits the numbers of one column have. A spreadsheet that takes account numbers for numbers drops
// the zeros at their front, and then nothing in the row itself tells; beside the others it shows.
type spread struct {
	lengths [maxWord]int
	total   int
}

const (
	enough   = 10 // numbers that a length must be judged by
	mostZero = 4  // zeros that one of them may have lost
)

// newSpreads has a spread for each column of account numbers, whose length a bank does not change.
func newSpreads() map[string]*spread {
	return map[string]*spread{"number": {}, "counterparty_account": {}}
}

func (s *spread) add(text []byte) {
	if n := digits(text); n == len(text) && n < maxWord {
		s.lengths[n]++
		s.total++
	}
}

// note is a sentence about numbers that are a little shorter than nearly all others, empty when there are none.
func (s *spread) note(column string) string {
	usual, short := 0, 0
	for n, count := range s.lengths {
		if count > s.lengths[usual] {
			usual = n
		}
	}
	for n := max(1, usual-mostZero); n < usual; n++ {
		short += s.lengths[n]
	}
	if s.total < enough || short == 0 || s.lengths[usual]*5 < s.total*4 {
		return ""
	}
	return fmt.Sprintf("%s: %d of %d numbers have fewer than the %d digits of the others: did a spreadsheet drop zeros at their front?", column, short, s.total, usual)
}
