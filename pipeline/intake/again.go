package intake

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// again is a request about a case that is open already. What is said twice changes nothing; a deadline that the case does not know,
// or that is sooner, is taken over. That is the one thing which cannot wait for a person: a chargeback that is answered late is lost.
// A later one changes nothing, because a message may be older than the one before it. False means that the case is not open any more,
// or that another request got in first.
func (in Intake) again(ctx context.Context, actor countersign.Actor, c countersign.Case, r Request, found Found) (Opened, bool, error) {
	if err := differs(c, r); err != nil {
		return Opened{}, false, err
	}
	opened := Opened{Case: c, Sooner: sooner(c, found)}
	if !opened.Sooner && r.Key == nil {
		return opened, true, nil
	}
	err := in.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if opened.Sooner {
			if opened.Case, err = hasten(ctx, tx, actor, c.ID, found, r.Channel); err != nil {
				return err
			}
		}
		if r.Key == nil {
			return nil
		}
		return tx.Remember(ctx, *r.Key, c.ID)
	})
	if countersign.KindOf(err) == countersign.Conflict {
		return Opened{}, false, nil // the next look finds what got in first
	}
	return opened, err == nil, err
}

// differs refuses a request that says of an open case what the case does not hold: whoever sent it would believe that it counts.
func differs(c countersign.Case, r Request) error {
	var first string
	var all []string
	note := func(field, said, held string) {
		switch {
		case said == "" || said == held:
			return
		case first == "":
			first = field
			all = append(all, fmt.Sprintf("is %s here, and %s in case %s, which is open about this %s", said, cmp.Or(held, "not known"), c.ID, c.Subject.Kind))
		default:
			all = append(all, fmt.Sprintf("%s is %s here, and %s there", field, said, cmp.Or(held, "not known")))
		}
	}
	if r.Amount != nil && *r.Amount != c.Amount {
		note("amount", r.Amount.String(), heldAmount(c))
	}
	note("network", r.Terms.Network, c.Terms.Network)
	note("reason_code", r.Terms.ReasonCode, c.Terms.ReasonCode)
	if len(all) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.Conflict, "%s", strings.Join(all, "; ")).In(first).Try("decide that case first, or name the provider's own reference of the dispute if this is another one")
}

func heldAmount(c countersign.Case) string {
	if c.Amount.Currency == "" {
		return ""
	}
	return c.Amount.String()
}

func sooner(c countersign.Case, found Found) bool {
	return found.DueAt != nil && (c.DueAt == nil || found.DueAt.Before(*c.DueAt))
}

// hasten gives a case the deadline that was said again. A worker that holds the case would write its own over it, so that whoever
// sends it is asked to wait.
func hasten(ctx context.Context, tx *store.Tx, actor countersign.Actor, id countersign.CaseID, found Found, channel string) (countersign.Case, error) {
	c, err := tx.LockCase(ctx, id)
	switch {
	case err != nil:
		return c, err
	case c.Status == countersign.Closed:
		return c, countersign.Errorf(countersign.Conflict, "case %s was closed meanwhile", id)
	case c.Status == countersign.Investigating:
		return c, countersign.Errorf(countersign.Unavailable, "case %s about this %s is being investigated, and takes no new deadline until that has ended", id, c.Subject.Kind).
			In("due_at").Try("send it again in a minute")
	case !sooner(c, found):
		return c, nil
	}
	c.DueAt, c.DueSource = found.DueAt, found.DueSource
	if err := tx.Save(ctx, &c); err != nil {
		return c, err
	}
	return c, tx.Record(ctx, id, actor, store.Note{Kind: audit.Note, Payload: hastened{c.Round, channel, *c.DueAt, c.DueSource}})
}

// hastened is the row that says so.
type hastened struct {
	Round  int                   `json:"round"`
	Again  string                `json:"again"` // the channel by which the dispute was reported again
	Due    time.Time             `json:"due_at"`
	Source countersign.DueSource `json:"due_source"`
}
