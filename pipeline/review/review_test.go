package review_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/pipeline/review"
	"countersign/store"
)

// Each verb meets each status, with the revision that is the case's and with others. Only an open case before a person, at the
// revision that the person saw, takes a decision; everything else is a conflict that leaves nothing behind.
func TestWhoDecidesOnWhat(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for name, do := range deeds {
			for _, status := range countersign.Statuses {
				t.Run(fmt.Sprintf("%s, %s", name, status), func(t *testing.T) {
					o := o.in(t)
					c := o.reviewed("resolve", nil, countersign.AboveCap, countersign.ModelFailed)
					if status != countersign.InReview {
						c = o.change(c.ID, status, nil)
					}
					before := o.look(c.ID)
					for _, off := range []int64{-1, 1} {
						act := o.act(c)
						act.Revision += off
						_, err := do(o.review, act)
						o.refused(before, err, countersign.Conflict, fmt.Sprintf("the case is at revision %d, you saw %d", c.Revision, act.Revision))
					}
					after, err := do(o.review, o.act(c))
					switch {
					case status == countersign.Closed:
						o.refused(before, err, countersign.Conflict, "the case is closed: rejected")
					case status != countersign.InReview:
						o.refused(before, err, countersign.Conflict, fmt.Sprintf("the case is %s", status))
					case err != nil:
						t.Error(err)
					default:
						if diff := cmp.Diff(o.theCase(c.ID), after); diff != "" || after.Revision != c.Revision+1 {
							t.Errorf("it returned another case than is stored (-stored +returned):\n%s", diff)
						}
						o.verified(c.ID)
					}
				})
			}
		}
		t.Run("a case that does not exist", func(t *testing.T) {
			for name, do := range deeds {
				if _, err := do(o.review, review.Act{Case: "D-NONE", Revision: 1, Actor: ada}); countersign.KindOf(err) != countersign.NotFound {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	})
}

// end is how a case stands after an act.
type end struct {
	Status  countersign.Status
	Outcome countersign.Outcome
	By      countersign.HandledBy
	Raised  bool
	Fix     countersign.FixState
	Kinds   string // of the rows that the act wrote
	Entries int    // that the act posted
}

var (
	posted    = end{countersign.Closed, countersign.Resolved, countersign.ByPerson, false, countersign.FixPosted, "decision fix closed", 2}
	unposted  = end{countersign.Closed, countersign.Resolved, countersign.ByPerson, false, countersign.FixNone, "decision closed", 0}
	turned    = end{countersign.Closed, countersign.Rejected, countersign.ByPerson, false, countersign.FixNone, "decision closed", 0}
	handed    = end{countersign.Closed, countersign.Escalated, countersign.ByPerson, true, countersign.FixNone, "decision closed", 0}
	raised    = end{countersign.InReview, "", "", true, countersign.FixPlanned, "decision", 0}
	unplanned = end{countersign.InReview, "", "", true, countersign.FixNone, "decision", 0}
	drafted   = end{countersign.InReview, "", "", false, countersign.FixPlanned, "message", 0}
)

// What people may do, and what nobody may: which ends, with what on the record and what in the ledger.
func TestDecisions(t *testing.T) {
	t.Parallel()
	settled := func(b *book) { b.Settlements[0].Status = records.Settled }
	untrusted := func(b *book) { no := false; b.Devices[0].Trusted = &no }
	rows := []struct {
		name       string
		recommends string
		books      func(*book)
		do         deed
		want       end
		refused    string // empty when it is not
	}{
		{"approving a resolution posts the fix that the facts support", "resolve", nil, approve, posted, ""},
		{"approving a resolution waives a fraud signal", "resolve", untrusted, approve, posted, ""},
		{"approving a resolution of a double charge refunds the later copy", "resolve", (*book).again, approve, posted, ""},
		{"approving a resolution that the facts do not support is refused", "resolve", settled, approve, end{}, "do not support a fix (override with outcome resolved and name the fix: reversal, refund or none)"},
		{"approving a resolution while the settlement is unknown is refused", "resolve", func(b *book) { b.Settlements = nil }, approve, end{}, "do not support a fix"},
		{"approving a rejection closes", "reject", settled, approve, turned, ""},
		{"approving a rejection of what the facts support closes: it is the person's to say", "reject", nil, approve, turned, ""},
		{"approving an escalation raises the case and keeps it", "escalate", nil, approve, raised, ""},
		{"approving what was never recommended raises the case", "", settled, approve, unplanned, ""},

		{"an override posts the reversal that the facts support", "reject", nil, override(countersign.Resolved, "reversal"), posted, ""},
		{"an override posts the refund of the later copy", "escalate", (*book).again, override(countersign.Resolved, "refund"), posted, ""},
		{"an override with no fix closes and moves nothing", "resolve", nil, override(countersign.Resolved, "none"), unposted, ""},
		{"an override rejects what was recommended", "resolve", nil, override(countersign.Rejected, ""), turned, ""},
		{"an override that rejects may say that there is no fix", "resolve", nil, override(countersign.Rejected, "none"), turned, ""},
		{"an override waives a cap", "resolve", func(b *book) { b.transaction().AmountMinor, b.LedgerEntries[0].AmountMinor = 900_000_00, 900_000_00 }, override(countersign.Resolved, "reversal"), posted, ""},
		{"an override waives a fraud signal", "escalate", untrusted, override(countersign.Resolved, "reversal"), posted, ""},
		{"an override waives a settlement that is not on record", "escalate", func(b *book) { b.Settlements = nil }, override(countersign.Resolved, "reversal"), posted, ""},
		{"an override waives a settlement that is not final", "escalate", func(b *book) { b.Settlements[0].Status, b.Settlements[0].Final = records.TimedOut, false }, override(countersign.Resolved, "reversal"), posted, ""},
		{"an override waives a soft match", "escalate", func(b *book) { b.again(); b.Transactions[1].Reference = "ORDER-2" }, override(countersign.Resolved, "refund"), posted, ""},
		{"an override refunds what arrived", "reject", settled, override(countersign.Resolved, "refund"), posted, ""},
		{"nobody may reverse what arrived", "reject", settled, override(countersign.Resolved, "reversal"), end{}, "arrived"},
		{"nobody may waive that the debit is posted", "resolve", func(b *book) { b.transaction().Status = records.Pending }, override(countersign.Resolved, "reversal"), end{}, "Nobody may waive this"},
		{"nobody may waive that the debit did not fail", "resolve", func(b *book) { b.transaction().Status = records.Failed }, override(countersign.Resolved, "reversal"), end{}, "Nobody may waive this"},
		{"nobody may waive that the ledger shows the debit", "resolve", func(b *book) { b.LedgerEntries = nil }, override(countersign.Resolved, "refund"), end{}, "Nobody may waive this"},
		{"nobody may waive that it was a debit", "resolve", func(b *book) {
			b.transaction().Direction, b.LedgerEntries[0].Direction = countersign.Credit, countersign.Credit
		}, override(countersign.Resolved, "refund"), end{}, "Nobody may waive this"},
		{"nobody may waive the currency", "resolve", func(b *book) { b.LedgerEntries[0].Currency = "USD" }, override(countersign.Resolved, "reversal"), end{}, "Nobody may waive this"},
		{"nobody may waive that a part was given back", "resolve", func(b *book) { b.credited(1_00, records.RefundEntry) }, override(countersign.Resolved, "reversal"), end{}, "Nobody may waive this"},
		{"nobody may waive that all of it was given back", "resolve", func(b *book) { b.credited(24_500_00, records.ReversalEntry) }, override(countersign.Resolved, "refund"), end{}, "Nobody may waive this"},
		{"nobody may waive that it is marked as reversed", "resolve", func(b *book) { b.transaction().Status = records.Reversed }, override(countersign.Resolved, "refund"), end{}, "Nobody may waive this"},

		{"escalating raises the case and keeps it", "resolve", nil, escalate(""), raised, ""},
		{"escalating with blanks for a reference only raises it", "resolve", nil, escalate("  "), raised, ""},
		{"escalating with the reference of who took it closes it", "resolve", nil, escalate("FRD-2026-0417"), handed, ""},
		{"a message changes the draft and nothing else", "resolve", nil, message("Dear Adaeze, it is on its way."), drafted, ""},
		{"a draft may be emptied", "resolve", nil, message(""), drafted, ""},
		{"a retry that would find the same is refused", "resolve", nil, retry, end{}, "another investigation would find the same"},
	}
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed(row.recommends, row.books, countersign.ConfidenceLow, countersign.AboveCap)
				before, already := o.look(c.ID), o.posted()
				after, err := row.do(o.review, o.act(c))
				if row.refused != "" {
					o.refused(before, err, countersign.Conflict, row.refused)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var kinds []string
				for _, r := range o.rowsAfter(c.ID, before.Rows) {
					if kinds = append(kinds, string(r.Kind)); r.Actor != "person:ada" {
						t.Errorf("the %s row is by %s", r.Kind, r.Actor)
					}
				}
				got := end{after.Status, after.Outcome, after.HandledBy, after.Raised, after.Fix.State, strings.Join(kinds, " "), o.posted() - already}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				o.verified(c.ID)
			})
		}
	})
}

