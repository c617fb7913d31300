//go:build linux

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"countersign/internal/campaign/truth"
)

// tally counts what happened, over all worlds.
type tally struct {
	mu      sync.Mutex
	faults  map[string]int
	answers map[string]int
	notes   map[string]int
	cases   map[string]int
	looks   map[string]int
	again   map[string]int
	last    map[string]int // cases of the world under way
	found   []string
}

func add(m *map[string]int, key string, n int) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[key] += n
}

func (t *tally) struck(engine, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.faults, engine+"\t"+name, 1)
}

func (t *tally) answered(engine string, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.answers, fmt.Sprintf("%s\t%d", engine, status), 1)
}

func (t *tally) note(engine, says string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.notes, engine+"\t"+says, 1)
}

// disturbed counts a round that a fault spoiled, by the reasons why a person had to look.
func (t *tally) disturbed(engine string, s seen) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var codes []string
	for _, r := range s.Verdict.Reasons {
		codes = append(codes, string(r.Code))
	}
	add(&t.again, engine+"\t"+strings.Join(codes, " "), 1)
}

// looked notes a look at a world with so many cases.
func (t *tally) looked(engine string, cases int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(&t.looks, engine, 1)
	add(&t.last, engine, 0)
	if cases < t.last[engine] {
		t.last[engine] = 0 // a new world
	}
	add(&t.cases, engine, cases-t.last[engine])
	t.last[engine] = cases
}

func (t *tally) wrong(engine string, v truth.Violation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := strings.Join(strings.Fields(engine+": "+v.String()), " ")
	if !slices.Contains(t.found, line) { // what is wrong stays so at the next look
		t.found = append(t.found, line)
		fmt.Println("VIOLATION", line)
	}
}

func (t *tally) violations() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.found)
}

// print prints the numbers; violations were printed when they were found.
func (t *tally) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	section := func(title string, counts map[string]int) {
		sum := 0
		for _, n := range counts {
			sum += n
		}
		fmt.Fprintf(w, "\n%s\t\t%d\n", title, sum)
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(w, "  %s\t%d\n", key, counts[key])
		}
	}
	section("faults", t.faults)
	section("cases carried to their end", t.cases)
	section("of them investigated again, because a fault showed", t.again)
	section("looks at everything", t.looks)
	section("answers to clients, by status, 0 is none", t.answers)
	if len(t.notes) > 0 {
		section("notes", t.notes)
	}
	fmt.Fprintf(w, "\nviolations\t\t%d\n", len(t.found))
	w.Flush()
}
