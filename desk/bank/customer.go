package bank

import (
	"context"
	"slices"

	"countersign"
	"countersign/store"
)

// profileShown is the result of get_customer_profile. Contact details are not shown, only that there are some.
type profileShown struct {
	Name          string       `json:"name"` // shortened
	HomeCity      any          `json:"home_city"`
	HomeCountry   any          `json:"home_country"`
	JoinedAt      string       `json:"joined_at"`
	Flagged       bool         `json:"flagged"`
	Flags         []any        `json:"flags"`
	EmailOnRecord bool         `json:"email_on_record"`
	PhoneOnRecord bool         `json:"phone_on_record"`
	Account       accountShown `json:"account"`
}

// profile is get_customer_profile.
func (r reader) profile(ctx context.Context) (any, error) {
	account, err := r.account(ctx)
	if err != nil {
		return nil, err
	}
	c, err := r.view.Customer(ctx, account.CustomerID)
	if err != nil {
		return nil, err
	}
	return profileShown{
		Name: shortName(c.Name), HomeCity: word(c.HomeCity), HomeCountry: word(c.HomeCountry), JoinedAt: when(c.JoinedAt),
		Flagged: len(c.Flags) > 0, Flags: each(c.Flags, word), EmailOnRecord: c.Email != "", PhoneOnRecord: c.Phone != "",
		Account: shownAccount(account),
	}, nil
}

// How many other disputes are read, and how many of them a result lists.
const (
	mostRead   = 200
	mostListed = 20
)

// historyShown is the result of get_customer_history, this case left out.
type historyShown struct {
	Cases          []caseShown `json:"cases"` // open ones first
	CasesNotListed int         `json:"cases_not_listed"`
	Open           int         `json:"open"`
	Closed         int         `json:"closed"`
	SameSubject    int         `json:"about_this_transaction"`
	Complete       bool        `json:"complete"` // false when there are more than were read, and the counts are too low
}

// caseShown is one other dispute. What the customer wrote then and what was thought of it are left out.
type caseShown struct {
	ID            string                    `json:"id"`
	TransactionID string                    `json:"transaction_id"`
	Reason        countersign.DisputeReason `json:"reason"`
	amount
	Status   countersign.Status  `json:"status"`
	Outcome  countersign.Outcome `json:"outcome"`
	OpenedAt string              `json:"opened_at"`
}

// history is get_customer_history.
func (r reader) history(ctx context.Context) (any, error) {
	account, err := r.account(ctx)
	if err != nil {
		return nil, err
	}
	cases, rest, err := r.view.Cases(ctx, store.Filter{Desk: r.c.Desk, CustomerID: account.CustomerID, Limit: mostRead})
	if err != nil {
		return nil, err
	}
	cases = slices.DeleteFunc(cases, func(c countersign.Case) bool { return c.ID == r.c.ID })
	s := historyShown{Complete: rest == store.Place{}}
	for _, c := range cases {
		s.count(r.c, c)
	}
	listed, left := firstOf(cases, mostListed)
	s.Cases, s.CasesNotListed = each(listed, shownCase), left
	return s, nil
}

func (s *historyShown) count(this, other countersign.Case) {
	if other.Status == countersign.Closed {
		s.Closed++
	} else {
		s.Open++
	}
	if other.Subject == this.Subject {
		s.SameSubject++
	}
}

func shownCase(c countersign.Case) caseShown {
	return caseShown{string(c.ID), c.Subject.ID, c.Reason, shownAmount(c.Amount), c.Status, c.Outcome, instant(c.OpenedAt)}
}
