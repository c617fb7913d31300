package api

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"countersign"
	"countersign/audit"
	"countersign/pipeline/review"
)

// The bodies of decisions.
type (
	newApproval struct {
		_      struct{} `additionalProperties:"false"`
		Answer *string  `json:"answer,omitempty" maxLength:"5000" doc:"What the evidence report of an order says on its first page, in the place of the model's summary. Left out, that summary stands; blanks alone are refused."`
	}
	newOverride struct {
		_       struct{}            `additionalProperties:"false"`
		Outcome countersign.Outcome `json:"outcome" enum:"resolved,rejected,contest,accept" doc:"One of the case's desk: resolved or rejected for a transaction, contest or accept for an order."`
		Reason  string              `json:"reason" maxLength:"2000" doc:"Why, in a sentence. It is kept."`
		Fix     string              `json:"fix,omitempty" enum:"reversal,refund,none" doc:"Belongs to the outcome resolved, and must be there with it."`
		Amount  *countersign.Money  `json:"amount,omitempty" doc:"What is contested, when that is less than what is in dispute; the rest is accepted."`
		Facts   string              `json:"facts,omitempty" maxLength:"64" doc:"Of an order whose records changed since they were judged: the hash that the conflict named, once what changed was looked at."`
	}
	newEscalation struct {
		_         struct{} `additionalProperties:"false"`
		Reason    string   `json:"reason" maxLength:"2000" doc:"Why, in a sentence. It is kept."`
		Reference string   `json:"reference,omitempty" maxLength:"200" doc:"Of the outside desk that took it: closes the case."`
	}
	newDeadline struct {
		_     struct{} `additionalProperties:"false"`
		DueAt string   `json:"due_at" format:"date-time" doc:"When the case must be answered, with its zone."`
	}
	newAttachment struct {
		_       struct{} `additionalProperties:"false"`
		OrderID string   `json:"order_id" maxLength:"200" doc:"The shop's id or number of the order that the dispute is about."`
	}
	newMessage struct {
		_    struct{} `additionalProperties:"false"`
		Text string   `json:"text" maxLength:"5000"`
	}
)

type newFinding struct {
	_         struct{} `additionalProperties:"false"`
	Found     string   `json:"found" enum:"posted,booked,not_posted" doc:"What became of the fix; booked says that the books here hold its entries already, from an import, so none are made."`
	Reason    string   `json:"reason" maxLength:"2000" doc:"How that is known, in a sentence. It is kept."`
	Reference string   `json:"reference,omitempty" maxLength:"200" doc:"The core's; needed when it posted the fix."`
}

// decided is the case that a decision is about, and the revision that the person saw.
type decided struct {
	CasePath
	IfMatch string `header:"If-Match" required:"true" doc:"The case's revision, bare or quoted. Absent is 428, stale is 409."`
}

func (a *api) approve(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newApproval](ctx)
		if err == nil {
			err = a.mayDecide(ctx, act)
		}
		if err != nil {
			return err
		}
		if act.Answer, err = sent.answer(); err != nil {
			return err
		}
		_, err = a.Review.Approve(ctx, act)
		return err
	})
}

// answer is what the caller wrote, empty when they wrote none. Text of no letter is not that: it would leave the model's in their name.
func (n newApproval) answer() (string, error) {
	switch {
	case n.Answer == nil:
		return "", nil
	case *n.Answer == "":
		return "", invalid("body.answer", "is empty; write it, or leave the field out to keep the model's")
	}
	return *n.Answer, nil
}

func (a *api) override(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newOverride](ctx)
		if err == nil {
			err = a.mayDecide(ctx, act)
		}
		if err == nil {
			act.Part, act.Facts = sent.Amount, sent.Facts
			_, err = a.Review.Override(ctx, act, sent.Outcome, sent.Reason, sent.Fix)
		}
		return err
	})
}

func (a *api) escalate(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newEscalation](ctx)
		if err == nil {
			_, err = a.Review.Escalate(ctx, act, sent.Reason, sent.Reference)
		}
		return err
	})
}

func (a *api) message(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newMessage](ctx)
		if err == nil {
			_, err = a.Review.Message(ctx, act, sent.Text)
		}
		return err
	})
}

