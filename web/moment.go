package web

import (
	"fmt"
	"strings"
	"time"

	"countersign"
)

// moment is a point in time as a reader in one zone sees it: a sentence and an instant. Deadlines are instants, so nothing
// here rounds to days of whatever zone the server is in.
type moment struct {
	Text string // "Tue 1 Dec 2026 17:00 WAT"
	ISO  string // for machines
	Away string // "in 23 h", "3 days ago"; empty where only a date is known
	Past bool
}

const dayAndTime = "Mon 2 Jan 2006 15:04"

func (v *visit) moment(t time.Time) moment {
	local := t.In(v.zone)
	return moment{local.Format(dayAndTime) + " " + zoneName(local), t.UTC().Format(time.RFC3339), away(t.Sub(v.now)), t.Before(v.now)}
}

// zoneName is the zone's own short name where it has one, else how far it is from UTC.
func zoneName(t time.Time) string {
	name, _ := t.Zone()
	if !strings.HasPrefix(name, "+") && !strings.HasPrefix(name, "-") {
		return name
	}
	offset := "UTC" + t.Format("-07:00")
	return strings.Replace(strings.TrimSuffix(offset, ":00"), "-", "−", 1)
}

// away says how far off a moment is, in the unit that a person would use. It rounds toward the nearer end: what is due in one
// hour and fifty minutes is not due in two hours.
func away(d time.Duration) string {
	text := span(d.Abs())
	switch {
	case d.Abs() < time.Minute:
		return "now"
	case d < 0:
		return text + " ago"
	}
	return "in " + text
}

func span(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// when is a moment of the bank's records: an instant, or a date whose time of day nobody recorded.
func (v *visit) when(w countersign.When) moment {
	if t, ok := w.Instant(); ok {
		return v.moment(t)
	}
	if day, err := time.Parse(time.DateOnly, w.String()); err == nil {
		return moment{Text: day.Format("Mon 2 Jan 2006") + ", time not recorded", ISO: w.String()}
	}
	return moment{}
}

// due is a case's deadline. A case whose deadline nobody knows says so: it is treated as the most urgent.
type due struct {
	moment
	Known  bool
	Late   bool
	Soon   bool // within a day
	Over   bool // the case is closed: nothing is due any more
	Source string
}

func (v *visit) due(c countersign.Case) due {
	if c.DueAt == nil {
		return due{Over: c.Status == countersign.Closed}
	}
	left := c.DueAt.Sub(v.now)
	open := c.Status != countersign.Closed
	return due{v.moment(*c.DueAt), true, left < 0 && open, left >= 0 && left < 24*time.Hour && open, !open, dueSources[c.DueSource]}
}

var dueSources = map[countersign.DueSource]string{
	countersign.DueFromRule:     "set by a rule",
	countersign.DueFromProvider: "set by the network",
	countersign.DueManual:       "set by hand",
}

// took is how long something lasted, in the unit that a person would use.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return span(d)
}
