//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign"
	"countersign/desk/merchant/report"
	"countersign/internal/campaign/truth"
)

// clients are how many ask at once.
const clients = 4

// traffic lets clients work until the returned function is called, which waits until each has finished what it began.
func (w *world) traffic() (rest func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for !closed(stop) {
				w.oneCase()
			}
		})
	}
	all.Go(func() {
		for !closed(stop) {
			w.imports()
		}
	})
	return func() { close(stop); all.Wait() }
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// imports keeps some payments in stock, in files of a few, and now and then brings in a policy.
func (w *world) imports() {
	w.mu.Lock()
	enough, n := len(w.stocked) > 25, w.number
	if !enough {
		w.number += 20
	}
	w.mu.Unlock()
	if enough {
		w.pauseFor(50 * time.Millisecond)
		return
	}
	var batch []truth.Payment
	for i := range 20 {
		story := []truth.Story{truth.FailedTransfer, truth.FailedTransfer, truth.DoubleCharge, truth.SettledTransfer}[w.roll(4)]
		batch = append(batch, truth.Payment{Number: n + i, Story: story})
	}
	set := truth.Books(batch)
	b, err := json.Marshal(map[string]any{"customers": set.Customers, "accounts": set.Accounts, "merchants": set.Merchants, "devices": set.Devices,
		"transactions": set.Transactions, "ledger_entries": set.LedgerEntries, "settlements": set.Settlements})
	path := w.file(fmt.Sprintf("records-%d.json", n))
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		w.wrong("write records: %v", err)
		return
	}
	if w.until("import", "records", path) == "" {
		return
	}
	// It is in force for no order there is: a policy that came between a chargeback and its decision would be one more reason to look
	// again, which is not what this is about.
	policy := fmt.Sprintf("Policy %d", n)
	if n%60 == 0 {
		if path, err := w.policy(policy, strings.Repeat("Sales of this kind are final after thirty days. ", 1+n/60)); err != nil || w.until("import", "policies", "--confirm", "--valid-from", "2036-01-01", path) == "" {
			w.wrong("policy %s: %v", path, err)
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n%60 == 0 {
		w.want.Policies[policy] = 1
	}
	for account, minor := range truth.Held(set) {
		w.want.Before[account] += minor
	}
	for array, ids := range truth.Rows(set) {
		for _, id := range ids {
			if !slices.Contains(w.want.Imported[array], id) {
				w.want.Imported[array] = append(w.want.Imported[array], id)
			}
		}
	}
	w.stocked = append(w.stocked, batch...)
}

// oneCase carries one case from the request to its end.
func (w *world) oneCase() {
	w.mu.Lock()
	shop := w.dice.IntN(5) == 0 || len(w.stocked) == 0 && w.sold < 3
	shop = shop && w.sold < orders
	var p truth.Payment
	n := w.sold
	if shop {
		w.sold++
	} else if len(w.stocked) > 0 {
		p, w.stocked = w.stocked[0], w.stocked[1:]
	}
	w.mu.Unlock()
	switch {
	case shop:
		w.chargeback(orderNo(n))
	case p.Story != "":
		w.dispute(p)
	default:
		w.pauseFor(50 * time.Millisecond)
	}
}

// open asks for a case until it is there, and some time later once more: the answer must be the same.
func (w *world) open(path, subject string, body any) (c truth.Case, ok bool) {
	c = truth.Case{Subject: subject, Key: "key-" + subject, Decided: map[string]int{}}
	header := map[string]string{"Idempotency-Key": c.Key}
	for range 1 + w.roll(2) {
		status, answer := w.ask("POST", path, header, body)
		var opened struct{ ID countersign.CaseID }
		if err := json.Unmarshal(answer, &opened); err != nil || status != http.StatusAccepted && status != http.StatusOK || opened.ID == "" {
			w.wrong("%s about %s: %d %s", path, subject, status, answer)
			return c, false
		}
		if c.ID != "" && opened.ID != c.ID {
			w.wrong("%s about %s was answered as %s and as %s", path, subject, c.ID, opened.ID)
		}
		c.ID = opened.ID
	}
	return c, true
}

// ends waits for a case to rest, has it done again as long as a fault shows in it, and returns how it is then.
func (w *world) ends(c *truth.Case) seen {
	for range 10 {
		s := w.await(c.ID)
		if s.Status != countersign.InReview || !s.disturbed() {
			return s
		}
		w.tally.disturbed(w.engine, s)
		w.decide(c, "retry", map[string]any{}, func(now seen) bool { return now.Round > s.Round })
	}
	return w.await(c.ID)
}

// decide makes a decision that the record must then hold once, and says whether it was taken.
func (w *world) decide(c *truth.Case, verb string, body any, done func(seen) bool) bool {
	if !w.act(c.ID, verb, body, done) {
		return false
	}
	c.Decided[verb]++
	return true
}

// closes decides on a case for good, and notes how it must have ended: as it was decided, or with a person as before.
func (w *world) closes(c *truth.Case, verb string, body map[string]any, outcome countersign.Outcome) bool {
	if !w.decide(c, verb, body, isClosed) {
		c.Fix, c.Reports = nil, 0
		w.expect(*c, "", "")
		return false
	}
	w.expect(*c, outcome, countersign.ByPerson)
	return true
}

func isClosed(s seen) bool { return s.Status == countersign.Closed }

// expect notes how a case must have ended.
func (w *world) expect(c truth.Case, outcome countersign.Outcome, by countersign.HandledBy) {
	c.Status, c.Outcome, c.HandledBy = countersign.Closed, outcome, by
	if outcome == "" {
		c.Status = countersign.InReview
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.want.Cases = append(w.want.Cases, c)
}

func (w *world) dispute(p truth.Payment) {
	how := certain
	switch w.roll(6) {
	case 0:
		how = broken
	case 1:
		if p.Story == truth.FailedTransfer {
			how = unsure
		}
	}
	c, ok := w.open("/api/v1/disputes", p.ID(), map[string]any{"transaction_id": p.ID(), "reason": p.Reason(), "notes": fmt.Sprintf("The money left. %s %s.", how, p.ID())})
	if !ok {
		return
	}
	s := w.ends(&c)
	switch {
	case p.Story == truth.SettledTransfer:
		w.unowed(c)
	case how == unsure:
		w.approved(c, p)
	case s.Status == countersign.InReview && s.disturbed():
		w.tally.note(w.engine, "left with a person, disturbed")
		w.expect(c, "", "")
	default:
		c.Fix = p.Owed()
		w.expect(c, countersign.Resolved, countersign.ByPolicy)
	}
}

// approved has a person post what the model was not sure of, or close the case without it.
func (w *world) approved(c truth.Case, p truth.Payment) {
	switch w.roll(3) {
	case 0:
		w.closes(&c, "override", map[string]any{"outcome": "resolved", "fix": "none", "reason": "It was paid back in cash."}, countersign.Resolved)
	case 1:
		c.Fix = p.Owed()
		w.closes(&c, "override", map[string]any{"outcome": "resolved", "fix": c.Fix.Kind, "reason": "The books show it."}, countersign.Resolved)
	default:
		c.Fix = p.Owed()
		w.closes(&c, "approve", map[string]any{}, countersign.Resolved)
	}
}

// unowed has a person end what no books support, or not.
func (w *world) unowed(c truth.Case) {
	if w.roll(3) == 0 {
		text := "We have looked into it. " + string(c.ID)
		w.act(c.ID, "message", map[string]any{"text": text}, func(s seen) bool { return s.Message == text })
	}
	switch w.roll(4) {
	case 0:
		w.closes(&c, "escalate", map[string]any{"reason": "The other bank says otherwise.", "reference": "X-1"}, countersign.Escalated)
	case 1:
		w.decide(&c, "escalate", map[string]any{"reason": "Above me."}, func(s seen) bool { return s.Raised })
		w.expect(c, "", "")
	case 2:
		w.expect(c, "", "")
	default:
		w.closes(&c, "override", map[string]any{"outcome": "rejected", "reason": "It arrived."}, countersign.Rejected)
	}
}

// chargeback has one investigated and decided, and takes its sealed report away.
func (w *world) chargeback(order string) {
	c, ok := w.open("/api/v1/chargebacks", order, map[string]any{"order_id": order, "network": "visa", "reason_code": "13.1", "notes": "It never came.",
		"due_at": "2036-12-01T00:00:00Z"})
	if !ok {
		return
	}
	s := w.ends(&c)
	c.Reports = 1
	override := func(outcome countersign.Outcome, why string) bool {
		return w.closes(&c, "override", map[string]any{"outcome": outcome, "reason": why}, outcome)
	}
	switch n := w.roll(4); {
	case n == 0:
		ok = override(countersign.AcceptedOutcome, "It is not worth the trouble.")
	case n == 1 || s.disturbed():
		ok = override(countersign.Contested, "It was delivered.")
	default:
		ok = w.closes(&c, "approve", map[string]any{}, countersign.Contested)
	}
	for _, format := range []string{"json", "html", "pdf", "pack"} {
		if ok {
			w.reported("/api/v1/cases/" + string(c.ID) + "/report?format=" + format)
		}
	}
}

// reported takes a report away, and remembers the first bytes of each: they must never be others.
func (w *world) reported(path string) {
	status, file := w.ask("GET", path, nil, nil)
	if status != http.StatusOK {
		w.wrong("%s of a decided case: %d %s", path, status, file)
		return
	}
	w.mu.Lock()
	first, known := w.reports[path]
	if !known {
		w.reports[path] = file
	}
	w.mu.Unlock()
	if known && !bytes.Equal(first, file) {
		w.wrong("%s has other bytes than it had", path)
	}
	if strings.HasSuffix(path, "pack") {
		return // a pack says of itself that it cannot be told
	}
	if v, err := report.Verify(file); err != nil || v.State != report.Intact {
		w.wrong("%s does not verify: %v %v", path, v, err)
	}
}

// sealed takes some of the reports once more.
func (w *world) sealed() {
	w.mu.Lock()
	var some []string
	for path := range w.reports {
		if some = append(some, path); len(some) == 8 {
			break
		}
	}
	w.mu.Unlock()
	for _, path := range some {
		w.reported(path)
	}
}

// trouble is a line that tells of a panic. A word of its own: an id of a request may have those letters too.
var trouble = regexp.MustCompile(`\bpanic(ked)?\b|^fatal error`)

// panics looks for one in the logs.
func (w *world) panics() {
	logs, err := filepath.Glob(w.file("*.log"))
	if err != nil {
		w.wrong("look for logs: %v", err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			w.wrong("read a log: %v", err)
		}
		for line := range strings.Lines(string(text)) {
			if trouble.MatchString(line) {
				w.wrong("%s: %s", filepath.Base(path), line)
				break
			}
		}
		if err := os.Truncate(path, 0); err != nil {
			w.wrong("empty a log: %v", err)
		}
	}
}
