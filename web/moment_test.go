package web

import (
	"testing"
	"time"

	"countersign"
)

// visitIn is a visit of somebody who reads in that zone, at that time.
func visitIn(t *testing.T, zone, now string) *visit {
	t.Helper()
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return &visit{zone: place, now: instant(t, now)}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestDeadlines holds that a deadline is one instant, whoever looks at it and wherever their clocks are put forward or back
// meanwhile: the local time is the reader's, with its zone, and how far it is off is the same for all.
func TestDeadlines(t *testing.T) {
	const deadline = "2026-03-08T04:59:59Z" // the last second of the 7th in New York, hours before its clocks go forward
	for zone, local := range map[string]string{
		"UTC":                "Sun 8 Mar 2026 04:59 UTC",
		"America/New_York":   "Sat 7 Mar 2026 23:59 EST",
		"Africa/Lagos":       "Sun 8 Mar 2026 05:59 WAT",
		"Pacific/Kiritimati": "Sun 8 Mar 2026 18:59 UTC+14",
		"Asia/Kolkata":       "Sun 8 Mar 2026 10:29 IST",
		"Asia/Kathmandu":     "Sun 8 Mar 2026 10:44 UTC+05:45",
		"America/Sao_Paulo":  "Sun 8 Mar 2026 01:59 UTC−03",
		"Pacific/Marquesas":  "Sat 7 Mar 2026 19:29 UTC−09:30",
	} {
		t.Run(zone, func(t *testing.T) {
			due := instant(t, deadline)
			for now, want := range map[string]struct {
				away       string
				late, soon bool
			}{
				"2026-03-07T05:30:00Z": {"in 23 h", false, true},
				"2026-03-07T04:59:59Z": {"in 24 h", false, false},
				"2026-03-07T04:59:58Z": {"in 24 h", false, false},
				"2026-03-06T04:59:59Z": {"in 2 days", false, false},
				"2026-03-08T03:09:59Z": {"in 1 h", false, true},
				"2026-03-08T04:30:00Z": {"in 29 min", false, true},
				"2026-03-08T04:59:30Z": {"now", false, true},
				"2026-03-08T04:59:59Z": {"now", false, true},
				"2026-03-08T05:00:00Z": {"now", true, false},
				"2026-03-08T07:30:00Z": {"2 h ago", true, false}, // half an hour after the clocks of New York went forward
				"2026-03-15T04:59:59Z": {"7 days ago", true, false},
			} {
				v := visitIn(t, zone, now)
				got := v.due(countersign.Case{Status: countersign.InReview, DueAt: &due, DueSource: countersign.DueFromRule})
				if got.Text != local || got.ISO != deadline || got.Away != want.away || got.Late != want.late || got.Soon != want.soon || !got.Known || got.Source != "set by a rule" {
					t.Errorf("at %s it is %+v, want %q, %+v", now, got, local, want)
				}
			}
		})
	}
	t.Run("a closed case is neither late nor about to be", func(t *testing.T) {
		due := instant(t, deadline)
		for _, now := range []string{"2026-03-08T04:00:00Z", "2026-03-09T04:00:00Z"} {
			if got := visitIn(t, "UTC", now).due(countersign.Case{Status: countersign.Closed, DueAt: &due}); got.Late || got.Soon {
				t.Errorf("at %s it is %+v", now, got)
			}
		}
	})
	t.Run("a deadline that nobody knows is none", func(t *testing.T) {
		if got := visitIn(t, "UTC", "2026-03-08T04:00:00Z").due(countersign.Case{Status: countersign.InReview}); got != (due{}) {
			t.Errorf("it is %+v", got)
		}
	})
}

// On the days when clocks are put forward or back, a time says by its zone which of two hours it means.
func TestTimesOnTheDayWhenTheClocksChange(t *testing.T) {
	for at, local := range map[string]string{
		"2026-03-08T06:59:59Z": "Sun 8 Mar 2026 01:59 EST",
		"2026-03-08T07:00:00Z": "Sun 8 Mar 2026 03:00 EDT",
		"2026-11-01T05:30:00Z": "Sun 1 Nov 2026 01:30 EDT",
		"2026-11-01T06:30:00Z": "Sun 1 Nov 2026 01:30 EST",
	} {
		got := visitIn(t, "America/New_York", "2026-03-08T05:00:00Z").moment(instant(t, at))
		if got.Text != local || got.ISO != at {
			t.Errorf("%s is %+v, want %q", at, got, local)
		}
	}
	v := visitIn(t, "America/New_York", "2026-03-07T12:00:00Z")
	if got := v.moment(instant(t, "2026-03-08T12:00:00Z")).Away; got != "in 24 h" {
		t.Errorf("a day of 23 hours by the wall is %s, and 24 hours off by the instant", got)
	}
}

func TestTimesOfTheBanksRecords(t *testing.T) {
	v := visitIn(t, "Africa/Lagos", "2026-11-30T12:00:00Z")
	for written, want := range map[string]moment{
		"2026-11-28T23:30:00Z":      {Text: "Sun 29 Nov 2026 00:30 WAT", ISO: "2026-11-28T23:30:00Z", Away: "36 h ago", Past: true},
		"2026-11-28T18:30:00-05:00": {Text: "Sun 29 Nov 2026 00:30 WAT", ISO: "2026-11-28T23:30:00Z", Away: "36 h ago", Past: true},
		"2026-11-28":                {Text: "Sat 28 Nov 2026, time not recorded", ISO: "2026-11-28"}, // the same date in every zone
	} {
		w, err := countersign.ParseWhen(written)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.when(w); got != want {
			t.Errorf("%s is %+v, want %+v", written, got, want)
		}
	}
	if got := v.when(countersign.When{}); got != (moment{}) {
		t.Errorf("nothing is %+v", got)
	}
}

func TestHowLongSomethingTook(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "under 1 ms", 999 * time.Microsecond: "under 1 ms", 12 * time.Millisecond: "12 ms", 999 * time.Millisecond: "999 ms",
		1500 * time.Millisecond: "1.5 s", 61 * time.Second: "1 min", 3 * time.Hour: "3 h", 72 * time.Hour: "3 days"} {
		if got := took(d); got != want {
			t.Errorf("%s took %q, want %q", d, got, want)
		}
	}
}
