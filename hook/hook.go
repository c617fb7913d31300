// Package hook takes in what providers send of their own accord: POST /hooks/{source}, an event in a signed body.
//
// There is no token: the signature is the credential, over the bytes as they were received. They are read once, up to a limit, and
// nothing of them is parsed, or even unpacked, before the signature was found to be good. What was taken in is kept as it came.
//
// It promises that a delivery which is not signed by its source changes nothing, that every answer is a sentence somebody at the other
// end can act on, and that no byte of a body or a secret reaches a log or an error. It decides nothing: what an event does is said by
// package events, and done by pipeline/intake.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/pipeline/intake"
	"countersign/secret"
	"countersign/store"
)

// Config is what the intake of events needs.
type Config struct {
	Store  *store.Store
	Key    secret.Key
	Events intake.Events
	Log    *slog.Logger // discarded when nil
}

// Hook answers deliveries, and remembers what it refused of late.
type Hook struct {
	Config
	refused refusals
	mux     *http.ServeMux
}

// New returns the handler of POST /hooks/{source}.
func New(c Config) *Hook {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hook{Config: c, mux: http.NewServeMux()}
	h.mux.HandleFunc("POST /hooks/{source}", h.receive)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, countersign.Errorf(countersign.NotFound, "events are sent by POST to /hooks/ and the name of their source"))
	})
	return h
}

// ServeHTTP answers a delivery, and logs that without anything of it.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun, sent := time.Now(), answer.To(w)
	r = answer.Traced(w, r)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	defer func() {
		if p := recover(); p != nil {
			h.Log.ErrorContext(r.Context(), "panic while taking in an event", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !sent.Begun() {
				fail(sent, http.StatusInternalServerError, countersign.Errorf(countersign.Internal, "something went wrong here; send it again"))
			}
		}
		h.Log.InfoContext(r.Context(), "delivery", "method", answer.Method(r), "status", sent.Status(), "ms", time.Since(begun).Milliseconds())
	}()
	h.mux.ServeHTTP(sent, r)
}

// maxBody is the longest body that is read, and the most that a compressed one may unpack to.
const maxBody = 1 << 20

func (h *Hook) receive(w http.ResponseWriter, r *http.Request) {
	source, err := h.source(r)
	if err != nil {
		h.answerError(w, r, "", err)
		return
	}
	got, err := h.take(w, r, source)
	if err != nil {
		h.answerError(w, r, source.Name, err)
		return
	}
	status := http.StatusAccepted
	if got.Again {
		status = http.StatusOK
	}
	reply(w, status, "application/json", taken(got))
}

// source is the one that a delivery is addressed to. What can be no name of one is not looked up: PostgreSQL takes no NUL in a text.
func (h *Hook) source(r *http.Request) (store.EventSource, error) {
	name := r.PathValue("source")
	if !sourceName.MatchString(name) {
		return store.EventSource{}, countersign.Errorf(countersign.NotFound, "there is no source of events %q", clip(name))
	}
	return h.Store.EventSource(r.Context(), name)
}

// take reads a delivery, checks who it is from and hands it in, in this order.
func (h *Hook) take(w http.ResponseWriter, r *http.Request, source store.EventSource) (intake.Received, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return intake.Received{}, countersign.Errorf(countersign.TooLarge, "is longer than %d bytes", maxBody).In("body")
	case err != nil:
		return intake.Received{}, countersign.Errorf(countersign.Invalid, "could not be read to its end").In("body")
	}
	secrets, err := h.secrets(source)
	if err != nil {
		return intake.Received{}, err
	}
	signed, err := Verify(secrets, r.Header.Values(SignatureHeader), body, h.Store.Now(), source.Window)
	if err != nil {
		return intake.Received{}, naming(err, r.Header)
	}
	encoding := r.Header.Get("Content-Encoding")
	d := intake.Delivery{Source: source, Body: body, Encoding: clip(encoding), Signature: strings.ToValidUTF8(r.Header.Get(SignatureHeader), "�"), Headers: names(r.Header), SignedAt: signed}
	d.Plain, d.Unpacked = unpack(body, encoding)
	return h.Events.Receive(context.WithoutCancel(r.Context()), d)
}

// secrets are those that a signature of the source may be made with now.
func (h *Hook) secrets(source store.EventSource) (all [][]byte, err error) {
	now, err := h.Key.Open(Purpose(source.Name), source.Secret)
	if err != nil {
		return nil, err
	}
	all = append(all, now)
	if source.Former != "" && h.Store.Now().Before(source.FormerUntil) {
		if former, err := h.Key.Open(Purpose(source.Name), source.Former); err == nil { // a key that was lost: its secret was entered again
			all = append(all, former)
		}
	}
	return all, nil
}

// naming adds the names of the headers that came to a refusal: a proxy that drops or adds one is the usual reason. Their values are
// nobody's business.
func naming(err error, h http.Header) error {
	e := answer.Told(err)
	if e == nil {
		return err
	}
	e.Hint = "headers seen: " + strings.Join(names(h), ", ")
	return e
}

// names are the names of the headers that came, in order.
func names(h http.Header) []string {
	const most = 60
	var all []string
	for name := range h {
		all = append(all, clip(name))
	}
	slices.Sort(all)
	return all[:min(len(all), most)]
}

// problem is an error as RFC 9457 has it.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
}

func (h *Hook) answerError(w http.ResponseWriter, r *http.Request, source string, err error) {
	e := answer.Told(err)
	if e == nil {
		h.Log.ErrorContext(r.Context(), "take in an event", "source", source, "error", err)
		e = countersign.Errorf(countersign.Internal, "something went wrong here; send it again")
	}
	if source != "" && e.Kind != countersign.Unprocessed { // an event that cannot be understood is kept, and shown as such
		h.refused.add(Refusal{source, h.Store.Now(), e.Error()})
	}
	fail(w, answer.Status(e.Kind), e)
}

func fail(w http.ResponseWriter, status int, e *countersign.Error) {
	reply(w, status, "application/problem+json", problem{Title: http.StatusText(status), Status: status, Detail: e.Error(), Field: e.Field})
}

func reply(w http.ResponseWriter, status int, kind string, body any) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // nobody is left to tell
}

// Taken is the answer to a delivery that was taken in.
type Taken struct {
	Event string               `json:"event"`
	State store.EventState     `json:"state"`
	Seen  string               `json:"seen"` // "1x", "2x"
	Cases []countersign.CaseID `json:"cases"`
}

func taken(got intake.Received) Taken {
	t := Taken{Event: got.Event.ID, State: got.Event.State, Seen: fmt.Sprintf("%dx", got.Event.Seen), Cases: []countersign.CaseID{}}
	for _, c := range got.Cases {
		t.Cases = append(t.Cases, c.ID)
	}
	return t
}
