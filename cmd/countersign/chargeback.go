package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"countersign"
	"countersign/app"
	"countersign/desk/merchant"
	"countersign/desk/merchant/connector"
)

// warn says on standard error what whoever typed a chargeback can mend, and the case cannot say well: it is there, with its
// deadline, whatever is missing.
func (c investigateCommand) warn(s *session, a *app.App) error {
	if c.Desk != string(countersign.Merchant) {
		return nil
	}
	if doubt := doubtful(countersign.Terms{Network: c.Network, ReasonCode: c.ReasonCode}); doubt != "" {
		fmt.Fprintln(s.err, doubt)
	}
	versions, err := a.Setup.Versions(s)
	if err == nil && len(versions) == 0 {
		fmt.Fprintln(s.err, "no shop is connected, so no order can be read and a person decides without one: countersign mapping apply FILE connects it, or the dashboard, Settings, The shop's database; then investigate the case again")
	}
	return err
}

// doubtful says what is not known here of a network and its code, and is empty when both are known or none was given. A name that is
// not known may be a provider's, so it is taken.
func doubtful(t countersign.Terms) string {
	known := slices.ContainsFunc(merchant.Networks(), func(name string) bool { return strings.EqualFold(name, t.Network) })
	switch {
	case t.Network == "" && t.ReasonCode == "", merchant.NameOf(t) != "", known && t.ReasonCode == "":
		return ""
	case t.Network == "":
		return fmt.Sprintf("--reason-code %q says nothing without its --network: the case is worked without a category", t.ReasonCode)
	case known:
		return fmt.Sprintf("--reason-code %q of %s is not known here: the case is worked without a category", t.ReasonCode, t.Network)
	}
	meant := ""
	if near := nearest(t.Network, merchant.Networks()); near != "" {
		meant = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return fmt.Sprintf("--network %q: its reason codes are not known here%s: the case is worked without a category", t.Network, meant)
}

// nearest is the name that a typed one was most likely meant to be, empty when none is like it.
func nearest(typed string, names []string) (found string) {
	least := 3
	for _, name := range names {
		if far := connector.Distance(strings.ToLower(typed), name); far < least {
			found, least = name, far
		}
	}
	return found
}

// orderMissing says that the shop answered and has no such order, which is a slip of the pen more often than anything else.
func orderMissing(w io.Writer, c countersign.Case) {
	if slices.ContainsFunc(c.Verdict.Reasons, func(r countersign.Reason) bool { return r.Code == countersign.OrderNotFound }) {
		fmt.Fprintf(w, "the shop has no order %q: check its id or number; case %s is kept, and a person decides\n", c.Subject.ID, c.ID)
	}
}
