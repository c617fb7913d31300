package library

import (
	"context"
	"time"

	"countersign"
	"countersign/store"
)

// checkDay refuses what is no day.
func checkDay(field, day string) error {
	if when, err := countersign.ParseWhen(day); err != nil || len(day) != len(time.DateOnly) && !when.IsZero() {
		return countersign.Errorf(countersign.Invalid, "%q is not a day", day).In(field).Try("expected one such as 2026-03-01")
	}
	return nil
}

// Date says from which day on and until which a version is valid; either may be empty.
func (l *Library) Date(ctx context.Context, by countersign.Actor, versionID, from, until string) error {
	if err := checkDay("valid_from", from); err != nil {
		return err
	}
	if err := checkDay("valid_until", until); err != nil {
		return err
	}
	if until != "" && until < from {
		return countersign.Errorf(countersign.Invalid, "%s is before %s", until, from).In("valid_until").Try("expected the last day on which the version was valid, or nothing")
	}
	return l.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.DateDocumentVersion(ctx, versionID, from, until, by)
	})
}

// again is for bytes that are on record as the last version of a document.
func (r *Report) again(ctx context.Context, tx *store.Tx, by countersign.Actor, last store.DocumentVersion, validFrom string) error {
	r.Outcome, r.VersionID, r.Title, r.Version, r.ValidFrom, r.Confirmed = Unchanged, last.ID, last.Title, versionName(last), last.ValidFrom, last.Confirmed()
	if validFrom == "" || validFrom == last.ValidFrom {
		return nil
	}
	if losesDays(last, validFrom, tx.Now.UTC().Format(time.DateOnly)) {
		return refused("%s is version %s of “%s” already, %s; if it were valid from %s, it would be out of force on days on which it counts now, so nothing was changed",
			r.File, r.Version, r.Title, daysOf(last), validFrom).Try("if that is meant, change its days on its page in the library, /library/" + last.ID)
	}
	r.Outcome, r.ValidFrom = Dated, validFrom
	return tx.DateDocumentVersion(ctx, last.ID, validFrom, last.ValidUntil, by)
}

// losesDays reports whether a first day would take a version out of force on days on which it is. It comes with a file, often with
// that of another document beside it, and is rarely meant for what was here already: orders of those days would lose their policy.
// A version that nobody dated counts as always in force because nothing else was known of it; a first day that has come is what was
// missing. One that nobody confirmed is in force on no day.
func losesDays(d store.DocumentVersion, from, today string) bool {
	switch {
	case d.ValidUntil != "" && from > d.ValidUntil:
		return true
	case !d.Confirmed() || from < d.ValidFrom:
		return false
	}
	return d.ValidFrom != "" || from > today
}

// daysOf says on which days a version is valid.
func daysOf(d store.DocumentVersion) string {
	days := "undated"
	if d.ValidFrom != "" {
		days = "valid from " + d.ValidFrom
	}
	if d.ValidUntil != "" {
		days += " until " + d.ValidUntil
	}
	return days
}
