package browser

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// heard is what the browser told about a page.
type heard struct {
	complaints []string
	requests   []string
	answers    map[network.RequestID]bool // requests whose status is an answer to a person or a script, and no accident
	loading    bool
	loaded     map[cdp.LoaderID]bool
}

// Console lists what the page's console complained of since it was opened: errors, exceptions, what the content security
// policy refused, what could not be loaded, and dialogs that a script opened, which are dismissed. That a page or a script's
// request was answered with a status of 400 or more is no complaint: so are forms answered that must be corrected.
func (p *Page) Console() []string {
	p.listen()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard.complaints)
}

// Requests lists the addresses that the page asked of other hosts than those that Go was sent to.
func (p *Page) Requests() (elsewhere []string) {
	p.listen()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range p.heard.requests {
		u, err := url.Parse(address)
		if err != nil || u.Host != "" && !p.server[u.Host] {
			elsewhere = append(elsewhere, address)
		}
	}
	return elsewhere
}

// listen hears out what the page has said already: its answer comes after that. A page that cannot answer has said it all.
func (p *Page) listen() {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	_, _ = ask[bool](ctx, "ready")
}

// hear takes in an event. It is called where events are read, so it waits for nothing.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.heard.asked(e)
	case *log.EventEntryAdded:
		p.heard.logged(e.Entry)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			p.heard.complain(spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		p.heard.complain((&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *page.EventJavascriptDialogOpening:
		p.heard.complain("a dialog was opened: " + e.Message)
		go p.dismiss(e.Type == page.DialogTypeBeforeunload)
	case *page.EventFrameStartedLoading:
		p.heard.loads(e.FrameID == p.frame, true)
	case *page.EventFrameStoppedLoading:
		p.heard.loads(e.FrameID == p.frame, false)
	case *page.EventLifecycleEvent:
		p.heard.lives(e)
	}
}

func (h *heard) complain(words string) { h.complaints = append(h.complaints, words) }

func (h *heard) asked(e *network.EventRequestWillBeSent) {
	h.requests = append(h.requests, e.Request.URL)
	switch e.Type {
	case network.ResourceTypeDocument, network.ResourceTypeXHR, network.ResourceTypeFetch:
		if h.answers == nil {
			h.answers = map[network.RequestID]bool{}
		}
		h.answers[e.RequestID] = true
	}
}

func (h *heard) logged(entry *log.Entry) {
	answer := entry.Source == log.EntrySourceNetwork && h.answers[entry.NetworkRequestID] && strings.Contains(entry.Text, "status of")
	if entry.Level == log.EntryLevelError && !answer {
		h.complain(strings.TrimSpace(entry.Text + " " + entry.URL))
	}
}

func (h *heard) loads(whole, begun bool) {
	if whole {
		h.loading = begun
	}
}

func (h *heard) lives(e *page.EventLifecycleEvent) {
	if e.Name != "load" {
		return
	}
	if h.loaded == nil {
		h.loaded = map[cdp.LoaderID]bool{}
	}
	h.loaded[e.LoaderID] = true
}

func (p *Page) isLoading() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.loading
}

func (p *Page) hasLoaded(loader cdp.LoaderID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.loaded[loader]
}

// dismiss closes a dialog, which holds up the page and all who ask it. A page that would not be left is left.
func (p *Page) dismiss(accept bool) {
	_ = chromedp.Do(p.ctx, command(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept}))
}

// spoken is what a script said, with its values as a console shows them.
func spoken(args []*runtime.RemoteObject) string {
	var words []string
	for _, arg := range args {
		word := arg.Description
		if arg.Type == runtime.RemoteObjectTypeString {
			_ = json.Unmarshal(arg.Value, &word) // it is a JSON string by what the browser says of it
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
