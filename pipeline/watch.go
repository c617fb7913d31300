package pipeline

import (
	"time"

	"countersign"
	"countersign/llm"
	"countersign/pipeline/investigate"
)

// Watch is told what becomes of cases, for whoever measures; any of its functions may be nil. They are called after the fact is
// recorded, from many goroutines, and must come back at once.
type Watch struct {
	Took  func(c countersign.Case, resumed bool)                            // a lease was taken; resumed when the round had been begun before
	Lost  func(c countersign.Case)                                          // another worker has the case by now, and what was done here since is void
	Asked func(c countersign.Case, who llm.Identity, turn investigate.Turn) // a turn of the model ended
	Ended func(c countersign.Case, took time.Duration)                      // the investigation ended, with a fix or with a person
}

func (w Watch) took(j job) {
	if w.Took != nil {
		w.Took(j.Case, j.starts > 1)
	}
}

func (w Watch) lost(j job) {
	if w.Lost != nil {
		w.Lost(j.Case)
	}
}

// asked leaves out turn 0, for which no model was asked.
func (w Watch) asked(j job, turn investigate.Turn) {
	if w.Asked != nil && turn.Number > 0 {
		w.Asked(j.Case, j.model.Identity(), turn)
	}
}

func (w Watch) ended(c countersign.Case, took time.Duration) {
	if w.Ended != nil {
		w.Ended(c, took)
	}
}
