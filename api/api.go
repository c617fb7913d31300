// Package api is the product over HTTP: the JSON calls of both desks, a stream of what happens in a case, and what
// an operator's tools ask for (health, readiness, metrics, the OpenAPI document).
//
// It decides nothing. A request is authenticated, read strictly and handed to intake or review, and what the store holds is
// shown as it stands. It promises that every error is application/problem+json with a sentence for the caller, that a request
// it refuses has changed nothing, that no value of a body or token comes back in an error it wrote itself or reaches a log,
// and that the document it serves lists exactly the calls it answers.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign"
	"countersign/auth"
	"countersign/follow"
	"countersign/measure"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
	"countersign/store"
)

// Config is what the API serves. Store, Intake, Review and Desks must be there.
type Config struct {
	Store  *store.Store
	Intake intake.Intake
	Review review.Review
	Desks  map[countersign.DeskName]intake.Desk

	Room      *follow.Room                // for event streams, shared with the dashboard; its own when nil
	Measure   *measure.Process            // of this process; one that watches Store when nil
	Ready     func(context.Context) error // an error means: send no requests here. Store.Ping when nil
	Log       *slog.Logger                // discarded when nil
	Version   string                      // of the program, for the document and /healthz
	Stopping  <-chan struct{}             // closed when the program begins to stop, which ends event streams; nil for never
	Poll      time.Duration               // between looks for steps that another process recorded, 100 ms when zero
	Heartbeat time.Duration               // between comments on a quiet stream, 15 s when zero
}

func (c Config) set() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Ready == nil {
		c.Ready = c.Store.Ping
	}
	if c.Room == nil {
		c.Room = follow.NewRoom()
	}
	if c.Measure == nil {
		c.Measure = measure.New(c.Version)
		c.Measure.Watch(c.Store)
	}
	if c.Poll <= 0 {
		c.Poll = 100 * time.Millisecond
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	return c
}

type api struct {
	Config
	routes   *routes
	huma     huma.API
	pressure *pressure
	document []byte // the OpenAPI document, as it is sent
}

// Watchable returns the handler of what an operator's tools ask for, and of nothing else, for a process that answers nobody else.
func Watchable(c Config) http.Handler {
	a := &api{Config: c.set(), routes: newRoutes()}
	a.pressure = newPressure(a.Store)
	a.huma = newHuma(a.routes, a.Version)
	a.huma.UseMiddleware(a.enter)
	a.watchable()
	a.routes.HandleFunc("/", a.unmatched)
	return a.guarded()
}

func (a *api) watchable() {
	register(a, call{"GET", "/healthz", "isAlive", "Does the process answer", anybody, nil}, a.healthz)
	register(a, call{"GET", "/readyz", "isReady", "Does the database answer", anybody, nil}, a.readyz)
	register(a, call{"GET", "/metrics", "getMetrics", "Measurements in Prometheus form", anybody, nil}, a.showMetrics)
}

// New returns the handler of every call. It keeps nothing of its own between requests: any number of processes may serve one
// database.
func New(c Config) http.Handler { return build(c).guarded() }

func build(c Config) *api {
	a := &api{Config: c.set(), routes: newRoutes()}
	a.pressure = newPressure(a.Store)
	a.huma = newHuma(a.routes, a.Version)
	a.huma.UseMiddleware(a.enter)

	register(a, call{"POST", "/api/v1/disputes", "openDispute", "Open a dispute", auth.Open, newDispute{}}, a.openDispute)
	register(a, call{"POST", chargebacksRoute[len("POST "):], "openChargeback", "Open a chargeback", auth.Open, newChargeback{}}, a.openChargeback)
	register(a, call{"GET", "/api/v1/cases", "listCases", "List cases, most at risk first", auth.Read, nil}, a.listCases)
	register(a, call{"GET", "/api/v1/cases/{id}", "getCase", "Read a case and verify its record", auth.Read, nil}, a.getCase)
	register(a, call{"GET", "/api/v1/cases/{id}/steps", "listSteps", "List the steps of the case's last investigation", auth.Read, nil}, a.listSteps)
	register(a, call{"GET", "/api/v1/cases/{id}/record", "getRecord", "Read and verify the case's whole record", auth.ReadRecord, nil}, a.getRecord)
	register(a, call{"GET", "/api/v1/cases/{id}/report", "getReport", "The evidence report of a decided case", auth.Read, nil}, a.getReport)
	register(a, call{"GET", "/api/v1/cases/{id}/events", "followCase", "Follow a case: server-sent events, one per step", auth.Read, nil}, a.followCase)

	register(a, call{"POST", "/api/v1/cases/{id}/approve", "approveCase", "Carry out the recommendation", auth.Decide, newApproval{}}, a.approve)
	register(a, call{"POST", "/api/v1/cases/{id}/override", "overrideCase", "Decide otherwise, with a reason", auth.Decide, newOverride{}}, a.override)
	register(a, call{"POST", "/api/v1/cases/{id}/escalate", "escalateCase", "Raise to approvers, or close with an outside reference", auth.Decide, newEscalation{}}, a.escalate)
	register(a, call{"POST", "/api/v1/cases/{id}/message", "editMessage", "Replace the draft to the customer", auth.Decide, newMessage{}}, a.message)
	register(a, call{"POST", "/api/v1/cases/{id}/deadline", "setDeadline", "Set when the case must be answered", auth.Decide, newDeadline{}}, a.deadline)
	register(a, call{"POST", "/api/v1/cases/{id}/attach", "attachOrder", "Say which order an unmatched dispute is about, and investigate it", auth.Decide, newAttachment{}}, a.attach)
	register(a, call{"POST", "/api/v1/cases/{id}/retry", "retryCase", "Investigate again", auth.Decide, nothing{}}, a.retry)
	register(a, call{"POST", "/api/v1/cases/{id}/ask", "askAgain", "Have the bank's core asked again what became of a fix", auth.Decide, nothing{}}, a.ask)
	register(a, call{"POST", "/api/v1/cases/{id}/settle", "settleFix", "Say what became of a fix, where a person has found out", auth.Decide, newFinding{}}, a.settle)
	register(a, call{"POST", "/api/v1/cases/{id}/{verb}", unlisted, "", auth.Decide, nothing{}}, a.unknownVerb)

	a.watchable()
	register(a, call{"GET", "/api/v1/openapi.json", "getDocument", "This document", anybody, nil}, a.showDocument)
	register(a, call{"GET", "/openapi.json", unlisted, "", anybody, nil}, a.showDocument)
	a.routes.HandleFunc("/", a.unmatched)

	a.document = finished(a.huma.OpenAPI())
	return a
}
