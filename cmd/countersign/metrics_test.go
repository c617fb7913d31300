package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

var showsMetrics = regexp.MustCompile(`shows its metrics on (http://[\d.:]+)/metrics`)

// text is what an address answers.
func (p *program) text(url string) (int, string) {
	p.Helper()
	res, err := http.Get(url)
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// scrape is what an operator's tools are shown.
func (s *server) scrape() string {
	s.Helper()
	_, text := s.text(s.url + "/metrics")
	return text
}

// worker starts a worker that shows its metrics.
func (p *program) worker(args ...string) *server {
	p.Helper()
	w := p.start(append([]string{"worker", "--metrics-addr", "127.0.0.1:0"}, args...)...)
	w.until("it says where its metrics are", func() bool { return showsMetrics.MatchString(w.log.String()) })
	w.url = showsMetrics.FindStringSubmatch(w.log.String())[1]
	return w
}

// A worker is asked on an address of its own how it does, and for nothing else; what it did, and what the process that serves did,
// add up to what happened.
func TestAWorkerIsWatchedToo(t *testing.T) {
	t.Parallel()
	model := newModelServer(t)
	p := newProgram(t, testdb.Postgres(t), model.env()...)
	p.imports(failedTransfers(3))
	w := p.worker("--workers", "1")
	w.until("it is ready", w.ready)
	for path, want := range map[string]int{"/healthz": 200, "/api/v1/cases": 404, "/sign-in": 404, "/": 404} {
		if got, text := w.text(w.url + path); got != want {
			t.Errorf("a worker answers %s with %d, want %d: %s", path, got, want, text)
		}
	}

	// With one worker and every lease held elsewhere, what is measured where is certain: serve opens, the worker works.
	release := model.holdTurn(2)
	s := p.serve(p.admin(), "--workers", "1")
	s.disputes(3)
	p.until("both wait for a second turn", model.waiting(2, 2))
	release()
	p.until("every case is closed", func() bool { return len(s.closed()) == 3 })
	both := s.scrape() + w.scrape()
	for _, want := range []string{
		`countersign_cases_opened_total{by="token",desk="bank"} 3`,
		`countersign_cases{desk="bank",status="queued"} 0`,
		`countersign_database_up 1`,
		`countersign_http_request_duration_seconds_count{route="POST /api/v1/disputes",status="202"} 3`,
		`countersign_build_info{version="`,
	} {
		if !strings.Contains(both, want) {
			t.Errorf("there is no %s", want)
		}
	}
	for series, want := range map[string]int{
		`countersign_cases_closed_total{desk="bank",handled_by="policy",outcome="resolved"}`: 3,
		`countersign_verdicts_total{desk="bank",verdict="automatic"}`:                        3,
		`countersign_investigations_begun_total{desk="bank"}`:                                3,
		`countersign_investigation_seconds_count{desk="bank"}`:                               3,
	} {
		if got := total(both, series); got != want {
			t.Errorf("%s adds up to %d, want %d", series, got, want)
		}
	}
	if code := w.stop(); code != 0 {
		t.Errorf("the worker ended with %d\n%s", code, w.log)
	}
}

// total adds a series up over everything that was scraped.
func total(text, series string) (sum int) {
	for _, m := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(series)+` (\d+)$`).FindAllStringSubmatch(text, -1) {
		n := 0
		fmt.Sscan(m[1], &n)
		sum += n
	}
	return sum
}
