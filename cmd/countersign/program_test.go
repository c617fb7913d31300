package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"countersign"
	"countersign/desk/bank/records"
)

// TestMain lets the test binary be the program: a test that needs a process to kill starts itself with this variable set, and
// a session finds it in its PATH.
func TestMain(m *testing.M) {
	if os.Getenv("COUNTERSIGN_TEST_PROGRAM") != "" {
		faulty()
		process()
	}
	testscript.Main(m, map[string]func(){"countersign": process})
}

// program is the program on one data folder or database, with the environment it runs in.
type program struct {
	*testing.T
	name string // of its database
	env  []string
}

func newProgram(t *testing.T, database string, env ...string) *program {
	return &program{t, database, append([]string{"COUNTERSIGN_TEST_PROGRAM=1", "HOME=" + t.TempDir(), "COUNTERSIGN_DATA=" + t.TempDir(),
		"COUNTERSIGN_DATABASE=" + database, "PATH=" + os.Getenv("PATH")}, env...)}
}

func (p *program) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = p.env
	return cmd
}

// must runs a command to its end and returns what it printed; anything but exit code 0 fails the test.
func (p *program) must(args ...string) string {
	p.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.Fatalf("countersign %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// server is a running `serve`.
type server struct {
	*program
	cmd   *exec.Cmd
	url   string
	token string
	log   *screen // standard output and error
}

// screen is what a program printed so far, to be read while it runs.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

var serves = regexp.MustCompile(`countersign serves (http://[\d.:]+) on`)

// serve starts the program on a free port and waits until it is ready.
func (p *program) serve(token string, args ...string) *server {
	p.Helper()
	s := p.start(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.token = token
	s.until("it says where it serves", func() bool { return serves.MatchString(s.log.String()) })
	s.url = serves.FindStringSubmatch(s.log.String())[1]
	s.until("it is ready", s.ready)
	return s
}

// start starts a command that runs until it is stopped.
func (p *program) start(args ...string) *server {
	p.Helper()
	s := &server{program: p, cmd: p.command(args...), log: &screen{}}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(s.kill)
	return s
}

func (s *server) ready() bool { return s.health("/readyz") == http.StatusOK }

// gone reports whether it takes no requests any more.
func (s *server) gone() bool { return s.health("/healthz") == 0 }

// health is the status of an answer to anybody, 0 when there is none. Each asks on a connection of its own.
func (s *server) health(path string) int {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get(s.url + path)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// until polls for something that another process brings about.
func (p *program) until(what string, done func() bool) {
	p.Helper()
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			p.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// stop asks the program to stop and returns its exit code.
func (s *server) stop() int {
	s.terminate()
	return s.wait()
}

func (s *server) terminate() { s.cmd.Process.Signal(syscall.SIGTERM) }

// wait waits for the program to end by itself and returns its exit code.
func (s *server) wait() int {
	s.Helper()
	ended := make(chan struct{})
	go func() {
		s.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		s.Fatal("waited in vain for the program to end")
	}
	return s.cmd.ProcessState.ExitCode()
}

// dispute opens a dispute about a transaction of failedTransfers.
func (s *server) dispute(transactionID, notes string) int {
	s.Helper()
	return s.call("POST", "/disputes", map[string]any{"transaction_id": transactionID, "reason": "failed_transfer", "notes": notes}, nil)
}

// disputes opens the disputes about the first n.
func (s *server) disputes(n int) {
	s.Helper()
	for id := range ids(0, n) {
		if code := s.dispute(id, "Money left."); code != http.StatusAccepted {
			s.Fatalf("POST /disputes answered %d", code)
		}
	}
}

// admin makes a token with every right.
func (p *program) admin() string {
	p.Helper()
	return strings.TrimSpace(p.must("token", "create", "--name", "test", "--role", "admin"))
}

// call makes a request and decodes the answer into v.
func (s *server) call(method, path string, body, v any) int {
	s.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, s.url+"/api/v1"+path, in)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatalf("%v\n%s", err, s.log)
	}
	defer res.Body.Close()
	if v != nil {
		if err := json.NewDecoder(res.Body).Decode(v); err != nil {
			s.Fatal(err)
		}
	}
	return res.StatusCode
}

// file writes records to a file and returns its path.
func (p *program) file(set map[string]any) string {
	p.Helper()
	b, err := json.Marshal(set)
	if err != nil {
		p.Fatal(err)
	}
	path := filepath.Join(p.TempDir(), "records.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *program) imports(set map[string]any) {
	p.Helper()
	p.must("import", "records", p.file(set))
}

// data is the program's data folder.
func (p *program) data() string {
	for _, v := range p.env {
		if dir, ok := strings.CutPrefix(v, "COUNTERSIGN_DATA="); ok {
			return dir
		}
	}
	return ""
}

// ids are the transactions of failedTransfers from one number up to another.
func ids(from, to int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := from; i < to && yield(fmt.Sprintf("T%d", i)); i++ {
		}
	}
}

// failedTransfers are n transfers T0, T1, … whose settlement failed for good, each on a customer and account of its own.
func failedTransfers(n int) map[string]any {
	at, yes := countersign.At(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)), true
	var s records.Set
	for i := range n {
		id := fmt.Sprint(i)
		s.Customers = append(s.Customers, records.Customer{ID: "C" + id, Name: "Ada Obi", HomeCity: "Lagos", HomeCountry: "NG", Flags: []string{}})
		s.Accounts = append(s.Accounts, records.Account{ID: "A" + id, CustomerID: "C" + id, Number: fmt.Sprintf("%010d", i), Currency: "NGN"})
		s.Devices = append(s.Devices, records.Device{ID: "V" + id, CustomerID: "C" + id, City: "Lagos", Country: "NG", Trusted: &yes,
			FirstSeenAt: countersign.At(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))})
		s.Transactions = append(s.Transactions, records.Transaction{ID: "T" + id, AccountID: "A" + id, Kind: records.Transfer,
			Direction: countersign.Debit, AmountMinor: 10_000_00, Currency: "NGN", Status: records.Posted, OccurredAt: at, PostedAt: at,
			CounterpartyAccount: "0000000220", EndToEndID: "E" + id, DeviceID: "V" + id, City: "Lagos", Country: "NG"})
		s.LedgerEntries = append(s.LedgerEntries, records.LedgerEntry{ID: "L" + id, TransactionID: "T" + id, AccountID: "A" + id,
			Direction: countersign.Debit, AmountMinor: 10_000_00, Currency: "NGN", Kind: records.Original, PostedAt: at})
		s.Settlements = append(s.Settlements, records.Settlement{TransactionID: "T" + id, Status: records.SettlementFailed, Final: true, UpdatedAt: at})
	}
	return map[string]any{"customers": s.Customers, "accounts": s.Accounts, "devices": s.Devices, "transactions": s.Transactions,
		"ledger_entries": s.LedgerEntries, "settlements": s.Settlements}
}
