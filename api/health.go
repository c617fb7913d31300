package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"countersign"
)

// Health is the answer of a process, or a database, that is well.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

type healthAnswer struct{ Body Health }

// Readiness is the answer of a process that can answer requests. A long queue is said and is no reason to send requests elsewhere: every
// process has the same one.
type Readiness struct {
	Health
	Queue string `json:"queue" enum:"short,long,full" doc:"long: more cases wait for a worker than long_queue of the workload; full: as many as refuse_at, so that new ones are refused."`
}

type readyAnswer struct{ Body Readiness }

// healthz says that the process answers, and asks nobody: a process must not be killed because its database is away.
func (a *api) healthz(context.Context, *struct{}) (*healthAnswer, error) {
	return &healthAnswer{Health{"ok", a.Version}}, nil
}

// patience is how long the database may take to say that it is there.
const patience = 2 * time.Second

// readyz says whether requests can be answered.
func (a *api) readyz(ctx context.Context, _ *struct{}) (*readyAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := a.Ready(ctx); err != nil {
		return nil, notReady(err)
	}
	pressure, err := a.pressure.now(ctx)
	if err != nil {
		return nil, notReady(err)
	}
	return &readyAnswer{Readiness{Health{"ok", a.Version}, inWord(pressure)}}, nil
}

func notReady(cause error) error {
	e := countersign.Errorf(countersign.Unavailable, "not ready: the database does not answer")
	e.Err = cause
	return e
}

// rawAnswer is written by whoever knows its form.
type rawAnswer struct{ Body func(huma.Context) }

func (a *api) showMetrics(context.Context, *struct{}) (*rawAnswer, error) {
	return &rawAnswer{func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		a.Measure.Handler().ServeHTTP(w, r)
	}}, nil
}

func (a *api) showDocument(context.Context, *struct{}) (*rawAnswer, error) {
	return &rawAnswer{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		_, _ = ctx.BodyWriter().Write(a.document) // the caller may have gone
	}}, nil
}
