package truth

import (
	"database/sql"
	"maps"
	"slices"

	"countersign"
	"countersign/audit"
)

// chains walks every chain of the record, and has SQLite read its file over.
func (w *world) chains() error {
	report, err := w.store.VerifyRecord(w.ctx, nil)
	if err != nil {
		return err
	}
	for _, b := range report.Breaks {
		w.say(Broken, "case %s: row %d of the record: %s", b.Case, b.Seq, b.Why)
	}
	damage, err := w.store.Damage(w.ctx)
	if damage != "" {
		w.say(Broken, "the database file: %s", damage)
	}
	return err
}

// asked compares what was asked for with the cases that are there: each once, under the id and the key that were answered.
func (w *world) asked() error {
	bySubject := map[string][]countersign.CaseID{}
	for _, c := range w.cases {
		bySubject[c.subject] = append(bySubject[c.subject], c.id)
	}
	keys := map[string][]countersign.CaseID{}
	err := w.each("SELECT key, case_id FROM idempotency_keys", func(r *sql.Rows) error {
		var key string
		var id countersign.CaseID
		err := r.Scan(&key, &id)
		keys[key] = append(keys[key], id)
		return err
	})
	if err != nil {
		return err
	}
	wanted := map[countersign.CaseID]bool{}
	for _, c := range w.want.Cases {
		wanted[c.ID] = true
		switch {
		case w.cases[c.ID].subject != c.Subject:
			w.say(Lost, "case %s about %s was answered, and is not there", c.ID, c.Subject)
		case len(bySubject[c.Subject]) > 1:
			w.say(Doubled, "there are %d cases about %s, which was asked for once", len(bySubject[c.Subject]), c.Subject)
		}
		if c.Key != "" && !slices.Equal(keys[c.Key], []countersign.CaseID{c.ID}) {
			w.say(Lost, "key %s leads to %v, want case %s", c.Key, keys[c.Key], c.ID)
		}
		if n := len(w.count(c.ID, audit.Opened, func(payload) string { return "" })); n != 1 {
			w.say(Lost, "case %s has no row that says it was opened", c.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.cases)) {
		if !wanted[id] {
			w.say(Doubled, "case %s about %s is there, and nobody asked for it", id, w.cases[id].subject)
		}
	}
	return nil
}

// ends compares where each case is with where it must be. No case may wait for a worker.
func (w *world) ends() error {
	for _, c := range w.want.Cases {
		is := w.cases[c.ID]
		closings := w.count(c.ID, audit.Closed, func(p payload) string { return p.Outcome })
		switch {
		case is.id == "":
			continue // said to be lost already
		case is.status == string(countersign.Queued) || is.status == string(countersign.Investigating):
			w.say(Stuck, "case %s about %s is %s, and nothing moves any more", c.ID, c.Subject, is.status)
			continue
		case is.status != string(c.Status) || is.outcome != string(c.Outcome) || is.handled != string(c.HandledBy):
			w.say(Wrong, "case %s about %s is %s %s %s because of %s; want %s %s %s", c.ID, c.Subject, is.status, is.outcome, is.handled, is.reason, c.Status, c.Outcome, c.HandledBy)
		case c.Status == countersign.InReview && is.reason == "":
			w.say(Wrong, "case %s about %s is in review without a reason", c.ID, c.Subject)
		}
		want := map[string]int{}
		if is.status == string(countersign.Closed) {
			want[is.outcome] = 1
		}
		if !maps.Equal(closings, want) {
			w.say(Doubled, "case %s is %s %s, and its record closes it as %v", c.ID, is.status, is.outcome, closings)
		}
	}
	return nil
}

// decided compares what people did with what the record says they did, and the reports that it sealed.
func (w *world) decided() error {
	for _, c := range w.want.Cases {
		has := w.count(c.ID, audit.Decision, func(p payload) string { return p.Verb })
		for verb, n := range c.Decided {
			switch {
			case has[verb] < n:
				w.say(Lost, "case %s: %d decisions to %s are on record, %d were answered", c.ID, has[verb], verb, n)
			case has[verb] > n:
				w.say(Doubled, "case %s: %d decisions to %s are on record, %d were answered", c.ID, has[verb], verb, n)
			}
		}
		for verb, n := range has {
			if c.Decided[verb] == 0 {
				w.say(Doubled, "case %s: %d decisions to %s are on record, and nobody made them", c.ID, n, verb)
			}
		}
		switch has := w.reports[c.ID]; {
		case has < c.Reports:
			w.say(Lost, "case %s has %d sealed reports, want %d", c.ID, has, c.Reports)
		case has > c.Reports:
			w.say(Doubled, "case %s has %d sealed reports, want %d", c.ID, has, c.Reports)
		}
	}
	return nil
}
