package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"countersign/keyring"
	"countersign/secret"
	"countersign/store"
)

// credential is what systemd calls the master key: LoadCredential=countersign-master-key:/etc/countersign/master.key
const credential = "countersign-master-key"

func (c Config) keyFile() string {
	if c.KeyFile != "" {
		return c.KeyFile
	}
	return filepath.Join(c.Data, "master.key")
}

func (c Config) keySource() secret.Source {
	s := secret.Source{File: c.KeyFile, Default: c.keyFile(), Text: c.KeyText}
	if c.KeyFolder != "" {
		s.Credential = filepath.Join(c.KeyFolder, credential)
	}
	return s
}

// takeKey has the database remember its key, and finishes a rotation that was cut short: the database says which of the keys that are
// beside the key file is its own. Another key than its own is a warning. What was sealed under the right one says so where it is used,
// and can be entered again; everything else works, and a program that refused to start would help nobody.
func (a *App) takeKey(ctx context.Context) error {
	a.Keys.Store = a.Store
	id, err := a.Store.KeyID(ctx)
	if err != nil {
		return err
	}
	if right, ok := a.Keys.Found.Waiting(id); ok {
		a.settle(ctx, id)
		a.Keys.Found.Key = right
	}
	a.Key = a.Keys.Found.Key
	if err := a.Keys.Keep(ctx); err != nil {
		return err
	}
	switch state, err := a.Keys.State(ctx); {
	case err != nil:
		a.Log.WarnContext(ctx, "cannot look at what is sealed", "error", err) // whoever uses it will say so
	case !state.Right():
		a.Log.WarnContext(ctx, "this is not the master key that the database is kept under: put that one back", "found", state.In, "key", state.ID,
			"expected", state.Kept, "needs_reentry", len(state.Lost()))
	}
	return nil
}

// settle is only for the next start. This one has the key, and works also where the file cannot be written.
func (a *App) settle(ctx context.Context, id string) {
	if err := secret.Settle(a.Keys.Found.File, id); err != nil {
		a.Log.WarnContext(ctx, "the database's master key is beside the key file, and could not take its place", "file", a.Keys.Found.File, "key", id, "error", err)
		return
	}
	a.Log.InfoContext(ctx, "the database's master key was beside the key file, and has taken its place", "file", a.Keys.Found.File, "key", id)
}

// examineKey looks at the key that is there, and without a database at nothing else.
func (c Config) examineKey(ctx context.Context, db *store.Store) Finding {
	found, err := c.keySource().Find()
	if err != nil {
		return wrong("master key", err)
	}
	f := Finding{What: "master key", OK: true, Says: found.In + ", key " + found.Key.ID()}
	if db == nil {
		return f
	}
	s, err := keyring.Ring{Store: db, Found: found}.State(ctx)
	if err != nil {
		return wrong("master key", err)
	}
	_, waiting := found.Waiting(s.Kept)
	return f.judged(s, waiting)
}

// keyFor is the key that a start would take for a database.
func (c Config) keyFor(ctx context.Context, db *store.Store) (secret.Key, error) {
	found, err := c.keySource().Find()
	if err != nil {
		return found.Key, err
	}
	id, err := db.KeyID(ctx)
	if right, ok := found.Waiting(id); ok {
		return right, err
	}
	return found.Key, err
}

// judged adds what the database says of the key that is here.
func (f Finding) judged(s keyring.State, waiting bool) Finding {
	lost := s.Lost()
	switch {
	case waiting:
		return f.note("and the database's key "+s.Kept+" is beside it", "the next command or start puts it into its place")
	case s.Kept != "" && s.ID != s.Kept:
		return f.bad(fmt.Sprintf("and this database is kept under key %s; %s", s.Kept, reentry(lost)),
			"put the key that it is kept under back; if it is lost for good, see `countersign keys rotate --lost`")
	case s.Check != nil:
		return f.bad("and what it sealed at the first start does not open", "somebody changed the database's settings: restore a backup of it")
	case len(lost) > 0:
		return f.bad(reentry(lost), "enter them again in the settings, or see `countersign keys show` for the key that each needs")
	}
	if len(s.Things) > 0 {
		f.Says += fmt.Sprintf(", which opens everything that is sealed (%d)", len(s.Things))
	}
	return f
}

func reentry(lost []keyring.Thing) string {
	if len(lost) == 0 {
		return "nothing that is sealed needs it"
	}
	var places []string
	for _, t := range lost {
		places = append(places, t.Place)
	}
	return "needs re-entry: " + strings.Join(places, ", ")
}