// posted counts the entries that fixes made; the sum of each fix must be zero and its amount the transaction's.
func (o *office) posted() (n int) {
	o.Helper()
	rows, err := o.store.DB().Query(`SELECT e.transaction_id, COUNT(*), SUM(CASE WHEN e.direction = 'credit' THEN e.amount_minor ELSE -e.amount_minor END), MAX(e.amount_minor) - MAX(t.amount_minor)
		FROM ledger_entries e JOIN transactions t ON t.id = e.transaction_id WHERE e.id LIKE 'fix:%' GROUP BY e.transaction_id`)
	o.must(err)
	defer rows.Close()
	for rows.Next() {
		var id string
		var entries, sum, off int
		o.must(rows.Scan(&id, &entries, &sum, &off))
		if entries != 2 || sum != 0 || off != 0 {
			o.Errorf("the fix of %s: %d entries, out of balance by %d, its amount off by %d", id, entries, sum, off)
		}
		n += entries
	}
	return n
}

// Which transaction a fix gives back is for the facts to say.
func TestTheLaterCopyIsRefunded(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	for name, do := range map[string]deed{"approve": approve, "override": override(countersign.Resolved, "refund")} {
		t.Run(name, func(t *testing.T) {
			o := o.in(t)
			c, err := do(o.review, o.act(o.reviewed("resolve", (*book).again)))
			if err != nil || c.Fix.Fix.TransactionID != c.Subject.ID+"-2" || c.Fix.Fix.Kind != countersign.Refund {
				t.Errorf("got %+v, %v", c.Fix, err)
			}
		})
	}
	t.Run("a soft match gives back the one that was disputed", func(t *testing.T) {
		o := o.in(t)
		c, err := override(countersign.Resolved, "refund")(o.review, o.act(o.reviewed("resolve", func(b *book) { b.again(); b.Transactions[1].Reference = "ORDER-2" })))
		if err != nil || c.Fix.Fix.TransactionID != c.Subject.ID {
			t.Errorf("got %+v, %v", c.Fix, err)
		}
	})
}

