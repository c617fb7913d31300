package main

import (
	"encoding/json"
	"fmt"
	"io"

	"countersign/app"
	"countersign/keyring"
	"countersign/secret"
)

type keysCommand struct {
	Show   keysShowCommand   `cmd:"" help:"Say which master key this is, where it comes from, and what it opens. Ends with 1 if something needs another key."`
	Rotate keysRotateCommand `cmd:"" help:"Put another master key into its place and seal everything anew under that; refused on SQLite while serve runs."`
}

type keysShowCommand struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// Run never prints a key, nor anything of what is sealed: ids, and places in words.
func (c keysShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		state, err := a.Keys.State(s)
		if err != nil {
			return err
		}
		if c.JSON {
			err = json.NewEncoder(s.out).Encode(shownKeys(state))
		} else {
			err = printKeys(s.out, state)
		}
		if err == nil && (!state.Right() || len(state.Lost()) > 0) {
			return exit(1)
		}
		return err
	})
}

// keysShown is the state of a key as JSON.
type keysShown struct {
	Key      string        `json:"key"`
	From     string        `json:"from"`
	Database string        `json:"database"` // the id of the key that it is kept under
	OK       bool          `json:"ok"`
	Sealed   []sealedShown `json:"sealed"`
}

type sealedShown struct {
	What  string `json:"what"`
	Key   string `json:"key"`
	Opens bool   `json:"opens"`
}

func shownKeys(state keyring.State) keysShown {
	shown := keysShown{state.ID, state.In, state.Kept, state.Right() && len(state.Lost()) == 0, []sealedShown{}}
	for _, t := range state.Things {
		shown.Sealed = append(shown.Sealed, sealedShown{t.Place, t.Key, t.Lost == nil})
	}
	return shown
}

func printKeys(w io.Writer, state keyring.State) (err error) {
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	line("master key %s, from %s", state.ID, state.In)
	switch {
	case state.ID != state.Kept:
		line("BAD  this database is kept under master key %s: put that one back", state.Kept)
	case state.Check != nil:
		line("BAD  what it sealed at the first start does not open: the database's settings were changed")
	}
	for _, k := range state.Past {
		if k.By != "" {
			line("since %s: key %s, put there by %s", k.Since.Format("2006-01-02 15:04 MST"), k.ID, k.By)
		}
	}
	for _, t := range state.Things {
		if t.Lost == nil {
			line("ok   %s", t.Place)
			continue
		}
		line("BAD  %s: needs re-entry, or %s", t.Place, neededKey(t))
	}
	line("\n%d sealed, %d of them need re-entry", len(state.Things), len(state.Lost()))
	return err
}

func neededKey(t keyring.Thing) string {
	if !secret.OtherKey(t.Lost) {
		return "a backup: it was damaged where it is kept"
	}
	return "key " + t.Key
}

type keysRotateCommand struct {
	NewKeyFile string `help:"The file of the new key; it is made when it is not there. Needed where the key that is here is in no file of ours." placeholder:"FILE"`
	Lost       bool   `help:"The key that the database is kept under is lost for good: go on from the one that is here, and leave what that one does not open."`
}

// Run says which key is in force from then on, and what has to be done that this program cannot do.
func (c keysRotateCommand) Run(s *session) error {
	config := s.config()
	config.Alone = true
	return s.opened(config, func(a *app.App) error {
		done, err := a.Keys.Rotate(s, keyring.Order{File: c.NewKeyFile, Lost: c.Lost, By: operator()})
		if err != nil {
			return err
		}
		for _, t := range done.Left {
			fmt.Fprintf(s.err, "left as it is: %s: needs re-entry, or %s\n", t.Place, neededKey(t))
		}
		if a.Keys.Found.File == "" {
			fmt.Fprintf(s.err, "put what %s holds into %s now: without it nothing opens\n", c.NewKeyFile, a.Keys.Found.In)
		}
		if also := a.Keys.Found.Also; also != "" {
			fmt.Fprintf(s.err, "the old key is in %s too: put the new one there, or nothing starts\n", also)
		}
		if a.Store.Engine() != "sqlite" {
			fmt.Fprintln(s.err, "give every machine the new key and start its programs again: those that run have the old one, which opens and seals nothing more")
		}
		_, err = fmt.Fprintf(s.out, "master key %s is in the place of %s; %d sealed anew, %d left\n", done.New, done.Old, done.Resealed, len(done.Left))
		return err
	})
}
