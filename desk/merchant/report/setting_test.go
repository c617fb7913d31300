package report

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"countersign"
)

func TestTheFontsAreTheFilesThatWerePublished(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join("fonts", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d files have a sum, want three fonts and their licence", len(lines))
	}
	for _, line := range lines {
		want, name, _ := strings.Cut(line, "  ")
		content, err := os.ReadFile(filepath.Join("fonts", name))
		if got := fmt.Sprintf("%x", sha256.Sum256(content)); err != nil || got != want {
			t.Errorf("%s has the sum %s, want %s (%v)", name, got, want, err)
		}
	}
}

func TestLetters(t *testing.T) {
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		t.Run(fmt.Sprintf("Latin with tone marks, Cyrillic, Greek and signs of money are drawn, in form %d", form), func(t *testing.T) {
			c := sample()
			c.Case.Shop = form.String(alphabets)
			if _, err := sealed(t, c).PDF(); err != nil {
				t.Error(err)
			}
		})
	}
	for text, want := range map[string]string{
		"中村 花子":        `dispute.claim: the PDF cannot draw '中' (U+4E2D)`,
		"नमस्ते":       `U+0928`,
		"thanks 🙂":     `U+1F642`,
		"a \U000F0000": `U+F0000`,
		"한국":           `U+D55C`,
		"ሰላም":          `U+1230`,
		"ہے":           `U+06C1`, // Urdu, whose forms the fonts do not have
		"ܫܠܡܐ":         `U+072B`,
		"שָׁלוֹם":      `U+05B8`, // points stand where a font with their places would put them
	} {
		t.Run(text+" is refused by name, and HTML carries it", func(t *testing.T) {
			c := sample()
			c.Dispute.Claim = text
			r := sealed(t, c)
			file, err := r.PDF()
			if file != nil || countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			page, err := r.HTML()
			if err != nil || !strings.Contains(string(page), text) {
				t.Errorf("the page does not have it, or %v", err)
			}
		})
	}
	t.Run("the field is named wherever the text is", func(t *testing.T) {
		c := sample()
		c.Exhibits[2].Rows[0][2] = "佐川急便"
		var e *countersign.Error
		if err := c.Drawable(); !errors.As(err, &e) || e.Field != "exhibits[2].rows[0][2]" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what would turn a text round is written out, in both renderings", func(t *testing.T) {
		c := sample()
		c.Dispute.Claim = "paid \u202Edednufer\u202C \x00 \u2066x"
		for _, f := range []Format{HTML, PDF} {
			text := textOf(t, f, rendered(t, c, f))
			if !strings.Contains(text, "paid [U+202E]dednufer[U+202C] [U+0000] [U+2066]x") {
				t.Errorf("%s does not", f)
			}
		}
	})
	t.Run("every letter that may be drawn has a glyph in each font of the text", func(t *testing.T) {
		for _, style := range []style{body, heading, idText} {
			for _, r := range drawn(alphabets) {
				if !style.faceOf(r).has(r) {
					t.Errorf("%c has none in %s", r, style.face.name)
				}
			}
		}
	})
}

func TestMarks(t *testing.T) {
	at := func(text string) (strokes []stroke) { return body.set(drawn(text)) }
	t.Run("a mark over a capital is higher than over a small letter", func(t *testing.T) {
		over, small := at("Ọ̀")[1], at("ọ̀")[1]
		if over.y <= small.y || over.y == 0 {
			t.Errorf("they are at %.2f and %.2f", over.y, small.y)
		}
	})
	t.Run("two marks over one letter do not touch", func(t *testing.T) {
		all := at("m̄̀")
		above := func(s stroke, edge int) float64 { return s.y + float64(edge)*body.size/1000 }
		if first, second := body.face.glyphs[0x304], body.face.glyphs[0x300]; len(all) != 3 || above(all[2], second.low) <= above(all[1], first.up) {
			t.Errorf("got %+v", all)
		}
	})
	t.Run("a mark stands over the middle of its letter", func(t *testing.T) {
		s := at("aaam̀")
		m := body.face.glyphs['m']
		mark := body.face.glyphs[0x300]
		middle := body.width("aaa") + float64(m.left+m.right)/2*body.size/1000
		if got := s[1].x + float64(mark.left+mark.right)/2*body.size/1000; got < middle-0.01 || got > middle+0.01 {
			t.Errorf("it is at %.2f, the letter at %.2f", got, middle)
		}
	})
	t.Run("what follows a mark goes on where the letter ended", func(t *testing.T) {
		s := at("m̀n")
		if len(s) != 3 || s[2].x != body.width("m") {
			t.Errorf("got %+v", s)
		}
	})
}

func TestLines(t *testing.T) {
	wide := body.width("twelve words")
	for text, want := range map[string][]string{
		"twelve words fit": {"twelve words", "fit"},
		"one\n\nthree":     {"one", "", "three"},
		"":                 {""},
		"a  b":             {"a  b"},
		"trailing      ":   {"trailing"},
		"well-known-fact":  {"well-known-", "fact"},
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := body.lines(text, wide); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("no letter is lost, and no line is too wide", func(t *testing.T) {
		text := alphabets + strings.Repeat("n̄m̀", 60) + " end"
		for wide := 4.0; wide < 300; wide += 7 {
			all := body.lines(text, wide)
			if got := strings.Join(all, ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(drawn(text), " ", "") {
				t.Fatalf("at %.0f something is missing", wide)
			}
			for _, l := range all {
				if body.width(l) > wide && len([]rune(norm.NFC.String(l))) > 3 {
					t.Errorf("at %.0f: %q", wide, l)
				}
			}
		}
	})
}
