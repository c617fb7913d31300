package api

import (
	"context"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"countersign"
	"countersign/follow"
	"countersign/store"
)

// CaseState is the data of an event named case: sent first, and again whenever any of it changes.
type CaseState struct {
	Status         countersign.Status `json:"status"`
	Revision       int64              `json:"revision"`
	Recommendation *string            `json:"recommendation"`
}

type followed struct {
	CasePath
	After string `header:"Last-Event-ID" doc:"The id of the last event that was received; the stream goes on after it."`
	Query string `query:"last_event_id" doc:"The same, for callers that cannot set the header."`
}

type eventStream struct{ Body func(huma.Context) }

// followCase streams a case: an event named step for each step, whose id is the step's place in the record, and events named
// case, which have no id. The stream stays open, also after the case is closed, until the caller leaves or the program stops.
func (a *api) followCase(ctx context.Context, in *followed) (*eventStream, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	after, err := a.lastSeen(ctx, id, in)
	if err != nil {
		return nil, err
	}
	leave, err := a.Room.Take(requestOf(ctx).principal.Actor.String())
	if err != nil {
		return nil, err
	}
	return &eventStream{func(ctx huma.Context) {
		defer leave()
		r, w := humago.Unwrap(ctx)
		a.Measure.StreamOpened()
		defer a.Measure.StreamClosed()
		s, err := follow.Open(w, r)
		if err == nil && r.Method != "HEAD" {
			err = a.follower().Case(r.Context(), id, after, watcher(s))
		}
		if err != nil && r.Context().Err() == nil {
			a.Log.WarnContext(r.Context(), "an event stream ended", "case", string(id), "error", err)
		}
	}}, nil
}

func (a *api) lastSeen(ctx context.Context, id countersign.CaseID, in *followed) (int64, error) {
	head, err := a.Store.Head(ctx, id)
	if err != nil {
		return 0, err
	}
	if in.After != "" {
		return follow.From("Last-Event-ID", in.After, head)
	}
	return follow.From("query.last_event_id", in.Query, head)
}

func (a *api) follower() follow.Follower {
	return follow.Follower{Store: a.Store, Stopping: a.Stopping, Poll: a.Poll, Heartbeat: a.Heartbeat}
}

// watcher writes steps, and how the case stands, as JSON. Other rows of the record are not told.
func watcher(s *follow.Stream) follow.Watcher {
	return follow.Watcher{
		Row: func(row store.RecordRow) error {
			step, ok, err := stepOf(row)
			if err != nil || !ok {
				return err
			}
			return send(s, "step", row.Seq, step)
		},
		Case: func(c countersign.Case) error {
			return send(s, "case", 0, CaseState{c.Status, c.Revision, known(c.Recommendation)})
		},
		Beat: s.Beat,
	}
}

func send(s *follow.Stream, name string, id int64, data any) error {
	var b strings.Builder
	if err := writeJSON(&b, data); err != nil {
		return fmt.Errorf("write a %s event: %w", name, err)
	}
	return s.Event(name, id, b.String())
}
