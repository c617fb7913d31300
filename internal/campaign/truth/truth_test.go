package truth_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"countersign"
	"countersign/app"
	"countersign/desk/bank/feed"
	"countersign/internal/campaign/truth"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
	"countersign/store"
)

var (
	clerk    = countersign.Actor{Kind: countersign.CLI, ID: "clerk"}
	payments = []truth.Payment{{Number: 1, Story: truth.FailedTransfer}, {Number: 2, Story: truth.SettledTransfer}, {Number: 3, Story: truth.DoubleCharge}, {Number: 4, Story: truth.SettledTransfer}}
)

// counter is a model that is counted.
type counter struct {
	llm.Model
	mu    *sync.Mutex
	asked map[string]int
}

func key(canary string, turn int) string { return fmt.Sprint(canary, "/", turn) }

func (c counter) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	line, _, _ := strings.Cut(r.Messages[0].Text.String(), "\n")
	c.mu.Lock()
	c.asked[key(strings.TrimPrefix(line, "canary: "), r.Turn())]++
	c.mu.Unlock()
	return c.Model.Complete(ctx, r)
}

// bank works a dispute about each payment, decides one of those that are owed nothing, and says what is expected of all that.
func bank(t *testing.T, database string) (*app.App, truth.Expected) {
	t.Helper()
	ctx := t.Context()
	m := counter{mu: &sync.Mutex{}, asked: map[string]int{}}
	a, err := app.Open(ctx, app.Config{Data: t.TempDir(), Database: database, Work: true, Log: slog.New(slog.DiscardHandler),
		Models: func(_ countersign.Case, model llm.Model) llm.Model { return counter{model, m.mu, m.asked} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	set := truth.Books(payments)
	if report, err := (feed.Feed{Store: a.Store}).Set(ctx, set); err != nil || report.Refused > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	want := truth.Expected{Before: truth.Held(set), Imported: truth.Rows(set), Policies: map[string]int{}}
	want.Asked = func(canary string, turn int) int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.asked[key(canary, turn)]
	}
	for _, p := range payments {
		c := truth.Case{Subject: p.ID(), Key: "key-" + p.ID(), Status: countersign.Closed, Outcome: countersign.Resolved, HandledBy: countersign.ByPolicy, Fix: p.Owed()}
		opened, err := a.Intake.Open(ctx, a.Desks[countersign.Bank].Desk, clerk, intake.Request{SubjectID: p.ID(), Reason: p.Reason(), Notes: "Money left.",
			Key: &store.Key{Principal: "clerk", Route: "POST /disputes", Value: c.Key}})
		if err != nil {
			t.Fatal(err)
		}
		is, err := a.Wait(ctx, opened.Case.ID)
		if err != nil {
			t.Fatal(err)
		}
		c.ID = is.ID
		if c.Fix == nil {
			c.Status, c.Outcome, c.HandledBy = countersign.InReview, "", ""
		}
		if p.Number == 4 {
			if _, err := a.Review.Override(ctx, review.Act{Case: c.ID, Revision: is.Revision, Actor: clerk}, countersign.Rejected, "It arrived.", ""); err != nil {
				t.Fatal(err)
			}
			c.Status, c.Outcome, c.HandledBy, c.Decided = countersign.Closed, countersign.Rejected, countersign.ByPerson, map[string]int{"override": 1}
		}
		want.Cases = append(want.Cases, c)
	}
	return a, want
}

func TestNothingIsWrongWithWhatWentWell(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		a, want := bank(t, database)
		found, err := truth.Check(t.Context(), a.Store, want)
		if err != nil || len(found) > 0 {
			t.Errorf("found %v, %v", found, err)
		}
		if n, err := truth.Unrest(t.Context(), a.Store); err != nil || n != 0 {
			t.Errorf("%d cases are under way, %v", n, err)
		}
	})
}

