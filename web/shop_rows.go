package web

import (
	"fmt"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/desk/merchant/shop"
)

// rowsScreen shows rows of the shop as the product reads them, for a person to say whether that is what they are.
type rowsScreen struct {
	shopStep
	Name   string
	Server string
	Kinds  []rowsOf
	Slow   []string
	Lost   []string // rows that lead to no order
	Absent []string // what follows from kinds of record that no table was chosen for
	Shared string   // refunds with the same reference, empty when there are none
	Doubts int      // rows with something that could not be read, or whose status means nothing yet
}

type rowsOf struct {
	Kind, Title, Table string
	Rows               []readRow
	Money              bool   // they have amounts
	Judged             bool   // they have a status that means something
	More               string // what else is shown of each, empty when nothing is
}

// readRow is one row. What the shop wrote is other people's words; what it means is ours.
type readRow struct {
	Order, ID, Status, More, Meaning, Problem string
	Doubt                                     bool
	Amount                                    amount
	When                                      moment
}

func showRows(w *wizard, status int, p shopStep) error {
	trial, err := setup.Try(w.r.Context(), w.draft.Mapping)
	if err != nil {
		return err
	}
	screen := rowsScreen{shopStep: p, Name: w.draft.Mapping.Name, Server: legible(trial.Rights.Server), Slow: trial.Slow, Shared: stopped(capital(trial.Shared))}
	for _, lost := range trial.Lost {
		screen.Lost = append(screen.Lost, stopped(capital(legible(lost))))
	}
	screen.Absent = absentOf(w.draft.Mapping)
	if w.r.Method == "POST" {
		screen.Name = w.form("name")
	}
	for _, k := range w.draft.Mapping.Kinds() {
		of := w.rowsOf(k, w.draft.Mapping.Entities[k], setup.Lines(k, trial.Rows[k]))
		screen.Kinds, screen.Doubts = append(screen.Kinds, of), screen.Doubts+of.doubts()
	}
	return w.draw(status, w.template, screen)
}

func absentOf(m connector.Mapping) (all []string) {
	for _, k := range connector.Kinds {
		if without := setup.Without(m, k); without != "" {
			all = append(all, stopped(capital(without)))
		}
	}
	return all
}

func (v *visit) rowsOf(k connector.Kind, e connector.Entity, lines []setup.Line) rowsOf {
	of := rowsOf{Kind: string(k), Title: kindTitles[k], Table: legible(e.Table), Money: e.Columns[k.Amount()] != "", Judged: k != connector.Order}
	for _, l := range lines {
		row := v.readRow(l)
		of.Rows = append(of.Rows, row)
		if row.More != "" {
			of.More = moreTitles[k]
		}
	}
	return of
}

// moreTitles say what else is shown of a row.
var moreTitles = map[connector.Kind]string{connector.Order: "Number", connector.Payment: "Reference", connector.Fulfillment: "Carrier and tracking",
	connector.Refund: "Reference", connector.Return: "Reason"}

func (of rowsOf) doubts() (n int) {
	for _, r := range of.Rows {
		if r.Doubt {
			n++
		}
	}
	return n
}

func (v *visit) readRow(l setup.Line) readRow {
	r := readRow{Order: legible(l.Order), ID: legible(l.ID), Status: legible(l.Status), More: legible(l.More), Problem: capital(legible(l.Problem())), Meaning: meanings[string(l.Meaning)]}
	r.Doubt = r.Problem != "" || l.Meaning == shop.Unseen
	if l.Amount.Money != nil {
		r.Amount = money(*l.Amount.Money)
	} else {
		r.Amount = amount{Figures: legible(l.Amount.Text)}
	}
	if l.When.When.IsZero() {
		r.When = moment{}
	} else {
		r.When = v.when(l.When.When)
	}
	return r
}

// answerRows saves the mapping as a new version, confirmed by whoever looked at the rows.
func answerRows(w *wizard) error {
	if w.form("right") == "" {
		return countersign.Errorf(countersign.Invalid, "Nothing is saved before somebody says that the rows are read rightly.").Try("Compare them with the shop; where they are not, go back to the question they are about")
	}
	m := w.draft.Mapping
	m.Name = w.form("name")
	if wrong := m.Faults(); len(wrong) > 0 {
		return wrong[0]
	}
	if _, err := setup.Try(w.r.Context(), m); err != nil { // the shop may have changed since the page was shown
		return err
	}
	before, _, _ := w.Setup.Latest(w.r.Context()) // one that cannot be opened leads to no copy that we could remove
	version, err := w.Setup.Save(w.r.Context(), m, w.who.Actor, w.who.Actor)
	if err != nil {
		return err
	}
	w.forget(before.Mapped.DSN)
	w.Log.InfoContext(w.r.Context(), "the shop's mapping was changed", "version", version, "person", w.who.Actor.ID)
	return w.back("/settings/shop", fmt.Sprintf("Saved as version %d. Orders are read through it from now on.", version))
}
