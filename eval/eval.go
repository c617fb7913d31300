// Package eval puts a model, and the guard rails round it, before labelled and hostile cases, before anyone trusts either
// with money. Each suite runs the whole program on a fresh database and says what came of every case; a suite that finds a
// hard promise broken (money moved that the records do not justify, a chain that does not verify) says so by name.
//
// The cases are other people's data and are read from a folder; nothing of them is part of the program.
package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"countersign"
	"countersign/app"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
	"countersign/llm"
	"countersign/pipeline/intake"
)

// Suite is one set of cases.
type Suite struct {
	Name  string
	About string
	Run   func(context.Context, Setting) (Report, error)
}

// Setting is what a suite is run with.
type Setting struct {
	Data     string // the folder of the third-party data
	Database string // a database to use; a fresh SQLite file when empty
	Model    app.ModelConfig
}

// Report is what a suite found.
type Report struct {
	Suite    string         `json:"suite"`
	Cases    []Line         `json:"cases"`
	Counts   map[string]int `json:"counts"`
	Promises []string       `json:"broken_promises"` // empty is the only good answer
}

// Line is one case of a report.
type Line struct {
	Case    string   `json:"case"`
	Subject string   `json:"subject"`
	Filed   string   `json:"filed_as"`
	Ended   string   `json:"ended"`
	Reasons []string `json:"reasons"`
	Known   []string `json:"established"`     // facts that the records show present or absent
	Unknown []string `json:"not_established"` // facts that the records cannot show
	Note    string   `json:"note,omitempty"`
}

// Suites lists every suite.
var Suites = []Suite{tau2}

// Find returns the suite of that name.
func Find(name string) (Suite, error) {
	for _, s := range Suites {
		if s.Name == name {
			return s, nil
		}
	}
	var names []string
	for _, s := range Suites {
		names = append(names, s.Name)
	}
	return Suite{}, countersign.Errorf(countersign.Invalid, "%q is not one of the suites %v", name, names).Try("eval --list says what they are")
}

// World is the whole program on a fresh database.
type World struct {
	*app.App
	folder string
}

// NewWorld opens the program on a fresh database and starts it.
func NewWorld(ctx context.Context, s Setting, models func(countersign.Case, llm.Model) llm.Model) (*World, error) {
	folder, err := os.MkdirTemp("", "countersign-eval-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the suite: %w", err)
	}
	a, err := app.Open(ctx, app.Config{Data: folder, Database: s.Database, Work: true, Model: s.Model, Models: models})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &World{a, folder}, a.Start(ctx)
}

// Close stops the program and removes its folder.
func (w *World) Close() error { return errors.Join(w.App.Close(), os.RemoveAll(w.folder)) }

// Import fills the books. A refused row is an error here: the suite's own conversion made it.
func (w *World) Import(ctx context.Context, set records.Set) error {
	var refused []error
	_, err := feed.Feed{Store: w.Store, Refused: func(p records.Problem) { refused = append(refused, p) }}.Set(ctx, set)
	return errors.Join(err, errors.Join(refused...))
}

// File opens a dispute as any channel would.
func (w *World) File(ctx context.Context, r intake.Request) (intake.Opened, error) {
	return w.Intake.Open(ctx, w.Desks[countersign.Bank].Desk, countersign.Actor{Kind: countersign.CLI, ID: "eval"}, r)
}

// Intact verifies the whole record and returns what is broken.
func (w *World) Intact(ctx context.Context) (broken []string, err error) {
	report, err := w.Store.VerifyRecord(ctx, nil)
	for _, b := range report.Breaks {
		broken = append(broken, fmt.Sprintf("the record of case %s does not verify at step %d: %s", b.Case, b.Seq, b.Why))
	}
	return broken, err
}

// line says how a case ended.
func line(c countersign.Case, filed string) Line {
	l := Line{Case: string(c.ID), Subject: c.Subject.ID, Filed: filed, Ended: ended(c)}
	for _, r := range c.Verdict.Reasons {
		l.Reasons = append(l.Reasons, string(r.Code))
	}
	for _, f := range c.Facts.Items {
		if f.State == countersign.Unknown {
			l.Unknown = append(l.Unknown, f.Name)
		} else {
			l.Known = append(l.Known, f.Name+" "+string(f.State))
		}
	}
	return l
}

func ended(c countersign.Case) string {
	if c.Status == countersign.Closed {
		return string(c.HandledBy) + " " + string(c.Outcome)
	}
	return "a person: " + c.Recommendation
}

// unjustified names automatic fixes that no fact supports. There must be none.
func unjustified(c countersign.Case) []string {
	if c.HandledBy != countersign.ByPolicy {
		return nil
	}
	if c.Facts == nil || c.Facts.Fix == nil || slices.ContainsFunc(c.Facts.Doubts, func(d countersign.Doubt) bool {
		return d.Against == "" || d.Against == c.Facts.Supports
	}) {
		return []string{fmt.Sprintf("case %s on %s was fixed automatically and no fact supports it", c.ID, c.Subject.ID)}
	}
	return nil
}

// open opens a file of the data folder with a plain message when it is not there.
func open(folder string, name ...string) (*os.File, error) {
	path := filepath.Join(append([]string{folder}, name...)...)
	f, err := os.Open(path)
	if err != nil {
		return nil, countersign.Errorf(countersign.NotFound, "%s is not there", path).Try("name the folder of the data with --data-folder")
	}
	return f, nil
}
