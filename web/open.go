package web

import (
	"net/http"

	"countersign"
	"countersign/answer"
	"countersign/desk/bank/records"
	"countersign/pipeline/intake"
	"countersign/store"
)

// openScreen finds a transaction and opens a dispute about it.
type openScreen struct {
	Query      string
	Found      []foundLine
	FoundText  string
	Chosen     *foundLine
	Complaints []picked
	Notes      string
	Channel    string
	Wrong      string
}

// Searched is what was searched for, to be read.
func (p openScreen) Searched() string { return legible(p.Query) }

type foundLine struct {
	ID, Customer, Account, Status string
	When                          moment
	Amount                        amount
	PaidTo                        cell
	OpenCase                      string
}

// mostFound is how many transactions a look-up lists.
const mostFound = 25

func openForm(v *visit) error {
	p := openScreen{Query: v.r.URL.Query().Get("q"), Channel: "phone"}
	if id := v.r.URL.Query().Get("transaction"); id != "" {
		return v.showChosen(http.StatusOK, p, id)
	}
	return v.showLookup(http.StatusOK, p)
}

func (v *visit) showLookup(status int, p openScreen) error {
	found, more, err := v.Store.FindTransactions(v.r.Context(), clipQuery(p.Query), mostFound)
	if err != nil {
		return err
	}
	for _, t := range found {
		p.Found = append(p.Found, v.foundLine(t))
	}
	p.FoundText = many(len(found), "transaction, latest first", "transactions, latest first")
	if more {
		p.FoundText = "The latest " + many(len(found), "transaction", "transactions") + "; there are more. Type more of what you know."
	}
	return v.show(status, "open", screen{Title: "Open a dispute", Section: "Open a dispute", Page: p})
}

// clipQuery keeps what is looked up to the length of anything that could be found.
func clipQuery(q string) string {
	if len(q) > 200 {
		return q[:200]
	}
	return q
}

func (v *visit) foundLine(t store.FoundTransaction) foundLine {
	l := foundLine{ID: t.ID, Customer: legible(t.Customer.Name), Account: records.Mask(t.Account.Number), Status: plain(t.Status), When: v.when(t.OccurredAt),
		Amount: money(t.Amount()), PaidTo: cell{Text: legible(t.CounterpartyName), By: "the other party"}}
	if t.Merchant != "" {
		l.PaidTo = cell{Text: legible(t.Merchant), By: "the merchant"}
	}
	if len(t.Open) > 0 {
		l.OpenCase = string(t.Open[0].ID)
	}
	return l
}

// showChosen asks what the customer says about one transaction.
func (v *visit) showChosen(status int, p openScreen, id string) error {
	found, _, err := v.Store.FindTransactions(v.r.Context(), clipQuery(id), mostFound)
	if err != nil {
		return err
	}
	for _, t := range found {
		if t.ID == id {
			line := v.foundLine(t)
			p.Chosen = &line
		}
	}
	if p.Chosen == nil {
		p.Query, p.Wrong = id, "There is no transaction with that id."
		return v.showLookup(http.StatusNotFound, p)
	}
	chosen := v.form("reason")
	for _, r := range countersign.DisputeReasons {
		p.Complaints = append(p.Complaints, picked{Value: string(r), Title: capital(complaint(r)), Current: string(r) == chosen})
	}
	return v.show(status, "open", screen{Title: "Open a dispute", Section: "Open a dispute", Page: p})
}

// postOpen opens a dispute by the same way as every other channel. The same dispute again leads to the case that is open.
func postOpen(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	id := v.form("transaction_id")
	opened, err := v.Intake.Open(v.r.Context(), v.Desks[countersign.Bank].Desk, v.who.Actor, intake.Request{SubjectID: id,
		Reason: countersign.DisputeReason(v.form("reason")), Notes: lineEnds.Replace(v.r.PostFormValue("notes")), Channel: v.form("channel")})
	switch e := answer.Told(err); {
	case e != nil && e.Kind != countersign.Unavailable:
		p := openScreen{Query: v.form("q"), Notes: v.r.PostFormValue("notes"), Channel: v.form("channel"), Wrong: sentence(e)}
		return v.showChosen(answer.Status(e.Kind), p, id)
	case err != nil:
		return err
	case !opened.Created:
		return v.back("/cases/"+string(opened.Case.ID), "This dispute was open already.")
	}
	return v.back("/cases/"+string(opened.Case.ID), "The dispute is open, and its investigation begins.")
}
