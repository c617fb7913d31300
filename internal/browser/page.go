package browser

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// T is the part of a test that a page needs. The command shot has one of its own.
type T interface {
	Helper()
	Name() string
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Page is one tab in a browser context of its own. It is closed at the end of its test, and is not for two goroutines.
type Page struct {
	t        T
	ctx      context.Context
	axe      string
	patience time.Duration
	noScript bool

	mu     sync.Mutex // the browser tells from a goroutine of its own
	heard  heard
	frame  cdp.FrameID     // the page itself, and not one within it
	server map[string]bool // the hosts that Go was sent to
}

// Page opens a page. Nothing is loaded in it yet. It is closed at the end of the test, so a server whose streams it reads is
// started before it: what comes last is closed first, and a server waits for its streams.
func (b *Browser) Page(t T, o Options) *Page {
	t.Helper()
	p := &Page{t: t, axe: b.axe, patience: o.Patience, noScript: o.NoScript, server: map[string]bool{}}
	if p.patience == 0 {
		p.patience = 15 * time.Second
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	p.ctx = ctx
	t.Cleanup(cancel)
	if err := begin(ctx); err != nil {
		t.Fatalf("open a page: %v", err)
	}
	p.watch(cdp.FrameID(chromedp.FromContext(ctx).Target.TargetID)) // a tab and what fills it have one id
	p.do("open a page", chromedp.Steps(o.apply()...))
	return p
}

func (p *Page) watch(frame cdp.FrameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame = frame
}

// Cookie gives the page a cookie of the server at that address, as if the server had set it.
func (p *Page) Cookie(server string, c *http.Cookie) {
	p.t.Helper()
	params := network.SetCookieParams{URL: server, Name: c.Name, Value: c.Value, Path: c.Path, HTTPOnly: &c.HttpOnly}
	p.do("set the cookie "+c.Name, command(network.SetCookie, params))
}

// Go loads an address and waits until the page is there with everything in it. A page with any status is a page.
func (p *Page) Go(address string) {
	p.t.Helper()
	if u, err := url.Parse(address); err == nil {
		p.mu.Lock()
		p.server[u.Host] = true
		p.mu.Unlock()
	}
	doing := "go to " + address
	var loader cdp.LoaderID
	p.do(doing, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		answer, err := cdp.Call(ctx, t, page.Navigate, page.NavigateParams{URL: address})
		if err == nil && answer.ErrorText != "" {
			err = errors.New(answer.ErrorText)
		}
		loader = answer.LoaderID // none, when only the fragment is another
		return err
	}))
	p.wait(doing, func(context.Context) (string, error) {
		return either(loader == "" || p.hasLoaded(loader), "", "it is still loading"), nil
	})
}
