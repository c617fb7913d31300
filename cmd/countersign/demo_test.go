package main

import (
	"bufio"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
)

func TestEveryReasonHasAMeaning(t *testing.T) {
	for _, code := range countersign.ReasonOrder {
		if meanings[code] == "" {
			t.Errorf("the demo cannot say what %s means", code)
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
	if !strings.Contains(again, "The record: intact: 38 cases") {
		t.Errorf("it ended with %q", again[len(again)-60:])
	}
}

func TestTheDemoServes(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	folder := t.TempDir()
	for start := range 2 {
		s := p.demo(folder)
		for i, reason := range []string{"other", "wrong_amount"} {
			code := s.call("POST", "/disputes", map[string]any{"transaction_id": "TX-900001", "reason": reason, "notes": "And now this."}, nil)
			if want := []int{http.StatusAccepted, http.StatusOK}[start]; code != want {
				t.Errorf("start %d, dispute %d answered %d, want %d", start+1, i+1, code, want)
			}
		}
		if code := s.stop(); code != 0 {
			t.Errorf("it ended with %d\n%s", code, s.log)
		}
		for _, says := range []string{"COUNTERSIGN_MODEL_PROVIDER=openai", "COUNTERSIGN_MODEL_BASE_URL=", "serve --data " + folder} {
			if !strings.Contains(s.log.String(), says) {
				t.Errorf("it does not say %s:\n%s", says, s.log)
			}
		}
	}
}

var demoToken, demoURL = regexp.MustCompile(`Bearer (ct_\w+)`), regexp.MustCompile(`answers at (http://[\d.:]+)/api`)

// demo starts the demo as a server and reads address and token where a person would.
func (p *program) demo(folder string) *server {
	p.Helper()
	s := p.start("demo", "--addr", "127.0.0.1:0", "--data", folder)
	p.until("it says where it serves", func() bool { return demoURL.MatchString(s.log.String()) && demoToken.MatchString(s.log.String()) })
	s.url, s.token = demoURL.FindStringSubmatch(s.log.String())[1], demoToken.FindStringSubmatch(s.log.String())[1]
	p.until("it is ready", s.ready)
	return s
}
