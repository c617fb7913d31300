package main

import (
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
	set := failedTransfers(2)
	customers, accounts, transactions := set["customers"].([]records.Customer), set["accounts"].([]records.Account), set["transactions"].([]records.Transaction)
	for i := range customers {
		customers[i].Name, customers[i].Email, customers[i].Phone = "Zebulon "+surname, email, phone
		accounts[i].Number = account
		transactions[i].CounterpartyName, transactions[i].CounterpartyAccount = "Zebulon "+surname, payee
		transactions[i].Memo, transactions[i].Reference = notes, "card "+pan
	}
	return set
}

func TestLogsAndModelSeeNothingPersonal(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.SQLite(t), model.env()...)
	file := p.file(private())
	var printed strings.Builder
	printed.WriteString(p.must("import", "records", file))
	token := p.admin()
	s := p.serve(token)

	if code := s.dispute("T0", notes); code != http.StatusAccepted {
		t.Fatalf("POST /disputes answered %d", code)
	}
	p.until("the case is closed", func() bool { return len(s.closed()) == 1 })
	model.set(func() { model.refusing = true })
	if code := s.dispute("T1", notes); code != http.StatusAccepted {
		t.Fatalf("POST /disputes answered %d", code)
	}
	p.until("the failed model's case is with a person", func() bool {
		var page struct {
			Cases []struct{ ID string }
		}
		s.call("GET", "/cases?status=in_review", nil, &page)
		return len(page.Cases) == 1
	})
	s.insult()
	s.stop()

	printed.WriteString(p.must("doctor"))
	log := s.log.String()
	for _, word := range append(strings.Split(unmasked, "|"), surname, token) {
		if i := strings.Index(log, word); i >= 0 {
			t.Errorf("the log holds %q: …%s", word, log[max(0, i-200):min(len(log), i+100)])
		}
		if strings.Contains(printed.String(), word) {
			t.Errorf("a command printed %q", word)
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

// insult sends requests that are wrong in every place where a program might repeat what it got.
func (s *server) insult() {
	s.Helper()
	good := s.token
	s.call("POST", "/disputes", map[string]any{notes: notes}, nil)
	s.call("POST", "/disputes", map[string]any{"transaction_id": notes, "reason": notes, "notes": notes}, nil)
	s.call("POST", "/disputes", notes, nil)
	s.call("GET", "/cases/"+pan, nil, nil)
	s.call("GET", "/cases?q="+email+"&status="+pan, nil, nil)
	s.call("GET", "/"+phone, nil, nil)
	s.call("POST", fmt.Sprintf("/cases/%s/%s", account, payee), nil, nil)
	s.token = pan
	s.call("GET", "/cases", nil, nil)
	s.token = good
}
