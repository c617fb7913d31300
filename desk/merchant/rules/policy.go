package rules

import (
	"strings"

	"countersign"
)

// policyRules hold a clause to the day of the order: terms that were written later do not bind who bought before. The library
// hands over the versions that were in force on that day, and later ones only when there was none. The day is the shop's own; where
// its zone is not known, the library was asked for the last day that it may have been.
func policyRules(in Input) []finding {
	const name = "policy_in_force"
	first, last := in.Records.Order.All[0].PlacedAt.Days()
	switch {
	case in.Library != "":
		return []finding{unknown(name, in.Library, "library")}
	case len(in.Policies) == 0:
		return []finding{absent(name, "", "library")}
	}
	late, open := since(in.Policies, first, last)
	switch f := present(name, titles(in.Policies), "library"); {
	case last == "" && len(open) > 0:
		return []finding{unknown(name, titles(in.Policies), "library").
			cannotTell("The day of the order is not known, so which version of a policy bound it is not known either.")}
	case len(late) > 0:
		f.fact.State = countersign.Absent
		return []finding{f.because(countersign.PolicyNewerThanOrder, "The order was placed %s, before these came into force: %s.", onDay(first, last), strings.Join(late, ", "))}
	case len(open) > 0:
		return []finding{unknown(name, titles(in.Policies), "library").
			cannotTell("The order was placed %s, for the shop's time zone is not known, and these came into force meanwhile: %s.", onDay(first, last), strings.Join(open, ", "))}
	default:
		return []finding{f} // undated versions were always in force
	}
}

// since lists the versions that came into force after a day, and those of which it depends on which day it was: for all that have a
// day it does when nothing is known. A policy counts from the first moment of its day.
func since(policies []Policy, first, last string) (late, open []string) {
	for _, p := range policies {
		title := strings.TrimSpace(printable(p.Title) + " " + printable(p.Version))
		switch from := p.ValidFrom.String(); {
		case from == "":
		case last == "", from > first && from <= last:
			open = append(open, title)
		case from > last:
			late = append(late, title)
		}
	}
	return late, open
}

func onDay(first, last string) string {
	if first == last {
		return "on " + first
	}
	return "between " + first + " and " + last
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