// A checker that finds nothing proves something only if it finds what is there.
func TestWhatIsPlantedIsFound(t *testing.T) {
	database := testdb.SQLite(t)
	a, want := bank(t, database)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var ids []countersign.CaseID // as the payments
	for _, c := range want.Cases {
		ids = append(ids, c.ID)
	}
	const free = "DROP TRIGGER record_rows_update; DROP TRIGGER record_rows_delete; DROP TRIGGER record_payloads_update; DROP TRIGGER record_payloads_delete; "
	for name, row := range map[string]struct {
		kind  truth.Kind
		says  string
		plant string                              // in the database
		think func(truth.Expected) truth.Expected // in what is expected
	}{
		"a fix that was not posted":           {truth.Lost, "was not posted", "DELETE FROM fixes WHERE transaction_id = 'T1'", nil},
		"a fix without its entries":           {truth.Wrong, "ledger entries of the fix on T1", "DELETE FROM ledger_entries WHERE id LIKE 'fix:%:T1:%'", nil},
		"half a fix":                          {truth.Wrong, "account A1 holds", "DELETE FROM ledger_entries WHERE id = 'fix:reversal:T1:1'", nil},
		"entries that come twice":             {truth.Wrong, "account A1 holds", "INSERT INTO ledger_entries SELECT id || 'x', transaction_id, account_id, direction, amount_minor, currency, kind, posted_at, memo FROM ledger_entries WHERE id LIKE 'fix:%:T1:%'", nil},
		"a second fix":                        {truth.Doubled, "posted 2 fixes", "INSERT INTO fixes SELECT transaction_id, 'refund', case_id, input_hash, account_id, amount_minor, currency, actor, posted_at FROM fixes WHERE transaction_id = 'T1'", nil},
		"a fix that nothing owed":             {truth.NotOwed, "on T2", "INSERT INTO fixes VALUES ('T2', 'reversal', '" + string(ids[1]) + "', '', 'A2', 1, 'NGN', 'x', 1)", nil},
		"money that nothing owed":             {truth.NotOwed, "entries of a fix on T2", "INSERT INTO ledger_entries VALUES ('fix:reversal:T2:1', 'T2', 'A2', 'credit', 5, 'NGN', 'reversal', '', '')", nil},
		"a fix of another amount":             {truth.Wrong, "want {transaction:T1", "UPDATE fixes SET amount_minor = 5 WHERE transaction_id = 'T1'", nil},
		"a fix of no record":                  {truth.Wrong, "0 rows of a fix in its record", free + "DELETE FROM record_rows WHERE kind = 'fix' AND case_id = '" + string(ids[0]) + "'", nil},
		"a case that nobody works":            {truth.Stuck, "is queued", "UPDATE cases SET status = 'queued' WHERE subject_id = 'T2'", nil},
		"a case in a dead worker's hands":     {truth.Stuck, "is investigating", "UPDATE cases SET status = 'investigating' WHERE subject_id = 'T1'", nil},
		"a case that is not there":            {truth.Lost, "and is not there", "", with(truth.Case{ID: "D-NONE", Subject: "T9", Status: countersign.Closed})},
		"a case that nobody asked for":        {truth.Doubled, "nobody asked for it", "", func(e truth.Expected) truth.Expected { e.Cases = e.Cases[1:]; return e }},
		"two cases about one payment":         {truth.Doubled, "2 cases about T1", "UPDATE cases SET subject_id = 'T1' WHERE subject_id = 'T4'", nil},
		"a key that leads nowhere":            {truth.Lost, "key key-T1 leads to []", "DELETE FROM idempotency_keys WHERE key = 'key-T1'", nil},
		"a key that leads elsewhere":          {truth.Lost, "key key-T1 leads to [" + string(ids[1]), "UPDATE idempotency_keys SET case_id = '" + string(ids[1]) + "' WHERE key = 'key-T1'", nil},
		"a case that ended otherwise":         {truth.Wrong, "want closed resolved policy", "UPDATE cases SET outcome = 'rejected' WHERE subject_id = 'T1'", nil},
		"a case in review for no reason":      {truth.Wrong, "without a reason", "UPDATE cases SET reasons = '' WHERE subject_id = 'T2'", nil},
		"a case that is not closed on record": {truth.Doubled, "its record closes it as map[]", free + "DELETE FROM record_rows WHERE kind = 'closed' AND case_id = '" + string(ids[0]) + "'", nil},
		"a decision that is not on record":    {truth.Lost, "0 decisions to override are on record", free + "DELETE FROM record_rows WHERE kind = 'decision'", nil},
		"a decision that nobody made":         {truth.Doubled, "and nobody made them", "", decided(ids[3], nil)},
		"a decision that was made once":       {truth.Doubled, "1 decisions to override are on record, 0", "", decided(ids[3], map[string]int{"override": 0})},
		"a report that was not sealed":        {truth.Lost, "has 0 sealed reports", "", reported(ids[3])},
		"a report that nobody asked for":      {truth.Doubled, "has 1 sealed reports", "INSERT INTO reports VALUES ('" + string(ids[3]) + "', 1, '', x'00', 1, 'x')", nil},
		"a changed row of the record":         {truth.Broken, "row 1 of the record", free + "UPDATE record_rows SET actor = 'x:y' WHERE seq = 1 AND case_id = '" + string(ids[2]) + "'", nil},
		"a payload that cannot be read":       {truth.Broken, "cannot be read", free + "UPDATE record_payloads SET payload = x'00' WHERE seq = 1", nil},
		"a turn that is on record twice":      {truth.Doubled, "is on record 2 times", free + turnTwice(ids[0]), nil},
		"a turn that was paid for twice":      {truth.Paid, "was asked for 2 times, by 1 processes", "", asked(2)},
		"a turn that was never asked for":     {truth.Paid, "never asked for it", "", asked(0)},
		"a row of the books that is missing":  {truth.Lost, `customers has no row "C4"`, "PRAGMA foreign_keys = 0; DELETE FROM customers WHERE id = 'C4'", nil},
		"a row of the books that nobody gave": {truth.Doubled, `merchants has a row "X"`, "INSERT INTO merchants VALUES ('X', '', '', '', 0)", nil},
		"an account that no books know":       {truth.Wrong, "no books know it", "INSERT INTO ledger_entries VALUES ('X', 'T2', 'AX', 'credit', 5, 'NGN', 'fee', '', '')", nil},
		"a policy that is missing":            {truth.Lost, `policy "Returns" has 0 versions`, "", policies("Returns", 1)},
		"a policy that nobody imported":       {truth.Doubled, `a policy "Returns", which nobody`, policy("d", "Returns") + version("v", "d", 1, "1"), nil},
		"a policy that came twice":            {truth.Doubled, `two policies called "Returns"`, policy("d", "Returns") + policy("e", "Returns") + version("v", "d", 1, "1") + version("w", "e", 1, "1"), policies("Returns", 1)},
		"a version that came twice":           {truth.Doubled, `policy "Returns" has 2 versions`, policy("d", "Returns") + version("v", "d", 1, "1") + version("w", "d", 2, "1"), policies("Returns", 1)},
		"a version that nobody could quote":   {truth.Lost, `1 versions of policy "Returns" are not confirmed`, policy("d", "Returns") + version("v", "d", 1, "NULL"), policies("Returns", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			s, db := copied(t, database)
			if _, err := db.Exec(row.plant); err != nil {
				t.Fatal(err)
			}
			expected := want
			expected.Cases = slices.Clone(want.Cases)
			if row.think != nil {
				expected = row.think(expected)
			}
			found, err := truth.Check(t.Context(), s, expected)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(v truth.Violation) bool { return v.Kind == row.kind && strings.Contains(v.Says, row.says) }) {
				t.Errorf("found %v, want one that is %s and says %q", found, row.kind, row.says)
			}
		})
	}
}

