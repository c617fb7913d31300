package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/audit"
	"countersign/auth"
	"countersign/auth/session"
	"countersign/desk/bank"
	"countersign/internal/testdb"
	"countersign/llm"
	"countersign/llm/rulebook"
	"countersign/pipeline/review"
	"countersign/store"
	"countersign/web"
)

// gated is the offline reviewer asking for two records at a time, which answers when the test lets it.
type gated struct {
	llm.Model
	next chan struct{}
}

func newGated() *gated {
	return &gated{rulebook.New(bank.Playbook()).AtOnce(2), make(chan struct{}, 1000)}
}

func (g *gated) investigates(c *app.Config) {
	c.Models = func(countersign.Case, llm.Model) llm.Model { return g }
}

// Complete waits for the test, or for the program's stop.
func (g *gated) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	select {
	case <-g.next:
	case <-ctx.Done(): // the model says so in its own way
	}
	return g.Model.Complete(ctx, r)
}

// answers lets so many turns be answered.
func (g *gated) answers(turns int) {
	for range turns {
		g.next <- struct{}{}
	}
}

func (g *gated) answersAll() { close(g.next) }

// event is one event of a live trace, or a sign of life.
type event struct {
	id         int64
	name, data string
	beat       bool
}

// watch opens a live trace as the script of a page does. The events end with the stream.
func (b *browser) watch(path string, last int64) <-chan event {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "GET", b.server.URL+path, nil)
	b.must(err)
	req.Header.Set("HX-Request", "true")
	if last > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	client := *b.client
	client.Timeout = 0
	res, err := client.Do(req)
	b.must(err)
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || kind != "text/event-stream" {
		b.t.Fatalf("the live trace is %d %s", res.StatusCode, kind)
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer res.Body.Close()
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "id":
				e.id, _ = strconv.ParseInt(value, 10, 64)
			case "event":
				e.name = value
			case "data":
				e.data += value
			case "": // a comment, or the end of an event
				e.beat = value != ""
				if e != (event{}) {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events
}

// upcoming waits for the next event that is no sign of life.
func upcoming(t testing.TB, events <-chan event) event {
	t.Helper()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the live trace has ended")
			}
			if !e.beat {
				return e
			}
		case <-time.After(patience):
			t.Fatal("nothing happens")
		}
	}
}

// toReview collects rows until the case is in review and its last row has arrived. The two are one commit, and either may be
// told first.
func (o *office) toReview(id countersign.CaseID, events <-chan event, rows ...event) []event {
	o.t.Helper()
	for reviewed, last := false, int64(0); !reviewed || last < o.head(id); {
		switch e := upcoming(o.t, events); {
		case e.name == "case" && e.data == "in_review":
			reviewed = true
		case e.name == "":
			rows, last = append(rows, e), e.id
		}
	}
	return rows
}

func ended(t testing.TB, events <-chan event) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
		case <-late:
			t.Fatal("the live trace goes on")
		}
	}
}

// inOrder fails the test unless the rows are those from one number to another, each once.
func inOrder(t testing.TB, rows []event, from, to int64) {
	t.Helper()
	for _, row := range rows {
		if row.id != from {
			t.Errorf("row %d comes where %d is next", row.id, from)
		}
		from++
	}
	if from != to+1 {
		t.Errorf("the rows end before %d, want %d to be the last", from, to)
	}
}

func (o *office) head(id countersign.CaseID) int64 {
	o.t.Helper()
	head, err := o.Store.Head(o.t.Context(), id)
	o.must(err)
	return head.Seq
}

// raise raises a case to approvers without any page.
func (o *office) raise(id countersign.CaseID) {
	o.t.Helper()
	_, err := o.Review.Escalate(o.t.Context(), review.Act{Case: id, Revision: o.latest(id).Revision, Actor: operator}, "too big", "")
	o.must(err)
}

