package review_test

import (
	"context"
	"testing"
	"time"

	"countersign"
	"countersign/desk/bank/records"
	"countersign/internal/testdb"
	"countersign/pipeline/review"
	"countersign/store"
)

// What a person saw must still be so: nobody may waive that the records changed.
func TestRecordsThatChanged(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		o := newOffice(t, database)
		fixes := map[string]deed{"approve": approve, "override": override(countersign.Resolved, "reversal")}
		for name, do := range fixes {
			t.Run(name+" is refused when the rail has spoken again", func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.AboveCap)
				o.bring(records.Set{Settlements: []records.Settlement{{TransactionID: c.Subject.ID, Status: records.SettlementFailed, Final: true,
					UpdatedAt: countersign.At(noon.Add(time.Hour)), Rail: "NIP", Reference: "again"}}})
				before := o.look(c.ID)
				_, err := do(o.review, o.act(c))
				o.refused(before, err, countersign.Conflict, "the records changed after the facts of the case were read (retry the case")
			})
			t.Run(name+" is refused when the money came back meanwhile", func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.AboveCap)
				b := newBook(c.Subject.ID)
				b.credited(24_500_00, records.RefundEntry)
				o.bring(records.Set{LedgerEntries: b.LedgerEntries[1:]})
				before := o.look(c.ID)
				_, err := do(o.review, o.act(c))
				o.refused(before, err, countersign.Conflict, map[string]string{"approve": "records changed", "override": "corrected already"}[name])
			})
			t.Run(name+" is refused when another case has given it back", func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.AboveCap)
				other := o.before(c.Subject.ID, countersign.OtherReason, "resolve")
				if _, err := approve(o.review, o.act(other)); err != nil {
					t.Fatal(err)
				}
				before := o.look(c.ID)
				_, err := do(o.review, o.act(c))
				o.refused(before, err, countersign.Conflict, "")
			})
			t.Run(name+" does not mind what no rule reads", func(t *testing.T) {
				o := o.in(t)
				c := o.reviewed("resolve", nil, countersign.AboveCap)
				o.bring(records.Set{Transactions: []records.Transaction{{ID: "later-" + c.Subject.ID, AccountID: "A-" + c.Subject.ID, Kind: records.Card, Direction: countersign.Debit,
					AmountMinor: 7_00, Currency: "NGN", Status: records.Posted, OccurredAt: countersign.At(noon.AddDate(0, 0, 9))}}})
				if _, err := do(o.review, o.act(c)); err != nil {
					t.Error(err)
				}
			})
		}
		t.Run("the account of somebody else is refused", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("resolve", nil)
			o.bring(records.Set{Customers: []records.Customer{{ID: "C-SOMEBODY", Name: "Somebody Else"}}})
			_, err := o.store.DB().Exec("UPDATE accounts SET customer_id = $1 WHERE id = $2", "C-SOMEBODY", "A-"+c.Subject.ID)
			o.must(err)
			before := o.look(c.ID)
			for _, do := range fixes {
				if _, err := do(o.review, o.act(c)); err == nil {
					t.Error("it was not")
				}
				o.unchanged(before)
			}
		})
		t.Run("closing without a fix is allowed whatever the records say by now", func(t *testing.T) {
			o := o.in(t)
			c := o.reviewed("reject", nil)
			o.bring(records.Set{Settlements: []records.Settlement{{TransactionID: c.Subject.ID, Status: records.SettlementFailed, Final: true, UpdatedAt: countersign.At(noon.Add(time.Hour)), Rail: "NIP"}}})
			if _, err := approve(o.review, o.act(c)); err != nil {
				t.Error(err)
			}
		})
	})
}

// The records are read once to answer the person, and again under the account's lock. What comes in between is not missed.
func TestRecordsThatChangeAtTheLastMoment(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	c := o.reviewed("resolve", nil)
	before, whole := o.look(c.ID), o.review.Desks[countersign.Bank]
	for name, do := range map[string]deed{"approve": approve, "override": override(countersign.Resolved, "reversal")} {
		t.Run(name, func(t *testing.T) {
			o, reads := o.in(t), 0
			late := func(fix *countersign.Fix, seen string, err error) (*countersign.Fix, string, error) {
				if reads++; reads > 1 {
					seen = "other"
				}
				return fix, seen, err
			}
			desk := whole
			desk.Justify = func(ctx context.Context, v store.View, c countersign.Case) (*countersign.Fix, string, error) {
				return late(whole.Justify(ctx, v, c))
			}
			desk.Waive = func(ctx context.Context, v store.View, c countersign.Case, kind countersign.FixKind) (*countersign.Fix, string, error) {
				return late(whole.Waive(ctx, v, c, kind))
			}
			o.review.Desks = map[countersign.DeskName]review.Desk{countersign.Bank: desk}
			_, err := do(o.review, o.act(c))
			o.refused(before, err, countersign.Conflict, "the fix cannot be applied: the records changed after they were read")
		})
	}
}

// Facts that were never read support nothing that could be approved. A person may still take the fix on himself: what nobody
// may waive is read anew.
func TestFactsThatWereNeverRead(t *testing.T) {
	t.Parallel()
	o := newOffice(t, testdb.SQLite(t))
	unread := func(o *office, books func(*book)) countersign.Case {
		c := o.reviewed("resolve", books, countersign.FactsUnreadable)
		return o.change(c.ID, countersign.InReview, func(c *countersign.Case) {
			c.Facts = &countersign.Facts{Unreadable: "the database did not answer"}
			c.Fix = countersign.FixOutcome{State: countersign.FixNone}
		})
	}
	t.Run("cannot be approved", func(t *testing.T) {
		o := o.in(t)
		c := unread(o, nil)
		before := o.look(c.ID)
		_, err := approve(o.review, o.act(c))
		o.refused(before, err, countersign.Conflict, "the facts of the case do not support a fix")
	})
	t.Run("can be overridden", func(t *testing.T) {
		o := o.in(t)
		c, err := override(countersign.Resolved, "reversal")(o.review, o.act(unread(o, nil)))
		if err != nil || c.Fix.State != countersign.FixPosted {
			t.Errorf("got %+v, %v", c.Fix, err)
		}
	})
	t.Run("do not waive what nobody may", func(t *testing.T) {
		o := o.in(t)
		c := unread(o, func(b *book) { b.credited(1_00, records.RefundEntry) })
		before := o.look(c.ID)
		_, err := override(countersign.Resolved, "reversal")(o.review, o.act(c))
		o.refused(before, err, countersign.Conflict, "Nobody may waive this")
	})
}
