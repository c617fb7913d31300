package outside_test

import (
	"strings"
	"testing"

	"countersign"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/internal/testcore"
	"countersign/internal/testdb"
	"countersign/pipeline/review"
)

// unknown is a case of which nobody knows whether the core posted its fix. It did if lost, and was never there else.
func (b *bureau) unknown(lost bool) countersign.Case {
	b.Helper()
	c := b.requested()
	first := testcore.HangUp
	if lost {
		first = testcore.LoseAnswer
	}
	b.core.Next(first, testcore.Refuse, testcore.Refuse, testcore.Refuse)
	if c = b.carry(c.ID, 6); c.Fix.State != countersign.FixUnknown {
		b.Fatalf("%s, fix %s", c.Status, c.Fix.State)
	}
	return c
}

// refused checks that an act was a conflict that says why, and changed nothing.
func (b *bureau) refused(before countersign.Case, err error, why string) {
	b.Helper()
	if err == nil || countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), why) {
		b.Errorf("got %v, want a conflict with %q", err, why)
	}
	if now := b.theCase(before.ID); now.Revision != before.Revision {
		b.Errorf("revision %d became %d", before.Revision, now.Revision)
	}
}

// Must hold: while nobody knows whether a fix was posted, nothing can be decided that would post another or let the case be forgotten.
func TestNothingElseIsDecidedWhileNobodyKnows(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.unknown(true)
		for name, do := range map[string]func(review.Act) (countersign.Case, error){
			"approve": func(a review.Act) (countersign.Case, error) { return b.review.Approve(ctx, a) },
			"another fix": func(a review.Act) (countersign.Case, error) {
				return b.review.Override(ctx, a, countersign.Resolved, "So.", "refund")
			},
			"none": func(a review.Act) (countersign.Case, error) {
				return b.review.Override(ctx, a, countersign.Resolved, "So.", "none")
			},
			"reject": func(a review.Act) (countersign.Case, error) {
				return b.review.Override(ctx, a, countersign.Rejected, "So.", "")
			},
			"hand over": func(a review.Act) (countersign.Case, error) { return b.review.Escalate(ctx, a, "So.", "FRD-1") },
			"retry":     func(a review.Act) (countersign.Case, error) { return b.review.Retry(ctx, a) },
		} {
			t.Run(name, func(t *testing.T) {
				b := b.in(t)
				_, err := do(b.act(c.ID))
				b.refused(c, err, "whether the fix of this case was posted is not known")
			})
		}
		t.Run("raising it is allowed", func(t *testing.T) {
			if _, err := b.review.Escalate(ctx, b.act(c.ID), "The core is down.", ""); err != nil {
				t.Error(err)
			}
		})
		t.Run("so is setting other routes, and the ledger here posts it neither", func(t *testing.T) {
			b := b.in(t)
			b.apply(ledger)
			other := b.before("D-OTHER", c.Subject.ID, countersign.OtherReason)
			_, err := b.review.Override(ctx, b.act(other.ID), countersign.Resolved, "So.", "reversal")
			if err == nil || b.books(c.Subject.ID) != untouched {
				t.Errorf("another case posted it: %v, %+v", err, b.books(c.Subject.ID))
			}
		})
		b.verified()
	})
}

// Must hold: a fix that was asked for elsewhere is as taken as one that was posted, for every other case and every kind of fix.
func TestARequestedFixIsTaken(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.requested()
		other := b.before("D-OTHER", c.Subject.ID, countersign.OtherReason)
		if other.Fix.State != countersign.FixNone {
			t.Errorf("the records are read as if nothing had been asked for: %+v", other.Fix)
		}
		for _, kind := range []string{"reversal", "refund"} {
			if _, err := b.review.Override(ctx, b.act(other.ID), countersign.Resolved, "So.", kind); err == nil || countersign.KindOf(err) != countersign.Conflict {
				t.Errorf("a %s: got %v, want a conflict", kind, err)
			}
		}
		if _, err := b.review.Approve(ctx, b.act(c.ID)); err == nil || countersign.KindOf(err) != countersign.Conflict {
			t.Errorf("approved twice: %v", err)
		}
		if n := len(b.core.Requests()); n != 0 {
			t.Errorf("the core was asked %d times before anybody carried it", n)
		}
		if got := b.books(c.Subject.ID); got != untouched {
			t.Errorf("our books: %+v", got)
		}
		b.verified()
	})
}