func TestLiveTrace(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		model := newGated()
		o := newOffice(t, on(database), model.investigates)
		b := o.as(auth.Analyst)
		c := o.dispute("T-1")
		page, live := "/cases/"+string(c.ID), "/cases/"+string(c.ID)+"/live"

		o.run(t, "while a case is worked a browser without script loads its page again", func(t *testing.T) {
			again := b.get(page).parse().find("noscript")[0].find("meta", "http-equiv", "refresh")
			if len(again) != 1 || again[0].attrs["content"] != "2" {
				t.Errorf("it is told %d times to do so", len(again))
			}
		})
		events := b.watch(live, 0)
		o.run(t, "rows arrive as they are recorded", func(t *testing.T) {
			model.answers(1)
			for row := (event{}); !strings.Contains(row.data, "S2 "); {
				row = upcoming(t, events)
			}
			if status := o.latest(c.ID).Status; status != countersign.Investigating {
				t.Errorf("the case is %s by then", status)
			}
		})
		o.run(t, "each row arrives once and in order, and reads as the page shows it", func(t *testing.T) {
			all := b.watch(live+"?after=0", 0)
			model.answersAll()
			rows := o.toReview(c.ID, all)
			inOrder(t, rows, 1, o.head(c.ID))
			shown := b.get(page).parse().find("ol", "id", "trace")[0].find("li")
			if len(shown) != len(rows) {
				t.Fatalf("the page shows %d rows, %d arrived", len(shown), len(rows))
			}
			for i, row := range rows {
				told := answer(t, row.data).parse().find("li")[0]
				if told.attrs["id"] != fmt.Sprint("t", row.id) || told.text != shown[i].text {
					t.Errorf("row %d reads %q, on the page %q", row.id, told.text, shown[i].text)
				}
			}
		})
		o.run(t, "a page of a case that waits for a person loads itself no more", func(t *testing.T) {
			if again := b.get(page).parse().find("meta", "http-equiv", "refresh"); len(again) != 0 {
				t.Error("it does")
			}
		})
		o.run(t, "it goes on after the row that was seen last", func(t *testing.T) {
			head := o.head(c.ID)
			for sentence, events := range map[string]<-chan event{"by header": b.watch(live, 4), "by address": b.watch(live+"?after=4", 0), "by header, which is the later": b.watch(live+"?after=2", 4)} {
				rows := []event{}
				for int64(len(rows)) < head-4 {
					if e := upcoming(t, events); e.name == "" {
						rows = append(rows, e)
					}
				}
				if inOrder(t, rows, 5, head); t.Failed() {
					t.Fatal(sentence)
				}
			}
		})
		o.run(t, "the page itself asks for what comes after it, and is told of a change that it does not show", func(t *testing.T) {
			connect := b.get(page).parse().find("section", "id", "live")[0].attrs["hx-sse:connect"]
			same := b.watch(connect, 0)
			o.write(func(ctx context.Context, tx *store.Tx) error {
				return tx.Record(ctx, c.ID, operator, store.Note{Kind: audit.ModelTurn, Payload: map[string]int{"round": 1, "turn": 9}})
			})
			if e := upcoming(t, same); e.name != "" || e.id != o.head(c.ID) || !strings.Contains(e.data, "Model, turn 9") {
				t.Errorf("of a row that changes nothing else it is told %+v", e)
			}
			o.raise(c.ID)
			row, change := upcoming(t, same), upcoming(t, same)
			if row.name == "case" {
				row, change = change, row // it was quicker than the first look
			}
			if row.name != "" || row.id != o.head(c.ID) || change.name != "case" || change.data != "in_review" {
				t.Errorf("it is told %+v and %+v", row, change)
			}
			if e := upcoming(t, b.watch(connect, 0)); e.name != "case" {
				t.Errorf("one that was not connected then is told %+v", e)
			}
		})
		for _, id := range []string{"x", "-1", "9999", "1.5"} {
			o.run(t, "from a row "+id+" it cannot go on", func(t *testing.T) {
				b.get(live + "?after=" + id).is(http.StatusBadRequest)
				b.send("GET", live, nil, http.Header{"Last-Event-Id": {id}}).is(http.StatusBadRequest)
			})
		}
		o.run(t, "of a case that is not there is no trace", func(*testing.T) { b.get("/cases/D-NONE/live").is(http.StatusNotFound) })
		o.verified()
	})
}

// answer is text as if it were a page.
func answer(t testing.TB, text string) page {
	return page{t: t, status: http.StatusOK, header: http.Header{"Content-Type": {"text/html"}}, text: text}
}

// serve runs the program on an address as it is run in earnest, until it is stopped and closed.
func (o *office) serve(addr string) (stop func()) {
	o.t.Helper()
	l, err := app.Listen("--addr", addr)
	o.must(err)
	o.server.URL = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.WithoutCancel(o.t.Context()))
	done := make(chan error, 1)
	program := o.App
	go func() { done <- program.Serve(ctx, l, program.Handler()) }()
	return func() {
		o.t.Helper()
		cancel()
		o.must(<-done)
		o.must(program.Close())
	}
}

