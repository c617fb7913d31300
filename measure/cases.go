package measure

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign"
)

// cases is what this process did with cases.
type cases struct {
	opened, again, begun, resumed, lost, putBack, verdicts, reasons, closed *prometheus.CounterVec
	lasted                                                                  *prometheus.HistogramVec
}

func newCases() cases {
	c := cases{
		opened:  counter("cases_opened_total", "Cases that were opened here, by desk and by what kind of caller.", "desk", "by"),
		again:   counter("cases_reported_again_total", "Requests for a case that was open already.", "desk", "by"),
		begun:   counter("investigations_begun_total", "Leases of cases that were taken here, those that were taken over included.", "desk"),
		resumed: counter("investigations_resumed_total", "Investigations that another worker, or an earlier start of this one, had begun and not ended.", "desk"),
		lost:    counter("leases_lost_total", "Investigations that this process had to leave because another had taken their case: writes of it were refused.", "desk"),
		putBack: counter("cases_put_back_total", "Cases that the sweep put back into the queue because nobody worked on them any more."),
		verdicts: counter("verdicts_total", "Investigations that ended, by the policy's verdict: automatic, or review for one that goes to a person.",
			"desk", "verdict"),
		reasons: counter("review_reasons_total", "Why cases went to a person; a case may have several reasons.", "desk", "code"),
		closed:  counter("cases_closed_total", "Cases that were closed here, by who closed them and how.", "desk", "handled_by", "outcome"),
		lasted: histogram("investigation_seconds", "How long investigations took, from the lease to the verdict.",
			[]float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600}, "desk"),
	}
	c.begin()
	return c
}

// begin shows a zero for what has not happened: the first time that it does is then a rise from zero, which a rule can see.
func (c cases) begin() {
	c.putBack.WithLabelValues()
	for _, desk := range countersign.Desks {
		for _, counted := range []*prometheus.CounterVec{c.begun, c.resumed, c.lost} {
			counted.WithLabelValues(string(desk))
		}
		for _, kind := range []countersign.VerdictKind{countersign.Automatic, countersign.Review} {
			c.verdicts.WithLabelValues(string(desk), string(kind))
		}
		for _, code := range countersign.ReasonOrder {
			c.reasons.WithLabelValues(string(desk), string(code))
		}
		for _, by := range []countersign.ActorKind{countersign.Person, countersign.Token, countersign.CLI} {
			c.opened.WithLabelValues(string(desk), string(by))
			c.again.WithLabelValues(string(desk), string(by))
		}
	}
}

func (c cases) all() []prometheus.Collector {
	return []prometheus.Collector{c.opened, c.again, c.begun, c.resumed, c.lost, c.putBack, c.verdicts, c.reasons, c.closed, c.lasted}
}

// Opened counts a request for a case, and whether it opened one.
func (p *Process) Opened(desk countersign.DeskName, by countersign.ActorKind, created bool) {
	if created {
		p.cases.opened.WithLabelValues(string(desk), string(by)).Inc()
	} else {
		p.cases.again.WithLabelValues(string(desk), string(by)).Inc()
	}
}

// Took counts a lease that was taken here; resumed says that the round had been begun before.
func (p *Process) Took(desk countersign.DeskName, resumed bool) {
	p.cases.begun.WithLabelValues(string(desk)).Inc()
	if resumed {
		p.cases.resumed.WithLabelValues(string(desk)).Inc()
	}
}

// Lost counts a lease that was lost to another worker.
func (p *Process) Lost(desk countersign.DeskName) { p.cases.lost.WithLabelValues(string(desk)).Inc() }

// PutBack counts a case that the sweep put back.
func (p *Process) PutBack() { p.cases.putBack.WithLabelValues().Inc() }

// Ended counts an investigation that ended with a verdict.
func (p *Process) Ended(c countersign.Case, took time.Duration) {
	desk := string(c.Desk)
	p.cases.lasted.WithLabelValues(desk).Observe(took.Seconds())
	if c.Verdict != nil {
		p.cases.verdicts.WithLabelValues(desk, string(c.Verdict.Kind)).Inc()
		for _, r := range c.Verdict.Reasons {
			p.cases.reasons.WithLabelValues(desk, string(r.Code)).Inc()
		}
	}
	if c.Status == countersign.Closed {
		p.Closed(c)
	}
}

// Closed counts a case that was closed.
func (p *Process) Closed(c countersign.Case) {
	p.cases.closed.WithLabelValues(string(c.Desk), string(c.HandledBy), string(c.Outcome)).Inc()
}
