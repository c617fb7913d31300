package events

import (
	"os"
	"strings"
	"testing"
)

// The tables of docs/events.md are the ones that the program works by.
func TestTheDocumentShowsTheTables(t *testing.T) {
	text, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"statuses": StatusWords(), "transitions": Transitions(), "capabilities": CapabilityTable()} {
		_, rest, ok := strings.Cut(string(text), "<!-- "+name+" -->\n")
		shown, _, closed := strings.Cut(rest, "<!-- end -->")
		if !ok || !closed || shown != want {
			t.Errorf("docs/events.md does not show the %s as they are:\n%s", name, want)
		}
	}
}
