package report

import (
	"slices"
	"strings"
)

// press lays a report out on pages of A4, in points, y downwards from the top. Nothing is drawn yet: what stands where is decided
// first and drawn afterwards, because every page says how many there are.
type press struct {
	sheets []*sheet
	y      float64
}

// sheet is one page: what is painted on it, in order.
type sheet struct{ marks []mark }

// mark is a text or, when there is none, a filled rectangle.
type mark struct {
	x, y, w, h float64
	style      style // of a text; y is then its baseline
	text       string
	ink        ink // of a rectangle
}

const (
	pageWidth, pageHeight = 595.28, 841.89
	left, right           = 54.0, pageWidth - 54
	top, bottom           = 66.0, pageHeight - 66
	measure               = right - left
	hairline              = 0.5
	halfPage              = (bottom - top) / 2
)

var (
	kicker    = style{face: faces().bold, size: 7.5, ink: accent, lead: 10}
	title     = style{face: faces().bold, size: 22, ink: black, lead: 27}
	subtitle  = style{face: faces().sans, size: 10.5, ink: grey, lead: 15}
	figure    = style{face: faces().bold, size: 15, ink: black, lead: 19}
	sectional = style{face: faces().bold, size: 14, ink: black, lead: 19}
	heading   = style{face: faces().bold, size: 9.5, ink: black, lead: 13}
	body      = style{face: faces().sans, size: 9.5, ink: black, lead: 13.5}
	small     = style{face: faces().sans, size: 7.8, ink: grey, lead: 11}
	label     = style{face: faces().sans, size: 7.5, ink: grey, lead: 10}
	value     = style{face: faces().sans, size: 8.8, ink: black, lead: 12}
	column    = style{face: faces().bold, size: 7.5, ink: grey, lead: 10}
	cellText8 = style{face: faces().sans, size: 8.2, ink: black, lead: 11}
	idText    = style{face: faces().mono, size: 7.2, ink: black, lead: 11}
)

func (p *press) sheet() *sheet { return p.sheets[len(p.sheets)-1] }

func (p *press) turn() {
	p.sheets = append(p.sheets, &sheet{})
	p.y = top
}

// need turns the page when less room than that is left. What needs more than a page gets a fresh one and must break itself.
func (p *press) need(height float64) (turned bool) {
	if p.y+height > bottom && p.y > top {
		p.turn()
		return true
	}
	return false
}

func (p *press) room() float64 { return bottom - p.y }

func (p *press) skip(height float64) { p.y += height }

// text puts one line on the page, its top at y.
func (p *press) text(s style, x, y float64, text string) {
	if text != "" {
		p.sheet().marks = append(p.sheet().marks, mark{x: x, y: y + s.size*ascent, style: s, text: text})
	}
}

// ascent is how much of a font's size is above the baseline of a line.
const ascent = 0.93

func (p *press) textRight(s style, x, y float64, text string) {
	p.text(s, x-s.width(text), y, text)
}

func (p *press) fill(i ink, x, y, w, h float64) {
	p.sheet().marks = append(p.sheet().marks, mark{x: x, y: y, w: w, h: h, ink: i})
}

// rule is a line across the measure, at y.
func (p *press) rule(i ink, thick float64) { p.fill(i, left, p.y, measure, thick) }

// paragraph sets a text from x on, breaking pages between its lines. Lines that are read from the right begin there.
func (p *press) paragraph(s style, x, wide float64, text string) {
	lines := s.lines(text, wide)
	for i, l := range lines {
		p.need(float64(undivided(i, len(lines))) * s.lead)
		p.line(s, x, wide, l)
	}
}

// undivided is how many of n lines, or rows, from the i-th on must stand on one page: none stays alone at the foot of a page, or comes
// alone to the next.
func undivided(i, n int) int {
	switch {
	case i == 0 && n <= 3:
		return n
	case i == 0, i == n-2:
		return 2
	}
	return 1
}

