package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/llm"
	"countersign/llm/chain"
	"countersign/llm/exchange"
	"countersign/llm/openai"
	"countersign/llm/scripted"
	"countersign/pipeline/budget"
	"countersign/redact"
)

// server is a real model server that does one thing, and counts how often it was asked.
type server struct {
	*httptest.Server
	asked atomic.Int64
}

func serve(t *testing.T, handle http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		handle(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func says(text, usage string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"content":%q}}]%s}`, text, usage)
	}
}

const usage = `,"usage":{"prompt_tokens":1000,"completion_tokens":10}`

func fails(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error":"no"}`, code) }
}

// hangs reads the request, as a server must to notice that somebody went away, and never begins to answer.
func hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// price is USD 1 for a million tokens read and USD 2 for a million written.
var price = llm.Price{Currency: "USD", Input: 1_000_000, Cached: 1_000_000, Output: 2_000_000}

func link(t *testing.T, name string, s *server) chain.Link {
	t.Helper()
	m, err := openai.New(openai.Config{Server: exchange.Server{BaseURL: s.URL + "/v1", Model: "model of " + name, APIKey: "sk-canary-key", FirstByte: 100 * time.Millisecond,
		Wait: func(context.Context, time.Duration) error { return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return chain.Link{Connection: name, Model: m, Identity: m.Identity(), Price: price}
}

// clock is a clock that stands until it is moved.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func request() llm.Request {
	return llm.Request{System: redact.Mask("Decide."), Messages: []llm.Message{{Role: llm.User, Text: redact.Mask(strings.Repeat("a case ", 100))}}}
}

// told is who was asked, in short: "first unreachable, second".
func told(asked []llm.Asked) string {
	var all []string
	for _, who := range asked {
		all = append(all, strings.TrimSpace(who.Connection+" "+string(who.Kind)))
	}
	return strings.Join(all, ", ")
}

func TestTheNextIsAskedWhereOneGivesNoAnswer(t *testing.T) {
	for _, row := range []struct {
		name     string
		first    http.HandlerFunc
		attempts int // of the first
		want     string
		assumed  bool // the first may want to be paid
	}{
		{"a server that is overloaded to the end", fails(503), 3, "first unreachable, second", false},
		{"a server that refuses the key", fails(401), 1, "first refused, second", false},
		{"a server that does not begin to answer", hangs, 1, "first timed_out, second", true},
		{"a gateway that gave up waiting", fails(504), 1, "first timed_out, second", true},
		{"a server that goes away without a byte", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, 3, "first unreachable, second", true},
		{"a server that answers with a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, 1, "first unreadable, second", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			first, second := serve(t, row.first), serve(t, says("hello", usage))
			c := chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), link(t, "first", first), link(t, "second", second))
			reply, err := c.Complete(t.Context(), request())
			if err != nil || reply.Text != "hello" || told(reply.Asked) != row.want {
				t.Fatalf("%q of %s, %v; want %s", reply.Text, told(reply.Asked), err, row.want)
			}
			if int(first.asked.Load()) != row.attempts || len(reply.Attempts) != row.attempts+1 || reply.Attempts[0].Connection != "first" || reply.Attempts[row.attempts].Connection != "second" {
				t.Errorf("%d requests, and the attempts are %+v", first.asked.Load(), reply.Attempts)
			}
			lost, gave := reply.Asked[0], reply.Asked[1]
			if (lost.Assumed != nil) != row.assumed || (lost.Costs.String() != "") != row.assumed || len(lost.Request) == 0 || lost.Why == "" {
				t.Errorf("of the one that gave no answer: %+v", lost)
			}
			if gave.Costs.String() != "USD 0.00102" || gave.Usage == nil || gave.Assumed != nil {
				t.Errorf("of the one that did: %+v", gave)
			}
			if strings.Contains(fmt.Sprintf("%+v %s", reply.Asked, lost.Request), "sk-canary") {
				t.Error("the key is in what is told")
			}
		})
	}
	t.Run("a server that is not there", func(t *testing.T) {
		gone, second := serve(t, fails(500)), serve(t, says("hello", usage))
		first := link(t, "first", gone)
		gone.Close()
		reply, err := chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), first, link(t, "second", second)).Complete(t.Context(), request())
		if err != nil || told(reply.Asked) != "first unreachable, second" || reply.Asked[0].Assumed != nil {
			t.Errorf("%s, %v", told(reply.Asked), err)
		}
	})
	t.Run("one whose key cannot be opened, and one that panics", func(t *testing.T) {
		panics := chain.Link{Connection: "panics", Model: scripted.Func(func(int, llm.Request) (llm.Reply, error) { panic("boom") })}
		reply, err := chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), chain.Link{Connection: "lost", Lost: "enter its key again"}, panics, link(t, "last", serve(t, says("hello", usage)))).
			Complete(t.Context(), request())
		if err != nil || told(reply.Asked) != "lost passed_over, panics unreadable, last" {
			t.Errorf("%s, %v", told(reply.Asked), err)
		}
	})
}