func with(c truth.Case) func(truth.Expected) truth.Expected {
	return func(e truth.Expected) truth.Expected { e.Cases = append(e.Cases, c); return e }
}

func change(id countersign.CaseID, f func(*truth.Case)) func(truth.Expected) truth.Expected {
	return func(e truth.Expected) truth.Expected {
		f(&e.Cases[slices.IndexFunc(e.Cases, func(c truth.Case) bool { return c.ID == id })])
		return e
	}
}

func decided(id countersign.CaseID, verbs map[string]int) func(truth.Expected) truth.Expected {
	return change(id, func(c *truth.Case) { c.Decided = verbs })
}

func reported(id countersign.CaseID) func(truth.Expected) truth.Expected {
	return change(id, func(c *truth.Case) { c.Reports = 1 })
}

func asked(times int) func(truth.Expected) truth.Expected {
	return func(e truth.Expected) truth.Expected { e.Asked = func(string, int) int { return times }; return e }
}

func policies(title string, versions int) func(truth.Expected) truth.Expected {
	return func(e truth.Expected) truth.Expected { e.Policies = map[string]int{title: versions}; return e }
}

func policy(id, title string) string {
	return fmt.Sprintf("INSERT INTO policy_documents VALUES ('%s', '%s', '%s', 1, 'x');", id, title, id)
}

func version(id, document string, number int, confirmed string) string {
	return fmt.Sprintf("INSERT INTO policy_versions VALUES ('%s', '%s', %d, '', '', 1, '', '', '', '', 1, 'x', %s, '', '', x'00');", id, document, number, confirmed)
}

// turnTwice puts the payload of a case's first turn behind its last row.
func turnTwice(id countersign.CaseID) string {
	const of = " FROM record_rows r JOIN record_payloads p ON p.case_id = r.case_id AND p.seq = r.seq WHERE r.case_id = '%[1]s' AND kind = 'model_turn' LIMIT 1;"
	return fmt.Sprintf("INSERT INTO record_payloads SELECT r.case_id, 99, salt, payload"+of+
		"INSERT INTO record_rows SELECT r.case_id, 99, version, kind, actor, at, commitment, 'x', hash"+of, id)
}

// copied is a copy of a database that is closed, opened by the program and past it.
func copied(t *testing.T, database string) (*store.Store, *sql.DB) {
	t.Helper()
	b, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, s.DB()
}
