package connector

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"countersign"
	"countersign/desk/merchant/shop"
)

// A zone says how a time that names none is to be read: in a place, as counted seconds, or, the zero zone, not at all.
type zone struct {
	place    *time.Location
	counted  time.Duration  // what 1 stands for
	calendar *time.Location // in which the shop says what day it is, nil where that is not known
}

var offset = regexp.MustCompile(`^[+-](0\d|1[0-4]):[0-5]\d$`)

// zoneOf reads what a mapping says. "Local" would be the zone of this machine, which says nothing about the shop.
func zoneOf(name string) (zone, error) {
	switch {
	case name == "":
		return zone{}, nil
	case name == "unix":
		return zone{place: time.UTC, counted: time.Second}, nil
	case name == "unix_ms":
		return zone{place: time.UTC, counted: time.Millisecond}, nil
	case offset.MatchString(name):
		t, err := time.Parse("-07:00", name)
		return zone{place: t.Location(), calendar: t.Location()}.unlessUTC(name), err
	}
	place, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return zone{}, fmt.Errorf("%q is not a time zone", shown(name))
	}
	return zone{place: place, calendar: place}.unlessUTC(name), nil
}

// utc are the names of the zone in which programs keep times wherever their shop is.
var utc = regexp.MustCompile(`(?i)^(?:Etc/)?(?:UTC|UCT|GMT|GMT[+-]?0|Greenwich|Universal|Zulu)$|^Z$|^[+-]00(?::?00)?$`)

// unlessUTC is a zone without a calendar when it says no more than how times are kept: an order of 31 October in New York is kept as
// one of 1 November.
func (z zone) unlessUTC(name string) zone {
	if utc.MatchString(name) {
		z.calendar = nil
	}
	return z
}

// day is the day of a moment on the shop's own calendar: a bare date is one, and a time with an offset says it where nothing else
// does, unless that is how a program or our own session writes every time.
func (z zone) day(w countersign.When, text string) string {
	at, exact := w.Instant()
	switch part := stamp.FindStringSubmatch(text); {
	case !exact:
		return w.String()
	case z.calendar != nil:
		return at.In(z.calendar).Format(time.DateOnly)
	case part != nil && part[3] != "" && !utc.MatchString(part[3]):
		return part[1]
	}
	return ""
}

// stamp is a date, a time of day and a zone, each of the last two if it is there. Databases write these forms; people write
// others, in which 05/06 may be two dates.
var stamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))? ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$`)

// noDate begins MySQL's zero date. With it, with nothing and with a count of 0 shops say "not yet": see unset.
const noDate = "0000-00-00"

// momentOf reads a cell that holds a time. kind is what the column's type says of the zone.
func momentOf(text string, kind family, z zone) shop.Moment {
	m := shop.Moment{Text: text}
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, noDate) || text == "0" && z.counted != 0 {
		return m
	}
	read := z
	if kind == instant {
		read = zone{place: time.UTC} // the session's zone, in which the database writes these, is ours to choose
	}
	m.When, m.Problem = read.read(text)
	m.Day = z.day(m.When, text)
	return m
}

func (z zone) read(text string) (countersign.When, string) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return z.count(n, text)
	}
	part := stamp.FindStringSubmatch(text)
	if part == nil {
		return countersign.When{}, fmt.Sprintf("%q is not a time in a form that is understood, such as 2026-05-13 16:12:08", shown(text))
	}
	date, clock, offset := part[1], part[2], part[3]
	switch {
	case clock == "" && offset == "":
		return checked(date)
	case clock == "":
		return countersign.When{}, fmt.Sprintf("%q has a zone and no time of day", shown(text))
	case strings.Count(clock, ":") == 1:
		clock += ":00"
	}
	if offset == "" {
		return z.local(date + "T" + clock)
	}
	return checked(date + "T" + clock + rfc3339(offset))
}

// count reads a number of seconds, when the mapping says that times are counted.
func (z zone) count(n int64, text string) (countersign.When, string) {
	if z.counted == 0 {
		return countersign.When{}, fmt.Sprintf("%q is a number: set the zone of the mapping to unix or unix_ms if it counts from 1970", shown(text))
	}
	t := time.Unix(n, 0)
	if z.counted == time.Millisecond {
		t = time.UnixMilli(n)
	}
	return checked(t.UTC().Format(time.RFC3339Nano))
}

// unzoned is how the problem of a time begins that is there, and in a zone that nobody named.
const unzoned = "nobody has said in which time zone"

// local reads a time of the mapping's zone. Twice a year it may name no moment, or two.
func (z zone) local(text string) (countersign.When, string) {
	const form = "2006-01-02T15:04:05.999999999"
	if z.place == nil {
		return countersign.When{}, fmt.Sprintf(unzoned+" %q is", text)
	}
	t, err := time.ParseInLocation(form, text, z.place)
	switch {
	case err != nil:
		return countersign.When{}, fmt.Sprintf("%q is not a time", text)
	case t.Format(form[:19]) != text[:19]:
		return countersign.When{}, fmt.Sprintf("%q was skipped in %s when the clocks went forward", text, z.place)
	case t.Add(time.Hour).Format(form) == t.Format(form) || t.Add(-time.Hour).Format(form) == t.Format(form):
		return countersign.When{}, fmt.Sprintf("%q happened twice in %s when the clocks went back", text, z.place)
	}
	return checked(t.UTC().Format(time.RFC3339Nano))
}

// checked refuses days and years that cannot be.
func checked(text string) (countersign.When, string) {
	w, err := countersign.ParseWhen(text)
	if err != nil {
		return countersign.When{}, fmt.Sprintf("%q is not a date that can be", shown(text))
	}
	return w, ""
}

// rfc3339 is an offset as RFC 3339 writes it: PostgreSQL leaves the minutes out when they are zero.
func rfc3339(offset string) string {
	switch {
	case offset == "Z" || offset == "UTC":
		return "Z"
	case len(offset) == 3:
		return offset + ":00"
	case len(offset) == 5:
		return offset[:3] + ":" + offset[3:]
	}
	return offset
}