// A server that does not say what it used is taken to have used what was sent and what it wrote.
func TestWhatNobodyCountsIsAssumed(t *testing.T) {
	c := chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), link(t, "quiet", serve(t, says(strings.Repeat("word ", 100), ""))))
	reply, err := c.Complete(t.Context(), request())
	if err != nil || reply.Usage != nil {
		t.Fatal(err, reply.Usage)
	}
	who := reply.Asked[0]
	if who.Usage != nil || who.Assumed == nil || who.Assumed.Input != llm.Estimate(request()) || who.Assumed.Output < 100 || len(who.Costs) != 1 || who.Costs[0] != price.Of(*who.Assumed) {
		t.Errorf("%+v", who)
	}
}

func TestNobodyAnswered(t *testing.T) {
	c := chain.New(chain.NewDowns(time.Now), slog.New(slog.DiscardHandler), link(t, "first", serve(t, fails(503))), link(t, "second", serve(t, fails(400))))
	_, err := c.Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Refused || told(e.Asked) != "first unreachable, second refused" || len(e.Attempts) != 4 || !strings.Contains(e.Message, "first: ") || len(e.Request) == 0 {
		t.Errorf("%v, of %s", err, told(e.Asked))
	}
}

// Whoever gave up is answered by nobody else, at any moment.
func TestACallerThatGaveUpIsNotAnsweredByAnybodyElse(t *testing.T) {
	second := serve(t, says("hello", usage))
	ctx, cancel := context.WithCancel(t.Context())
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); hangs(w, r) })
	downs := chain.NewDowns(time.Now)
	_, err := chain.New(downs, slog.New(slog.DiscardHandler), link(t, "first", first), link(t, "second", second)).Complete(ctx, request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Canceled || second.asked.Load() != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v; the second was asked %d times", err, second.asked.Load())
	}
	reply, err := chain.New(downs, slog.New(slog.DiscardHandler), link(t, "first", second)).Complete(t.Context(), request())
	if err != nil || told(reply.Asked) != "first" {
		t.Errorf("a caller that went away says nothing of the server, and it is left alone: %s, %v", told(reply.Asked), err)
	}
}