// Retry is for a round that failed or that could not know; any other would find the same again.
func TestRetry(t *testing.T) {
	t.Parallel()
	may := map[countersign.ReasonCode]bool{countersign.ModelFailed: true, countersign.BudgetReached: true, countersign.OfflineStoodIn: true, countersign.ModelSawPartialCase: true, countersign.FactsUnreadable: true, countersign.FactsUnknown: true}
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		for _, code := range countersign.ReasonOrder {
			t.Run(fmt.Sprintf("after %s: %v", code, may[code]), func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.ConfidenceLow, code)
				before := o.look(c.ID)
				after, err := retry(o.review, o.act(c))
				if !may[code] {
					o.refused(before, err, countersign.Conflict, "another investigation would find the same")
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				o.freshRound(before, after)
			})
		}
		t.Run("after a look at the records that failed when the model asked for it", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("resolve", nil, countersign.EvidenceInvalid)
			c = o.change(c.ID, countersign.InReview, func(c *countersign.Case) {
				c.Proposal.Claims = []countersign.Claim{{Text: "The settlement failed.", Citations: []countersign.Citation{{Ref: "S3", Field: "status", Value: "failed", Status: countersign.CitationFailedStep}}}}
			})
			before := o.look(c.ID)
			after, err := retry(o.review, o.act(c))
			if err != nil {
				t.Fatal(err)
			}
			o.freshRound(before, after)
		})
		t.Run("after the records changed", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("resolve", nil, countersign.FixNotApplicable)
			o.bring(records.Set{Settlements: []records.Settlement{{TransactionID: c.Subject.ID, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon.Add(time.Hour)), Rail: "NIP"}}})
			before := o.look(c.ID)
			after, err := retry(o.review, o.act(c))
			if err != nil {
				t.Fatal(err)
			}
			o.freshRound(before, after)
		})
		t.Run("after a settlement that was not known, whatever was proposed", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("escalate", func(b *book) { b.Settlements[0].Status, b.Settlements[0].Final = records.TimedOut, false }, countersign.ModelAskedForPerson)
			before := o.look(c.ID)
			after, err := retry(o.review, o.act(c))
			if err != nil {
				t.Fatal(err)
			}
			o.freshRound(before, after)
		})
		t.Run("not after something unknown that the customer does not complain of", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("reject", func(b *book) { // a payment to the same friend without a time of day: a double charge cannot be ruled out
				b.Settlements[0].Status = records.Settled
				another := *b.transaction()
				another.ID, another.EndToEndID, another.Reference = another.ID+"-2", another.EndToEndID+"-2", "water"
				another.OccurredAt, _ = countersign.ParseWhen("2026-11-28")
				b.Transactions = append(b.Transactions, another)
			}, countersign.RejectionNeedsPerson)
			before := o.look(c.ID)
			_, err := retry(o.review, o.act(c))
			o.refused(before, err, countersign.Conflict, "another investigation would find the same")
		})
		t.Run("a raised case that is retried is raised no more", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("resolve", nil, countersign.ModelFailed)
			if _, err := escalate("")(o.review, o.act(c)); err != nil {
				t.Fatal(err)
			}
			before := o.look(c.ID)
			after, err := retry(o.review, o.act(c))
			if err != nil {
				t.Fatal(err)
			}
			o.freshRound(before, after)
		})
		t.Run("twice in a row is a conflict", func(t *testing.T) {
			o := o.in(t)
			c, err := retry(o.review, o.act(o.reviewed("resolve", nil, countersign.ModelFailed)))
			o.must(err)
			before := o.look(c.ID)
			_, err = retry(o.review, o.act(c))
			o.refused(before, err, countersign.Conflict, "the case is queued")
		})
	})
}

