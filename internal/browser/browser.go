// Package browser drives the pages in a real Chromium, for tests that must see what a person sees: whether a key moves the
// focus, whether a page works with scripting switched off, what axe says about it.
//
// One Chromium serves a test process, and every Page in it is a stranger to the others, with cookies and storage of its own.
// What a page is asked to do reads as a sentence and waits for what it needs: Click waits until the button is there, stands
// still, is enabled and not covered; See waits until the text is visible. What does not come about in time fails the test
// with the address, the title and the text of the page. Nothing is retried that was done once.
//
// The browser reaches this machine and no other. What a page asks of another host fails, and Requests names it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/internal/testdb"
)

// programs are the names of Chromium. The shell is the same browser without windows, and opens a page in a third of the time.
var programs = []string{"chromium-headless-shell", "chromium"}

// startUp is how long a browser or a page may take to come up: the first start reads 300 MB from a cold disk.
const startUp = time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context
	axe string // the file with axe-core, empty when the browser was not opened by a test
}

var once struct {
	sync.Mutex
	opened *Browser
	err    error
}

// Open returns the Chromium of this test process and starts it for the first test that asks. It ends with the process. On a
// machine without one the test is skipped, and fails where CI is true.
func Open(t testing.TB) *Browser {
	t.Helper()
	program := testdb.Program(t, programs...)
	once.Lock()
	defer once.Unlock()
	if once.opened == nil && once.err == nil {
		once.opened, once.err = start(program, filepath.Join(testdb.Root(t), "web", "testdata", "axe", "axe.min.js"))
	}
	if once.err != nil {
		t.Fatalf("start %s: %v", program, once.err)
	}
	return once.opened
}

// Start starts a Chromium of its own, for whoever is not a test. Its Axe has no rules to go by.
func Start() (*Browser, error) {
	for _, name := range programs {
		if program, err := exec.LookPath(name); err == nil {
			return start(program, "")
		}
	}
	return nil, errors.New("there is no Chromium: scripts/need chromium installs one")
}

func start(program, axe string) (*Browser, error) {
	home, err := os.MkdirTemp("", "countersign-browser.")
	if err != nil {
		return nil, err
	}
	above, _ := chromedp.NewExecAllocator(context.Background(), flags(program, home)...)
	ctx, stop := chromedp.NewContext(above, chromedp.WithErrorf(func(string, ...any) {})) // it complains of events newer than itself
	if err := begin(ctx); err != nil {
		stop()
		os.RemoveAll(home)
		return nil, err
	}
	return &Browser{ctx, axe}, nil
}

// Close ends the browser with all its pages. It is asked to end, and not killed, so that its folder is removed after it.
func (b *Browser) Close() {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	_ = chromedp.Cancel(ctx) // if it does not, there is nothing else to try
}

// begin brings up a browser or a page. What is begun lives as long as its context, so the limit cannot be put on that.
func begin(ctx context.Context) error {
	begun := make(chan error, 1)
	go func() { begun <- chromedp.Do(ctx) }()
	select {
	case err := <-begun:
		return err
	case <-time.After(startUp):
		return fmt.Errorf("not up after %v", startUp)
	}
}

// flags are how Chromium is run: without a screen, without asking home for anything, and deaf to all hosts but this one.
func flags(program, home string) []chromedp.ExecAllocatorOption {
	all := append(chromedp.DefaultExecAllocatorOptions[:0:0], chromedp.DefaultExecAllocatorOptions[:]...)
	for _, name := range []string{"disable-gpu", "disable-quic", "disable-component-update", "disable-crash-reporter", "hide-scrollbars", "no-proxy-server"} {
		all = append(all, chromedp.Flag(name, true))
	}
	return append(all,
		chromedp.ExecPath(program),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", os.Getuid() == 0), // Chromium refuses to sandbox for root
		chromedp.Flag("user-data-dir", home),
		chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]"),
		chromedp.ModifyCmdFunc(func(c *exec.Cmd) { tidy(c, home) }))
}

// tidy puts a shell around the browser that removes the browser's folder after it. A test process cannot: it ends without
// asking anybody. Chromium notices the end, since it is driven through a pipe which is then closed, and the shell outlives
// both. What Chromium's children still write in their last moment is removed at the second try.
func tidy(c *exec.Cmd, home string) {
	const script = `trap '' INT TERM; home=$1; shift; "$@"; rm -rf "$home" || { sleep 1; rm -rf "$home"; }`
	c.Args = append([]string{"sh", "-c", script, "sh", home, c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
}
