package app

import (
	"context"
	"fmt"
	"time"

	"countersign/pipeline/policy"
)

// Finding is one thing that doctor looked at.
type Finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Try  string `json:"try,omitempty"`
}

// Examine looks at everything an operator would be asked about. It changes nothing.
func (a *App) Examine(ctx context.Context) []Finding {
	return []Finding{
		{What: "data folder", OK: true, Says: a.Data},
		a.examineDatabase(ctx), a.examineClock(ctx), a.examineKey(ctx), a.examineModel(), a.examinePolicy(ctx), a.examineQueue(ctx), a.examineDisk(),
	}
}

func (a *App) examineDatabase(ctx context.Context) Finding {
	f := Finding{What: "database", Says: a.Store.Engine() + ", schema version " + fmt.Sprint(a.Store.Migrated().To)}
	if !a.onPostgres() {
		f.Says += ", " + a.Database
	}
	if err := a.Store.Ping(ctx); err != nil {
		return Finding{What: "database", Says: err.Error(), Try: "is the database running?"}
	}
	f.OK = true
	return f
}

// examineClock compares this machine's clock with the newest thing on record: a clock that was set back would put deadlines
// and the record's times out of order.
func (a *App) examineClock(ctx context.Context) Finding {
	newest, err := a.Store.Newest(ctx)
	now := a.Store.Now()
	f := Finding{What: "clock", OK: true, Says: now.UTC().Format(time.RFC3339)}
	switch {
	case err != nil:
		return Finding{What: "clock", Says: err.Error()}
	case newest.After(now.Add(time.Minute)):
		return Finding{What: "clock", Says: fmt.Sprintf("it is %s here, and the newest row on record is from %s",
			now.UTC().Format(time.RFC3339), newest.Format(time.RFC3339)), Try: "set this machine's clock"}
	}
	return f
}

func (a *App) examineKey(ctx context.Context) Finding {
	f := Finding{What: "master key", OK: true, Says: a.keyFile() + ", key " + a.Key.ID()}
	kept, err := a.Store.KeyID(ctx)
	switch {
	case err != nil:
		return Finding{What: "master key", Says: err.Error()}
	case kept != "" && kept != a.Key.ID():
		return Finding{What: "master key", Says: fmt.Sprintf("%s holds key %s, this database was made with key %s", a.keyFile(), a.Key.ID(), kept),
			Try: "put the key file of the first installation in its place"}
	}
	return f
}

func (a *App) examineModel() Finding {
	who := a.Model.Identity()
	says := who.Provider + ", " + who.Name
	if who.Provider == "rulebook" {
		says += ": no AI is connected; set COUNTERSIGN_MODEL_PROVIDER=openai, COUNTERSIGN_MODEL and COUNTERSIGN_MODEL_BASE_URL to connect one"
	}
	return Finding{What: "model", OK: true, Says: says}
}

func (a *App) examinePolicy(ctx context.Context) Finding {
	limits, err := a.Store.Limits(ctx)
	if err != nil {
		return Finding{What: "policy", Says: err.Error()}
	}
	says := "cases without a reason are fixed automatically"
	if limits.Mode == policy.Shadow {
		says = "shadow mode: nothing is automatic"
	}
	return Finding{What: "policy", OK: true, Says: says}
}

func (a *App) examineQueue(ctx context.Context) Finding {
	waiting, err := a.Store.Waiting(ctx)
	if err != nil {
		return Finding{What: "queue", Says: err.Error()}
	}
	return Finding{What: "queue", OK: true, Says: fmt.Sprintf("%d cases wait for a worker, %d are being investigated, %d wait for a person",
		waiting.Queued, waiting.Investigating, waiting.InReview)}
}
