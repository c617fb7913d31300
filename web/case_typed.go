package web

import (
	"slices"
	"strings"

	"countersign"
	"countersign/auth"
)

// typedPanel is what people typed in about a case, and where a person types in more.
type typedPanel struct {
	Facts []typedLine
	Kinds []picked
	Add   string // where to; empty when this reader may not, or nobody any more
	Today string // the latest day that can be given
	Form  typedForm
	Wrong map[string]string
}

// typedLine is one typed-in fact. Its text and reference are somebody's words.
type typedLine struct {
	Number                            int // from 1, for who hears the page
	Kind, Text, Reference, By, Remove string
	On                                string
	Amount                            *amount
	Typed                             moment
}

// typedForm is what was typed, when it was not taken.
type typedForm struct{ Text, On, Amount, Currency, Reference string }

// typed is nil at a desk that takes no typed-in facts, and where there are none and none can be added.
func (v *visit) typed(f *file) *typedPanel {
	on := "/cases/" + string(f.ID) + "/typed"
	p := &typedPanel{Today: v.now.In(v.zone).Format("2006-01-02"), Form: typedForm{Currency: f.Amount.Currency}}
	if f.Status == countersign.InReview && v.may(auth.Decide) && len(f.desk.Typed) > 0 {
		p.Add = on
	}
	for _, fact := range f.typed {
		line := typedLine{Number: len(p.Facts) + 1, On: spelledDay(fact.On), Kind: f.typedKind(fact.Kind), Text: legible(fact.Text), Reference: legible(fact.Reference), By: f.actor(fact.TypedBy), Typed: v.moment(fact.TypedAt)}
		if fact.Amount != nil {
			m := money(*fact.Amount)
			line.Amount = &m
		}
		if p.Add != "" {
			line.Remove = on + "/" + fact.ID + "/remove"
		}
		p.Facts = append(p.Facts, line)
	}
	for _, kind := range f.desk.Typed {
		p.Kinds = append(p.Kinds, picked{Value: string(kind.Name), Title: kind.Title})
	}
	if p.Add == "" && len(p.Facts) == 0 {
		return nil
	}
	return p
}

func (f *file) typedKind(name countersign.TypedKind) string {
	for _, kind := range f.desk.Typed {
		if kind.Name == name {
			return kind.Title
		}
	}
	return plain(string(name))
}

// tightens reports whether a rule reads facts of that kind: then what was judged without one must be judged again.
func (f *file) tightens(name countersign.TypedKind) bool {
	for _, kind := range f.desk.Typed {
		if kind.Name == name {
			return kind.Tightens
		}
	}
	return false
}

// postTyped adds what a person knows to a case.
func postTyped(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	act, err := v.act(v.form("revision"))
	if err != nil {
		return err
	}
	fact, err := v.typedFact()
	if err == nil {
		_, err = v.Review.AddTypedFact(v.r.Context(), act, fact)
	}
	if err != nil {
		return v.notAdded(err, func(f *file) bool { return f.holds(fact, act.Actor) }, func(f *file, p *caseScreen, field, why string) {
			if p.Typed == nil || p.Typed.Add == "" {
				p.Wrong, p.Lost = why, v.sentFact(f)
			} else {
				p.Typed.Wrong, p.Typed.Form = map[string]string{field: why}, typedForm{v.r.PostFormValue("text"), v.form("on"), v.form("amount"), v.form("currency"), v.form("reference")}
				for i := range p.Typed.Kinds {
					p.Typed.Kinds[i].Current = p.Typed.Kinds[i].Value == string(fact.Kind)
				}
			}
		})
	}
	return v.back("/cases/"+string(act.Case)+"#typed", "It is on the case, as yours. No recommendation rests on it.")
}

// sentFact is what was typed, for a case that takes no more of it.
func (v *visit) sentFact(f *file) (all []typedText) {
	amount := v.form("amount")
	if amount != "" {
		amount += " " + v.form("currency")
	}
	for _, field := range []typedText{{"kind", "What it is about", f.typedKind(countersign.TypedKind(v.form("kind")))}, {"text", "What you know", v.r.PostFormValue("text")}, {"on", "On", v.form("on")},
		{"amount", "Amount", amount}, {"reference", "Reference", v.r.PostFormValue("reference")}} {
		if strings.TrimSpace(field.Text) != "" {
			all = append(all, field)
		}
	}
	return all
}

// typedFact reads what was typed.
func (v *visit) typedFact() (countersign.TypedFact, error) {
	f := countersign.TypedFact{Kind: countersign.TypedKind(v.form("kind")), Text: v.form("text"), On: v.form("on"), Reference: v.form("reference")}
	if v.form("amount") == "" {
		return f, nil
	}
	m, err := countersign.ParseMoney(v.form("amount"), strings.ToUpper(v.form("currency")))
	if err != nil {
		return f, countersign.Errorf(countersign.Invalid, "“%s %s” is no amount; expected one such as 149.00 and USD", clip(v.form("amount")), clip(v.form("currency"))).In("amount")
	}
	f.Amount = &m
	return f, nil
}

// holds reports whether that fact is on the case, typed by that person: then it was sent twice.
func (f *file) holds(fact countersign.TypedFact, by countersign.Actor) bool {
	return slices.ContainsFunc(f.typed, func(on countersign.TypedFact) bool {
		return on.TypedBy == by.String() && on.Kind == fact.Kind && on.Text == fact.Text && on.On == fact.On && on.Reference == fact.Reference &&
			(on.Amount == nil) == (fact.Amount == nil) && (on.Amount == nil || *on.Amount == *fact.Amount)
	})
}

// postRemoveTyped takes a typed-in fact back.
func postRemoveTyped(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	act, err := v.act(v.form("revision"))
	if err != nil {
		return err
	}
	if _, err := v.Review.RemoveTypedFact(v.r.Context(), act, v.r.PathValue("fact")); err != nil {
		return v.notAdded(err, nil, func(_ *file, p *caseScreen, _, why string) { p.Wrong = why })
	}
	return v.back("/cases/"+string(act.Case)+"#typed", "It was taken back. The record keeps what it said.")
}
