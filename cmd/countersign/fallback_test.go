package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testdb"
)

// connected puts model connections into force, from a file as an operator writes one.
func (p *program) connected(settings string) {
	p.Helper()
	path := filepath.Join(p.TempDir(), "models.json")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		p.Fatal(err)
	}
	p.must("model", "apply", path)
}

// connection is one of a models file, at USD 1 for a million tokens read and USD 2 for a million written: 5,000 and 50 of them, as the
// test's server counts a turn, are USD 0.0051.
func connection(name, url string) string {
	return fmt.Sprintf(`{"name":%q,"provider":"openai","base_url":"%s/v1","model":"model of %s","key":"sk-canary-key-of-%s","price":{"currency":"USD","input":"1","output":"2.00"}}`, name, url, name, name)
}

// used is what the API says of a case's model.
type used struct {
	Provider, Name, Cost    string
	Attempts, Input, Output int
	Reasons                 string
	Status                  string
}

// worked investigates a transaction from the terminal.
func (p *program) worked(transaction string) used {
	p.Helper()
	var c struct {
		Status string
		Model  struct {
			Provider, Name, Cost string
			Attempts             int
			Input                int `json:"input_tokens"`
			Output               int `json:"output_tokens"`
		}
		Verdict countersign.Verdict
	}
	if err := json.Unmarshal([]byte(p.must("investigate", "--transaction", transaction, "--reason", "failed_transfer", "--json")), &c); err != nil {
		p.Fatal(err)
	}
	var codes []string
	for _, r := range c.Verdict.Reasons {
		codes = append(codes, string(r.Code))
	}
	return used{c.Model.Provider, c.Model.Name, c.Model.Cost, c.Model.Attempts, c.Model.Input, c.Model.Output, strings.Join(codes, " "), c.Status}
}

// A server that refuses is followed by the next one, which sees the same case and may close it. When nobody answers, the offline
// reviewer goes on and a person decides.
func TestTheNextModelGoesOnAndTheOfflineReviewerNeverUnnoticed(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		first, second := newModelServer(t), newModelServer(t)
		first.set(func() { first.refusing = true })
		p := newProgram(t, database)
		p.imports(failedTransfers(4))
		p.connected(`{"connections":[` + connection("first", first.URL) + `,` + connection("second", second.URL) + `],"desks":{"bank":["first","second"]}}`)

		if got, want := p.worked("T0"), (used{"openai", "model of second", "USD 0.0102", 4, 10000, 100, "", "closed"}); got != want {
			t.Errorf("the first refused: %+v, want %+v", got, want)
		}
		first.set(func() { first.refusing = false })
		if got, want := p.worked("T1"), (used{"openai", "model of first", "USD 0.0102", 2, 10000, 100, "", "closed"}); got != want {
			t.Errorf("the first answers again: %+v, want %+v", got, want)
		}
		first.Close()
		second.set(func() { second.refusing = true })
		got := p.worked("T2")
		if got.Provider != "rulebook" || got.Reasons != "offline_stood_in" || got.Status != "in_review" || got.Cost != "" {
			t.Errorf("nobody answered: %+v; want the offline reviewer's proposal, and a person", got)
		}
		p.connected(`{"connections":[` + connection("second", second.URL) + `],"desks":{"bank":["second"]},"offline_reviewer":false}`)
		if got := p.worked("T3"); got.Reasons != "model_failed" || got.Status != "in_review" {
			t.Errorf("nobody answered, and the offline reviewer may not: %+v", got)
		}
		p.must("audit", "verify")
	})
}

