package pipeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/scripted"
	"countersign/pipeline/intake"
)

// certain is a model that looks at the records once and then always wants the fix of its category, with citations that hold
// and a confidence of one.
func certain(category func(req llm.Request) countersign.DisputeReason) llm.Model {
	return scripted.Func(func(n int, req llm.Request) (llm.Reply, error) {
		if n == 0 {
			return scripted.Calls(scripted.Call("get_transaction", ""), scripted.Call("get_ledger_entries", ""), scripted.Call("get_settlement_status", "")), nil
		}
		first := req.Messages[0].Text.String()
		line, _, _ := strings.Cut(first, "\n")
		id := between(req.Messages[2].Text.String(), `"id":"`, `"`)
		return scripted.Calls(scripted.Call("submit_decision", fmt.Sprintf(`{"recommendation":"resolve","category":%q,"confidence":1.0,
			"fraud_suspected":false,"summary":"Give it back.","canary":%q,"customer_message":"Done.","claims":[
			{"text":"This is the payment.","citations":[{"ref":"S1","field":"id","value":%q}]},
			{"text":"These are its entries.","citations":[{"ref":"S2","field":"found","value":%q}]}]}`,
			category(req), strings.TrimPrefix(line, "canary: "), id, between(req.Messages[3].Text.String(), `"found":`, `,`)))), nil
	})
}

func between(s, from, to string) string {
	_, rest, _ := strings.Cut(s, from)
	value, _, _ := strings.Cut(rest, to)
	return strings.TrimSuffix(value, "}")
}

// A model that is always certain, cites real values and wants money moved gets exactly what the ledgers justify.
func TestAHostileModelMovesNothingThatTheLedgerDoesNotJustify(t *testing.T) {
	const n = 5000
	r := rand.New(rand.NewPCG(2, 11))
	ledgers := make([]ledger, n)
	var all records.Set
	for i := range ledgers {
		l := generate(r, i)
		ledgers[i] = l
		all.Customers, all.Accounts, all.Devices = append(all.Customers, l.Customers...), append(all.Accounts, l.Accounts...), append(all.Devices, l.Devices...)
		all.Merchants, all.Transactions = append(all.Merchants, l.Merchants...), append(all.Transactions, l.Transactions...)
		all.LedgerEntries, all.Settlements = append(all.LedgerEntries, l.LedgerEntries...), append(all.Settlements, l.Settlements...)
	}
	w := newWorld(t, testdb.SQLite(t), certain(func(req llm.Request) countersign.DisputeReason {
		if strings.Contains(req.Messages[0].Text.String(), string(countersign.DuplicateCharge)) {
			return countersign.DuplicateCharge
		}
		return countersign.FailedTransfer
	}))
	w.load(all)
	justified, automatic := 0, 0
	for i, c := range w.workAll(ledgers) {
		l := ledgers[i]
		if l.want != nil {
			justified++
		}
		if c.HandledBy != countersign.ByPolicy {
			continue
		}
		automatic++
		w.fixIsRight(l, c)
	}
	if automatic < justified*98/100 || justified < n/4 {
		t.Errorf("%d of %d justified fixes were automatic (of %d ledgers); want at least 98 %%", automatic, justified, n)
	}
	t.Logf("%d ledgers: %d justify a fix, %d were fixed automatically, 0 others", n, justified, automatic)
	if report, err := w.store.VerifyRecord(ctx, nil); err != nil || !report.OK {
		t.Errorf("the record: %v %v", report, err)
	}
}

// fixIsRight checks an automatic fix against the ledger it was built with, and that exactly one balanced pair was posted.
func (w *world) fixIsRight(l ledger, c countersign.Case) {
	w.Helper()
	if l.want == nil {
		w.Errorf("%s (%s): fixed automatically and nothing justifies it: %+v, facts %+v", l.disputed, l.name, c.Fix.Fix, c.Facts.Items)
		return
	}
	if c.Fix.Fix.TransactionID != l.want.TransactionID || c.Fix.Fix.Amount != l.want.Amount || c.Fix.Fix.Kind != l.want.Kind {
		w.Errorf("%s (%s): the fix is %+v, the ledger justifies %+v", l.disputed, l.name, c.Fix.Fix, l.want)
	}
	book, err := w.store.Book(ctx, l.want.TransactionID)
	if err != nil {
		w.Fatal(err)
	}
	var credit, debit int64
	posted := 0
	for _, e := range book.Entries {
		if !strings.HasPrefix(e.ID, "fix:") {
			continue
		}
		posted++
		if e.Direction == countersign.Credit && e.AccountID == l.want.AccountID {
			credit += e.AmountMinor
		}
		if e.Direction == countersign.Debit && e.AccountID == countersign.SuspenseAccount(e.Currency) {
			debit += e.AmountMinor
		}
	}
	if posted != 2 || credit != l.want.Amount.Minor || debit != credit || book.Transaction.Status != records.Reversed {
		w.Errorf("%s: %d entries, credit %d, debit %d, transaction %s", l.disputed, posted, credit, debit, book.Transaction.Status)
	}
}

// workAll opens and works every ledger's dispute, some at a time.
func (w *world) workAll(ledgers []ledger) []countersign.Case {
	w.Helper()
	in := intake.Intake{Store: w.store, Queue: w.queue}
	cases, next, mu := make([]countersign.Case, len(ledgers)), 0, sync.Mutex{}
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(ledgers) {
					return
				}
				c, err := w.through(ctx, in, ledgers[i])
				if err != nil {
					w.Errorf("%s: %v", ledgers[i].name, err)
				}
				cases[i] = c
			}
		})
	}
	done.Wait()
	return cases
}

func (w *world) through(ctx context.Context, in intake.Intake, l ledger) (countersign.Case, error) {
	opened, err := in.Open(ctx, w.desk.Desk, countersign.Actor{Kind: countersign.CLI, ID: "test"}, intake.Request{SubjectID: l.disputed, Reason: l.category})
	if err != nil {
		return opened.Case, err
	}
	if err := w.pipeline.Work(ctx, opened.Case.ID); err != nil {
		return opened.Case, err
	}
	return w.store.Case(ctx, opened.Case.ID)
}
