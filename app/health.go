package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"countersign"
	"countersign/desk/merchant/setup"
	"countersign/llm/roster"
	"countersign/pipeline/policy"
	"countersign/store"
)

// Finding is one thing that doctor looked at.
type Finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note bool   `json:"note,omitempty"` // nothing is wrong, and somebody should know
	Says string `json:"says"`
	Try  string `json:"try,omitempty"`
}

// bad is the finding with what is wrong, behind what it says already, and what to do.
func (f Finding) bad(says, try string) Finding {
	f.OK, f.Note = false, false
	return f.and(says, try)
}

// note is the finding with what somebody should know, and what to do if they mind.
func (f Finding) note(says, try string) Finding {
	f.Note = f.OK
	return f.and(says, try)
}

func (f Finding) and(says, try string) Finding {
	if f.Says != "" && says != "" {
		f.Says += ", "
	}
	f.Says, f.Try = f.Says+says, try
	return f
}

// Examine looks at everything an operator would be asked about, and goes on when something is wrong: whoever asks may have a
// program that does not start. Like any command it makes what a new folder lacks; it changes nothing else.
func Examine(ctx context.Context, c Config) (all []Finding) {
	c = c.filled()
	if c.CertFile != "" {
		defer func() { all = append(all, c.examineCertificate()) }()
	}
	folder := wrong("data folder", c.check())
	folder.Says = cmp.Or(folder.Says, c.Data)
	db, err := store.Open(ctx, c.Database, store.Options{Now: c.Now, Log: c.Log})
	if err != nil {
		return []Finding{folder, wrong("database", err), c.examineKey(ctx, nil), c.examineModel(ctx), c.examineWay(), c.examineWaits(), c.examineFiles(), c.examineDisk()}
	}
	defer db.Close()
	return []Finding{folder, c.examineDatabase(ctx, db), c.examineGuards(ctx, db), examineRecord(ctx, db), examineClock(ctx, db), c.examineKey(ctx, db),
		c.examineModels(ctx, db), examinePolicy(ctx, db), c.examineMapping(ctx, db), examineQueue(ctx, db), examineBackups(ctx, db), c.examineWay(), c.examineWaits(), c.examineFiles(), c.examineDisk()}
}

