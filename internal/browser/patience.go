package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
)

// do runs one step, which must work.
func (p *Page) do(doing string, step chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	if err := chromedp.Do(ctx, step); err != nil {
		p.fail(doing, err.Error())
	}
}

// pause is between two looks at a page: nobody notices it, and a slow machine has time for its work.
const pause = 25 * time.Millisecond

// wait looks again and again, until nothing is missing. An error is a missing thing too: while one page makes way for the
// next there is nothing that could answer. Only an error of the question itself is final.
func (p *Page) wait(doing string, missing func(context.Context) (string, error)) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	last := "the browser did not answer"
	for {
		what, err := missing(ctx)
		var wrong *chromedp.ExceptionError
		switch {
		case errors.As(err, &wrong):
			p.fail(doing, err.Error())
		case err == nil && what == "":
			return
		case err == nil:
			last = what
		case ctx.Err() == nil:
			last = err.Error()
		}
		if !breathe(ctx) {
			p.fail(doing, fmt.Sprintf("%s, after %v", last, p.patience))
		}
	}
}

// breathe waits for one pause and reports whether there is time left.
func breathe(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// settle is the end of whatever a person does: a page that it began to load is waited for, so that the next look does not
// see the old one. The pause is for the browser to notice that it must load, and the question for it to have had a turn.
func (p *Page) settle(doing string) {
	p.t.Helper()
	p.wait(doing, func(ctx context.Context) (string, error) {
		breathe(ctx)
		_, err := ask[bool](ctx, "ready")
		return either(p.isLoading(), "what it began to load is still loading", ""), err
	})
}
