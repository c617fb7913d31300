package truth

import (
	"countersign"
	"countersign/audit"
)

// round is one conversation with a model.
type round struct {
	canary   string
	recorded map[int]int // turns on record
	taken    map[int]int // how many processes took the case up, by the first turn that was missing then
	last     int
}

// turns checks that every turn on record is there once, that it was asked for, and that none was asked for more often than there
// were processes which found it missing: an answer that was on its way when its process died is lost, and no other is.
func (w *world) turns() error {
	for _, c := range w.want.Cases {
		rounds := w.rounds(c.ID)
		for n, r := range rounds {
			for turn := 1; turn <= r.last; turn++ {
				if r.recorded[turn] != 1 {
					w.say(Doubled, "case %s, round %d: turn %d is on record %d times", c.ID, n, turn, r.recorded[turn])
				}
			}
			if w.want.Asked != nil {
				w.paid(c.ID, n, r)
			}
		}
	}
	return nil
}

func (w *world) rounds(id countersign.CaseID) map[int]*round {
	rounds := map[int]*round{}
	of := func(n int) *round {
		if rounds[n] == nil {
			rounds[n] = &round{recorded: map[int]int{}, taken: map[int]int{}}
		}
		return rounds[n]
	}
	for _, row := range w.rows[id] {
		switch r := of(row.says.Round); row.kind {
		case audit.Started:
			if r.canary == "" {
				r.canary = row.says.Canary // whoever takes it up again goes on with the first
			}
			r.taken[row.says.Resumed+1]++
		case audit.ModelTurn:
			r.recorded[row.says.Turn]++
			r.last = max(r.last, row.says.Turn)
		}
	}
	return rounds
}

// paid compares the turns of a conversation with how often the model was asked for them, one turn further than the record goes:
// that one may have been asked for and lost.
func (w *world) paid(id countersign.CaseID, n int, r *round) {
	for turn := 1; turn <= r.last+1; turn++ {
		may := 0
		for from, times := range r.taken {
			if from <= turn {
				may += times
			}
		}
		asked := w.want.Asked(r.canary, turn)
		if turn <= r.last && asked == 0 {
			w.say(Paid, "case %s, round %d: turn %d is on record, and the model was never asked for it", id, n, turn)
		}
		if asked > may {
			w.say(Paid, "case %s, round %d: turn %d was asked for %d times, by %d processes that found it missing", id, n, turn, asked, may)
		}
	}
}
