package main

import (
	"strings"
	"testing"
	"time"

	"countersign/internal/browser"
	"countersign/internal/testdb"
)

// TestTheDemoInABrowser is the first five minutes of whoever tries the program: they start it, open its link, watch cases come
// in, and decide one.
func TestTheDemoInABrowser(t *testing.T) {
	t.Parallel()
	p, folder := newProgram(t, testdb.SQLite(t)), t.TempDir()
	s := p.demo(folder)
	page := browser.Open(t).Page(t, browser.Options{Patience: time.Minute})
	page.Go(s.link)
	page.See("This link lets Demo analyst")
	page.ClickText("Sign in as Demo analyst")
	page.At("/queue")
	page.See("Demo: an invented bank and an invented shop, nothing here is real.")
	p.until("the bank's day has begun", func() bool { return strings.Contains(s.log.String(), "D-1001") })
	page.Click(".tabs a[href='/queue?show=open']") // of what was opened together most still waits
	page.See("waiting for a worker")

	page.Click(".tabs a[href='/queue']")
	page.See("order 201") // an empty queue fills by itself, with the shop's first
	p.until("the bank's first case needs a person", func() bool { return strings.Contains(s.log.String(), "D-1010") })
	page.Go(s.url + "/queue")
	page.See("above the limit")
	page.Go(s.url + "/cases/D-1010")
	page.See("written by the customer Caller sent fifty thousand naira for church hall booking")
	page.See("The amount is not under the limit")
	page.ClickText("Post reversal of NGN 50,000.00")
	page.ClickText("Post reversal of NGN 50,000.00 to account")
	page.See("The reversal of NGN 50,000.00 was posted, and the case is closed.")
	page.See("✓ intact")
	if complaints := page.Console(); len(complaints) > 0 {
		t.Errorf("the console complains: %q", complaints)
	}
	if asked := page.Requests(); len(asked) > 0 {
		t.Errorf("the pages asked of other hosts: %q", asked)
	}

	if code := s.stop(); code != 0 {
		t.Errorf("the demo ended with %d\n%s", code, s.log)
	}
	if said := p.must("--database", folder+"/countersign.db", "audit", "verify"); !strings.Contains(said, "intact") {
		t.Errorf("its record is not intact: %s", said)
	}
}