// What the environment names wins over the settings, and nobody goes on for it.
func TestTheEnvironmentWinsOverTheSettings(t *testing.T) {
	t.Parallel()
	named, kept := newModelServer(t), newModelServer(t)
	p := newProgram(t, testdb.SQLite(t))
	p.imports(failedTransfers(3))
	p.connected(`{"connections":[` + connection("kept", kept.URL) + `],"desks":{"bank":["kept"]}}`)
	env := p.env
	p.env = append(env, named.env()...)
	if got := p.worked("T0"); got.Name != "test" || got.Cost != "" || got.Status != "closed" {
		t.Errorf("%+v", got)
	}
	named.set(func() { named.refusing = true })
	if got := p.worked("T1"); got.Reasons != "model_failed" {
		t.Errorf("the environment's model refused: %+v; want a person, and nobody who goes on", got)
	}
	p.env = append(env, "COUNTERSIGN_MODEL_PROVIDER=rulebook")
	if got := p.worked("T2"); got.Provider != "rulebook" || got.Reasons != "" {
		t.Errorf("the environment names the offline reviewer: %+v", got)
	}
	if asked, _ := kept.counts(1); asked != 0 {
		t.Errorf("the settings' model was asked %d times", asked)
	}
}

// A key is in the file of the operator's and in no page, answer, log, record or database in clear.
func TestTheKeysOfConnectionsArePrintedNowhere(t *testing.T) {
	t.Parallel()
	server := newModelServer(t)
	database := testdb.SQLite(t)
	p := newProgram(t, database)
	p.imports(failedTransfers(2))
	p.connected(`{"connections":[` + connection("desk", server.URL) + `],"desks":{"bank":["desk"]}}`)
	var printed strings.Builder
	say := func(want int, args ...string) {
		t.Helper()
		cmd := p.command(args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%q ended with %d, want %d: %s", args, code, want, out)
		}
		printed.Write(out)
	}
	say(0, "model", "show")
	say(0, "doctor")
	say(0, "investigate", "--transaction", "T0", "--reason", "failed_transfer", "--json")
	server.set(func() { server.refusing = true }) // and repeats the key
	say(0, "investigate", "--transaction", "T1", "--reason", "failed_transfer", "--json")
	say(0, "audit", "export")
	broken := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(broken, []byte(`{"connections":[`+strings.Replace(connection("desk", server.URL), `"openai"`, `"sk-canary-no-provider"`, 1)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	say(2, "model", "apply", broken)
	if strings.Contains(strings.ReplaceAll(printed.String(), "sk-canary-no-provider", ""), "sk-canary") {
		t.Errorf("a command printed a key:\n%s", printed.String())
	}
	for _, path := range []string{database, database + "-wal"} {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "sk-canary-key-of") {
			t.Errorf("%s holds a key in clear", filepath.Base(path))
		}
	}
}

// Two processes share a day's budget. It is passed by what both were asking at the same moment, and by nothing else.
func TestTwoProcessesShareTheDaysBudget(t *testing.T) {
	t.Parallel()
	database := testdb.Postgres(t)
	server := newModelServer(t)
	p := newProgram(t, database)
	const cases, workers = 40, 3
	p.imports(failedTransfers(cases))
	p.connected(`{"connections":[` + connection("desk", server.URL) + `],"desks":{"bank":["desk"]},"offline_reviewer":false,"budgets":{"day":{"money":"USD 0.10"}}}`)
	token := p.admin()
	one := p.serve(token, "--workers", fmt.Sprint(workers))
	other := p.start("worker", "--workers", fmt.Sprint(workers))
	one.disputes(cases)
	one.until("every case has ended", func() bool {
		var waiting struct{ Cases []struct{ ID string } }
		one.call("GET", "/cases?status=in_review&limit=200", nil, &waiting)
		return len(waiting.Cases)+len(one.closed()) == cases
	})
	if code := one.stop(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
	other.stop()
	var answers, micro int64
	if err := p.database().QueryRow("SELECT SUM(answers), SUM(micro) FROM model_spending").Scan(&answers, &micro); err != nil {
		t.Fatal(err)
	}
	const limit, turn = 100_000, 5100
	if micro != answers*turn || micro < limit-turn || micro > limit+2*workers*turn {
		t.Errorf("%d answers cost %d millionths; want what each costs, at least all but a call's and at most %d calls' more than %d", answers, micro, 2*workers, limit)
	}
	p.must("audit", "verify")
}
