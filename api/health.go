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

// healthz says that the process answers, and asks nobody: a process must not be killed because its database is away.
func (a *api) healthz(context.Context, *struct{}) (*healthAnswer, error) {
	return &healthAnswer{Health{"ok", a.Version}}, nil
}

// patience is how long the database may take to say that it is there.
const patience = 2 * time.Second

// readyz says whether requests can be answered.
func (a *api) readyz(ctx context.Context, _ *struct{}) (*healthAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := a.Ready(ctx); err != nil {
		e := countersign.Errorf(countersign.Unavailable, "not ready: the database does not answer")
		e.Err = err
		return nil, e
	}
	return &healthAnswer{Health{"ok", a.Version}}, nil
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