func TestALiveTraceOutlivesARestart(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		model, data := newGated(), t.TempDir()
		config := []func(*app.Config){on(database), model.investigates, func(c *app.Config) { c.Data = data }}
		o := newOffice(t, config...)
		o.server.Close()
		stop := o.serve("127.0.0.1:0")
		addr := strings.TrimPrefix(o.server.URL, "http://")
		b := o.as(auth.Analyst)
		c := o.dispute("T-1")
		connect := b.get("/cases/"+string(c.ID)).parse().find("section", "id", "live")[0].attrs["hx-sse:connect"]
		from := o.head(c.ID)
		if at := b.url(connect).Query().Get("after"); at != fmt.Sprint(from) {
			from, _ = strconv.ParseInt(at, 10, 64) // the worker was faster than the page
		}
		events, rows := b.watch(connect, 0), []event{}
		model.answers(2)
		for len(rows) == 0 || !strings.Contains(rows[len(rows)-1].data, "S4 ") {
			if e := upcoming(t, events); e.name == "" {
				rows = append(rows, e)
			}
		}
		stop()
		for e := range events {
			if e.name == "" && !e.beat {
				rows = append(rows, e)
			}
		}
		if strings.Contains(o.log.String(), "cut off") {
			t.Error("the stop did not tell the stream to end")
		}

		o.open(config...)
		o.serve(addr)
		events = b.watch(connect, rows[len(rows)-1].id)
		model.answersAll()
		rows = o.toReview(c.ID, events, rows...)
		inOrder(t, rows, from+1, o.head(c.ID))
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, "Investigation taken up again after turn 2", "Post reversal of NGN 24,500.00")
		o.verified()
	})
}

// A page that was drawn before the program stopped learns what changed while nobody could tell it.
func TestALiveTraceTellsWhatChangedWhileTheProgramWasDown(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	c := o.inReview("T-1")
	connect := b.get("/cases/"+string(c.ID)).parse().find("section", "id", "live")[0].attrs["hx-sse:connect"]
	o.server.Close()
	o.raise(c.ID)
	o.serve("127.0.0.1:0")
	events := b.watch(connect, 0)
	if e := upcoming(t, events); e.name != "case" {
		t.Errorf("first it tells %+v", e)
	}
	if e := upcoming(t, events); e.id != o.head(c.ID) {
		t.Errorf("then it tells %+v", e)
	}
}

func TestALiveTraceEndsWithItsReadersSession(t *testing.T) {
	o := newOffice(t)
	c := o.inReview("T-1")
	// The same dashboard with a quicker heart.
	quick := httptest.NewServer(web.New(web.Config{Store: o.Store, Intake: o.Intake, Review: o.Review, Desks: o.Desks, Throttle: auth.NewThrottle(nil),
		Sessions: session.New(o.Store, session.Options{}), Log: o.Log, Heartbeat: time.Millisecond}))
	defer quick.Close()
	o.server.URL = quick.URL
	ada := o.as(auth.Admin)
	stays := ada.watch("/cases/"+string(c.ID)+"/live", 0)
	for sentence, end := range map[string]func(*browser, string){
		"they signed out in another window": func(b *browser, _ string) { b.post("/sign-out", nil).is(http.StatusSeeOther) },
		"their access was taken away": func(_ *browser, person string) {
			ada.post(person, url.Values{"access": {"off"}}).is(http.StatusSeeOther)
		},
		"their role is another": func(_ *browser, person string) {
			ada.post(person, url.Values{"role": {"auditor"}}).is(http.StatusSeeOther)
		},
		"their password is another": func(_ *browser, person string) {
			o.must(auth.ChangePassword(t.Context(), o.Store, strings.TrimPrefix(person, "/settings/people/"), "correct horse battery", operator))
		},
	} {
		o.run(t, sentence, func(t *testing.T) {
			p := o.person(fmt.Sprint("p", len(sentence)), auth.Analyst)
			b := o.signedIn(p)
			events := b.watch("/cases/"+string(c.ID)+"/live", 0)
			alive(t, events)
			end(b, "/settings/people/"+p.ID)
			ended(t, events)
			req := b.send("GET", "/cases/"+string(c.ID)+"/live", nil, http.Header{"Hx-Request": {"true"}, "Hx-Current-Url": {b.server.URL + "/cases/" + string(c.ID)}})
			if req.status != http.StatusUnauthorized || req.header.Get("HX-Redirect") != "/sign-in?next=%2Fcases%2F"+string(c.ID) {
				t.Errorf("coming back is %d and leads to %q", req.status, req.header.Get("HX-Redirect"))
			}
		})
	}
	alive(t, stays)
	o.run(t, "their time is over", func(t *testing.T) {
		o.later(13 * time.Hour)
		ended(t, stays)
	})
	if strings.Contains(o.log.String(), "level=WARN") || strings.Contains(o.log.String(), "level=ERROR") {
		t.Errorf("the log complains:\n%s", o.log.String())
	}
}

// alive waits for a sign of life that is still to come.
func alive(t testing.TB, events <-chan event) {
	t.Helper()
	for range len(events) {
		<-events
	}
	for e := range events {
		if e.beat {
			return
		}
	}
	t.Fatal("the live trace has ended")
}
