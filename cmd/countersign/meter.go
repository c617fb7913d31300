package main

import (
	"fmt"
	"io"
	"os"
)

// meter says on one line of a terminal, written over and over, how far something is. Anywhere else it says nothing: a log
// is no place for it.
type meter struct {
	w     io.Writer // nil when there is no terminal
	drawn bool
}

func meterOn(w io.Writer) *meter {
	f, ok := w.(*os.File)
	if !ok {
		return &meter{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &meter{}
	}
	return &meter{w: w}
}

// show draws the line; a total of zero is one that nobody knows yet.
func (m *meter) show(done, total int, is string) {
	if m.w == nil {
		return
	}
	m.drawn = true
	if total > 0 {
		fmt.Fprintf(m.w, "\r\x1b[K%s: %d of %d rows", is, done, total)
	} else {
		fmt.Fprintf(m.w, "\r\x1b[K%s: %d rows", is, done)
	}
}

// clear takes the line away, so that something else can stand there.
func (m *meter) clear() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	m.drawn = false
}
