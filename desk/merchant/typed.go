package merchant

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"countersign"
	"countersign/desk"
	"countersign/desk/merchant/report"
	"countersign/desk/merchant/rules"
)

// typedKinds are the kinds of facts that a person may type in, in the order in which a merchant misses them most.
var typedKinds = []desk.TypedKind{
	{Name: rules.TypedDelivery, Title: "A delivery"},
	{Name: rules.TypedPayment, Title: "A payment"},
	{Name: rules.TypedRefund, Title: "A refund", Tightens: true},
	{Name: rules.TypedReturn, Title: "A return", Tightens: true},
	{Name: rules.TypedOther, Title: "Something else"},
}

// tightening are the typed-in facts that a rule reads. The others stand in the report alone: they change nothing that was judged, so
// what was recommended before they were typed still counts.
func (r reader) tightening(ctx context.Context) (typed []countersign.TypedFact, err error) {
	all, err := r.view.TypedFacts(ctx, r.c.ID)
	for _, f := range all {
		if f.Kind == rules.TypedRefund || f.Kind == rules.TypedReturn {
			typed = append(typed, f)
		}
	}
	return typed, err
}

// typedExhibits are what people typed in, after so many other exhibits: one for each, with who and when. Names are those of people.
func typedExhibits(typed []countersign.TypedFact, after int, names map[string]string) []report.Exhibit {
	all := []report.Exhibit{}
	for i, f := range typed {
		amount := ""
		if f.Amount != nil {
			amount = f.Amount.String()
		}
		by := countersign.ParseActor(f.TypedBy)
		all = append(all, report.Exhibit{ID: fmt.Sprintf("E%d", after+i+1), Title: titleOfKind(f.Kind), TypedBy: cmp.Or(names[by.ID], by.ID), ReadAt: report.At(f.TypedAt),
			Columns: []report.Column{textColumn("Stated"), timeColumn("On"), idColumn("Reference"), amountColumn("Amount")},
			Rows:    [][]string{{f.Text, f.On, f.Reference, amount}}})
	}
	return all
}

// states reports whether an exhibit is what a fact of that source rests on: "typed_refund typed_1, typed_2".
func states(e report.Exhibit, source string) bool {
	kind, typed := strings.CutPrefix(source, "typed_")
	kind, _, _ = strings.Cut(kind, " ")
	return typed && e.TypedBy != "" && e.Title == titleOfKind(countersign.TypedKind(kind))
}

func titleOfKind(kind countersign.TypedKind) string {
	for _, k := range typedKinds {
		if k.Name == kind {
			return k.Title
		}
	}
	return string(kind) // unreachable unless a kind was taken off the list
}

// onWordAlone refuses a contest that would offer an issuer nothing but what somebody typed in.
func onWordAlone(outcome countersign.Outcome, content report.Content) error {
	typed := 0
	for _, e := range content.Exhibits {
		switch {
		case e.TypedBy != "":
			typed++
		case len(e.Rows) > 0:
			return nil
		}
	}
	if outcome != countersign.Contested || typed == 0 || len(content.Attachments) > 0 {
		return nil
	}
	return countersign.Errorf(countersign.Unprocessed, "a contest cannot rest on typed-in facts alone, and no record of this order and no file is in the report beside them").
		In("outcome").Try("add a file that shows it, such as the carrier's proof of delivery, leave the record in, or take the typed-in facts back")
}
