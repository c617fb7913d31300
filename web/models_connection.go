package web

import (
	"context"
	"net/http"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/llm/probe"
	"countersign/llm/roster"
)

// connectionScreen is one connection: as it is kept, as it was typed, and what its server can do.
type connectionScreen struct {
	New       bool
	Name      string
	Typed     roster.Typed
	Providers []picked
	HasKey    bool   // one is kept
	Lost      string // why it cannot be opened
	Asked     string // by whom
	Wrong     string

	Trying bool // its server is being asked
	Took   string
	Trial  *trialPanel
	Failed string // why the last trial, of this person, came to nothing
}

// trialPanel is what a trial found.
type trialPanel struct {
	Mark     trialMark
	Says     string
	Try      string
	Findings []findingLine
	Cost     string
	When     moment
	By       string
}

type findingLine struct{ Glyph, Class, Title, Says, Try string }

var findingTitles = map[probe.What]string{
	probe.ToolCalls: "Tool calls", probe.ForcedTool: "A tool that is asked for", probe.StrictSchema: "Keeping to a form", probe.SeveralCalls: "Several calls at once",
	probe.ToolResults: "Results of tools", probe.LongContext: "A long case", probe.Usage: "Counting tokens",
}

var findingMarks = map[probe.Result][2]string{probe.OK: {"✓", "intact"}, probe.No: {"✗", "late"}, probe.Unknown: {"?", "soon"}}

func newConnection(v *visit) error {
	return v.showConnection(http.StatusOK, connectionScreen{New: true, Typed: roster.Typed{Provider: "openai"}})
}

// theConnection is the connection of the address.
func (v *visit) theConnection() (roster.Roster, roster.Connection, error) {
	now, _, err := v.rosterNow()
	if err != nil {
		return now, roster.Connection{}, err
	}
	c, known := now.Connection(v.r.PathValue("connection"))
	if !known {
		return now, c, countersign.Errorf(countersign.NotFound, "There is no model connection of this name.").Try("Go to the settings, and to the models.")
	}
	return now, c, nil
}

// connectionPage shows a connection, and how far a trial of it is.
func connectionPage(v *visit) error {
	now, c, err := v.theConnection()
	if err != nil {
		return err
	}
	p := connectionScreen{Name: c.Name, Typed: c.Typed(), Asked: askedBy(now, c.Name)}
	if err := v.standing(&p, c); err != nil {
		return err
	}
	return v.showConnection(http.StatusOK, p)
}

// standing fills in what is known of a connection that is kept.
func (v *visit) standing(p *connectionScreen, c roster.Connection) error {
	p.HasKey = c.Key != "" || c.Lost != nil
	if c.Lost != nil {
		p.Lost, _ = explained(c.Lost)
	}
	if t := v.latest(trialOf(c.Name)); t != nil {
		switch at := t.progress(v.now); {
		case !at.Ended:
			p.Trying, p.Took = true, took(at.Took)
		case at.Err != nil:
			p.Failed, _ = explained(at.Err)
		}
	}
	trials, err := v.Roster.Trials(v.r.Context(), roster.Roster{Connections: []roster.Connection{c}})
	if err != nil {
		return err
	}
	names, err := v.Store.Names(v.r.Context())
	if t, tried := trials[c.Name]; tried {
		p.Trial = v.trialPanel(t, &file{names: names})
	}
	return err
}

func (v *visit) trialPanel(t roster.Trial, who *file) *trialPanel {
	p := &trialPanel{Mark: useWords[t.Report.Verdict.Use], Says: legible(t.Report.Verdict.Says), Try: legible(t.Report.Verdict.Try), When: v.moment(t.At), By: who.actor(t.By),
		Cost: many(t.Report.Cost.Calls, "question", "questions") + ", " + count(t.Report.Cost.Tokens()) + " tokens"}
	for _, f := range t.Report.Findings {
		mark := findingMarks[f.Result]
		p.Findings = append(p.Findings, findingLine{mark[0], mark[1], findingTitles[f.What], legible(f.Says), legible(f.Try)})
	}
	return p
}

func (v *visit) showConnection(status int, p connectionScreen) error {
	for _, provider := range roster.Providers {
		p.Providers = append(p.Providers, picked{Value: provider, Title: providerTitles[provider], Current: provider == p.Typed.Provider})
	}
	p.Typed.Key = ""
	s := screen{Title: "A model connection", Section: "Settings", Page: p}
	if !p.New {
		s.Title = p.Name + " · models"
	}
	if p.Trying {
		s.Refresh = 2
	}
	return v.show(status, "models_connection", s)
}

