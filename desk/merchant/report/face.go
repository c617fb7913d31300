package report

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// The fonts are part of the program, so that a report looks the same and has the same bytes wherever it is made.
var (
	//go:embed fonts/DejaVuSansCondensed.ttf
	sansFile []byte
	//go:embed fonts/DejaVuSansCondensed-Bold.ttf
	boldFile []byte
	//go:embed fonts/DejaVuSansMono.ttf
	monoFile []byte
)

// face is one font: how wide each of its glyphs is and which box its ink fills. Only what is needed to set text is read.
type face struct {
	name   string
	file   []byte
	glyphs [0x10000]glyph // by code point; fonts of this format know no others
}

// glyph has its measures in thousandths of the font's size, y upwards.
type glyph struct {
	known                bool
	width                int
	left, low, right, up int // the box of the ink; all zero for a space
}

func (f *face) has(r rune) bool { return r < 0x10000 && f.glyphs[r].known }

var faces = sync.OnceValue(func() (all struct{ sans, bold, mono *face }) {
	all.sans, all.bold, all.mono = readFace("sans", sansFile), readFace("bold", boldFile), readFace("mono", monoFile)
	return all
})

// readFace reads a TrueType file of ours. The files are held to their sums by a test, so nothing here expects a broken one.
func readFace(name string, file []byte) *face {
	f := &face{name: name, file: file}
	t := tablesOf(file)
	scale := func(v int) int { return int(math.Round(1000 * float64(v) / float64(u16(t["head"], 18)))) }
	metrics := u16(t["hhea"], 34)
	for r, g := range glyphNumbers(t["cmap"]) {
		out := glyph{known: true, width: scale(u16(t["hmtx"], 4*min(g, metrics-1)))}
		if at, end := position(t, g), position(t, g+1); at < end {
			box := t["glyf"][at:]
			out.left, out.low, out.right, out.up = scale(i16(box, 2)), scale(i16(box, 4)), scale(i16(box, 6)), scale(i16(box, 8))
		}
		f.glyphs[r] = out
	}
	return f
}

func tablesOf(file []byte) map[string][]byte {
	tables := map[string][]byte{}
	for i := range u16(file, 4) {
		entry := file[12+16*i:]
		at, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		tables[string(entry[:4])] = file[at : at+size]
	}
	return tables
}

// position is where the outline of a glyph begins.
func position(t map[string][]byte, g int) int {
	if u16(t["head"], 50) == 0 {
		return 2 * u16(t["loca"], 2*g)
	}
	return int(binary.BigEndian.Uint32(t["loca"][4*g:]))
}

// glyphNumbers reads the character map of format 4, which covers the first 65,536 code points.
func glyphNumbers(cmap []byte) map[int]int {
	numbers := map[int]int{}
	table := format4(cmap)
	n := u16(table, 6) / 2
	ends, starts, deltas, offsets := table[14:], table[16+2*n:], table[16+4*n:], table[16+6*n:]
	for i := range n {
		for r := u16(starts, 2*i); r <= u16(ends, 2*i) && r != 0xFFFF; r++ {
			g := r
			if offset := u16(offsets, 2*i); offset != 0 {
				g = u16(offsets, 2*i+offset+2*(r-u16(starts, 2*i)))
			}
			if g = (g + u16(deltas, 2*i)) & 0xFFFF; g != 0 {
				numbers[r] = g
			}
		}
	}
	return numbers
}

func format4(cmap []byte) []byte {
	for i := range u16(cmap, 2) {
		if table := cmap[binary.BigEndian.Uint32(cmap[8+8*i:]):]; u16(table, 0) == 4 {
			return table
		}
	}
	panic("report: a font without a character map of format 4") // unreachable: the fonts are ours
}

func u16(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
func i16(b []byte, at int) int { return int(int16(binary.BigEndian.Uint16(b[at:]))) }