// freshRound checks a case that waits for its next round: queued with a job of its own, nothing left of what the round before
// it found but what it cost and what is on record.
func (o *office) freshRound(before state, after countersign.Case) {
	o.Helper()
	want := before.Case
	want.Status, want.Round, want.Revision, want.UpdatedAt = countersign.Queued, 2, before.Case.Revision+1, after.UpdatedAt
	want.Recommendation, want.Message, want.Raised = "", "", false
	want.Proposal, want.Facts, want.Verdict, want.Fix = nil, nil, nil, countersign.FixOutcome{State: countersign.FixNone}
	if diff := cmp.Diff(want, o.theCase(after.ID)); diff != "" {
		o.Errorf("the case is not as a new round finds it (-want +got):\n%s", diff)
	}
	now := o.look(after.ID)
	if now.Jobs != before.Jobs+1 || now.Rows != before.Rows+1 {
		o.Errorf("%d jobs and %d rows more, want one of each", now.Jobs-before.Jobs, now.Rows-before.Rows)
	}
	var job string
	o.must(o.store.DB().QueryRow("SELECT args FROM river_job WHERE id = (SELECT job_id FROM cases WHERE id = $1)", string(after.ID)).Scan(&job))
	if !strings.Contains(job, string(after.ID)) {
		o.Errorf("the case waits for the job %s", job)
	}
	var said struct {
		Round  int
		Status countersign.Status
		Verb   string
		Waived []countersign.ReasonCode
	}
	o.must(json.Unmarshal([]byte(o.rowsAfter(after.ID, before.Rows)[0].Payload), &said))
	if said.Round != 2 || said.Status != countersign.Queued || said.Verb != "retry" || len(said.Waived) != len(before.Case.Verdict.Reasons) {
		o.Errorf("the row says %+v", said)
	}
	o.verified(after.ID)
}