// line sets one of the lines of a paragraph.
func (p *press) line(s style, x, wide float64, text string) {
	if strings.HasPrefix(text, string(fromRight)) {
		p.textRight(s, x+wide, p.y, text)
	} else {
		p.text(s, x, p.y, text)
	}
	p.skip(s.lead)
}

func layOut(c composition) []*sheet {
	p := &press{}
	p.turn()
	p.cover(c)
	for _, s := range c.Sections {
		p.section(s)
	}
	for i, sheet := range p.sheets {
		c.margins(sheet, i+1, len(p.sheets))
	}
	return p.sheets
}

func (p *press) cover(c composition) {
	p.y = 54
	p.text(kicker, left, p.y, "EVIDENCE REPORT")
	p.textRight(label, right, p.y, label.clipped("Case "+c.Case, measure*0.7))
	p.skip(17)
	p.paragraph(title, left, measure, c.Headline)
	p.paragraph(subtitle, left, measure, c.Standing)
	p.skip(10)
	p.rule(accent, 1.6)
	p.skip(11)
	p.amounts(c.Amounts)
	p.rule(line, hairline)
	p.skip(9)
	p.pairs(c.Particulars)
	p.rule(line, hairline)
	p.skip(13)
	p.blocks(c.Opening)
}

func (p *press) amounts(all []pair) {
	wide := measure / float64(len(all))
	s := figure
	for _, a := range all {
		for s.width(a.Value) > wide-12 {
			s.size-- // an amount is never broken
		}
	}
	for i, a := range all {
		x := left + float64(i)*wide
		p.text(label, x, p.y, a.Label)
		p.text(s, x, p.y+11, drawn(a.Value))
	}
	p.skip(11 + figure.lead + 7)
}

// pairs sets labels over values, two columns of them.
func (p *press) pairs(all []pair) {
	const gap = 18
	wide := (measure - gap) / 2
	var rows [][]labelled
	var heights []float64
	for both := range slices.Chunk(all, 2) {
		var row []labelled
		for j, a := range both {
			row = append(row, labelled{valueStyle(a), left + float64(j)*(wide+gap), label.atMost(halfPage, a.Label, wide), valueStyle(a).lines(a.Value, wide)})
		}
		labels, values := most(row)
		rows, heights = append(rows, row), append(heights, float64(labels)*label.lead+float64(values)*value.lead+5)
	}
	for i, row := range rows {
		p.need(sum(heights[i : i+undivided(i, len(rows))]))
		p.beside(row)
	}
	p.skip(2)
}

// labelled is a value under its label, as lines.
type labelled struct {
	style          style
	x              float64
	labels, values []string
}

// beside sets labels and values beside each other. Values that are longer than a page go on over the next, under their labels.
func (p *press) beside(row []labelled) {
	labels, values := most(row)
	for begun := 0; ; p.turn() {
		under := float64(labels) * label.lead
		n := min(values-begun, max(1, int((p.room()-under)/value.lead)))
		if n > 1 && values-begun-n == 1 {
			n-- // the last line does not come alone to the next page
		}
		for _, a := range row {
			a.set(p, begun, begun+n)
		}
		p.skip(under + float64(n)*value.lead)
		if begun += n; begun >= values {
			break
		}
	}
	p.skip(5)
}

// set sets some of the lines of a value, under its label.
func (a labelled) set(p *press, from, to int) {
	for k, l := range a.labels {
		p.text(label, a.x, p.y+float64(k)*label.lead, l)
	}
	for k, l := range a.values[min(from, len(a.values)):min(to, len(a.values))] {
		p.text(a.style, a.x, p.y+float64(len(a.labels))*label.lead+float64(k)*value.lead, l)
	}
}

// most is how many lines the longest label has, and the longest value.
func most(row []labelled) (labels, values int) {
	for _, a := range row {
		labels, values = max(labels, len(a.labels)), max(values, len(a.values))
	}
	return labels, values
}

func valueStyle(a pair) style {
	if a.Kind == IDColumn {
		return style{idText.face, 7.4, black, value.lead}
	}
	return value
}

