package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign"
	"countersign/audit"
	"countersign/auth"
	"countersign/follow"
	"countersign/store"
)

// event is one event of a stream, or a comment.
type event struct{ id, name, data, comment string }

// follow opens a stream of a case. The events end when the stream does, or the test.
func (o *office) follow(id countersign.CaseID, query string, header map[string]string) (events <-chan event, leave func()) {
	o.t.Helper()
	ctx, leave := context.WithCancel(o.t.Context())
	o.t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, "GET", o.server.URL+"/api/v1/cases/"+string(id)+"/events"+query, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.tokens[auth.Auditor])
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := o.server.Client().Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		o.t.Fatalf("the stream is %d %s", res.StatusCode, kind)
	}
	ch := make(chan event, 1000)
	go func() {
		defer close(ch)
		defer res.Body.Close()
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "": // a comment, or the end of an event
				e.comment = value
				if e != (event{}) {
					ch <- e
				}
				e = event{}
			}
		}
	}()
	return ch, leave
}

// next waits for an event of that name; a stream that ends first fails the test, and one that says nothing runs into the
// test's own time-out.
func next(t *testing.T, events <-chan event, name string) event {
	t.Helper()
	for e := range events {
		if e.name == name {
			return e
		}
	}
	t.Fatalf("the stream ended without an event %s", name)
	return event{}
}

func state(t *testing.T, e event) (s CaseState) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &s); err != nil || e.id != "" {
		t.Fatalf("the event %+v is no state: %v", e, err)
	}
	return s
}

func ref(t *testing.T, e event) string {
	t.Helper()
	var s Step
	if err := json.Unmarshal([]byte(e.data), &s); err != nil {
		t.Fatalf("the event %+v is no step: %v", e, err)
	}
	return string(s.Ref)
}