// The record keeps what was decided in the words in which it was.
func TestTheRecordOfADecision(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	for _, row := range []struct {
		name string
		do   deed
		want []string
	}{
		{"approve", approve, []string{
			`{"round":1,"status":"in_review","verb":"approve","outcome_wanted":"resolved","waived":["above_cap","facts_unknown"]}`,
			`"fix":{"kind":"reversal"`,
			`{"round":1,"status":"closed","outcome":"resolved","handled_by":"person"}`}},
		{"override", func(r review.Review, a review.Act) (countersign.Case, error) {
			return r.Override(ctx, a, countersign.Resolved, "  The rail confirmed it, ticket 88121. ", "reversal")
		}, []string{
			`{"round":1,"status":"in_review","verb":"override","outcome_wanted":"resolved","fix":"reversal","reason":"The rail confirmed it, ticket 88121.","waived":["above_cap","facts_unknown"]}`,
			`"waived":"The rail confirmed it, ticket 88121."`,
			`{"round":1,"status":"closed","outcome":"resolved","handled_by":"person"}`}},
		{"escalate", escalate(" FRD-7 "), []string{
			`{"round":1,"status":"in_review","verb":"escalate","outcome_wanted":"escalated","reason":"Too large for me.","reference":"FRD-7","waived":["above_cap","facts_unknown"]}`,
			`{"round":1,"status":"closed","outcome":"escalated","handled_by":"person"}`}},
		{"message", message("Ẹ káàbọ̀ 🙏 <b>"), []string{`{"round":1,"text":"Ẹ káàbọ̀ 🙏 \u003cb\u003e"}`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("resolve", nil, countersign.AboveCap, countersign.FactsUnknown)
			before := o.look(c.ID)
			if _, err := row.do(o.review, o.act(c)); err != nil {
				t.Fatal(err)
			}
			rows := o.rowsAfter(c.ID, before.Rows)
			if len(rows) != len(row.want) {
				t.Fatalf("%d rows, want %d: %+v", len(rows), len(row.want), rows)
			}
			for i, want := range row.want {
				if !strings.Contains(rows[i].Payload, want) {
					t.Errorf("the %s row is %s, want in it %s", rows[i].Kind, rows[i].Payload, want)
				}
			}
		})
	}
	t.Run("a draft that was changed twice is there twice", func(t *testing.T) {
		o := o.in(t)
		c := o.reviewed("resolve", nil)
		before := o.look(c.ID)
		for _, text := range []string{"first", "second"} {
			if _, err := message(text)(o.review, o.act(c)); err != nil {
				t.Fatal(err)
			}
		}
		rows := o.rowsAfter(c.ID, before.Rows)
		if len(rows) != 2 || !strings.Contains(rows[0].Payload, "first") || !strings.Contains(rows[1].Payload, "second") || o.theCase(c.ID).Message != "second" {
			t.Errorf("got %+v", rows)
		}
	})
	t.Run("closing keeps the draft as it was", func(t *testing.T) {
		o := o.in(t)
		c := o.reviewed("resolve", nil)
		_, err := message("The last word.")(o.review, o.act(c))
		o.must(err)
		after, err := approve(o.review, o.act(c))
		if err != nil || after.Message != "The last word." {
			t.Errorf("the draft is %q, %v", after.Message, err)
		}
		_, err = message("One more.")(o.review, o.act(c))
		o.refused(o.look(c.ID), err, countersign.Conflict, "the case is closed")
		if o.theCase(c.ID).Message != "The last word." {
			t.Error("the draft of a closed case was changed")
		}
	})
}

// What people write is checked before anything is looked at.
func TestTexts(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	c := o.reviewed("resolve", nil, countersign.ModelFailed)
	before := o.look(c.ID)
	reasoned := map[string]func(string) error{
		"override": func(s string) error {
			_, err := o.review.Override(ctx, o.act(c), countersign.Rejected, s, "")
			return err
		},
		"escalate": func(s string) error { _, err := o.review.Escalate(ctx, o.act(c), s, "FRD-1"); return err },
	}
	drafted := func(s string) error { _, err := o.review.Message(ctx, o.act(c), s); return err }
	referred := func(s string) error { _, err := o.review.Escalate(ctx, o.act(c), "Too large.", s); return err }
	type bad struct {
		name, text, field string
		say               func(string) error
		kind              countersign.ErrorKind
	}
	var rows []bad
	for verb, say := range reasoned {
		rows = append(rows,
			bad{verb + " without a reason", "", "reason", say, countersign.Invalid},
			bad{verb + " with blanks for a reason", " \t\n ", "reason", say, countersign.Invalid},
			bad{verb + " with no-break spaces for a reason", "\u00a0\u2003", "reason", say, countersign.Invalid},
			bad{verb + " with a reason that is too long", strings.Repeat("x", 2001), "reason", say, countersign.TooLarge},
			bad{verb + " with ten megabytes", strings.Repeat("x", 10<<20), "reason", say, countersign.TooLarge},
			bad{verb + " with a reason that is not UTF-8", "because \xff", "reason", say, countersign.Invalid},
			bad{verb + " with a NUL in the reason", "because\x00", "reason", say, countersign.Invalid})
	}
	rows = append(rows,
		bad{"a draft that is too long", strings.Repeat("x", 5001), "text", drafted, countersign.TooLarge},
		bad{"a draft that is not UTF-8", "\xc3\x28", "text", drafted, countersign.Invalid},
		bad{"a draft with a NUL", "a\x00b", "text", drafted, countersign.Invalid},
		bad{"a reference that is too long", strings.Repeat("x", 201), "reference", referred, countersign.TooLarge},
		bad{"a reference that is not UTF-8", "FRD\xff", "reference", referred, countersign.Invalid})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := o.in(t)
			err := row.say(row.text)
			o.refused(before, err, row.kind, row.field+": ")
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the error repeats %d bytes", len(err.Error()))
			}
		})
	}
	t.Run("as long as may be is kept", func(t *testing.T) {
		o := o.in(t)
		c := o.reviewed("resolve", nil)
		_, err := o.review.Message(ctx, o.act(c), strings.Repeat("ß", 2500))
		o.must(err)
		after, err := o.review.Escalate(ctx, o.act(c), strings.Repeat("x", 2000), strings.Repeat("r", 200))
		if err != nil || after.Status != countersign.Closed {
			t.Errorf("got %v", err)
		}
		o.verified(c.ID)
	})
}

