package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"countersign"
	"countersign/audit"
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
	head, err := a.Store.Head(ctx, id)
	if err != nil {
		return nil, err
	}
	after, err := in.after(head)
	if err != nil {
		return nil, err
	}
	return &eventStream{func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		s := &stream{api: a, id: id, after: after, looked: -1, w: w, control: http.NewResponseController(w)}
		if err := s.run(r); err != nil && r.Context().Err() == nil {
			a.Log.WarnContext(r.Context(), "an event stream ended", "case", string(id), "error", err)
		}
	}}, nil
}

// after is the row that the caller has seen last. A row that does not exist yet is another database's: going on from there
// would leave steps out.
func (in followed) after(head audit.Head) (int64, error) {
	place, value := "Last-Event-ID", in.After
	if value == "" {
		place, value = "query.last_event_id", in.Query
	}
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(place, "%q is not the id of an event", clip(value))
	}
	if n > head.Seq {
		return 0, invalid(place, "%d is beyond the end of the case's record, which has %d rows", n, head.Seq)
	}
	return n, nil
}

// stream is one caller's view of one case. It holds one batch of steps at most, whatever the caller's speed, and no
// connection to the database while it writes.
type stream struct {
	*api
	id      countersign.CaseID
	after   int64 // the last row whose step was sent, or that was none
	looked  int64 // the head when the case was last looked at
	told    CaseState
	w       io.Writer
	control *http.ResponseController
}

const (
	batch      = 32               // steps that are held in memory at once
	mostBehind = 10 * time.Second // how long a caller may take to receive what was written
)

func (s *stream) run(r *http.Request) error {
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	s.open()
	if r.Method == http.MethodHead {
		return nil
	}
	grown, stop := s.Store.Watch(s.id)
	defer stop()
	poll, beat := time.NewTicker(s.Poll), time.NewTicker(s.Heartbeat)
	defer poll.Stop()
	defer beat.Stop()
	if err := s.send("retry: 1000\n\n"); err != nil {
		return err
	}
	for {
		if err := s.look(r.Context()); err != nil {
			return err
		}
		select {
		case <-grown:
		case <-poll.C: // another process may have written
		case <-beat.C:
			if err := s.send(": the stream is alive\n\n"); err != nil {
				return err
			}
		case <-r.Context().Done():
			return nil
		case <-s.Stopping:
			return nil
		}
	}
}

// open sends the headers. A deadline for reading the request would end the stream, so there is none any more.
func (s *stream) open() {
	_ = s.control.SetReadDeadline(time.Time{}) // not every writer has one
	h := s.w.(http.ResponseWriter).Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	s.w.(http.ResponseWriter).WriteHeader(http.StatusOK)
}

// look sends what was recorded since the last look. When nothing was, it costs one row of the database.
func (s *stream) look(ctx context.Context) error {
	head, err := s.Store.Head(ctx, s.id)
	if err != nil || head.Seq == s.looked {
		return err
	}
	if s.looked < 0 { // first of all, how the case stands
		if err := s.tell(ctx); err != nil {
			return err
		}
	}
	for s.after < head.Seq {
		steps, err := s.read(ctx, head.Seq)
		if err != nil {
			return err
		}
		for _, e := range steps {
			if err := s.event("step", e.seq, e.step); err != nil {
				return err
			}
		}
	}
	s.looked = head.Seq
	return s.tell(ctx)
}

type stepEvent struct {
	seq  int64
	step Step
}

// read reads the next steps, a batch at most, up to the given row.
func (s *stream) read(ctx context.Context, until int64) (steps []stepEvent, err error) {
	for row, err := range s.Store.RecordRows(ctx, s.id, s.after) {
		if err != nil {
			return nil, err
		}
		s.after = row.Seq
		step, ok, err := stepOf(row)
		if err != nil {
			return nil, err
		}
		if ok {
			steps = append(steps, stepEvent{row.Seq, step})
		}
		if len(steps) == batch || row.Seq >= until {
			return steps, nil
		}
	}
	s.after = max(s.after, until) // rows that the head counts and that are not there: the verifier's business
	return steps, nil
}

// tell sends the case's state if it is not the one that was told last.
func (s *stream) tell(ctx context.Context) error {
	c, err := s.Store.Case(ctx, s.id)
	if err != nil {
		return err
	}
	now := CaseState{c.Status, c.Revision, known(c.Recommendation)}
	if now.Status == s.told.Status && now.Revision == s.told.Revision { // what else is in it changes with the revision
		return nil
	}
	s.told = now
	return s.event("case", 0, now)
}

// event writes one event. Rows are counted from 1, so an event without an id has none to go on from.
func (s *stream) event(name string, id int64, data any) error {
	var b strings.Builder
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: ", name)
	if err := writeJSON(&b, data); err != nil { // ends with a line break, and JSON holds no other
		return fmt.Errorf("write a %s event: %w", name, err)
	}
	b.WriteString("\n")
	return s.send(b.String())
}

// send writes and flushes. A caller who does not read is left behind, and may come back with the id it has.
func (s *stream) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(mostBehind)) // not every writer has one
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}