func TestAPersonSettlesWhatNobodyKnew(t *testing.T) {
	t.Parallel()
	found := review.Found{What: review.FoundPosted, Reference: "CBS-77", Reason: "Seen in the core's journal."}
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		t.Run("the core posted it", func(t *testing.T) {
			b := b.in(t)
			c, err := b.review.Settle(ctx, b.act(b.unknown(true).ID), found)
			b.must(err)
			if c.Status != countersign.Closed || c.Outcome != countersign.Resolved || c.HandledBy != countersign.ByPerson || c.Fix.State != countersign.FixPosted ||
				c.Fix.Instruction.Reference != "CBS-77" || b.books(c.Subject.ID) != entered {
				t.Errorf("%s %s, fix %+v, books %+v", c.Status, c.Outcome, c.Fix, b.books(c.Subject.ID))
			}
		})
		t.Run("the core did not, so it can be asked anew, under another key", func(t *testing.T) {
			b := b.in(t)
			c := b.unknown(false)
			first := c.Fix.Instruction.ID
			c, err := b.review.Settle(ctx, b.act(c.ID), review.Found{What: review.FoundNotPosted, Reason: "Not in the journal."})
			b.must(err)
			if c.Status != countersign.InReview || c.Fix.State != countersign.FixRejected {
				t.Fatalf("%s, fix %s", c.Status, c.Fix.State)
			}
			if c, err = b.review.Approve(ctx, b.act(c.ID)); err != nil || c.Fix.Instruction.ID == first {
				t.Fatalf("again: %v, instruction %+v", err, c.Fix.Instruction)
			}
			if c = b.carry(c.ID, 3); c.Status != countersign.Closed || b.books(c.Subject.ID) != entered || b.core.Moved("reversal", c.Subject.ID) != 1 {
				t.Errorf("%s, books %+v", c.Status, b.books(c.Subject.ID))
			}
		})
		t.Run("the books hold nothing of it, so it is not the same entry", func(t *testing.T) {
			b := b.in(t)
			c := b.unknown(true)
			booked := found
			booked.What = review.FoundBooked
			_, err := b.review.Settle(ctx, b.act(c.ID), booked)
			b.refused(c, err, "the books hold no credit")
			if got := b.books(c.Subject.ID); got != untouched {
				t.Errorf("books %+v", got)
			}
		})
		t.Run("asked again, the core confirms", func(t *testing.T) {
			b := b.in(t)
			c, err := b.review.Ask(ctx, b.act(b.unknown(true).ID))
			b.must(err)
			if c.Status != countersign.AwaitingConfirmation {
				t.Fatalf("%s", c.Status)
			}
			if c = b.carry(c.ID, 3); c.Status != countersign.Closed || b.books(c.Subject.ID) != entered || b.core.Moved("reversal", c.Subject.ID) != 1 {
				t.Errorf("%s, books %+v", c.Status, b.books(c.Subject.ID))
			}
		})
		t.Run("without a reference, or a reason, it does not count", func(t *testing.T) {
			b := b.in(t)
			c := b.unknown(true)
			for field, f := range map[string]review.Found{"reference": {What: review.FoundBooked, Reason: "So."}, "reason": {What: review.FoundPosted, Reference: "CBS-77"}, "found": {Reference: "CBS-77", Reason: "So."}} {
				if _, err := b.review.Settle(ctx, b.act(c.ID), f); err == nil || !strings.Contains(err.Error(), field) || b.theCase(c.ID).Revision != c.Revision {
					t.Errorf("without %s: %v", field, err)
				}
			}
		})
		t.Run("what is known is not settled again", func(t *testing.T) {
			b := b.in(t)
			c := b.reviewed()
			_, err := b.review.Settle(ctx, b.act(c.ID), found)
			b.refused(c, err, "there is nothing to settle")
			_, err = b.review.Ask(ctx, b.act(c.ID))
			b.refused(c, err, "there is nothing to settle")
		})
		b.verified()
	})
}