func TestUnknownWords(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	c := o.reviewed("resolve", nil)
	before := o.look(c.ID)
	for _, row := range []struct {
		name, outcome, fix, field string
	}{
		{"an outcome that does not exist", "refunded", "none", "outcome"},
		{"no outcome", "", "none", "outcome"},
		{"an outcome in capitals", "Resolved", "none", "outcome"},
		{"the outcome of the other desk", "contest", "", "outcome"},
		{"escalated, which has a verb of its own", "escalated", "", "outcome"},
		{"resolved without saying which fix", "resolved", "", "fix"},
		{"a fix that does not exist", "resolved", "chargeback", "fix"},
		{"a fix in capitals", "resolved", "Refund", "fix"},
		{"a fix for a rejection", "rejected", "refund", "fix"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := o.in(t)
			_, err := o.review.Override(ctx, o.act(c), countersign.Outcome(row.outcome), "I looked at it.", row.fix)
			o.refused(before, err, countersign.Invalid, row.field+": ")
		})
	}
}

// A draft that the model wrote for one decision must not go out with another. What a person wrote is theirs.
func TestTheModelsDraftIsWithdrawnWithItsDecision(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	const draft = "We are putting it back."
	for _, row := range []struct {
		name, recommends, message string
		decide                    func(*office, countersign.Case) (countersign.Case, error)
		kept                      bool
	}{
		{"rejected instead of resolved", "resolve", draft, overriding("rejected", ""), false},
		{"resolved without money moving", "resolve", draft, overriding("resolved", "none"), false},
		{"resolved instead of escalated", "escalate", draft, overriding("resolved", "reversal"), false},
		{"handed on instead of resolved", "resolve", draft, handingOn, false},
		{"resolved as proposed, by override", "resolve", draft, overriding("resolved", "reversal"), true},
		{"rejected as proposed, by override", "reject", draft, overriding("rejected", "none"), true},
		{"handed on as proposed", "escalate", draft, handingOn, true},
		{"a person's own words", "resolve", "Dear Adaeze, I looked into it.", overriding("rejected", ""), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed(row.recommends, nil)
			c.Proposal.CustomerMessage, c.Message = draft, row.message
			o.must(o.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Save(ctx, &c) }))
			after, err := row.decide(o, c)
			o.must(err)
			if want := map[bool]string{true: row.message}[row.kept]; after.Message != want {
				t.Errorf("the draft is %q, want %q", after.Message, want)
			}
			o.verified(c.ID)
		})
	}
}

func overriding(outcome countersign.Outcome, fix string) func(*office, countersign.Case) (countersign.Case, error) {
	return func(o *office, c countersign.Case) (countersign.Case, error) {
		return o.review.Override(ctx, o.act(c), outcome, "I looked at it.", fix)
	}
}

func handingOn(o *office, c countersign.Case) (countersign.Case, error) {
	return o.review.Escalate(ctx, o.act(c), "Fraud desk.", "FRD-1")
}
