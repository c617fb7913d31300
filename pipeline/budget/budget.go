// Package budget says whether a model may be asked once more: how much a case and a day may use up, in tokens and in money, and what
// they have used. It is pure: what was used, and by when, are arguments.
//
// A day is a day of UTC. What a call will use is known only after it, so a budget is kept before the call as far as a low estimate of
// its request reaches, and counted after it: it can be passed by what was being asked at the same moment, and by nothing else.
package budget

import (
	"fmt"
	"strings"

	"countersign"
)

// Limit is how much may be used. A zero field sets no limit.
type Limit struct {
	Tokens int64              `json:"tokens,omitempty"`
	Money  *countersign.Money `json:"-"`
}

// None reports whether nothing is limited.
func (l Limit) None() bool { return l.Tokens == 0 && l.Money == nil }

// Budgets are all limits of an installation.
type Budgets struct {
	Case  Limit                          // each case, over all its rounds
	Day   Limit                          // all cases of a day
	Desks map[countersign.DeskName]Limit // all cases of one desk on a day
}

// Money reports whether any limit is in money.
func (b Budgets) Money() bool {
	limited := b.Case.Money != nil || b.Day.Money != nil
	for _, l := range b.Desks {
		limited = limited || l.Money != nil
	}
	return limited
}

// Used is what was used, or will be by a call.
type Used struct {
	Tokens int64
	Costs  countersign.Costs
}

// Plus is both together.
func (u Used) Plus(more Used) Used {
	return Used{countersign.AddCounts(u.Tokens, more.Tokens), u.Costs.Plus(more.Costs)}
}

// Before is what had been used before a call.
type Before struct {
	Case Used
	Day  Used // by every desk
	Desk Used // by the desk of the case, on this day
}

// Spent says in a sentence which budget has no room for a call, and is empty when there is room. The narrowest budget is named: it
// is the one that somebody would have to change first.
func (b Budgets) Spent(desk countersign.DeskName, before Before, call Used) string {
	for _, one := range []struct {
		whose string
		limit Limit
		used  Used
	}{
		{"this case's budget for models", b.Case, before.Case},
		{fmt.Sprintf("today's budget for models at the %s desk", desk), b.Desks[desk], before.Desk},
		{"today's budget for models", b.Day, before.Day},
	} {
		if over := one.limit.over(one.used, call); over != "" {
			return fmt.Sprintf("%s of %s", one.whose, over)
		}
	}
	return ""
}

// over is what is left, or is spent, of a limit that has no room for a call; empty when it has.
func (l Limit) over(used, call Used) string {
	if l.Tokens > 0 && full(used.Tokens, call.Tokens, l.Tokens) {
		return fmt.Sprintf("%s tokens %s", count(l.Tokens), spent(used.Tokens, l.Tokens))
	}
	if l.Money == nil {
		return ""
	}
	currency, limit := l.Money.Currency, l.Money.Cost().Micro
	cost := call.Costs.In(currency).Micro
	if u := used.Costs.In(currency).Micro; cost > 0 && full(u, cost, limit) { // a model that costs nothing needs no money
		return fmt.Sprintf("%s %s", l.Money, spent(u, limit))
	}
	return ""
}

// full reports whether a limit is reached already, or would be passed.
func full(used, call, limit int64) bool {
	return used >= limit || countersign.AddCounts(used, call) > limit
}

func spent(used, limit int64) string {
	if used >= limit {
		return "is spent"
	}
	return "has no room for another call"
}

// count is a number with commas between its thousands.
func count(n int64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