func TestEvents(t *testing.T) {
	o := newOffice(t)
	o.api.Poll = time.Hour // a commit of this process must not wait for it
	id := o.dispute("T1")
	o.step(id, 1, 1)
	events, leave := o.follow(id, "", nil)

	t.Run("first of all it says how the case stands", func(t *testing.T) {
		if s := state(t, next(t, events, "case")); s.Status != countersign.Queued || s.Revision != 1 || s.Recommendation != nil {
			t.Errorf("got %+v", s)
		}
	})
	var first event
	t.Run("steps that were there come next, as they are listed", func(t *testing.T) {
		first = next(t, events, "step")
		want := o.get("/api/v1/cases/" + string(id) + "/steps").json["steps"].([]any)[0]
		if diff := cmp.Diff(want, decoded(t, first.data)); diff != "" {
			t.Errorf("the step differs from the list (-want +got):\n%s", diff)
		}
		if first.id != "3" { // after opened and the model's turn
			t.Errorf("its id is %s, want its place in the record", first.id)
		}
	})
	t.Run("a step is sent when it was committed, and only once", func(t *testing.T) {
		for n := 2; n <= 40; n++ {
			o.step(id, 1, n)
		}
		for n := 2; n <= 40; n++ {
			if got := ref(t, next(t, events, "step")); got != string(countersign.Ref(n)) {
				t.Fatalf("got %s, want S%d", got, n)
			}
		}
	})
	t.Run("a change of the case is told, with its recommendation", func(t *testing.T) {
		c := o.toReview(id, "resolve")
		s := state(t, next(t, events, "case"))
		if s.Status != countersign.InReview || s.Revision != c.Revision || s.Recommendation == nil || *s.Recommendation != "resolve" {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("a stream goes on after the id that was seen last", func(t *testing.T) {
		for _, again := range []struct {
			query  string
			header map[string]string
		}{{"", map[string]string{"Last-Event-ID": first.id}}, {"?last_event_id=" + first.id, nil}} {
			events, leave := o.follow(id, again.query, again.header)
			if got := ref(t, next(t, events, "step")); got != "S2" {
				t.Errorf("got %s first, want S2", got)
			}
			leave()
		}
	})
	t.Run("a stream that has seen everything waits for what is new", func(t *testing.T) {
		head, err := o.store.Head(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		events, leave := o.follow(id, "", map[string]string{"Last-Event-ID": strconv.FormatInt(head.Seq, 10)})
		defer leave()
		next(t, events, "case")
		o.step(id, 1, 41)
		if got := ref(t, next(t, events, "step")); got != "S41" {
			t.Errorf("got %s first, want S41", got)
		}
	})
	t.Run("a caller who leaves ends the stream", func(t *testing.T) {
		leave()
		for range events { // ends
		}
	})
	for value, place := range map[string]string{"abc": "header.Last-Event-ID", "-1": "header.Last-Event-ID", "9999": "header.Last-Event-ID"} {
		t.Run("the id "+value+" is refused", func(t *testing.T) {
			problem(t, o.send(sent{method: "GET", path: "/api/v1/cases/" + string(id) + "/events", role: auth.Auditor,
				header: map[string]string{"Last-Event-ID": value}}), http.StatusBadRequest, place)
		})
	}
}

// TestEventsOfAnotherProcess writes through a second store on the same database, which wakes nobody here.
func TestEventsOfAnotherProcess(t *testing.T) {
	o := newOffice(t)
	id := o.dispute("T1")
	events, _ := o.follow(id, "", nil)
	next(t, events, "case")
	var file string
	if err := o.store.DB().QueryRow("SELECT file FROM pragma_database_list").Scan(&file); err != nil {
		t.Fatal(err)
	}
	other, err := store.Open(t.Context(), file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = other.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, id, worker, store.Note{Kind: audit.ToolCall, Payload: stepRow{1, countersign.Step{Ref: "S1"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := ref(t, next(t, events, "step")); got != "S1" {
		t.Errorf("got %s", got)
	}
}

func TestEventsEnd(t *testing.T) {
	t.Run("a quiet stream shows that it is alive", func(t *testing.T) {
		o := newOffice(t)
		o.api.Heartbeat = time.Millisecond
		events, _ := o.follow(o.dispute("T1"), "", nil)
		for e := range events {
			if e.comment != "" {
				return
			}
		}
		t.Error("the stream ended without a comment")
	})
	t.Run("the program's stop ends every stream", func(t *testing.T) {
		o := newOffice(t)
		id := o.dispute("T1")
		a, _ := o.follow(id, "", nil)
		b, _ := o.follow(id, "", nil)
		next(t, a, "case")
		next(t, b, "case")
		close(o.stop)
		for range a { // ends
		}
		for range b { // ends
		}
		o.server.Close() // waits for every request
		if text := o.log.String(); !strings.Contains(text, "/events") || strings.Contains(text, "level=WARN") {
			t.Errorf("the log is not that of a quiet end:\n%s", text)
		}
	})
	t.Run("a question about the headers alone is answered", func(t *testing.T) {
		o := newOffice(t)
		if r := o.send(sent{method: "HEAD", path: "/api/v1/cases/" + string(o.dispute("T1")) + "/events", role: auth.Auditor}); r.status != http.StatusOK {
			t.Errorf("got %d", r.status)
		}
	})
}

// Streams are for everybody: one caller cannot take all of them, and those that were closed are free again.
func TestStreamsAreForEverybody(t *testing.T) {
	o := newOffice(t)
	o.api.Room = &follow.Room{Most: 3, Each: 2}
	c := o.reviewed("T1", "reject")
	path := "/api/v1/cases/" + string(c.ID) + "/events"
	first, leave := o.follow(c.ID, "", nil)
	second, _ := o.follow(c.ID, "", nil)
	next(t, first, "case")
	next(t, second, "case")
	problem(t, o.get(path), http.StatusServiceUnavailable, "")
	third, _ := o.follow(c.ID, "", map[string]string{"Authorization": "Bearer " + o.tokens[auth.Admin]})
	next(t, third, "case")
	leave()
	for range first { // until it is closed
	}
	for o.send(sent{method: "HEAD", path: path, role: auth.Auditor}).status != http.StatusOK {
		continue // the server has not noticed yet that the first has gone
	}
}
