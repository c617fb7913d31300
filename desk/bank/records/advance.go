package records

import (
	"fmt"
	"slices"

	"countersign"
)

// Advance says what a stored record becomes when the row is imported over it. The same row again changes nothing, and
// neither does a column that the row leaves out or empty: an import never erases. Status, final, dates, flags and
// descriptions may move forward; what a record is, whose it is, its amount, currency and direction never change, and what a
// duplicate is recognised by may be filled in but not changed. The error is a Problem that names both values.
func (r Row) Advance(old Record) (next Record, changed bool, err error) {
	t := tables[r.Record.Array()]
	next = t.blank()
	var refused error
	for i, c := range t.columns {
		was, now, into := c.at(old), c.at(r.Record), c.at(next)
		set(into, was)
		if r.given&(1<<i) == 0 || silent(now) || same(was, now) || c.ours(was, now) {
			continue
		}
		if why := c.refuses(was, now); why != "" && refused == nil {
			refused = r.Problem(c.name, c.show(now), c.show(was)+" as on record: "+why)
		}
		set(into, now)
		changed = true
	}
	if why := backwards(old, next); why != "" { // says more than the date that went back with it
		refused = r.Problem("status", state(next), state(old)+" as on record: "+why)
	}
	if refused != nil {
		return nil, false, refused
	}
	return next, changed, nil
}

// ours is a transaction that this product has reversed while the bank's file, written before, still calls it posted. That
// is the same row again, not news.
func (c column) ours(was, now any) bool {
	return c.name == "status" && text(was) == string(Reversed) && text(now) == string(Posted)
}

// refuses says why a column may not go from one value to another, empty when it may.
func (c column) refuses(was, now any) string {
	if c.fixed && !silent(was) {
		return c.name + " never changes"
	}
	if w, ok := was.(*countersign.When); ok && now.(*countersign.When).String() < w.String() {
		return "a date may be filled in or move forward, never back"
	}
	return ""
}

// backwards says why a status may not become the next one, empty when it may.
func backwards(old, next Record) string {
	switch next := next.(type) {
	case *Transaction:
		return next.backwards(old.(*Transaction))
	case *Settlement:
		return next.backwards(old.(*Settlement))
	}
	return ""
}

// backwards: pending may become anything; posted may still fail or be reversed; failed and reversed are the end.
func (t *Transaction) backwards(old *Transaction) string {
	if t.Status == old.Status || old.Status == Pending || old.Status == Posted && t.Status != Pending {
		return ""
	}
	return "a transaction never goes back from " + string(old.Status) + " to " + string(t.Status)
}

// backwards: what is final stays final and keeps its status, with two exceptions that rails really make: settled money is
// returned, and money that was called failed arrives after all. Both only ever take a fix away.
func (s *Settlement) backwards(old *Settlement) string {
	switch {
	case !old.Final:
		return ""
	case !s.Final:
		return "a final settlement never stops being final"
	case s.Status == old.Status, s.Status == Returned, s.Status == Settled && old.Status == SettlementFailed:
		return ""
	}
	return "a settlement that is finally " + string(old.Status) + " never becomes " + string(s.Status)
}

// state spells the status of a record, with what makes it final.
func state(r Record) string {
	switch r := r.(type) {
	case *Transaction:
		return shown(string(r.Status))
	case *Settlement:
		if r.Final {
			return shown(string(r.Status)) + " and final"
		}
		return shown(string(r.Status)) + " and not final"
	}
	return ""
}

// silent reports whether a column says nothing. False says something when the row gave it, and so does an empty list.
func silent(p any) bool {
	switch p := p.(type) {
	case *bool:
		return false
	case *[]string:
		return *p == nil
	}
	return empty(p)
}

func same(a, b any) bool {
	if a, ok := a.(*[]string); ok {
		return slices.Equal(*a, *b.(*[]string))
	}
	return text(a) == text(b)
}

func (c column) show(p any) string {
	switch p := p.(type) {
	case *string:
		return shownIn(c.name, *p)
	case *[]string:
		return fmt.Sprintf("%q", *p)
	}
	return text(p)
}

// set copies one column's value. Lists and flags are never written through, so both rows may share them.
func set(into, from any) {
	switch into := into.(type) {
	case *string:
		*into = *from.(*string)
	case *int64:
		*into = *from.(*int64)
	case *bool:
		*into = *from.(*bool)
	case **bool:
		*into = *from.(**bool)
	case *countersign.When:
		*into = *from.(*countersign.When)
	case *[]string:
		*into = *from.(*[]string)
	}
}
