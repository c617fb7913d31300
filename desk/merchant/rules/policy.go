package rules

import (
	"strings"

	"countersign"
	"countersign/desk/merchant/shop"
)

// policyRules hold a clause to the day of the order: terms that were written later do not bind who bought before. The library
// hands over the versions that were in force on that day, and later ones only when there was none.
func policyRules(in Input) []finding {
	const name = "policy_in_force"
	order := in.Records.Order.All[0]
	switch {
	case in.Library != "":
		return []finding{unknown(name, in.Library, "library")}
	case len(in.Policies) == 0:
		return []finding{absent(name, "", "library")}
	}
	f := present(name, titles(in.Policies), "library")
	if placed, dated := placedOn(order); dated {
		return []finding{f.newer(in.Policies, placed)}
	}
	for _, p := range in.Policies {
		if !p.ValidFrom.IsZero() {
			return []finding{unknown(name, titles(in.Policies), "library").
				cannotTell("The day of the order is not known, so which version of a policy bound it is not known either.")}
		}
	}
	return []finding{f} // undated versions were always in force
}

// newer compares days: a policy counts from the first moment of its day.
func (f finding) newer(policies []Policy, placed string) finding {
	var late []string
	for _, p := range policies {
		if !p.ValidFrom.IsZero() && p.ValidFrom.String()[:len(placed)] > placed {
			late = append(late, p.Title+" "+p.Version)
		}
	}
	if len(late) == 0 {
		return f
	}
	f.fact.State = countersign.Absent
	return f.because(countersign.PolicyNewerThanOrder, "The order was placed on %s, before these came into force: %s.", placed, strings.Join(late, ", "))
}

func placedOn(o shop.Order) (day string, known bool) {
	s := o.PlacedAt.When.String()
	if s == "" {
		return "", false
	}
	return s[:len("2006-01-02")], true
}

func titles(policies []Policy) string {
	const most = 4
	var all []string
	for i, p := range policies {
		if i == most {
			all = append(all, "…")
			break
		}
		all = append(all, strings.TrimSpace(printable(p.Title)+" "+printable(p.Version)))
	}
	return strings.Join(all, ", ")
}
