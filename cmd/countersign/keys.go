package main

import (
	"encoding/json"
	"fmt"
	"io"

	"countersign/app"
	"countersign/keyring"
)

type keysCommand struct {
	Show keysShowCommand `cmd:"" help:"Say which master key this is, where it comes from, and what it opens. Ends with 1 if something needs another key."`
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
	if t.Key == "" {
		return "a backup: it was damaged where it is kept"
	}
	return "key " + t.Key
}
