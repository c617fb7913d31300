package eval

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/internal/testdb"
)

// tried is what a suite must at least have looked at. A suite that looked at less would keep its promises too.
var tried = map[string]map[string]int{
	"tau2-banking":    {"filings": 75, "cases": 58},
	"hostile-ledgers": {"ledgers": 5000, "justified": 1500, "automatic_certain": 500, "automatic_honest": 1500},
	"injections":      {"payloads": 940, "attacks": 940 * 5, "clean_runs": 10, "calls_refused": 40_000, "persuaded": 50, "automatic": 2000},
	"hijacked-models": {"runs": 531, "replays": 2 * 531, "calls": 5388},
}

func TestEverySuiteKeepsItsPromises(t *testing.T) {
	data := testdb.Shared(t, "data")
	for _, suite := range Suites {
		t.Run(suite.Name, func(t *testing.T) {
			t.Parallel() // they wait for the disk more than they compute
			keeps(t, suite, Setting{Data: data, Database: testdb.SQLite(t), Seed: 1}, tried[suite.Name])
		})
	}
}

func TestLedgersKeepTheirPromisesOnBothEngines(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		t.Parallel()
		keeps(t, hostileLedgers, Setting{Database: database, Seed: 2, Ledgers: 300}, map[string]int{"ledgers": 300, "justified": 60, "automatic_honest": 60})
	})
}

func TestHostileInputIsContainedOnPostgresToo(t *testing.T) {
	data := testdb.Shared(t, "data")
	for _, suite := range []Suite{injections, hijackedModels} {
		t.Run(suite.Name, func(t *testing.T) {
			t.Parallel()
			keeps(t, suite, Setting{Data: data, Database: testdb.Postgres(t), few: 20}, nil)
		})
	}
}

// keeps runs a suite and fails for every broken promise, and for every count that is too small to mean anything.
func keeps(t *testing.T, suite Suite, s Setting, atLeast map[string]int) {
	t.Helper()
	r, err := suite.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, promise := range r.Promises[:min(len(r.Promises), mostBroken)] {
		t.Errorf("broken: %s", promise)
	}
	for name, least := range atLeast {
		if r.Counts[name] < least {
			t.Errorf("%s: %d, want at least %d", name, r.Counts[name], least)
		}
	}
	t.Log(strings.Join(r.Summary, " "))
}

func TestTheSameSuiteGivesTheSameBytes(t *testing.T) {
	data := testdb.Shared(t, "data")
	for _, suite := range Suites {
		t.Run(suite.Name, func(t *testing.T) {
			t.Parallel()
			var runs [2][]byte
			for i := range runs {
				r, err := suite.Run(t.Context(), Setting{Data: data, Seed: 3, Ledgers: 40, few: 4})
				if err != nil {
					t.Fatal(err)
				}
				if runs[i], err = json.Marshal(r); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(runs[0], runs[1]) {
				t.Errorf("two runs differ:\n%s\n%s", runs[0], runs[1])
			}
			if bytes.Contains(runs[0], []byte("null")) {
				t.Errorf("a list is null in %s", runs[0])
			}
		})
	}
}

func TestDataThatIsNotThereIsSaidPlainly(t *testing.T) {
	for _, suite := range []Suite{tau2, injections, hijackedModels} {
		_, err := suite.Run(t.Context(), Setting{Data: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "is not there (name the folder of the data with --data-folder)") {
			t.Errorf("%s: %v", suite.Name, err)
		}
	}
}

func TestASuiteIsFoundByItsName(t *testing.T) {
	for _, suite := range Suites {
		if found, err := Find(suite.Name); err != nil || found.Name != suite.Name {
			t.Errorf("%s: %v", suite.Name, err)
		}
	}
	_, err := Find("tau")
	if err == nil || !strings.Contains(err.Error(), `"tau" is not one of the suites tau2-banking, hostile-ledgers, injections, hijacked-models`) {
		t.Errorf("got %v", err)
	}
}

func TestAReportReadsLikeAPage(t *testing.T) {
	r := newReport("a-suite")
	r.Cases = append(r.Cases, Line{Subject: "T1", Filed: "cash_back", Ended: "a person", Reasons: []string{"facts_unknown"}, Unknown: []string{"debit_posted", "new_rule"}},
		Line{Subject: "T1", Filed: "cash_back", Ended: "a person", Note: "the same dispute as number 1"})
	r.Tables = append(r.Tables, Table{By: "place", Columns: []string{"cases"}, Rows: []Row{{"memo", []int{12345}}}})
	r.say("Twelve %s.", "cases")
	var out bytes.Buffer
	if err := r.Print(&out, 1234*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"they cannot show    whether the debit was posted on a ledger; new rule: unknown\n", "the records show    nothing\n", "why a person looks  facts unknown\n",
		"     the same dispute as number 1\n", "  memo   12,345\n", "\nTwelve cases.\n", "\nEvery promise held.\n", "a-suite took 1.2s.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	r.broke(slices.Repeat([]string{"money moved"}, 25)...)
	if err := r.Print(&out, 0); err != nil || !strings.Contains(out.String(), "25 promises BROKEN:\n  ✗ money moved\n") || !strings.Contains(out.String(), "… and 5 more\n") {
		t.Errorf("got %v\n%s", err, out.String())
	}
}