// wrong is a finding from an error, or that nothing is wrong.
func wrong(what string, err error) Finding {
	if err == nil {
		return Finding{What: what, OK: true}
	}
	var e *countersign.Error
	if !errors.As(err, &e) {
		return Finding{What: what, Says: oneLine(err)}
	}
	says := e.Message
	if e.Field != "" {
		says = e.Field + ": " + says
	}
	if e.Err != nil {
		says += ": " + oneLine(e.Err)
	}
	return Finding{What: what, Says: says, Try: e.Hint}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func (c Config) examineDatabase(ctx context.Context, db *store.Store) Finding {
	if err := db.Ping(ctx); err != nil {
		return wrong("database", err)
	}
	says := fmt.Sprintf("%s, schema version %d, %s", db.Engine(), db.Migrated().To, c.whereDatabase())
	if damage := damageOf(ctx, db); damage != "" {
		return Finding{What: "database", Says: says + ": the file is damaged: " + damage, Try: "stop the program and restore a backup"}
	}
	return Finding{What: "database", OK: true, Says: says}
}

// whereDatabase is the file, or the server without the password that its URL may hold.
func (c Config) whereDatabase() string {
	if !c.onPostgres() {
		return c.Database
	}
	u, err := url.Parse(c.Database)
	if err != nil {
		return "at a URL of another form" // unreachable: it was connected to
	}
	return u.Host + u.Path
}

// damageOf is what is wrong with the database file, in one line; empty when nothing is.
func damageOf(ctx context.Context, db *store.Store) string {
	found, err := db.Damage(ctx)
	if err != nil {
		return oneLine(err)
	}
	return strings.Join(strings.Fields(found), " ")
}

// examineModels looks at what the settings say, unless the environment names a model or they say nothing. It asks no server: what each
// can do is shown where it was tried.
func (c Config) examineModels(ctx context.Context, db *store.Store) Finding {
	if c.Model.Provider != "" {
		return c.examineModel(ctx)
	}
	key, err := c.keyFor(ctx, db)
	if err != nil {
		return wrong("model", err)
	}
	now, ok, err := roster.Keeper{Store: db, Key: key}.Latest(ctx)
	switch {
	case err != nil:
		return wrong("model", err)
	case !ok || len(now.Connections) == 0:
		return c.examineModel(ctx)
	}
	var names []string
	for _, one := range now.Connections {
		if one.Lost != nil {
			return Finding{What: "model", Says: one.Name + " is passed over: " + oneLine(one.Lost), Try: "enter its key again, in the dashboard's settings under models"}
		}
		names = append(names, fmt.Sprintf("%s (%s, %s at %s)", one.Name, one.Provider, one.Model, one.BaseURL))
	}
	return Finding{What: "model", OK: true, Says: "in the settings: " + strings.Join(names, ", ")}
}

func (c Config) examineModel(ctx context.Context) Finding {
	m, err := openModel(c.Model)
	if err != nil {
		return wrong("model", err)
	}
	who := m.Identity()
	if who.Provider == "rulebook" {
		return Finding{What: "model", OK: true, Says: fmt.Sprintf("%s: %s; to connect an AI set %s=openai (or anthropic), %s and %s",
			who.Provider, who.Name, providerVariable, nameVariable, baseURLVariable)}
	}
	says := fmt.Sprintf("%s, %s at %s: ", who.Provider, who.Name, c.Model.BaseURL)
	status, err := c.Model.reach(ctx)
	if err != nil {
		return Finding{What: "model", Says: says + "no answer: " + oneLine(cause(err)), Try: "is the server running, and is " + baseURLVariable + " right?"}
	}
	return Finding{What: "model", OK: true, Says: says + answered(status)}
}

// cause is a network error without the request that net/http puts before it.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func examinePolicy(ctx context.Context, db *store.Store) Finding {
	limits, err := db.Limits(ctx)
	if err != nil {
		return wrong("policy", err)
	}
	if limits.Mode == policy.Shadow {
		return Finding{What: "policy", OK: true, Says: "shadow mode: nothing is automatic"}
	}
	return Finding{What: "policy", OK: true, Says: fmt.Sprintf("automatic: %s, from confidence %v and %d pieces of evidence, %s",
		listed(limits.AllowedTypes, "nothing"), limits.MinConfidence, limits.MinEvidence, capped(limits.Caps))}
}

func listed(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return strings.ReplaceAll(strings.Join(words, ", "), "_", " ")
}

func capped(caps map[string]int64) string {
	var all []string
	for _, currency := range slices.Sorted(maps.Keys(caps)) {
		all = append(all, countersign.Money{Minor: caps[currency], Currency: currency}.String())
	}
	if len(all) == 0 {
		return "and no currency has a cap, so no case is automatic"
	}
	return "under " + strings.Join(all, ", ")
}

// examineMapping reads the shop's database as an order of it would be read.
func (c Config) examineMapping(ctx context.Context, db *store.Store) Finding {
	key, err := c.keyFor(ctx, db)
	if err != nil {
		return wrong("mapping", err)
	}
	latest, ok, err := setup.Setup{Store: db, Key: key}.Latest(ctx)
	switch {
	case err != nil:
		return wrong("mapping", err)
	case !ok:
		return Finding{What: "mapping", OK: true, Says: "no shop is connected, so every chargeback goes to a person"}
	}
	unsorted, err := setup.Health(ctx, latest.Mapped)
	says := fmt.Sprintf("%s, version %d: ", latest.Name, latest.Version)
	switch {
	case err != nil:
		bad := wrong("mapping", err)
		bad.Says = says + bad.Says
		return bad
	case len(unsorted) > 0:
		return Finding{What: "mapping", Says: says + "nobody has said what these statuses of the shop mean: " + strings.Join(unsorted, ", "),
			Try: "sort them in the dashboard's settings, under the shop's database; until then every order with one goes to a person"}
	}
	return Finding{What: "mapping", OK: true, Says: says + "the shop answers, and has what the mapping names"}
}
