package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/events"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
	"countersign/store"
)

// heard is what providers said of a case.
type heard struct {
	threads []store.Thread
	known   []events.Known // of its disputes, all stages
	refunds []events.Known // of its order
}

func (f *file) hear(ctx context.Context, view store.View) (err error) {
	if f.heard.threads, err = view.ThreadsOf(ctx, f.ID); err != nil {
		return err
	}
	for _, th := range f.heard.threads {
		kept, err := view.EventsOf(ctx, th.Source, th.Dispute())
		if err != nil {
			return err
		}
		known, err := intake.KnownEvents(kept)
		if err != nil {
			return err
		}
		f.heard.known = append(f.heard.known, known...)
	}
	if f.Subject.Kind != countersign.OrderSubject || f.Subject.ID == "" {
		return nil
	}
	kept, err := view.RefundEventsOfOrder(ctx, f.Subject.ID)
	if err != nil {
		return err
	}
	f.heard.refunds, err = intake.KnownEvents(kept)
	return err
}

// eventsPanel is what the provider said, and what can be done at this stage.
type eventsPanel struct {
	Standing string // in a sentence; empty when no event is about the case
	Result   string // how the network decided
	Lines    []eventLine
	Since    int    // of those, how many came after the case was judged or closed
	SinceOf  string // "it was investigated"
	Other    []otherStage
	Cannot   []string // what does not exist at this stage, and why
}

type eventLine struct {
	What, Type, Source string
	There, Here        moment
	Seen               string // "seen 2×"
	Does               string
	New, Turns         bool
}

// otherStage is another stage of the same dispute, which is a case of its own.
type otherStage struct{ Stage, Says string }

func (v *visit) events(f *file) *eventsPanel {
	p := &eventsPanel{Cannot: f.cannot()}
	standings, steps := events.Fold(f.heard.known)
	for _, s := range standings {
		if string(s.Stage) == f.Stage {
			p.Standing = events.Says(s.Stage, s.Status)
			continue
		}
		p.Other = append(p.Other, otherStage{stageWords(string(s.Stage)), events.Says(s.Stage, s.Status)})
	}
	if f.Result != nil {
		p.Result = resultWords(*f.Result) + " on " + v.moment(f.Result.At).Text
	}
	since, of := f.judgedAt()
	for _, s := range steps {
		if string(s.Stage) != f.Stage {
			continue
		}
		l := eventLine{What: events.Says(s.Stage, s.Dispute.Status), Type: legible(s.Type), Source: s.Source, There: v.moment(s.CreatedAt), Here: v.moment(s.ReceivedAt),
			Seen: seen(s.Seen), Does: effectWords[s.Does], Turns: s.Does == events.Turns, New: !since.IsZero() && s.ReceivedAt.After(since)}
		if s.Dispute.Round > 1 {
			l.What = fmt.Sprintf("Round %d: %s", s.Dispute.Round, l.What)
		}
		if l.Turns {
			l.Does = s.Why
		}
		p.Lines = append(p.Lines, l)
	}
	for _, k := range f.heard.refunds {
		l := eventLine{What: refundSays(*k.Refund), Type: legible(k.Type), Source: k.Source, There: v.moment(k.CreatedAt), Here: v.moment(k.ReceivedAt), Seen: seen(k.Seen),
			New: !since.IsZero() && k.ReceivedAt.After(since)}
		p.Lines = append(p.Lines, l)
	}
	for _, l := range p.Lines {
		if l.New {
			p.Since, p.SinceOf = p.Since+1, of
		}
	}
	if len(p.Lines) == 0 && len(p.Other) == 0 && len(p.Cannot) == 0 {
		return nil
	}
	return p
}

// judgedAt is when what the page says of a case was found: zero while nothing is.
func (f *file) judgedAt() (time.Time, string) {
	for _, row := range slices.Backward(f.rows) {
		switch {
		case row.Kind == audit.Closed && f.Status == countersign.Closed:
			return at(row), "the case was closed"
		case row.Kind == audit.Facts && f.Status == countersign.InReview:
			return at(row), "the records were read"
		}
	}
	return time.Time{}, ""
}

func seen(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("seen %d×", n)
}

func refundSays(r events.Refund) string {
	amount := ""
	if r.Amount != nil {
		amount = " of " + r.Amount.String()
	}
	return "Refund " + legible(clip(r.ID)) + amount + ": " + plain(r.Status)
}

// effectWords say what an event did to the case; nothing for those that need no word.
var effectWords = map[events.Effect]string{events.Opens: "opened the case, or joined it", events.Decides: "the network's result", events.History: "of an earlier round: changes nothing"}

// resultWords is the network's decision, beside our own.
func resultWords(r countersign.Result) string {
	words := plain(r.State)
	if r.Round > 1 {
		words += fmt.Sprintf(", in round %d", r.Round)
	}
	return words
}

func stageWords(stage string) string { return plain(stage) }

// cannot is what there is not at the stage of an open case, in sentences.
func (f *file) cannot() (all []string) {
	if f.desk.Cannot == nil || f.Status == countersign.Closed {
		return nil
	}
	for _, outcome := range f.desk.Outcomes {
		if why := f.desk.Cannot(f.Case, outcome); why != "" {
			all = append(all, why)
		}
	}
	if len(f.heard.known) > 0 {
		if why := events.Can(events.Stage(f.Stage), f.Terms.Network).Refund; why != "" {
			all = append(all, why)
		}
	}
	return all
}

// cannotBe is why a case as it stands cannot end so.
func (f *file) cannotBe(outcome countersign.Outcome) string {
	if f.desk.Cannot == nil {
		return ""
	}
	return f.desk.Cannot(f.Case, outcome)
}

// reportedRounds are the rounds that a report was sealed for, by the record.
func reportedRounds(rows []store.RecordRow) (all []int) {
	for _, row := range rows {
		if row.Payload == nil {
			continue
		}
		if k, ok := audit.Sealing(row.Kind, row.Payload.Bytes); ok && k.Thing == audit.ReportThing {
			if round, err := strconv.Atoi(k.Name); err == nil {
				all = append(all, round)
			}
		}
	}
	return all
}

// earlierRound is what was decided of a case before it was opened again.
type earlierRound struct {
	Round        int
	Said, Reason string
	When         moment
	By           string
	Report       string // where its report is; empty when none was made
}

// rounds are the decisions that ended a round before this one, with the reports that were made of them.
func (v *visit) rounds(f *file) (all []earlierRound) {
	for _, row := range f.rows {
		d, ok := decisionOf(row)
		if !ok || d.Round >= f.Round || d.Outcome == "" {
			continue
		}
		r := earlierRound{Round: d.Round, Said: capital(outcomeWords(d.Outcome)), Reason: legible(d.Reason), When: v.moment(at(row)), By: f.actor(row.Actor)}
		if slices.Contains(f.reported, d.Round) {
			r.Report = fmt.Sprintf("/cases/%s/report?round=%d", f.ID, d.Round)
		}
		all = append(all, r)
	}
	return all
}

// askAttach asks which order a dispute is about.
func askAttach(_ *visit, f *file, p *decideScreen) error {
	p.Heading, p.Button = "Attach an order", "Attach it and investigate"
	p.Happens = "The case is about that order from then on, and its records are read. What was found before stays in the record."
	if !review.Unmatched(f.Case) && f.Status == countersign.InReview {
		p.Over = "The order of this case was found, so no other can be attached."
	}
	return nil
}
