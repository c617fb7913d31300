package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"countersign/desk/bank/records"
	"countersign/internal/testdb"
)

// What a person, a bank and an operator would not want to read in a log.
const (
	pan      = "4539578763621486"
	spelled  = "4539 5787 6362 1486"
	email    = "zebulon.quixote@mail.example"
	phone    = "+2348031234567"
	account  = "0123498765"
	payee    = "9988776655"
	surname  = "Quixote"
	apiKey   = "sk-canary-key"
	notes    = "I am Zebulon " + surname + ", card " + spelled + ", " + pan + ", write to " + email + " or call " + phone + "; account " + account + ", paid to " + payee + "."
	unmasked = pan + "|" + spelled + "|" + email + "|" + phone + "|" + account + "|" + payee + "|" + apiKey
)

// private is a dispute whose every field holds something personal.
func private() map[string]any {
	set := failedTransfers(3)
	customers, accounts, transactions := set["customers"].([]records.Customer), set["accounts"].([]records.Account), set["transactions"].([]records.Transaction)
	for i := range customers {
		customers[i].Name, customers[i].Email, customers[i].Phone = "Zebulon "+surname, email, phone
		accounts[i].Number = account
		transactions[i].CounterpartyName, transactions[i].CounterpartyAccount = "Zebulon "+surname, payee
		transactions[i].Memo, transactions[i].Reference = notes, "card "+pan
	}
	return set
}

// Whatever leaves the program by itself holds nothing personal: what it logs, serving and working, in either form, what it prints,
// its metrics, what it says of requests that are wrong, and what it sends to a model.
func TestLogsAndModelSeeNothingPersonal(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.Postgres(t), append(model.env(), "COUNTERSIGN_LOG=json", "COUNTERSIGN_LOG_LEVEL=debug")...)
	file := p.file(private())
	var printed strings.Builder
	printed.WriteString(p.must("import", "records", file))
	token := p.admin()
	s, w := p.serve(token, "--log", "text", "--workers", "1"), p.worker()
	w.until("the worker is ready", w.ready)

	release := model.holdTurn(1)
	for _, id := range []string{"T0", "T1"} {
		if code := s.dispute(id, notes); code != http.StatusAccepted {
			t.Fatalf("POST /disputes answered %d", code)
		}
	}
	p.until("the server and the worker have a case each", model.waiting(1, 2))
	release()
	p.until("the cases are closed", func() bool { return len(s.closed()) == 2 })
	model.set(func() { model.refusing = true })
	if code := s.dispute("T2", notes); code != http.StatusAccepted {
		t.Fatalf("POST /disputes answered %d", code)
	}
	p.until("the failed model's case is with a person", func() bool {
		var page struct {
			Cases []struct{ ID string }
		}
		s.call("GET", "/cases?status=in_review", nil, &page)
		return len(page.Cases) == 1
	})
	said := s.insult()
	scraped := s.scrape() + w.scrape()
	s.stop()
	w.stop()

	printed.WriteString(p.must("doctor"))
	log := s.log.String() + w.log.String()
	for _, want := range []string{"level=INFO msg=request", `msg="investigated a case" case=D-`, `"level":"INFO","msg":"investigated a case","case":"D-`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no line with %s, so it shows nothing:\n%s", want, log)
		}
	}
	for _, word := range strings.Split(unmasked, "|") {
		if i := strings.Index(said, word); i >= 0 {
			t.Errorf("a request that was wrong was answered with %q: …%s", word, said[max(0, i-200):min(len(said), i+100)])
		}
	}
	for _, word := range append(strings.Split(unmasked, "|"), surname, token) {
		if i := strings.Index(log, word); i >= 0 {
			t.Errorf("the log holds %q: …%s", word, log[max(0, i-200):min(len(log), i+100)])
		}
		if strings.Contains(printed.String(), word) {
			t.Errorf("a command printed %q", word)
		}
		if strings.Contains(scraped, word) {
			t.Errorf("the metrics hold %q", word)
		}
	}
	if len(model.bodies) < 3 {
		t.Fatalf("the model was asked %d times", len(model.bodies))
	}
	for _, body := range model.bodies {
		for _, word := range strings.Split(unmasked, "|") {
			if i := strings.Index(body, word); i >= 0 {
				t.Errorf("the model was sent %q: …%s", word, body[max(0, i-200):min(len(body), i+100)])
			}
		}
	}
	if export := p.must("audit", "export"); strings.Contains(export, apiKey) {
		t.Error("the record holds the model's key")
	}
}

// insult sends requests that are wrong in every place where a program might repeat what it got, and returns what was answered.
func (s *server) insult() string {
	s.Helper()
	good, said := s.token, &strings.Builder{}
	for _, wrong := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/disputes", map[string]any{notes: notes}},
		{"POST", "/disputes", map[string]any{pan: notes, email: account}},
		{"POST", "/disputes", map[string]any{"transaction_id": notes, "reason": notes, "notes": notes}},
		{"POST", "/disputes", map[string]any{"transaction_id": "T0", "reason": pan, "channel": phone, "customer_id": account}},
		{"POST", "/disputes", notes},
		{"POST", "/chargebacks", map[string]any{"order_id": pan, "network": email, "stage": account}},
		{"GET", "/cases/" + pan, nil},
		{"GET", "/cases?q=" + email + "&status=" + pan, nil},
		{"GET", "/cases?" + account + "=1", nil},
		{"GET", "/cases?limit=" + pan, nil},
		{"GET", "/" + phone, nil},
		{"POST", fmt.Sprintf("/cases/%s/%s", account, payee), nil},
	} {
		var answer json.RawMessage
		if code := s.call(wrong.method, wrong.path, wrong.body, &answer); code < 400 && wrong.method == "POST" {
			s.Errorf("%s %s was answered with %d", wrong.method, wrong.path, code)
		}
		said.Write(answer)
	}
	s.token = pan
	var answer json.RawMessage
	s.call("GET", "/cases", nil, &answer)
	said.Write(answer)
	s.token = good
	return said.String()
}
