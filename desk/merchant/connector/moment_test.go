package connector

import "testing"

func TestTheDayOfAMomentIsTheShopsOwn(t *testing.T) {
	for _, row := range []struct {
		name, zone, text string
		kind             family
		day              string
	}{
		{"the clock of the shop", "America/New_York", "2026-10-31 21:00:00", wallClock, "2026-10-31"},
		{"an instant that the database keeps", "America/New_York", "2026-11-01 01:00:00+00", instant, "2026-10-31"},
		{"one in the east", "Asia/Tokyo", "2026-11-01 16:00:00+00", instant, "2026-11-02"},
		{"an offset of the mapping", "-05:00", "2026-11-01 04:00:00+00", instant, "2026-10-31"},
		{"the zone goes before the offset of a text", "America/New_York", "2026-11-01T01:00:00Z", texts, "2026-10-31"},
		{"a text with the shop's offset", "", "2026-10-31 21:00:00 -0400", texts, "2026-10-31"},
		{"which also stands where times without one are UTC", "UTC", "2026-10-31T21:00:00-04:00", texts, "2026-10-31"},
		{"a bare date", "UTC", "2026-10-31", wallClock, "2026-10-31"},
		{"UTC says how times are kept, not where the shop is", "UTC", "2026-11-01 01:00:00", wallClock, ""},
		{"by any of its names", "Etc/GMT", "2026-11-01 01:00:00", wallClock, ""},
		{"and as an offset", "+00:00", "2026-11-01 01:00:00", wallClock, ""},
		{"so does a count", "unix", "1793494800", integers, ""},
		{"and our own session", "UTC", "2026-11-01 01:00:00+00", instant, ""},
		{"and a text that a program wrote", "", "2026-11-01T01:00:00Z", texts, ""},
		{"nothing", "America/New_York", "", texts, ""},
		{"what is no time", "America/New_York", "31/10/2026 21:00", texts, ""},
		{"a time in a zone that nobody named", "", "2026-10-31 21:00:00", wallClock, ""},
	} {
		z, err := zoneOf(row.zone)
		if m := momentOf(row.text, row.kind, z); err != nil || m.Day != row.day {
			t.Errorf("%s: %+v, want the day %q; %v", row.name, m, row.day, err)
		}
	}
}
