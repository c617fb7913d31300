package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"countersign"
	"countersign/desk/merchant/shop"
)

// money is what went back, what is on its way, and what that is beside the amount in dispute.
type money struct {
	returned, pending total
	cover             cover
}

// cover is how much of the disputed amount went back. A yes or no is not enough: with a part returned, contesting the rest may be
// right, and so may be accepting it.
type cover string

const (
	coverUnknown cover = "unknown"
	coverNone    cover = "none"
	coverPart    cover = "part"
	coverAll     cover = "covers"
)

// refunds adds up the latest word on every refund. A refund that succeeded can fail days later, and one that failed can be tried
// again: rows with the same reference and the same amount are the same refund, and only the latest counts.
func refunds(list shop.Rows[shop.Refund], stake *countersign.Money) money {
	latest, why := latestOfEach(list.All)
	m := money{returned: total{why: why}, pending: total{why: why}}
	if why == "" {
		list.All = latest
		m.returned, m.pending = sum(list, returned), sum(list, inProgress)
	}
	m.cover = covering(m.returned, stake)
	return m
}

func returned(r shop.Refund) part   { return part{r.ID, r.Amount, r.State, shop.Returned, r.Status} }
func inProgress(r shop.Refund) part { return part{r.ID, r.Amount, r.State, shop.InProgress, r.Status} }

// latestOfEach keeps one row of each reference. Rows without a reference stand for themselves.
func latestOfEach(all []shop.Refund) (latest []shop.Refund, why string) {
	about := map[string][]shop.Refund{}
	for _, r := range all {
		if r.Reference == "" {
			latest = append(latest, r)
			continue
		}
		about[r.Reference] = append(about[r.Reference], r)
	}
	for _, reference := range slices.Sorted(maps.Keys(about)) {
		last, why := latestOf(about[reference])
		if why != "" {
			return nil, why
		}
		latest = append(latest, last)
	}
	slices.SortFunc(latest, func(a, b shop.Refund) int { return cmp.Compare(a.ID, b.ID) })
	return latest, ""
}

// latestOf is the last of the rows about one refund. Two that say different things at the same time, or at times nobody recorded,
// leave it open which one counts. Two of different amounts may be two refunds whose reference is a payment's or no more than "card":
// then the later one says nothing about the earlier, and both together nothing that could be told. Only where none of them gave
// money back does it not matter.
func latestOf(rows []shop.Refund) (shop.Refund, string) {
	last := rows[0]
	for _, r := range rows[1:] {
		if !sameAmount(r, last) && slices.ContainsFunc(rows, func(r shop.Refund) bool { return r.State != shop.NotReturned }) {
			return last, fmt.Sprintf("rows %s and %s have the reference “%s” and not the same amount, so whether they are one refund or two cannot be told.",
				printable(last.ID), printable(r.ID), printable(r.Reference))
		}
	}
	for _, r := range rows[1:] {
		switch order, known := later(r, last); {
		case known && order > 0:
			last = r
		case !known && r.State != last.State:
			return last, fmt.Sprintf("rows %s and %s are about the same refund, and which one came last is not recorded.", printable(last.ID), printable(r.ID))
		}
	}
	return last, ""
}

// later compares two rows' times; false when they do not tell them apart.
func later(a, b shop.Refund) (order int, known bool) {
	at, aKnown := a.RefundedAt.When.Instant()
	bt, bKnown := b.RefundedAt.When.Instant()
	return at.Compare(bt), aKnown && bKnown && !at.Equal(bt)
}

func sameAmount(a, b shop.Refund) bool {
	if a.Amount.Money == nil || b.Amount.Money == nil {
		return false
	}
	return *a.Amount.Money == *b.Amount.Money
}

func covering(returned total, stake *countersign.Money) cover {
	switch {
	case !returned.known():
		return coverUnknown
	case returned.money == nil:
		return coverNone
	case stake == nil || returned.money.Currency != stake.Currency:
		return coverUnknown
	case returned.money.Minor >= stake.Minor:
		return coverAll
	}
	return coverPart
}

// refundRules are the first two rules of the net, and what amounts add to them.
func refundRules(m money, stake *countersign.Money) []finding {
	return []finding{refunded(m, stake), underWay(m)}
}

func refunded(m money, stake *countersign.Money) finding {
	const name = "refund_returned"
	source := rows("refunds", m.returned.ids...)
	switch m.cover {
	case coverAll:
		return present(name, fmt.Sprintf("%s, which covers the dispute", m.returned.money), source).of(m.returned.money).against(Contest, countersign.RefundContradictsContest,
			"The records show that %s was already refunded, which covers the %s in dispute; contesting would deny it.", m.returned.money, stake)
	case coverPart:
		rest := countersign.Money{Minor: stake.Minor - m.returned.money.Minor, Currency: stake.Currency}
		return present(name, m.returned.money.String()+", a part", source).of(m.returned.money).because(countersign.PartialRefund,
			"%s of the %s in dispute was already refunded, %s was not.", m.returned.money, stake, rest)
	case coverNone:
		return absent(name, "", source).against(Accept, countersign.NoRefundContradictsAccept,
			"There is no refund on record yet, so accepting would give the money back for the first time.")
	}
	if m.returned.known() && m.returned.money != nil {
		return unknown(name, m.returned.money.String(), source).of(m.returned.money).cannotTell("A refund of %s is on record, and the dispute is in another currency or of no known amount: whether it covers it cannot be told.", m.returned.money)
	}
	return unknown(name, "", source).cannotTell("Whether money was refunded is not known: %s", m.returned.why)
}

// underWay is money that is neither here nor there: no rule may count it as returned, nor as not.
func underWay(m money) finding {
	const name = "refund_pending"
	source := rows("refunds", m.pending.ids...)
	switch {
	case !m.pending.known() && m.returned.known(): // else it is said already
		return unknown(name, "", source).cannotTell("Whether a refund is under way is not known: %s", m.pending.why)
	case !m.pending.known():
		return unknown(name, "", source)
	case m.pending.money == nil:
		return absent(name, "", source)
	}
	return present(name, m.pending.money.String(), source).of(m.pending.money).cannotTell("A refund of %s is under way, and whether it will arrive is not known.", m.pending.money)
}