func (p *press) section(s section) {
	p.skip(8)
	p.need(sectional.lead + 130) // a heading is never alone at the foot of a page
	if p.y > top {
		p.skip(10)
	}
	p.rule(accent, 1)
	p.skip(7)
	p.paragraph(sectional, left, measure, s.Title)
	if s.Lead != "" {
		p.paragraph(small, left, measure, s.Lead)
	}
	p.skip(9)
	p.blocks(s.Blocks)
}

func (p *press) blocks(all []block) {
	for _, b := range all {
		switch {
		case b.Text != nil:
			p.passage(*b.Text)
		case b.Pairs != nil:
			p.pairs(b.Pairs)
		case b.Table != nil:
			p.table(*b.Table)
		case b.Clause != nil:
			p.clause(*b.Clause)
		default:
			p.notice(b.Notice)
		}
	}
}

func (p *press) passage(t passage) {
	p.need(heading.lead + 2*body.lead)
	p.text(heading, left, p.y, t.Label)
	if t.Voice != "" {
		x := left + heading.width(t.Label) + 8
		p.text(small, x, p.y+1.4, small.clipped(t.Voice, right-x))
	}
	p.skip(heading.lead + 1)
	p.paragraph(body, left, measure, t.Body)
	p.skip(9)
}

// notice is a line that must be seen: a bar beside it, and the text itself in black.
func (p *press) notice(text string) {
	lines := body.lines(text, measure-14)
	p.need(float64(len(lines))*body.lead + 4)
	p.fill(amber, left, p.y, 2.4, float64(min(len(lines), int(p.room()/body.lead)))*body.lead)
	p.paragraph(body, left+14, measure-14, text)
	p.skip(8)
}

// caption is the line over a table or a clause: its number, its title, where it is from.
func (p *press) caption(id, name, source string) {
	if id == "" && name == "" {
		return
	}
	x := left
	if id != "" {
		wide := heading.width(id) + 9
		p.fill(accent, x, p.y-1, wide, heading.lead)
		p.text(heading.in(ink{255, 255, 255}), x+4.5, p.y+0.6, id)
		x += wide + 7
	}
	p.paragraph(heading, x, right-x, name)
	if source != "" {
		p.paragraph(small, x, right-x, source)
	}
	p.skip(4)
}

func (p *press) clause(c clause) {
	const indent = 14
	p.need(heading.lead + small.lead + 6*body.lead)
	p.caption(c.ID, c.Title, c.Source)
	p.skip(2)
	for _, part := range []struct {
		text  string
		style style
		bar   bool
	}{{c.Before, body.in(grey), false}, {c.Quote, style{faces().bold, 9.5, black, 14}, true}, {c.After, body.in(grey), false}} {
		if part.text == "" {
			continue
		}
		lines := part.style.lines(part.text, measure-indent)
		for i, l := range lines {
			p.need(float64(undivided(i, len(lines))) * part.style.lead)
			if part.bar {
				p.fill(accent, left, p.y, 2.4, part.style.lead)
			}
			p.line(part.style, left+indent, measure-indent, l)
		}
		p.skip(3)
	}
	p.skip(14)
}

// margins are what every page says: what it is of, its fingerprint, its number.
func (c composition) margins(s *sheet, n, of int) {
	p := &press{sheets: []*sheet{s}}
	if n > 1 {
		p.text(label, left, 36, label.clipped("Evidence report · order "+c.Order, measure*0.7))
		p.textRight(label, right, 36, label.clipped("Case "+c.Case, measure*0.25))
		p.fill(line, left, 49, measure, hairline)
	}
	foot := pageHeight - 44
	p.fill(line, left, foot-7, measure, hairline)
	p.text(label.in(black), left, foot, "Fingerprint (SHA-256)")
	p.text(style{idText.face, 6.4, black, 9}, left+82, foot+0.6, Short(c.Fingerprint))
	p.textRight(label.in(black), right, foot, pageOf(n, of))
}
