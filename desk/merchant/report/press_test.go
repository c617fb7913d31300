package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestTwoThousandRows(t *testing.T) {
	sheets := layOut(sealed(t, long(2000)).compose())
	t.Run("every row is there, whole and in order, and nothing leaves the page", func(t *testing.T) {
		next, words := 1, 0
		for n, s := range sheets {
			for _, m := range s.marks {
				if id := fmt.Sprintf("msg_%05d", next); m.text == id {
					next++
				}
				words += strings.Count(m.text, "shortened")
				inside(t, n, m)
			}
		}
		if next != 2001 || words != 260 {
			t.Errorf("%d rows are in order, and %d of 260 sentences of the longest", next-1, words)
		}
	})
	t.Run("each page of the table repeats its headings", func(t *testing.T) {
		for n, s := range sheets {
			text := ""
			for _, m := range s.marks {
				text += m.text + "\n"
			}
			if strings.Contains(text, "msg_") && !strings.Contains(text, "Message\nSent\nFrom\nText\n") {
				t.Errorf("page %d has rows without headings", n+1)
			}
		}
	})
	t.Run("a row that fits on a page is not torn", func(t *testing.T) {
		begun := 0
		for n, s := range sheets {
			id, text := firstOf(s, "msg_", idText), firstOf(s, "", cellText8)
			if id == nil || firstOf(s, "E9 Messages, continued", small) == nil || strings.Contains(text.text, "long message") || strings.Contains(text.text, "shortened") {
				continue
			}
			if begun++; id.y-text.y > 2 {
				t.Errorf("page %d begins with the end of a row: %q", n+1, text.text)
			}
		}
		if begun < 60 {
			t.Errorf("only %d pages were looked at", begun)
		}
	})
}

// firstOf is the topmost text of that style that begins so.
func firstOf(s *sheet, begins string, of style) (first *mark) {
	for i, m := range s.marks {
		if m.text != "" && m.style.size == of.size && m.style.face == of.face && strings.HasPrefix(m.text, begins) && (first == nil || m.y < first.y) {
			first = &s.marks[i]
		}
	}
	return first
}

func inside(t *testing.T, n int, m mark) {
	t.Helper()
	width, rise := m.w, m.h
	if m.text != "" {
		width, rise = m.style.width(m.text), 0
	}
	if m.x < left-0.01 || m.x+width > right+0.01 || m.y < 30 || m.y+rise > pageHeight-30 {
		t.Errorf("page %d: %q is at %.1f,%.1f and %.1f wide", n+1, m.text, m.x, m.y, width)
	}
}

// TestNoLineAndNoRowStandsAlone: wherever on a page they begin, the first line of a text or row of a table does not stay behind by
// itself, and the last does not come alone to the next page.
func TestNoLineAndNoRowStandsAlone(t *testing.T) {
	for name, set := range map[string]func(*press, int){
		"a paragraph": func(p *press, n int) {
			p.paragraph(body, left, measure, strings.TrimSpace(strings.Repeat("a line\n", n)))
		},
		"a clause": func(p *press, n int) { p.clause(clause{Quote: strings.TrimSpace(strings.Repeat("a line\n", n))}) },
		"a table": func(p *press, n int) {
			t := table{Title: "Timeline", Columns: []Column{{"When", TextColumn}}}
			for range n {
				t.Rows = append(t.Rows, []cell{{Text: "a line"}})
			}
			p.table(t)
		},
		"labels and values": func(p *press, n int) {
			var all []pair
			for range n {
				all = append(all, pair{"Label", "a line", TextColumn}, pair{"Label", "beside it", TextColumn})
			}
			p.pairs(all)
		},
	} {
		for n := 2; n < 9; n++ {
			for y := top; y < bottom; y += 3 {
				p := &press{}
				p.turn()
				p.y = y
				set(p, n)
				for i, s := range p.sheets {
					if lines := strings.Count(textsOf(s), "a line\n"); lines == 1 {
						t.Fatalf("%s of %d that begins at %.0f has one line alone on page %d", name, n, y, i+1)
					}
				}
			}
		}
	}
}

func textsOf(s *sheet) (text string) {
	for _, m := range s.marks {
		text += m.text + "\n"
	}
	return text
}

