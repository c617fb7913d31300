package app

import (
	"context"
	"log/slog"
	"sync"

	"countersign"
	"countersign/llm"
	"countersign/llm/chain"
	"countersign/llm/roster"
	"countersign/pipeline/budget"
	"countersign/store"
)

// environment is what a model that the environment names is called where connections have names. No connection of the settings can be
// called so: the name is in capitals.
const environment = "ENVIRONMENT"

// duty says which models are asked for a case: the one that the environment names, else those of the settings. Models of the settings
// are opened once for each version of them, so that connections to servers stay open between cases.
type duty struct {
	keeper  roster.Keeper
	fixed   llm.Model // what the environment names; nil when it names none
	offline llm.Model
	log     *slog.Logger

	mu  sync.Mutex
	now *opened // the newest version that anybody here has met
}

// opened is a version of the settings with a model for each connection.
type opened struct {
	roster.Version
	links map[string]chain.Link
	downs *chain.Downs // of this version: what was put right is tried at once
}

// newDuty takes the environment's word, if it has one. A model of the environment's is a chain of one: nobody goes on for it, and what
// it uses is counted like any other's.
func (a *App) newDuty(m llm.Model) *duty {
	d := &duty{keeper: a.Roster, log: a.Log, offline: offlineReviewer()}
	switch {
	case a.Config.Model.Provider == "":
	case m.Identity().Provider == roster.OfflineReviewer:
		d.fixed = m
	default:
		d.fixed = chain.New(chain.NewDowns(a.Store.Now), a.Log, chain.Link{Connection: environment, Model: m, Identity: m.Identity()})
	}
	return d
}

// of is who investigates cases of a desk.
func (d *duty) of(ctx context.Context, view store.View, desk countersign.DeskName) (llm.Model, error) {
	if d.fixed != nil {
		return d.fixed, nil
	}
	now, err := d.read(ctx, view)
	if err != nil {
		return nil, err
	}
	var links []chain.Link
	for _, c := range now.Of(desk) {
		links = append(links, now.links[c.Name])
	}
	if len(links) == 0 {
		return d.offline, nil
	}
	if now.Offline {
		links = append(links, chain.Link{Connection: roster.OfflineReviewer, Model: d.offline, Identity: d.offline.Identity(), Offline: true})
	}
	return chain.New(now.downs, d.log, links...), nil
}

// read is the settings in force, opened. Nobody is waited for while the database is asked: who reads in a transaction has a connection
// of the pool, and who waited for one here could be waited for there.
func (d *duty) read(ctx context.Context, view store.View) (*opened, error) {
	version, err := view.ModelSettingsVersion(ctx)
	if err != nil {
		return nil, err
	}
	if now := d.kept(); now != nil && now.Number == version {
		return now, nil
	}
	v, _, err := d.keeper.Read(ctx, view)
	if err != nil {
		return nil, err
	}
	return d.keep(ctx, v), nil
}

func (d *duty) kept() *opened {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// keep opens a version, unless somebody else has done so meanwhile.
func (d *duty) keep(ctx context.Context, v roster.Version) *opened {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now != nil && d.now.Number >= v.Number {
		return d.now
	}
	d.now = &opened{v, map[string]chain.Link{}, chain.NewDowns(d.keeper.Store.Now)}
	for _, c := range v.Connections {
		l := linkOf(c)
		if l.Lost != "" {
			d.log.WarnContext(ctx, "a model connection cannot be used", "connection", c.Name, "why", l.Lost)
		}
		d.now.links[c.Name] = l
	}
	return d.now
}

// linkOf opens a connection. One that cannot be opened stays in its place, and is passed over with the reason.
func linkOf(c roster.Connection) chain.Link {
	l := chain.Link{Connection: c.Name, Identity: c.Identity(), Price: c.Price}
	if c.Lost != nil {
		l.Lost = "its key was sealed under another master key, or was damaged; it must be entered again"
		return l
	}
	m, err := roster.Open(c)
	if err != nil { // kept by a program that knew more providers than this one
		l.Lost = err.Error()
		return l
	}
	l.Model = m
	return l
}

// budgets are those in force now. The environment says which model is asked, and not what models may use.
func (d *duty) budgets(ctx context.Context) (budget.Budgets, error) {
	now, err := d.read(ctx, d.keeper.Store.View)
	if err != nil {
		return budget.Budgets{}, err
	}
	return now.Budgets, nil
}
