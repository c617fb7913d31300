package records

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"countersign"
)

// grid reads rows of cells from CSV, one row at a time and in memory that does not grow with the file or with a cell.
//
// encoding/csv is not used for imports: it holds a text of any length, so that one lost quote holds the rest of the file; it
// turns every \r\n in a text into \n without a word; and it gives up a row at its first stray quote without saying how wide
// it was.
type grid struct {
	in        *bufio.Reader
	delimiter byte
	line      int    // of the byte that comes next, counted from 1
	began     int    // the line of the row's first byte
	cells     []cell // of the row; their texts are valid until the next one
	wide      int    // how many cells the row has, with those beyond the columns that are kept
	ends      map[string]int
	started   bool
}

func newGrid(in io.Reader, d Delimiter) *grid {
	return &grid{in: bufio.NewReaderSize(in, bufferSize), delimiter: delimiterBytes[d], line: 1, ends: map[string]int{}}
}

// next reads the next row; io.EOF when there is none. A line that is empty is no row.
func (g *grid) next() error {
	err := g.read()
	if err == nil || err == io.EOF {
		return err
	}
	return g.failed(err)
}

// failed says how far the file could be read, if it does not say that itself.
func (g *grid) failed(err error) error {
	var broken *countersign.Error
	if errors.As(err, &broken) {
		return err
	}
	return fmt.Errorf("reading the file at line %d: %w", g.line, err)
}

func (g *grid) read() error {
	g.wide, g.cells = 0, g.cells[:0]
	if err := g.start(); err != nil {
		return err
	}
	g.began = g.line
	for last := false; !last; {
		var err error
		if last, err = g.cell(g.column()); err != nil {
			return err
		}
	}
	return nil
}

// start finds the first byte of a row.
func (g *grid) start() error {
	if !g.started {
		g.started = true
		if start, _ := g.in.Peek(len(mark)); string(start) == mark {
			_, _ = g.in.Discard(len(mark)) // cannot fail: the bytes are there
		}
	}
	for {
		b, err := g.in.ReadByte()
		switch {
		case err != nil:
			return err
		case b != '\n' && b != '\r':
			return g.in.UnreadByte()
		}
		g.lineEnd(b)
	}
}

// column makes room for one more cell and reuses what it held before. Beyond the last column that is kept, cells share one.
func (g *grid) column() *cell {
	g.wide++
	if len(g.cells) <= maxColumns {
		if len(g.cells) < cap(g.cells) {
			g.cells = g.cells[:len(g.cells)+1]
		} else {
			g.cells = append(g.cells, cell{})
		}
	}
	c := &g.cells[len(g.cells)-1]
	*c = cell{kind: words, text: c.text[:0], line: g.line}
	return c
}

// cell reads one cell and says whether it was the last of its row.
func (g *grid) cell(c *cell) (last bool, err error) {
	if !g.follows('"') {
		return g.bare(c)
	}
	if err := g.quoted(c); err != nil {
		return false, err
	}
	within := c.size
	if last, err = g.bare(c); c.size > within {
		c.kind = torn
	}
	return last, err
}

// quoted reads up to the quote that closes a cell. Two quotes in it are one.
func (g *grid) quoted(c *cell) error {
	for opened := g.line; ; {
		b, err := g.in.ReadByte()
		switch {
		case err == io.EOF:
			return countersign.Errorf(countersign.Invalid, "line %d: the quote that opens here is never closed", opened)
		case err != nil:
			return err
		case b == '"' && !g.follows('"'):
			return nil
		case b == '\n', b == '\r' && !g.peeks('\n'):
			g.line++
		}
		c.add(b)
	}
}

// bare reads up to the end of a cell. Whoever wrote a quote there did not know what quotes mean in CSV, and nobody can tell
// where the cell was meant to end.
func (g *grid) bare(c *cell) (last bool, err error) {
	for {
		b, err := g.in.ReadByte()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case b == g.delimiter:
			return false, nil
		case b == '\n', b == '\r':
			g.lineEnd(b)
			return true, nil
		case b == '"':
			c.kind = torn
		}
		c.add(b)
	}
}

// follows takes the next byte if it is that one.
func (g *grid) follows(b byte) bool {
	if !g.peeks(b) {
		return false
	}
	_, _ = g.in.ReadByte() // cannot fail: it was looked at
	return true
}

func (g *grid) peeks(b byte) bool {
	next, err := g.in.Peek(1)
	return err == nil && next[0] == b
}

// lineEnd counts a line end of which the first byte was taken.
func (g *grid) lineEnd(first byte) {
	g.line++
	switch {
	case first == '\n':
		g.ends["LF"]++
	case g.follows('\n'):
		g.ends["CRLF"]++
	default:
		g.ends["CR"]++
	}
}

// lineEnds names the line ends that were met, the two usual ones first.
func (g *grid) lineEnds() string {
	var met []string
	for _, name := range []string{"LF", "CRLF", "CR"} {
		if g.ends[name] > 0 {
			met = append(met, name)
		}
	}
	return strings.Join(met, " and ")
}

// add keeps one more byte of a cell, up to as many as any column may hold.
func (c *cell) add(b byte) {
	if c.size++; c.size <= maxMemo {
		c.text = append(c.text, b)
	}
}
