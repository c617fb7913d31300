package outside_test

import (
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/internal/testcore"
	"countersign/internal/testdb"
)

// Whatever the core does, a fix is posted there once at most, our books agree with it, and the case is closed, waits, or a person has it.
func TestWhateverTheCoreDoes(t *testing.T) {
	closed := func(b *bureau, c countersign.Case) {
		if c.Status != countersign.Closed || c.Outcome != countersign.Resolved || c.HandledBy != countersign.ByPerson || c.Fix.State != countersign.FixPosted ||
			c.Fix.Instruction.State != countersign.Confirmed || !strings.HasPrefix(c.Fix.Instruction.Reference, "CORE-") {
			b.Errorf("%s %s by %s, fix %s %+v", c.Status, c.Outcome, c.HandledBy, c.Fix.State, c.Fix.Instruction)
		}
	}
	person := func(state countersign.FixState, reason countersign.ReasonCode) func(*bureau, countersign.Case) {
		return func(b *bureau, c countersign.Case) {
			has := slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == reason })
			if c.Status != countersign.InReview || c.Fix.State != state || !has || c.Outcome != "" {
				b.Errorf("%s %q, fix %s: %s, reasons %v", c.Status, c.Outcome, c.Fix.State, c.Fix.Why, c.Verdict.Reasons)
			}
		}
	}
	unknown := person(countersign.FixUnknown, countersign.FixOutcomeUnknown)
	for _, row := range []struct {
		sentence string
		core     []testcore.Behaviour // then it obeys
		asked    string               // methods, in order
		end      func(*bureau, countersign.Case)
		moved    int
	}{
		{"it confirms", nil, "POST", closed, 1},
		{"it rejects", []testcore.Behaviour{testcore.Reject}, "POST", person(countersign.FixRejected, countersign.FixDeclined), 0},
		{"it posts, and the answer is lost", []testcore.Behaviour{testcore.LoseAnswer}, "POST GET", closed, 1},
		{"it posts, and answers 500", []testcore.Behaviour{testcore.FailAfter}, "POST GET", closed, 1},
		{"it posts, and answers too late", []testcore.Behaviour{testcore.Stall}, "POST GET", closed, 1},
		{"it posts, and answers with a page", []testcore.Behaviour{testcore.Garbage}, "POST GET", closed, 1},
		{"it was not there, and never had it", []testcore.Behaviour{testcore.HangUp}, "POST GET POST", closed, 1},
		{"it was closed, and never had it", []testcore.Behaviour{testcore.Refuse, testcore.Refuse}, "POST GET GET POST", closed, 1},
		{"it redirects, and is not followed", []testcore.Behaviour{testcore.Redirect}, "POST GET POST", closed, 1},
		{"it posts, says nothing any more, and a person must find out", []testcore.Behaviour{testcore.LoseAnswer, testcore.Refuse, testcore.Refuse, testcore.Refuse},
			"POST GET GET GET", unknown, 1},
		{"it was never there, and a person must find out", []testcore.Behaviour{testcore.HangUp, testcore.HangUp, testcore.HangUp, testcore.HangUp}, "POST GET GET GET", unknown, 0},
		{"it takes it, and then says that it never had it", []testcore.Behaviour{testcore.Pend, testcore.Forget}, "POST GET", unknown, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			testdb.Engines(t, func(t *testing.T, database string) {
				b := newBureau(t, database)
				c := b.requested()
				b.core.Next(row.core...)
				c = b.carry(c.ID, 6)
				row.end(b, c)
				var methods []string
				for _, r := range b.core.Requests() {
					method, key, _ := strings.Cut(r, " ")
					if methods = append(methods, method); key != c.Fix.Instruction.ID {
						t.Errorf("asked under the key %s, not %s", key, c.Fix.Instruction.ID)
					}
				}
				if got := strings.Join(methods, " "); got != row.asked {
					t.Errorf("the core was asked %s, want %s", got, row.asked)
				}
				if got := b.core.Moved("reversal", c.Subject.ID); got != row.moved {
					t.Errorf("the core gave it back %d times, want %d", got, row.moved)
				}
				want := untouched
				if c.Status == countersign.Closed {
					want = entered
				}
				if got := b.books(c.Subject.ID); got != want {
					t.Errorf("our books: %+v, want %+v", got, want)
				}
				b.verified()
			})
		})
	}
}
