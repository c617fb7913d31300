package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// Every number beside a filter is the length of the list that a click on it opens, whatever else is filtered by.
func TestEachNumberIsWhatAClickLists(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 160, Open: 110})
		random := rand.New(rand.NewPCG(5, 6))
		now := s.Now()
		held := list(t, s.View, store.Filter{ForPerson: true, Limit: 200})[:9]
		write(t, s, func(ctx context.Context, tx *store.Tx) error {
			for i, id := range held {
				if _, err := tx.Claim(ctx, countersign.CaseID(id), fmt.Sprint("usr_", i%2), now.Add(time.Hour)); err != nil {
					return err
				}
			}
			return nil
		})
		for range 14 {
			f := someFilter(random)
			f.Now = now
			counts, err := s.QueueCounts(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range clicks(f, counts) {
				if got := len(list(t, s.View, c.opens)); got != c.says {
					t.Errorf("under %+v\n%s says %d, and lists %d", f, c.on, c.says, got)
				}
			}
		}
	})
}

// someFilter narrows by two or three things at random.
func someFilter(random *rand.Rand) store.Filter {
	f := store.Filter{Open: true, Limit: 60}
	for range 2 + random.IntN(2) {
		switch random.IntN(11) {
		case 0:
			f.Desk = countersign.Bank
		case 1:
			f.Status = pick(random, countersign.Statuses)
			f.Open = false
		case 2:
			f.ForPerson = true
		case 3:
			f.Complaint = pick(random, countersign.DisputeReasons[:2])
		case 4:
			f.Reason = pick(random, []countersign.ReasonCode{countersign.AboveCap, countersign.FactsUnknown, countersign.TypeNotAllowed})
		case 5:
			f.Recommendation = pick(random, recommendations[:3])
		case 6:
			f.Due = pick(random, store.Dues)
		case 7:
			f.Raised = true
		case 8:
			f.Unraised = true
		case 9:
			f.Holder = "usr_1"
		case 10:
			f.Query = pick(random, []string{"D-", "TX-7", "CU-3", "ada", "o"})
		}
	}
	return f
}

var recommendations = []string{"resolve", "escalate", "reject", "CONTEST", "ACCEPT", "MANUAL_REVIEW_REQUIRED"}

// click is a number beside a filter, and the list that a click on it opens.
type click struct {
	on    string
	says  int
	opens store.Filter
}

func clicks(f store.Filter, c store.Counts) (all []click) {
	add := func(says int, name string, change func(*store.Filter)) {
		opens := f
		change(&opens)
		all = append(all, click{name, says, opens})
	}
	standing := func(f *store.Filter, s countersign.Status, open, person bool) {
		f.Status, f.Open, f.ForPerson = s, open, person
	}
	add(c.Open, "open", func(f *store.Filter) { standing(f, "", true, false) })
	add(c.ForPerson, "for a person", func(f *store.Filter) { standing(f, "", true, true) })
	for _, s := range countersign.Statuses {
		if _, counted := c.Status[s]; s == countersign.Closed && !counted {
			continue
		}
		add(c.Status[s], string(s), func(f *store.Filter) { standing(f, s, false, false) })
	}
	add(c.Raised, "raised", func(f *store.Filter) { f.Raised, f.Unraised = true, false })
	add(c.Unraised, "not raised", func(f *store.Filter) { f.Raised, f.Unraised = false, true })
	for _, d := range store.Dues {
		add(c.Due[d], "due "+string(d), func(f *store.Filter) { f.Due = d })
	}
	if c.Desk == nil {
		return all // not counted where closed cases would be listed too
	}
	for _, d := range []countersign.DeskName{countersign.Bank, countersign.Merchant} {
		add(c.Desk[d], "desk "+string(d), func(f *store.Filter) { f.Desk = d })
	}
	for _, r := range countersign.DisputeReasons {
		add(c.Complaint[r], "complaint "+string(r), func(f *store.Filter) { f.Complaint = r })
	}
	for _, r := range countersign.ReasonOrder {
		add(c.Reason[r], "reason "+string(r), func(f *store.Filter) { f.Reason = r })
	}
	for _, r := range recommendations {
		add(c.Recommendation[r], "recommendation "+r, func(f *store.Filter) { f.Recommendation = r })
	}
	return all
}