// The core's own export may bring its entry before it has confirmed: then the books would give the same back twice, and a person says
// which of the two it is.
func TestAnImportThatComesBeforeTheConfirmation(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.requested()
		_, err := feed.Feed{Store: b.store, Refused: func(p records.Problem) { t.Errorf("refused: %s", p) }}.Set(ctx, records.Set{LedgerEntries: []records.LedgerEntry{
			{ID: "CBS-1", TransactionID: c.Subject.ID, AccountID: "A-" + c.Subject.ID, Direction: countersign.Credit, AmountMinor: given, Currency: "NGN", Kind: records.ReversalEntry}}})
		b.must(err)
		c = b.carry(c.ID, 3)
		if c.Status != countersign.InReview || c.Fix.State != countersign.FixUnknown || !strings.Contains(c.Fix.Why, "it was confirmed, and the books here refuse the entries") {
			t.Fatalf("%s, fix %s: %s", c.Status, c.Fix.State, c.Fix.Why)
		}
		found := review.Found{What: review.FoundPosted, Reference: c.Fix.Instruction.Reference, Reason: "It is the same entry."}
		_, err = b.review.Settle(ctx, b.act(c.ID), found)
		b.refused(c, err, "the entries cannot be made")
		found.What = review.FoundBooked
		c, err = b.review.Settle(ctx, b.act(c.ID), found)
		b.must(err)
		if got := b.books(c.Subject.ID); c.Status != countersign.Closed || got.Fixes != 1 || got.Given != given || got.Transaction != "reversed" {
			t.Errorf("%s, books %+v", c.Status, got)
		}
		b.verified()
	})
}

// The record says what was sent, and what came back, byte for byte.
func TestTheRecordKeepsWhatWasSentAndWhatCameBack(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.requested()
		i, err := b.store.Instruction(ctx, c.Fix.Instruction.ID)
		b.must(err)
		_, last := b.kinds(c.ID)
		if quoted := strings.ReplaceAll(string(i.Body), `"`, `\"`); !strings.Contains(last, quoted) || !strings.Contains(last, `"status":"awaiting_confirmation"`) {
			t.Errorf("the row of the request is %s", last)
		}
		b.core.Next(testcore.Pend, testcore.Garbage)
		b.must(b.sender.Carry(ctx, i.ID))
		b.must(b.sender.Carry(ctx, i.ID))
		if _, last = b.kinds(c.ID); !strings.Contains(last, "Welcome") || !strings.Contains(last, "cannot be understood") {
			t.Errorf("the row of the answer is %s", last)
		}
		b.core.End("confirmed")
		if c = b.carry(c.ID, 2); c.Status != countersign.Closed {
			t.Fatalf("%s", c.Status)
		}
		if kinds, _ := b.kinds(c.ID); kinds != "opened decision fix note note fix closed" {
			t.Errorf("the record holds %s", kinds)
		}
		b.verified()
	})
}

// A core that was replaced has never heard of what the old one was asked: instructions go where they were decided for, with the newest
// secrets of that address.
func TestAnInstructionGoesWhereItWasDecidedFor(t *testing.T) {
	t.Parallel()
	testdb.Engines(t, func(t *testing.T, database string) {
		b := newBureau(t, database)
		c := b.requested()
		b.core.Secret, b.core.KeyID = strings.Repeat("rotated-", 5), "k-2"
		rotated := b.settings
		rotated.Secret, rotated.KeyID = b.core.Secret, b.core.KeyID
		b.apply(rotated)
		another := testcore.New(t)
		elsewhere := b.settings
		elsewhere.URL = another.Address()
		b.apply(elsewhere)
		if c = b.carry(c.ID, 3); c.Status != countersign.Closed || len(another.Requests()) != 0 {
			t.Errorf("%s; the other core was asked %v", c.Status, another.Requests())
		}
	})
}
