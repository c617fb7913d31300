package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// again is a request about a case that is open already. What is said twice changes nothing; a deadline that the case does not know,
// or that is sooner, is taken over. That is the one thing which cannot wait for a person: a chargeback that is answered late is lost.
// A later one changes nothing, because a message may be older than the one before it. What else the case does not hold is refused,
// after that. False means that the case is not open any more, or that another request got in first.
func (in Intake) again(ctx context.Context, actor countersign.Actor, c countersign.Case, r Request, found Found) (Opened, bool, error) {
	other, err := in.differences(ctx, c, r)
	if err != nil {
		return Opened{}, false, err
	}
	if slices.ContainsFunc(other, func(d difference) bool { return d.said }) {
		return Opened{}, false, refuse(c, other, false)
	}
	opened, ok, err := in.repeat(ctx, actor, c, r, found, len(other) > 0)
	if err != nil || !ok || len(other) == 0 {
		return opened, ok, err
	}
	return Opened{}, false, refuse(c, other, opened.Sooner)
}

// repeat takes over what a request that agrees with the case has to add to it. The key of one that is refused for something else stays
// free.
func (in Intake) repeat(ctx context.Context, actor countersign.Actor, c countersign.Case, r Request, found Found, refused bool) (Opened, bool, error) {
	opened := Opened{Case: c}
	remember := r.Key != nil && !refused
	if !sooner(c, found) && !remember {
		return opened, true, nil
	}
	err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if sooner(c, found) {
			if opened.Case, opened.Sooner, err = hasten(ctx, tx, actor, c.ID, found, r.Channel); err != nil {
				return err
			}
		}
		if !remember {
			return nil
		}
		return tx.Remember(ctx, *r.Key, c.ID)
	})
	if countersign.KindOf(err) == countersign.Conflict {
		return Opened{}, false, nil // the next look finds what got in first
	}
	return opened, err == nil, err
}

// difference is what a request says otherwise than the case. Said is whether somebody had said what the case holds; else it was not
// known, or is what was read in the records.
type difference struct {
	field, here, there string
	said               bool
}

func (in Intake) differences(ctx context.Context, c countersign.Case, r Request) (all []difference, err error) {
	note := func(field, here, there string, said bool) {
		if here != "" && here != there {
			all = append(all, difference{field, here, cmp.Or(there, "not known"), said && there != ""})
		}
	}
	if c.Subject.ID == "" {
		note(r.subjectField(), r.SubjectID, "", false)
	}
	if r.Amount != nil && *r.Amount != c.Amount {
		before, err := saidOf(ctx, in.Store.View, c.ID)
		if err != nil {
			return nil, err
		}
		note("amount", r.Amount.String(), amountOf(c), before.amount.Currency != "")
	}
	note("network", r.Terms.Network, c.Terms.Network, true)
	note("reason_code", r.Terms.ReasonCode, c.Terms.ReasonCode, true)
	return all, nil
}

func amountOf(c countersign.Case) string {
	if c.Amount.Currency == "" {
		return ""
	}
	return c.Amount.String()
}

// refuse says what the case does not hold: whoever sent it would believe that it counts.
func refuse(c countersign.Case, other []difference, hastened bool) error {
	first := other[0]
	says := []string{fmt.Sprintf("is %s here, and %s in case %s, which is open about this %s", first.here, first.there, c.ID, c.Subject.Kind)}
	for _, d := range other[1:] {
		says = append(says, fmt.Sprintf("%s is %s here, and %s there", d.field, d.here, d.there))
	}
	if hastened {
		says = append(says, "only its deadline was taken over")
	}
	refused := countersign.Errorf(countersign.Conflict, "%s", strings.Join(says, "; ")).In(first.field)
	if c.Subject.ID == "" {
		return refused.Try("say there which " + string(c.Subject.Kind) + " it is about, with attach")
	}
	return refused.Try("decide that case first, or name the provider's own reference of the dispute if this is another one")
}

func sooner(c countersign.Case, found Found) bool {
	return found.DueAt != nil && (c.DueAt == nil || found.DueAt.Before(*c.DueAt))
}

// hasten gives a case the deadline that was said again, and reports whether that was news: one that had been said before a person set
// another is a message that came late. A worker that holds the case would write its own over it, so that whoever sends it is asked to
// wait.
func hasten(ctx context.Context, tx *store.Tx, actor countersign.Actor, id countersign.CaseID, found Found, channel string) (countersign.Case, bool, error) {
	c, err := tx.LockCase(ctx, id)
	late := false
	if err == nil && c.DueSource == countersign.DueManual {
		late, err = saidBefore(ctx, tx.View, id, *found.DueAt)
	}
	switch {
	case err != nil:
		return c, false, err
	case c.Status == countersign.Closed:
		return c, false, countersign.Errorf(countersign.Conflict, "case %s was closed meanwhile", id)
	case late || !sooner(c, found):
		return c, false, nil
	case c.Status == countersign.Investigating:
		return c, false, countersign.Errorf(countersign.Unavailable, "case %s about this %s is being investigated, and takes no new deadline until that has ended", id, c.Subject.Kind).
			In("due_at").Try("send it again in a minute")
	}
	c.DueAt, c.DueSource = found.DueAt, found.DueSource
	if err := tx.Save(ctx, &c); err != nil {
		return c, false, err
	}
	return c, true, tx.Record(ctx, id, actor, store.Note{Kind: audit.Note, Payload: hastened{c.Round, channel, *c.DueAt, c.DueSource}})
}

// hastened is the row that says so.
type hastened struct {
	Round  int                   `json:"round"`
	Again  string                `json:"again"` // the channel by which the dispute was reported again
	Due    time.Time             `json:"due_at"`
	Source countersign.DueSource `json:"due_source"`
}

// said is what was reported of a case, by its record. What was erased was not said: then the deadline is news.
type said struct {
	amount countersign.Money
	dues   []time.Time
}

func saidBefore(ctx context.Context, v store.View, id countersign.CaseID, due time.Time) (bool, error) {
	all, err := saidOf(ctx, v, id)
	return slices.ContainsFunc(all.dues, due.Equal), err
}

func saidOf(ctx context.Context, v store.View, id countersign.CaseID) (all said, err error) {
	for row, err := range v.RecordRows(ctx, id, 0) {
		if err != nil {
			return all, err
		}
		if row.Payload == nil || !slices.Contains([]audit.Kind{audit.Opened, audit.Note, audit.Event, audit.Reopened}, row.Kind) {
			continue
		}
		var reported struct {
			Amount countersign.Money `json:"amount"`
			Due    *time.Time        `json:"due_at"`
		}
		if json.Unmarshal(row.Payload.Bytes, &reported) != nil {
			continue // a note about something else
		}
		if row.Kind != audit.Note && reported.Amount.Currency != "" {
			all.amount = reported.Amount
		}
		if reported.Due != nil {
			all.dues = append(all.dues, *reported.Due)
		}
	}
	return all, nil
}