// Nor does one whose time was up say anything of the server: a case that is at its end would else have it passed over for all others.
func TestACallerWhoseTimeIsUpHasNoServerLeftAlone(t *testing.T) {
	at := &clock{time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
	downs := chain.NewDowns(at.Now)
	slow, second := serve(t, hangs), serve(t, says("hello", usage))
	first := link(t, "first", slow)
	m, err := openai.New(openai.Config{Server: exchange.Server{BaseURL: slow.URL + "/v1", Model: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	first.Model = m // patient, so that the caller's time ends first
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = chain.New(downs, slog.New(slog.DiscardHandler), first, link(t, "second", second)).Complete(ctx, request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.TimedOut || second.asked.Load() != 0 {
		t.Fatalf("%v; the second was asked %d times", err, second.asked.Load())
	}
	reply, err := chain.New(downs, slog.New(slog.DiscardHandler), link(t, "first", second), link(t, "other", second)).Complete(t.Context(), request())
	if err != nil || told(reply.Asked) != "first" {
		t.Errorf("%s, %v", told(reply.Asked), err)
	}
}

// A server that was down is not waited for by the next case, is asked again by one after its rest, and is told of once.
func TestAServerThatWasDownIsLeftAloneForAWhile(t *testing.T) {
	var log bytes.Buffer
	down := atomic.Bool{}
	down.Store(true)
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			fails(503)(w, r)
			return
		}
		says("first", usage)(w, r)
	})
	second := serve(t, says("second", usage))
	at := &clock{time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
	downs := chain.NewDowns(at.Now)
	ask := func(want string) {
		t.Helper()
		c := chain.New(downs, slog.New(slog.NewTextHandler(&log, nil)), link(t, "first", first), link(t, "second", second))
		reply, err := c.Complete(t.Context(), request())
		if err != nil || told(reply.Asked) != want {
			t.Errorf("%s, %v; want %s", told(reply.Asked), err, want)
		}
	}
	ask("first unreachable, second")
	for range 5 {
		ask("first passed_over, second")
	}
	if asked := first.asked.Load(); asked != 3 {
		t.Errorf("it was asked %d times while it rests, want the 3 of the first call", asked)
	}
	at.now = at.now.Add(chain.Rest)
	ask("first unreachable, second")
	ask("first passed_over, second")
	at.now = at.now.Add(chain.Rest)
	down.Store(false)
	ask("first")
	ask("first")
	if lines := strings.Count(log.String(), "does not answer"); lines != 1 || strings.Count(log.String(), "answers again") != 1 || strings.Contains(log.String(), "sk-canary") {
		t.Errorf("the log says it %d times:\n%s", lines, log.String())
	}
}

// Where nobody else can be asked, a server that was down is asked all the same: a case is not failed for another one's sake.
func TestARestingServerIsAskedWhereNobodyElseAnswers(t *testing.T) {
	first := serve(t, fails(503))
	downs := chain.NewDowns(time.Now)
	c := chain.New(downs, slog.New(slog.DiscardHandler), link(t, "first", first))
	for n := range int64(3) {
		if _, err := c.Complete(t.Context(), request()); err == nil || first.asked.Load() != 3*(n+1) {
			t.Errorf("call %d: %v, after %d requests", n+1, err, first.asked.Load())
		}
	}
}

func TestABudgetKeepsACallFromBeingMade(t *testing.T) {
	paid, free := serve(t, says("paid", usage)), serve(t, says("free", usage))
	costless := link(t, "free", free)
	costless.Price = llm.Price{Currency: "USD"}
	none := func(_ context.Context, call budget.Used) (string, error) {
		if call.Costs.In("USD").Micro > 0 {
			return "today's budget is spent", nil
		}
		return "", nil
	}
	downs, quiet := chain.NewDowns(time.Now), slog.New(slog.DiscardHandler)
	reply, err := chain.New(downs, quiet, link(t, "paid", paid), costless).Within(none).Complete(t.Context(), request())
	if err != nil || reply.Text != "free" || told(reply.Asked) != "paid budget_spent, free" || paid.asked.Load() != 0 {
		t.Errorf("%s, %v", told(reply.Asked), err)
	}
	offline := chain.Link{Connection: "rulebook", Model: scripted.New(scripted.Say("by rule")), Offline: true, Price: price}
	reply, err = chain.New(downs, quiet, link(t, "paid", paid), offline).Within(none).Complete(t.Context(), request())
	if err != nil || reply.Text != "by rule" || len(reply.Asked[1].Costs) > 1 {
		t.Errorf("the offline reviewer is in no budget: %s, %v", told(reply.Asked), err)
	}
	_, err = chain.New(downs, quiet, link(t, "paid", paid)).Within(none).Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.NoBudget || !strings.Contains(e.Message, "today's budget is spent") || len(e.Attempts) != 0 {
		t.Errorf("%v", err)
	}
	broken := func(context.Context, budget.Used) (string, error) { return "", errors.New("no database") }
	if _, err = chain.New(downs, quiet, link(t, "paid", paid)).Within(broken).Complete(t.Context(), request()); err == nil || paid.asked.Load() != 0 {
		t.Errorf("nobody knows what was spent, and a call was made: %v", err)
	}
}
