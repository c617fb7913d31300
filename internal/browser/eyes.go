package browser

import (
	"context"
	"encoding/json"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"
)

// See waits until the visible text of the page has these words. Case and white space do not count: they are the style
// sheet's. What stands in fields is not text, see Value.
func (p *Page) See(words string) {
	p.t.Helper()
	p.wait("see "+quoted(words), func(ctx context.Context) (string, error) {
		there, err := ask[bool](ctx, "says", words)
		return either(there, "", "it is not there"), err
	})
}

// Gone waits until the visible text of the page does not have these words.
func (p *Page) Gone(words string) {
	p.t.Helper()
	p.wait("no longer see "+quoted(words), func(ctx context.Context) (string, error) {
		there, err := ask[bool](ctx, "says", words)
		return either(there, "it is still there", ""), err
	})
}

// At waits until the address has this path, with its query if the pattern has one, and all of the page is there. It returns
// the path. A star stands for any
// part of the path without a slash: At("/cases/*").
func (p *Page) At(pattern string) string {
	p.t.Helper()
	var here string
	p.wait("be at "+pattern, func(ctx context.Context) (string, error) {
		now, err := ask[view](ctx, "view")
		if err != nil {
			return "", err
		}
		address, err := url.Parse(now.Address)
		if err != nil {
			return "", err
		}
		here = address.Path
		if strings.Contains(pattern, "?") {
			here = address.RequestURI()
		}
		matches, err := path.Match(pattern, here)
		return either(matches && now.Ready && !p.isLoading(), "", "it is at "+here), err
	})
	return here
}

// Value is what a field holds.
func (p *Page) Value(selector string) string {
	p.t.Helper()
	return p.read("value", selector)
}

// Text is the visible text of the first element of a selector.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return p.read("text", selector)
}

// Attr is an attribute of the first element of a selector, empty if the element is there without it.
func (p *Page) Attr(selector, name string) string {
	p.t.Helper()
	return p.read("attribute", selector, name)
}

// read waits for an element and returns something of it.
func (p *Page) read(what, selector string, args ...any) (found string) {
	p.t.Helper()
	p.wait("read the "+what+" of "+selector, func(ctx context.Context) (string, error) {
		answer, err := ask[*string](ctx, "read."+what, append([]any{selector}, args...)...)
		if err != nil || answer == nil {
			return "nothing matches " + selector, err
		}
		found = *answer
		return "", nil
	})
	return found
}

// Count is how many visible elements match a selector now. To wait for a number, see Until.
func (p *Page) Count(selector string) (n int) {
	p.t.Helper()
	p.wait("count "+selector, func(ctx context.Context) (_ string, err error) {
		n, err = ask[int](ctx, "count", selector)
		return "", err
	})
	return n
}

// Focused names the element that has the focus: by its id as "#approve", else by its name as "input[name=email]", else by its
// words as `a "Queue"`. It is empty when nothing has it.
func (p *Page) Focused() (name string) {
	p.t.Helper()
	p.wait("find the focus", func(ctx context.Context) (_ string, err error) {
		name, err = ask[string](ctx, "focused")
		return "", err
	})
	return name
}

// Until waits until an expression is true in the page.
func (p *Page) Until(expression string) {
	p.t.Helper()
	p.wait("wait until "+expression, func(ctx context.Context) (string, error) {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return either(is, "", "it is not so"), err
	})
}

// Eval evaluates an expression in the page, a promise to its end, and decodes its value into out, unless that is nil.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAsValue, chromedp.EvalAwaitPromise))
	if err == nil && out != nil {
		err = json.Unmarshal(value, out)
	}
	if err != nil {
		p.fail("evaluate "+expression, err.Error())
	}
}

func quoted(text string) string { return strconv.Quote(text) }
