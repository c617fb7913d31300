package events

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"countersign"
)

// Known is an event as it was taken in. The fold reads the event alone; what surrounds it is for people.
type Known struct {
	Event
	Key        string // ours
	Source     string
	ReceivedAt time.Time
	Seen       int // how often it was delivered
}

// Standing is how a dispute stands at one stage.
type Standing struct {
	Stage  Stage     `json:"stage"`
	Round  int       `json:"round"`
	Status Status    `json:"status"`
	At     time.Time `json:"at"`               // since when, by the provider's clock
	Turns  int       `json:"turns"`            // within this round: an event more never makes them fewer
	Turned string    `json:"turned,omitempty"` // why it turned last, another round included
	Since  time.Time `json:"since"`            // when that was

	Order      string             `json:"order,omitempty"`
	Payment    string             `json:"payment,omitempty"`
	Network    string             `json:"network,omitempty"`
	ReasonCode string             `json:"reason_code,omitempty"`
	Amount     *countersign.Money `json:"amount,omitempty"`
	DueAt      *time.Time         `json:"due_at,omitempty"` // of this round
}

// Step is one line of a dispute's history.
type Step struct {
	Known
	Stage Stage
	Does  Effect
	Why   string
	Seen  int // times it was told, by deliveries and by events that say the same
}

// less orders events by the provider's time, then by round and rank, then by id: of the same events it is always the same order.
func less(a, b Known) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(round(a), round(b)), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Fingerprint(), b.Fingerprint()))
}

func round(k Known) int {
	if k.Dispute == nil {
		return 0
	}
	return k.Dispute.Round
}

func rank(k Known) int {
	if k.Dispute != nil {
		return slices.Index(Statuses, k.Dispute.Status)
	}
	return slices.Index(RefundStatuses, k.Refund.Status)
}

// Fold is how a dispute stands at each stage that its events speak of, in the order of the stages, and what each event did. They may
// come in any order; events without a dispute are passed over.
func Fold(all []Known) (standings []Standing, steps []Step) {
	all = slices.DeleteFunc(slices.Clone(all), func(k Known) bool { return k.Dispute == nil })
	slices.SortFunc(all, less)
	at := map[Stage]*Standing{}
	last := map[Stage]int{} // the stage's last step
	order, payment := "", ""
	for _, k := range all {
		d := k.Dispute
		order, payment = cmp.Or(d.OrderID, order), cmp.Or(d.PaymentID, payment)
		s := at[d.Stage]
		if s == nil {
			s = &Standing{Stage: d.Stage}
			at[d.Stage] = s
		}
		if i, ok := last[d.Stage]; ok && steps[i].Again() == k.Again() {
			steps[i].Seen += max(k.Seen, 1)
			s.At = k.CreatedAt
			continue
		}
		effect, why := s.hear(k)
		steps = append(steps, Step{k, d.Stage, effect, why, max(k.Seen, 1)})
		last[d.Stage] = len(steps) - 1
	}
	for _, stage := range Stages {
		if s := at[stage]; s != nil {
			s.Order, s.Payment = order, payment
			standings = append(standings, *s)
		}
	}
	return standings, steps
}

// hear is one event, the latest so far of its stage.
func (s *Standing) hear(k Known) (Effect, string) {
	d := k.Dispute
	from, to := Nothing, stands[d.Status]
	if s.Status != "" {
		from = stands[s.Status]
	}
	row := does(from, to)
	effect, why := row.Does, row.Why
	switch {
	case from != Nothing && d.Round < s.Round:
		return History, "of an earlier round"
	case d.Round > max(s.Round, 1):
		s.Turns, s.Turned, s.Since, s.DueAt = 0, anotherRound, k.CreatedAt, nil // a deadline of its own, or none
		if from != Nothing {
			effect, why = Turns, anotherRound
		}
	case effect == Turns:
		s.Turns, s.Turned, s.Since = s.Turns+1, why, k.CreatedAt
		if to == Asks {
			s.DueAt = nil
		}
	}
	s.Round, s.Status, s.At = d.Round, d.Status, k.CreatedAt
	s.Network, s.ReasonCode = cmp.Or(d.Network, s.Network), cmp.Or(d.ReasonCode, s.ReasonCode)
	s.Amount, s.DueAt = cmp.Or(d.Amount, s.Amount), cmp.Or(d.DueAt, s.DueAt)
	return effect, why
}

// TurnedSince reports whether the dispute has turned since it stood as before: another round, or another decision within it. More events make
// it turn and never turn it back, so that it does not matter which of them came first.
func (s Standing) TurnedSince(before Standing) bool {
	return s.Round > max(before.Round, 1) || s.Round == max(before.Round, 1) && s.Turns > before.Turns
}

// Result is how the network decided, nil while it has not.
func (s Standing) Result() *countersign.Result {
	if !s.Status.Ends() {
		return nil
	}
	return &countersign.Result{State: string(s.Status), At: s.At, Round: s.Round}
}

// Refunded is how a refund stands.
type Refunded struct {
	ID     string
	Status RefundStatus
	At     time.Time
	Failed time.Time // when it failed last; zero when it never did
	Amount *countersign.Money
}

// Refunds folds the refund events of one order: the latest word on each refund, by its id, and how often one of them failed. A refund
// that succeeded can fail days later.
func Refunds(all []Known) (refunds []Refunded, failures int) {
	all = slices.DeleteFunc(slices.Clone(all), func(k Known) bool { return k.Refund == nil })
	slices.SortFunc(all, func(a, b Known) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(slices.Index(RefundStatuses, a.Refund.Status), slices.Index(RefundStatuses, b.Refund.Status)), cmp.Compare(a.ID, b.ID))
	})
	latest := map[string]Refunded{}
	for _, k := range all {
		r := latest[k.Refund.ID]
		if fails(k.Refund.Status) && !fails(r.Status) {
			failures++
			r.Failed = k.CreatedAt
		}
		r.ID, r.Status, r.At, r.Amount = k.Refund.ID, k.Refund.Status, k.CreatedAt, cmp.Or(k.Refund.Amount, r.Amount)
		latest[r.ID] = r
	}
	for _, id := range slices.Sorted(maps.Keys(latest)) {
		refunds = append(refunds, latest[id])
	}
	return refunds, failures
}

func fails(s RefundStatus) bool { return s == RefundFailed || s == RefundCanceled }
