package browser

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// look is the half of this package that runs in the page.
//
//go:embed look.js
var look string

// view is what there is to say about a page.
type view struct {
	Address, Title, Text string
	Ready                bool
}

// ask calls one of the functions of look.js in the page.
func ask[R any](ctx context.Context, function string, args ...any) (R, error) {
	list, err := json.Marshal(append([]any{}, args...)) // [] and not null for none
	if err != nil {
		var none R
		return none, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[R]("(() => {"+look+"\nreturn "+function+"(..."+string(list)+")})()"))
}

// command is a step that sends the browser one command, whose answer nobody needs.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// bring makes the browser's answer to one command available to a step that needs it.
func bring[P, R any](ctx context.Context, c cdp.Command[P, R], params P) (R, error) {
	return chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, c, params) })
}