var providerTitles = map[string]string{"openai": "OpenAI's chat completions, as most servers speak it", "anthropic": "Anthropic's Messages API"}

// typedConnection is the form. A name is given once: records know the connection by it.
func (v *visit) typedConnection() roster.Typed {
	return roster.Typed{Name: v.form("name"), Provider: v.form("provider"), BaseURL: v.form("base_url"), Model: v.form("model"), Key: v.form("key"), NoKey: v.form("no_key") == "on",
		Connect: v.form("connect"), FirstByte: v.form("first_byte"), Total: v.form("total"),
		Currency: strings.ToUpper(v.form("currency")), Input: v.form("input"), Cached: v.form("cached"), Stored: v.form("stored"), Output: v.form("output"), MaxCases: v.form("max_cases")}
}

// postConnection keeps a new connection. It is asked by nobody until somebody says so.
func postConnection(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	t := v.typedConnection()
	now, _, err := v.rosterNow()
	if err != nil {
		return err
	}
	if _, taken := now.Connection(t.Name); taken {
		err = countersign.Errorf(countersign.Invalid, "%q is there already", t.Name).In("connection.name").Try("expected another name, or open that one to change it")
		return v.connectionAgain(err, connectionScreen{New: true, Typed: t})
	}
	return v.keepConnection(t, connectionScreen{New: true, Typed: t})
}

// postChangedConnection changes one that is there.
func postChangedConnection(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	now, c, err := v.theConnection()
	if err != nil {
		return err
	}
	t := v.typedConnection()
	t.Name = c.Name
	p := connectionScreen{Name: c.Name, Typed: t, Asked: askedBy(now, c.Name)}
	if err := v.standing(&p, c); err != nil {
		return err
	}
	return v.keepConnection(t, p)
}

// keepConnection keeps what was typed and begins to try it. Trying takes minutes with a slow server, so nothing waits for it.
func (v *visit) keepConnection(t roster.Typed, p connectionScreen) error {
	c, err := t.Connection()
	if err == nil {
		_, err = v.Roster.Save(v.r.Context(), roster.Put(c, t.KeyEntered()), v.who.Actor)
	}
	if err != nil {
		return v.connectionAgain(err, p)
	}
	v.beginTrial(c.Name)
	say := "Kept. Its server is being asked what it can do."
	if p.New {
		say += " No desk asks it yet: that is said in the order of the models."
	}
	return v.back("/settings/models/connections/"+c.Name, say)
}

func (v *visit) connectionAgain(err error, p connectionScreen) error {
	e := answer.Told(err)
	if e == nil || e.Kind == countersign.Unavailable {
		return err
	}
	p.Wrong = ofModels(e)
	return v.showConnection(answer.Status(e.Kind), p)
}

// trialOf is the kind of a task that tries a connection.
func trialOf(name string) string { return "trial of " + name }

// beginTrial asks a server what it can do. One that this person is having asked already is not asked twice.
func (v *visit) beginTrial(name string) {
	if v.running(trialOf(name)) != nil {
		return
	}
	by := v.who.Actor
	v.begin(trialOf(name), by.ID, func(ctx context.Context, t *task) (any, error) {
		t.tell("asking the server", 0, 0)
		return v.Roster.Try(ctx, name, by)
	})
}

func postTryConnection(v *visit) error {
	_, c, err := v.theConnection()
	if err != nil {
		return err
	}
	v.beginTrial(c.Name)
	return v.back("/settings/models/connections/"+c.Name, "")
}

// removeConnection asks before a connection and its key are forgotten.
func removeConnection(v *visit) error {
	now, c, err := v.theConnection()
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "models_remove", screen{Title: "Remove " + c.Name, Section: "Settings",
		Page: connectionScreen{Name: c.Name, Typed: c.Typed(), Asked: askedBy(now, c.Name)}})
}

func postRemoveConnection(v *visit) error {
	_, c, err := v.theConnection()
	if err != nil {
		return err
	}
	if _, err := v.Roster.Save(v.r.Context(), roster.Remove(c.Name), v.who.Actor); err != nil {
		return err
	}
	return v.back("/settings/models", "The connection "+c.Name+" is removed, and its key is forgotten. Records that name it stay as they are.")
}