// TestOneRowIsWholeHoweverLong: one row reads as labels and values, and goes on over the next pages when a value is longer than one.
func TestOneRowIsWholeHoweverLong(t *testing.T) {
	for _, n := range []int{1, 40, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 70, 118, 200} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("line %d", i+1))
		}
		content := sample()
		e := &content.Exhibits[0]
		e.Columns, e.Rows = []Column{{"Notes", TextColumn}, {"b", TextColumn}, {"c", TextColumn}, {"d", TextColumn}}, [][]string{{strings.Join(lines, "\n"), "b", "c", "d"}}
		next := 0
		for i, s := range layOut(sealed(t, content).compose()) {
			for _, m := range s.marks {
				if next < n && m.text == lines[next] {
					next++
					if m.y > bottom {
						t.Fatalf("of %d lines %q runs over the foot of page %d", n, m.text, i+1)
					}
					if n > 70 && !strings.Contains(textsOf(s), "Notes\n") {
						t.Fatalf("page %d does not say what it is", i+1)
					}
				}
			}
		}
		if next != n {
			t.Errorf("of %d lines there are %d", n, next)
		}
	}
}

func TestWhateverAShopCallsThings(t *testing.T) {
	for name, c := range map[string]func(*Content){
		"a word that is wider than the page": func(c *Content) { c.Decision.Summary = strings.Repeat("W", 400) },
		"a column of hashes": func(c *Content) {
			c.Exhibits[1].Rows[0][0] = strings.Repeat("0123456789abcdef", 8)
		},
		"forty columns": func(c *Content) {
			e := &c.Exhibits[1]
			e.Columns, e.Rows = nil, [][]string{{}, {}}
			for i := range 40 {
				e.Columns = append(e.Columns, Column{fmt.Sprintf("column_%d", i), TextColumn})
				e.Rows[0], e.Rows[1] = append(e.Rows[0], "some text"), append(e.Rows[1], "12345678")
			}
		},
		"an amount that is longer than its place": func(c *Content) {
			c.Dispute.Amount = Amount{"999999999999999999", "IDR", "IDR 9,999,999,999,999,999.99"}
		},
		"a title of three lines":     func(c *Content) { c.Exhibits[0].Title = strings.Repeat("The order as it was first placed ", 9) },
		"an order's id of 300 runes": func(c *Content) { c.Case.Order = strings.Repeat("A-1/", 75) },
		"a clause of four pages":     func(c *Content) { c.Clauses[0].Quote = strings.Repeat("No refund is due. ", 900) },
		"a column's title that is longer than a page": func(c *Content) {
			c.Exhibits[1].Columns[1].Title = strings.Repeat("What the shop calls it ", 900)
		},
		"a column's title that is longer than a page, over one row": func(c *Content) {
			e := &c.Exhibits[0]
			e.Columns, e.Rows = []Column{{strings.Repeat("What the shop calls it ", 900), TextColumn}, {"b", TextColumn}, {"c", TextColumn}, {"d", TextColumn}}, [][]string{{"a", "b", "c", "d"}}
		},
		"a title and a note that end at the foot of a page": func(c *Content) {
			c.Exhibits[1].Title, c.Exhibits[1].Note = strings.Repeat("A very long title ", 120), strings.Repeat("A note. ", 800)
		},
		"columns without a title and without a value": func(c *Content) {
			e := &c.Exhibits[1]
			e.Columns, e.Rows = []Column{{"", TextColumn}, {"", TextColumn}}, [][]string{{"", ""}, {"", ""}}
		},
		"nothing but what must be": func(c *Content) {
			*c = Content{Format: FormatVersion, Case: Case{ID: "C-1", Order: "1"}, Decision: Decision{Outcome: "accept", By: "A", At: "2026-12-01", Followed: true}, Audit: Audit{Head: strings.Repeat("0", 64)}}
		},
	} {
		t.Run(name+" stays on its page", func(t *testing.T) {
			content := sample()
			c(&content)
			for n, s := range layOut(sealed(t, content).compose()) {
				for _, m := range s.marks {
					inside(t, n, m)
				}
			}
			if v, err := Verify(rendered(t, content, PDF)); err != nil || v.State != Intact {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}
