package report

import (
	"strconv"
	"strings"
)

func pageOf(n, of int) string { return "Page " + strconv.Itoa(n) + " of " + strconv.Itoa(of) }

const (
	gutter  = 11.0 // between columns
	padding = 3.4  // above and under the text of a row
)

// table sets a table over as many pages as it takes: its headings come again on each, long cells wrap, and a row that fits on a
// page is not torn.
func (p *press) table(t table) {
	widths := columnWidths(t)
	p.need(heading.lead + 3*small.lead + max(60, p.opening(t, widths)))
	p.caption(t.ID, t.Title, t.Source)
	if t.Note != "" {
		p.paragraph(small.in(black), left, measure, t.Note)
		p.skip(3)
	}
	switch {
	case len(t.Rows) == 0:
	case t.Listed:
		for _, record := range t.Records() {
			p.pairs(record)
			p.rule(line, hairline)
			p.skip(6)
		}
	default:
		p.grid(t, widths)
		p.skip(5)
	}
	p.skip(13)
}

// grid keeps the last two rows together, as opening does the first: a row alone under its headings is read as a table of its own.
func (p *press) grid(t table, widths []float64) {
	p.need(p.opening(t, widths)) // its title and its note may have taken more than their share
	p.headings(t, widths)
	for i, row := range t.Rows {
		if kept := undivided(i, len(t.Rows)); i > 0 && kept > 1 && p.tall(t, widths, i, kept) > p.room() {
			p.again(t, widths)
		}
		p.row(t, widths, row)
	}
}

// opening is the height of a table's headings and of the rows that stay under them.
func (p *press) opening(t table, widths []float64) float64 {
	if t.Listed || len(t.Rows) == 0 {
		return 0
	}
	_, height := headed(t, widths)
	return height + p.tall(t, widths, 0, undivided(0, len(t.Rows)))
}

// tall is the height of rows that stay together. Rows that are more than half a page are torn, and keep nothing from its place.
func (p *press) tall(t table, widths []float64, from, n int) (height float64) {
	for _, row := range t.Rows[from : from+n] {
		_, most := cellLines(t, widths, row)
		height += float64(most)*cellText8.lead + 2*padding + hairline
	}
	if height > halfPage {
		return 0
	}
	return height
}

// headed are the lines of a table's headings: at most half a page of them, for they come again on every page.
func headed(t table, widths []float64) (lines [][]string, height float64) {
	lines, most := make([][]string, len(widths)), 0
	for i, c := range t.Columns {
		lines[i] = column.atMost(halfPage, c.Title, widths[i])
		most = max(most, len(lines[i]))
	}
	return lines, float64(most)*column.lead + 6
}

func (p *press) headings(t table, widths []float64) {
	lines, height := headed(t, widths)
	p.fill(shade, left, p.y, measure, height)
	p.put(t, widths, lines, nil, p.y+3, column)
	p.skip(height)
	p.rule(grey, 0.7)
	p.skip(0.7)
}

// row sets one row, on the next page if it would be torn and fits there, and in pieces if it is longer than a page.
func (p *press) row(t table, widths []float64, row []cell) {
	lines, most := cellLines(t, widths, row)
	lead := cellText8.lead
	for most > 0 {
		whole := float64(most)*lead + 2*padding
		if whole > p.room() && (whole < halfPage || p.room() < 3*lead+2*padding) {
			p.again(t, widths)
		}
		n := min(most, max(1, int((p.room()-2*padding)/lead)))
		p.put(t, widths, upTo(lines, n), row, p.y+padding, style{lead: lead})
		p.skip(float64(n)*lead + 2*padding)
		p.rule(line, hairline)
		lines, most = after(lines, n), most-n
	}
}

// cellLines are the lines of each cell of a row, and how many the longest has.
func cellLines(t table, widths []float64, row []cell) (lines [][]string, most int) {
	lines = make([][]string, len(row))
	for i, c := range row {
		lines[i] = cellStyle(t.Columns[i].Kind).lines(c.Text, widths[i])
		most = max(most, len(lines[i]))
	}
	return lines, most
}

// again turns the page and says on the new one which table goes on.
func (p *press) again(t table, widths []float64) {
	p.turn()
	name := strings.TrimSpace(t.ID + " " + t.Title)
	if name != "" {
		p.text(small, left, p.y, small.clipped(name, measure-60)+", continued")
		p.skip(small.lead + 3)
	}
	p.headings(t, widths)
}

// put sets the lines of the cells beside each other, from y down. Cells are toned, headings are not.
func (p *press) put(t table, widths []float64, lines [][]string, row []cell, y float64, s style) {
	x := left
	for i, all := range lines {
		kind, set := t.Columns[i].Kind, s
		if row != nil {
			set = cellStyle(kind).in(tones[row[i].Tone])
		}
		for j, l := range all {
			if at := y + float64(j)*s.lead; kind == AmountColumn {
				p.textRight(set, x+widths[i], at, l)
			} else {
				p.text(set, x, at, l)
			}
		}
		x += widths[i] + gutter
	}
}

var tones = map[string]ink{"": black, string(Neutral): grey, string(Supports): green, string(Hurts): red, "unknown": amber}

func cellStyle(k ColumnKind) style {
	if k == IDColumn {
		return idText
	}
	return cellText8
}

func upTo(lines [][]string, n int) [][]string {
	part := make([][]string, len(lines))
	for i, l := range lines {
		part[i] = l[:min(n, len(l))]
	}
	return part
}

func after(lines [][]string, n int) [][]string {
	part := make([][]string, len(lines))
	for i, l := range lines {
		part[i] = l[min(n, len(l)):]
	}
	return part
}

// columnWidths gives every column what its widest cell wants, if there is room for all; else each gets its longest word, or its
// longest amount, time or id, which are read in one piece, and what is left goes to the columns by how much more they want.
func columnWidths(t table) []float64 {
	want, least := make([]float64, len(t.Columns)), make([]float64, len(t.Columns))
	for i, c := range t.Columns {
		want[i], least[i] = column.width(drawn(c.Title)), widestWord(column, c.Title)
	}
	for _, row := range t.Rows {
		for i, c := range row {
			s := cellStyle(t.Columns[i].Kind)
			line := widestLine(s, c.Text)
			want[i] = max(want[i], min(line, measure))
			if t.Columns[i].Kind == TextColumn {
				line = widestWord(s, c.Text)
			}
			least[i] = max(least[i], min(line, 118))
		}
	}
	return shared(want, least, measure-gutter*float64(len(want)-1))
}

func widestLine(s style, text string) (widest float64) {
	for line := range strings.SplitSeq(drawn(text), "\n") {
		widest = max(widest, s.width(line))
	}
	return widest
}

func widestWord(s style, text string) (widest float64) {
	for word := range strings.FieldsSeq(drawn(text)) {
		widest = max(widest, s.width(word))
	}
	return widest
}

func shared(want, least []float64, room float64) []float64 {
	widths := make([]float64, len(want))
	wanted, needed := sum(want), sum(least)
	for i := range widths {
		switch {
		case wanted <= room:
			widths[i] = want[i] + (room-wanted)*want[i]/wanted
		case needed >= room:
			widths[i] = least[i] * room / needed
		default:
			widths[i] = least[i] + (room-needed)*(want[i]-least[i])/(wanted-needed)
		}
	}
	return widths
}

func sum(all []float64) (total float64) {
	for _, v := range all {
		total += v
	}
	return total
}
