package countersign

import (
	"fmt"
	"time"
)

// When is a moment in a bank's records: an instant, or a bare date whose time of day nobody recorded. A rule about hours
// or minutes must treat a bare date as unknown.
//
// The zero When means "not recorded".
type When struct {
	at   time.Time
	bare bool
}

// At is the When of an instant.
func At(t time.Time) When { return When{at: t.UTC().Truncate(time.Microsecond)} }

// ParseWhen reads RFC 3339 with a zone ("2026-11-28T09:14:00+01:00") or a bare date ("2026-11-28"). A time without a zone
// is an error: shifting it by whatever zone the host has would be a guess. Empty is the zero When.
func ParseWhen(s string) (When, error) {
	if s == "" {
		return When{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return within(At(t), s)
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return within(When{at: t, bare: true}, s)
	}
	return When{}, fmt.Errorf("%q is not a time with a zone (2026-11-28T09:14:00Z) nor a date (2026-11-28)", clip(s))
}

// within refuses years that no ledger holds and that some databases cannot: a typo, not a time.
func within(w When, s string) (When, error) {
	if y := w.at.Year(); y < 1900 || y > 2200 {
		return When{}, fmt.Errorf("%q is not between the years 1900 and 2200", s)
	}
	return w, nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// Instant returns the instant, false for a bare date or nothing.
func (w When) Instant() (time.Time, bool) { return w.at, !w.bare && !w.IsZero() }

// IsZero reports whether nothing was recorded.
func (w When) IsZero() bool { return w.at.IsZero() }

// String is the form that is stored, hashed and sorted: RFC 3339 UTC with six digits of a second, or the bare date. Text
// order is time order, a bare date before the instants of its day.
func (w When) String() string {
	switch {
	case w.IsZero():
		return ""
	case w.bare:
		return w.at.Format(time.DateOnly)
	}
	return w.at.Format("2006-01-02T15:04:05.000000Z")
}

// MarshalText makes a When a string in JSON; zero is the empty string.
func (w When) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what ParseWhen reads.
func (w *When) UnmarshalText(b []byte) (err error) {
	*w, err = ParseWhen(string(b))
	return err
}
