package desk

import (
	"fmt"

	"countersign"
)

// Teller makes the Told of a desk: names are what each of its tools reads, and gist is the little there is to say of what was read, empty
// when there is nothing. Nothing that other people wrote may be in either.
func Teller(names map[string]string, gist func(countersign.Step) string) func(countersign.Step) string {
	return func(s countersign.Step) string {
		read, known := names[s.Tool]
		switch {
		case !known:
			return fmt.Sprintf("called %q", s.Tool)
		case !s.OK:
			return "could not read " + read
		}
		if more := gist(s); more != "" {
			return "read " + read + ": " + more
		}
		return "read " + read
	}
}
