package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"countersign/internal/testdb"
)

// What operators are handed (a dashboard, alerts, the page for who is on call) asks for metrics that there are, under names and
// labels that they have: all of it is held against what a server and a worker really show after a day's work.
func TestWhatOperatorsAreHandedFitsTheMetrics(t *testing.T) {
	t.Parallel()
	shown := worked(t)
	page := read(t, "docs", "operations.md")

	t.Run("every question of the dashboard has an answer", func(t *testing.T) {
		var dashboard any
		if err := json.Unmarshal([]byte(read(t, "docs", "operations", "dashboard.json")), &dashboard); err != nil {
			t.Fatal(err)
		}
		asked := questions(dashboard)
		if len(asked) < 30 {
			t.Fatalf("the dashboard asks %d questions", len(asked))
		}
		for _, q := range asked {
			shown.answers(t, strings.ReplaceAll(q, "$job", "countersign"))
		}
	})

	var alerts []string
	t.Run("every alert can fire, and says what it means", func(t *testing.T) {
		var file struct {
			Groups []struct {
				Name  string
				Rules []struct {
					Alert, Expr, For    string
					Labels, Annotations map[string]string
				}
			}
		}
		decoder := yaml.NewDecoder(strings.NewReader(read(t, "docs", "operations", "alerts.yml")))
		decoder.KnownFields(true)
		if err := decoder.Decode(&file); err != nil {
			t.Fatal(err)
		}
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				alerts = append(alerts, r.Alert)
				shown.answers(t, r.Expr)
				if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] != "page" && r.Labels["severity"] != "ticket" {
					t.Errorf("%s says too little: %v %v", r.Alert, r.Labels, r.Annotations)
				}
			}
		}
		if len(alerts) < 10 {
			t.Errorf("there are %d alerts", len(alerts))
		}
	})

	t.Run("the page says what to do about each alert, and about no other", func(t *testing.T) {
		var sections []string
		for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(page, -1) {
			sections = append(sections, m[1])
		}
		slices.Sort(sections)
		if slices.Sort(alerts); !slices.Equal(sections, alerts) {
			t.Errorf("the page has %v\nthe alerts are %v", sections, alerts)
		}
	})
	t.Run("the page explains every metric, and no other", func(t *testing.T) {
		explained := map[string]bool{}
		for _, m := range regexp.MustCompile("`(countersign_\\w+)`").FindAllStringSubmatch(page, -1) {
			if explained[m[1]] = true; len(shown[m[1]]) == 0 && shown[m[1]+"_count"] == nil {
				t.Errorf("the page explains %s, which nobody shows", m[1])
			}
		}
		for name := range shown {
			base := regexp.MustCompile(`_(?:bucket|sum|count)$`).ReplaceAllString(name, "")
			if strings.HasPrefix(name, "countersign_") && !explained[name] && !explained[base] {
				t.Errorf("the page does not explain %s", name)
			}
		}
	})
}

// worked is what is shown after cases were opened, closed by the policy, failed by the model and verified.
func worked(t *testing.T) series {
	model := newModelServer(t)
	p := newProgram(t, testdb.Postgres(t), model.env()...)
	p.imports(failedTransfers(3))
	p.must("workload", "apply", p.file(map[string]any{"max_cases": map[string]any{"desk:bank": 8}}))
	s, w := p.serve(p.admin(), "--workers", "1"), p.worker("--workers", "1")
	w.until("the worker is ready", w.ready)
	s.disputes(2)
	s.dispute("T0", "Again.")
	p.until("both are closed", func() bool { return len(s.closed()) == 2 })
	model.set(func() { model.refusing = true })
	if code := s.dispute("T2", "Money left."); code != http.StatusAccepted {
		t.Fatalf("POST /disputes answered %d", code)
	}
	p.until("the third waits for a person", func() bool {
		var page struct{ Cases []struct{ ID string } }
		s.call("GET", "/cases?status=in_review", nil, &page)
		return len(page.Cases) == 1
	})
	p.must("audit", "verify")
	p.backup()
	return seriesOf(s.scrape() + w.scrape())
}

// series are the names that are shown, each with the labels that it has.
type series map[string]map[string]bool

var (
	sample   = regexp.MustCompile(`(?m)^([a-z_]\w*)(?:\{([^}]*)\})? \S+$`)
	labelled = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	selector = regexp.MustCompile(`\b(\w+)\{([^}]*)\}`)
	grouped  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	metric   = regexp.MustCompile(`\b(?:countersign|process|go)_\w+\b`)
)

func seriesOf(text string) series {
	found := series{}
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		if found[m[1]] == nil {
			found[m[1]] = map[string]bool{"job": true, "instance": true} // which Prometheus adds
		}
		for _, l := range labelled.FindAllStringSubmatch(m[2], -1) {
			found[m[1]][l[1]] = true
		}
	}
	return found
}

// answers complains of an expression that asks for something nobody shows.
func (s series) answers(t *testing.T, expr string) {
	t.Helper()
	names := metric.FindAllString(expr, -1)
	if len(names) == 0 && !strings.HasPrefix(expr, "up{") {
		t.Errorf("this asks for nothing: %s", expr)
	}
	has := map[string]bool{}
	for _, name := range names {
		if s[name] == nil {
			t.Errorf("nobody shows %s, which is asked for by %s", name, expr)
		}
		for label := range s[name] {
			has[label] = true
		}
	}
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		for _, l := range labelled.FindAllStringSubmatch(m[2], -1) {
			if m[1] != "up" && !s[m[1]][l[1]] {
				t.Errorf("%s has no label %s, which is asked for by %s", m[1], l[1], expr)
			}
		}
	}
	for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
		for _, label := range strings.Split(m[1], ",") {
			if !has[strings.TrimSpace(label)] {
				t.Errorf("nothing here has the label %s: %s", label, expr)
			}
		}
	}
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.Count(expr, "{") != strings.Count(expr, "}") || strings.Count(expr, `"`)%2 != 0 {
		t.Errorf("this is not closed: %s", expr)
	}
}

// questions are the expressions of a dashboard, wherever they stand.
func questions(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		if expr, ok := v["expr"].(string); ok {
			all = append(all, expr)
		}
		for _, inner := range v {
			all = append(all, questions(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, questions(inner)...)
		}
	}
	return all
}

// read is a file of the source tree.
func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(testdb.Root(t) + "/" + strings.Join(elem, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
