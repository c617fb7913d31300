package browser

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click presses the first visible element of a CSS selector with the mouse, once it is enabled, stands still and nothing
// covers it, and waits for the page that this loads, if it loads one.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.press("click "+selector, "aimAt", selector)
}

// ClickText presses the link, button, label or summary with these words on it. Case and white space do not count; words that
// stand alone on one thing go before those at the beginning of a longer text, and these before those within. Two that are
// called the same are one too many.
func (p *Page) ClickText(words string) {
	p.t.Helper()
	p.press("click "+words, "aimAtText", words)
}

// spot is a place to press, or why there is none.
type spot struct {
	X, Y      float64
	Hindrance string
}

func (p *Page) press(doing, aim, at string) {
	p.t.Helper()
	var here spot
	p.wait(doing, func(ctx context.Context) (string, error) {
		before := here
		var err error
		here, err = ask[spot](ctx, aim, at)
		if err == nil && here.Hindrance == "" && here != before {
			return "it is still moving", nil
		}
		return here.Hindrance, err
	})
	p.do(doing, chromedp.Steps(chromedp.MouseEvent(chromedp.MouseMoved, here.X, here.Y), chromedp.MouseClickXY(here.X, here.Y)))
	p.settle(doing)
}

// Type puts a text in place of what a field holds, key by key, so that a page which listens for keys hears them. A text of ""
// empties the field.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	doing := "type into " + selector
	p.wait(doing, func(ctx context.Context) (string, error) { return ask[string](ctx, "enter", selector) })
	if text == "" {
		text = kb.Backspace
	}
	p.do(doing, chromedp.KeyEvent(text))
}

// Choose picks an option of a list, by its words or its value.
func (p *Page) Choose(selector, option string) {
	p.t.Helper()
	doing := "choose " + option + " in " + selector
	p.wait(doing, func(ctx context.Context) (string, error) { return ask[string](ctx, "choose", selector, option) })
	p.settle(doing)
}

// Attach gives a file field its files. The field may be hidden behind a label of more beauty.
func (p *Page) Attach(selector string, files ...string) {
	p.t.Helper()
	doing := "attach files to " + selector
	var paths []string // the browser stands in another folder
	for _, name := range files {
		path, err := filepath.Abs(name)
		if err != nil {
			p.fail(doing, err.Error())
		}
		paths = append(paths, path)
	}
	p.wait(doing, func(ctx context.Context) (string, error) {
		field, err := chromedp.Run(ctx, chromedp.Evaluate[*runtime.RemoteObject]("document.querySelector("+quoted(selector)+")"))
		if err != nil || field.ObjectID == "" {
			return "nothing matches " + selector, err
		}
		return "", chromedp.Do(ctx, command(dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: paths, ObjectID: field.ObjectID}))
	})
}

// Press presses keys one after the other, wherever the focus is, and waits for the page that this loads, if it loads one. A
// key is a character or has the name that it has in a keyboard event (Enter, Tab, Escape, ArrowDown), with Shift+, Control+,
// Alt+ or Meta+ before it.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		doing := "press " + key
		character, held, known := keyOf(key)
		if !known {
			p.fail(doing, "there is no such key")
		}
		p.do(doing, chromedp.KeyEvent(character, chromedp.KeyModifiers(held...)))
		p.settle(doing)
	}
}

var modifiers = map[string]chromedp.Modifier{
	"Shift": chromedp.ModifierShift, "Control": chromedp.ModifierCtrl, "Alt": chromedp.ModifierAlt, "Meta": chromedp.ModifierMeta,
}

func keyOf(name string) (character string, held []chromedp.Modifier, known bool) {
	for {
		before, after, _ := strings.Cut(name, "+")
		modifier, is := modifiers[before]
		if !is || after == "" {
			break
		}
		held, name = append(held, modifier), after
	}
	if len([]rune(name)) == 1 {
		return name, held, true
	}
	for r, key := range kb.Keys {
		if key.Key == name && r != '\n' { // which is Enter too, and no key
			return string(r), held, true
		}
	}
	return "", nil, false
}