func TestClosedCases(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: store.MostCounted + 10, Open: 5})
		closed := store.Filter{Status: countersign.Closed, Limit: 400}
		t.Run("are counted up to a number, and the desks and reasons among them not at all", func(t *testing.T) {
			for _, f := range []store.Filter{{}, {Open: true}, closed} {
				counts, err := s.QueueCounts(ctx, f)
				if err != nil || counts.Status[countersign.Closed] != store.MostCounted || (counts.Reason == nil) == f.Open {
					t.Errorf("under %+v: %+v, %v", f, counts, err)
				}
			}
		})
		t.Run("are counted to the end when few fit", func(t *testing.T) {
			for _, f := range []store.Filter{{CustomerID: "CU-7"}, {Query: "CU-7"}} {
				counts, err := s.QueueCounts(ctx, f)
				if n, counted := counts.Status[countersign.Closed]; err != nil || n != 4 || !counted {
					t.Errorf("under %+v: %+v, %v", f, counts, err)
				}
			}
		})
		t.Run("are not counted where most of them would have to be looked at", func(t *testing.T) {
			for _, f := range []store.Filter{{Desk: countersign.Bank}, {Complaint: countersign.OtherReason}, {Reason: countersign.ShadowMode}, {Recommendation: "reject"}} {
				counts, err := s.QueueCounts(ctx, f)
				if n, counted := counts.Status[countersign.Closed]; err != nil || counted {
					t.Errorf("under %+v there are %d, %v", f, n, err)
				}
			}
		})
		t.Run("come latest first, page by page", func(t *testing.T) {
			ids := list(t, s.View, closed)
			if len(ids) != store.MostCounted+5 {
				t.Fatalf("%d are listed", len(ids))
			}
			last := time.Time{}
			for i, id := range []string{ids[0], ids[1], ids[399], ids[400], ids[len(ids)-1]} {
				c, err := s.Case(ctx, countersign.CaseID(id))
				if err != nil || i > 0 && !c.UpdatedAt.Before(last) {
					t.Errorf("number %d is of %v, after one of %v (%v)", i, c.UpdatedAt, last, err)
				}
				last = c.UpdatedAt
			}
		})
		t.Run("are neither due nor raised nor held", func(t *testing.T) {
			for _, f := range []store.Filter{{Due: store.Undated}, {Raised: true}, {Unraised: true}, {Holder: "usr_1"}, {Open: true}, {ForPerson: true}} {
				f.Status, f.Limit = countersign.Closed, 10
				if got := list(t, s.View, f); got != nil {
					t.Errorf("%+v lists %q", f, got)
				}
			}
		})
	})
}

// Going back shows the pages that were shown, whatever is listed.
func TestThePageBefore(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		storetest.Fill(t, s, storetest.Filled{Cases: 60, Open: 23})
		for name, f := range map[string]store.Filter{"open": {Open: true}, "closed": {Status: countersign.Closed}, "all": {}, "found": {Query: "D-"}} {
			for _, limit := range []int{1, 5, 23} {
				t.Run(fmt.Sprint(name, " in pages of ", limit), func(t *testing.T) {
					f.Limit = limit
					f.After, f.Before = store.Place{}, store.Place{}
					var pages []store.Page
					for {
						p, err := s.Page(ctx, f)
						if err != nil || len(p.Cases) == 0 || (p.Before == store.Place{}) != (len(pages) == 0) {
							t.Fatalf("page %d has %d cases and before it %v, %v", len(pages), len(p.Cases), p.Before, err)
						}
						pages = append(pages, p)
						if f.After = p.Next; f.After == (store.Place{}) {
							break
						}
					}
					for i, later := range slices.Backward(pages[1:]) {
						f.After, f.Before = store.Place{}, later.Before
						p, err := s.Page(ctx, f)
						if err != nil {
							t.Fatal(err)
						}
						if diff := cmp.Diff(idsOf(pages[i]), idsOf(p)); diff != "" || (p.Before == store.Place{}) != (i == 0) || p.Next != pages[i].Next {
							t.Errorf("page %d, seen from the one behind it, lies between %v and %v (-want +got):\n%s", i, p.Before, p.Next, diff)
						}
					}
				})
			}
		}
		t.Run("is the first one where less than a page lies before", func(t *testing.T) {
			first, err := s.Page(ctx, store.Filter{Open: true, Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			three, err := s.Page(ctx, store.Filter{Open: true, Limit: 3})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Page(ctx, store.Filter{Open: true, Limit: 5, Before: three.Next})
			if diff := cmp.Diff(first, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	})
}

func idsOf(p store.Page) (ids []countersign.CaseID) {
	for _, c := range p.Cases {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestEarlierCases(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		s := open(t, database)
		day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		for i, id := range []countersign.CaseID{"D-3", "D-1", "D-4", "D-2"} {
			c := queued(id)
			c.OpenedAt = day.AddDate(0, 0, i)
			if id == "D-4" {
				c.Status = countersign.Closed
			}
			shelve(t, s, c)
		}
		other := queued("D-5")
		other.CustomerID = "C2"
		shelve(t, s, other)
		got, err := s.EarlierCases(ctx, countersign.Case{ID: "D-1", CustomerID: "C1"}, 2)
		if len(got) != 2 || err != nil || got[0].ID != "D-2" || got[1].ID != "D-4" {
			t.Errorf("got %v, %v, want D-2 and D-4", got, err)
		}
		if got, err := s.EarlierCases(ctx, countersign.Case{ID: "D-5", CustomerID: "C2"}, 2); len(got) != 0 || err != nil {
			t.Errorf("a customer with one case has %v besides, %v", got, err)
		}
	})
}