func (a *api) deadline(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newDeadline](ctx)
		if err != nil {
			return err
		}
		due, err := dueAt(sent.DueAt)
		switch {
		case err != nil:
			return err
		case due == nil:
			return invalid("due_at", "is missing")
		}
		_, err = a.Review.Deadline(ctx, act, *due)
		return err
	})
}

func (a *api) attach(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newAttachment](ctx)
		if err == nil {
			_, err = a.Review.Attach(ctx, act, sent.OrderID)
		}
		return err
	})
}

func (a *api) retry(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		if _, err := read[nothing](ctx); err != nil {
			return err
		}
		_, err := a.Review.Retry(ctx, act)
		return err
	})
}

func (a *api) ask(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		if _, err := read[nothing](ctx); err != nil {
			return err
		}
		_, err := a.Review.Ask(ctx, act)
		return err
	})
}

func (a *api) settle(ctx context.Context, in *decided) (*caseAnswer, error) {
	return a.decide(ctx, in, func(act review.Act) error {
		sent, err := read[newFinding](ctx)
		if err == nil {
			err = a.mayDecide(ctx, act)
		}
		if err == nil {
			_, err = a.Review.Settle(ctx, act, review.Found{What: review.Finding(sent.Found), Reference: sent.Reference, Reason: sent.Reason})
		}
		return err
	})
}

// mayDecide asks of the case as it stands. Should it be raised a moment later, its revision is another one then, and the
// decision a conflict.
func (a *api) mayDecide(ctx context.Context, act review.Act) error {
	c, err := a.Store.Case(ctx, act.Case)
	if err != nil || c.Revision != act.Revision || c.Status != countersign.InReview {
		return err // what happened meanwhile is the better answer, and review gives it
	}
	return requestOf(ctx).principal.MayDecide(c)
}

// decide carries out a decision on the revision that the caller saw, and answers with the case as it is now.
func (a *api) decide(ctx context.Context, in *decided, carry func(review.Act) error) (*caseAnswer, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	r := requestOf(ctx)
	revision, err := seenRevision(r)
	if err != nil {
		return nil, err
	}
	if err := carry(review.Act{Case: id, Revision: revision, Actor: r.principal.Actor}); err != nil {
		return nil, err
	}
	// The decision stands, whether or not its caller is still there to read the answer.
	c, err := View(context.WithoutCancel(ctx), a.Store, id)
	if err != nil {
		return nil, err
	}
	if c.Warnings, err = a.warned(context.WithoutCancel(ctx), id); err != nil {
		a.Log.ErrorContext(ctx, "what a decision warned of cannot be read", "case", string(id), "error", err)
	}
	return tagged(c), nil
}

// warned is what whoever made the last decision was told of it.
func (a *api) warned(ctx context.Context, id countersign.CaseID) (warnings []string, err error) {
	for row, err := range a.Store.RecordRows(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if row.Kind != audit.Decision || row.Payload == nil {
			continue
		}
		var kept struct{ Warnings []string }
		if err := json.Unmarshal(row.Payload.Bytes, &kept); err != nil {
			return nil, err
		}
		warnings = kept.Warnings
	}
	return warnings, nil
}

// seenRevision reads If-Match: a number, bare or between quotes. Weak tags, lists and * would not say what the caller saw.
func seenRevision(r request) (int64, error) {
	if len(r.header.Values("If-Match")) == 0 {
		return 0, countersign.Errorf(countersign.Precondition, "is missing").In("If-Match").Try("send the revision of the case that you saw")
	}
	value, err := single(r.header, "If-Match")
	if err != nil {
		return 0, err
	}
	digits := value
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		digits = value[1 : len(value)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || strings.ContainsAny(digits, "+-") {
		return 0, invalid("If-Match", "%q is not one revision, expected a number such as 3 or \"3\"", clip(value))
	}
	return n, nil
}

type anyVerb struct {
	CasePath
	Verb string `path:"verb"`
}

// unknownVerb answers what looks like a decision and is none. It changes nothing.
func (a *api) unknownVerb(_ context.Context, in *anyVerb) (*caseAnswer, error) {
	return nil, invalid("path.verb", "%q is not one of approve, override, escalate, message, deadline, retry, ask, settle", clip(in.Verb))
}
