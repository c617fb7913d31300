package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/demo"
	"countersign/internal/testdb"
	"countersign/store"
)

func TestEveryReasonHasAMeaning(t *testing.T) {
	for _, code := range countersign.ReasonOrder {
		if meanings[code] == "" {
			t.Errorf("the demo cannot say what %s means", code)
		}
	}
}

// Every chargeback of the demo ends as its story says.
func TestTheDemosChargebacksEndAsTheyShould(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "")
	folder := t.TempDir()
	p.must("demo", "--once", "--data", folder)
	s, err := store.Open(t.Context(), filepath.Join(folder, "countersign.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n, want := range demo.Chargebacks() {
		c, err := s.Case(t.Context(), countersign.CaseID(fmt.Sprintf("C-%d", 2001+n)))
		if err != nil {
			t.Fatal(err)
		}
		var got []countersign.ReasonCode
		for _, r := range c.Verdict.Reasons {
			got = append(got, r.Code)
		}
		if diff := cmp.Diff(append(slices.Clone(want.Want), countersign.PersonDecides), got); diff != "" || c.Outcome != want.WantOutcome {
			t.Errorf("%s (%s): %s %s; the reasons differ (-want +got):\n%s%s", want.Order, want.Title, c.Status, c.Outcome, diff, c.Proposal.Summary)
		}
	}
}

// table is the demo's output but for its last line: an interrupted investigation leaves rows of its own in the record.
func table(out string) string {
	before, _, _ := strings.Cut(out, "The record: ")
	return before
}

func TestADemoThatWasKilledGoesOn(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "")
	folder := t.TempDir()
	cmd := p.command("demo", "--once", "--data", folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "D-1012"); {
	}
	cmd.Process.Kill()
	cmd.Wait()

	again := p.must("demo", "--once", "--data", folder)
	if diff := cmp.Diff(table(p.must("demo", "--once")), table(again)); diff != "" {
		t.Errorf("the whole demo (-), the one that went on (+):\n%s", diff)
	}
	if !strings.Contains(again, "The record: intact: 60 cases") {
		t.Errorf("it ended with %q", again[len(again)-60:])
	}
}

// TestTheDemoServes stops the demo while it works, twice: it serves from the first moment, and goes on with what is there.
func TestTheDemoServes(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	folder := t.TempDir()
	for start := range 2 {
		s := p.demo(folder)
		for i, id := range []string{"TX-900001", "TX-900031"} { // no fix closes what the customer says somebody else did
			code := s.call("POST", "/disputes", map[string]any{"transaction_id": id, "reason": "unauthorised", "notes": "And now this."}, nil)
			if want := []int{http.StatusAccepted, http.StatusOK}[start]; code != want {
				t.Errorf("start %d, dispute %d answered %d, want %d", start+1, i+1, code, want)
			}
		}
		if code := s.stop(); code != 0 {
			t.Errorf("it ended with %d\n%s", code, s.log)
		}
		for _, says := range []string{"No AI is connected", "COUNTERSIGN_MODEL_PROVIDER=openai", "COUNTERSIGN_MODEL_BASE_URL=", "serve --data " + folder} {
			if !strings.Contains(s.log.String(), says) {
				t.Errorf("it does not say %s:\n%s", says, s.log)
			}
		}
	}
}

// TestTheDemosLinkSignsInOnce: looking at it uses nothing up, pressing its button does.
func TestTheDemosLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	s := newProgram(t, testdb.SQLite(t)).demo(t.TempDir())
	browser := func() *http.Client {
		jar, _ := cookiejar.New(nil) // it never fails without options
		return &http.Client{Jar: jar}
	}
	looked := page(t, browser(), "GET", s.link)
	if !strings.Contains(looked, "Sign in as Demo analyst") {
		t.Errorf("looking at the link shows:\n%s", looked)
	}
	if queue := page(t, browser(), "POST", s.link); !strings.Contains(queue, "Demo: an invented bank") || !strings.Contains(queue, "Take the next case") {
		t.Errorf("pressing its button shows:\n%s", queue)
	}
	if again := page(t, browser(), "POST", s.link); !strings.Contains(again, "not valid") {
		t.Errorf("the second time it shows:\n%s", again)
	}
}

func page(t *testing.T, c *http.Client, method, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var demoLink = regexp.MustCompile(`(http://[\d.:]+)/link/\w+`)

// demo starts the demo as a server, reads its link where a person would, and makes a token for the calls of a program.
func (p *program) demo(folder string) *demoServer {
	p.Helper()
	s := &demoServer{server: p.start("demo", "--addr", "127.0.0.1:0", "--data", folder)}
	p.until("it says where it serves", func() bool { return demoLink.MatchString(s.log.String()) })
	found := demoLink.FindStringSubmatch(s.log.String())
	s.link, s.url = found[0], found[1]
	s.token = strings.TrimSpace(p.must("--database", filepath.Join(folder, "countersign.db"), "--data", folder, "token", "create", "--name", "test", "--role", "analyst"))
	p.until("it is ready", s.ready)
	return s
}

type demoServer struct {
	*server
	link string
}
