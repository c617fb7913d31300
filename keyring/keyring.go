// Package keyring is the life of the master key: which one a database is kept under, what is sealed there and whether the key that is
// here opens it, and how another takes its place.
//
// A key that is wrong or gone stops nobody: what was sealed under another says so where it is used and is entered again, or the right
// key is put back. Nothing that does not open is ever sealed anew, overwritten or forgotten here.
package keyring

import (
	"context"

	"countersign/desk/bank/posting"
	"countersign/desk/merchant/setup"
	"countersign/hook"
	"countersign/llm/roster"
	"countersign/secret"
	"countersign/store"
)

// Ring is a database, and the master key that is here.
type Ring struct {
	Store *store.Store
	Found secret.Found
}

// State is how the key that is here stands to the database.
type State struct {
	ID, In string            // of the key that is here, and the place that it was found in
	Kept   string            // the id of the key that the database is kept under
	Check  error             // why what was sealed at the first start does not open, though the ids are one
	Past   []store.MasterKey // all that the database was kept under, the one in force first
	Things []Thing
}

// Thing is something that is sealed.
type Thing struct {
	Place string // what it is, and whose
	Key   string // the id of the key that it needs; empty when it is no sealed text at all
	Lost  error  // why it cannot be opened: it needs re-entry, or its key; nil when it opens
}

// Right reports whether the key that is here is the one that the database is kept under.
func (s State) Right() bool { return s.ID == s.Kept && s.Check == nil }

// Lost are the things that do not open.
func (s State) Lost() (lost []Thing) {
	for _, t := range s.Things {
		if t.Lost != nil {
			lost = append(lost, t)
		}
	}
	return lost
}

// sentence is what the check of a key holds.
const sentence = "this database is kept under this master key"

func checkOf(k secret.Key) string { return "check of " + k.String() }

// kept is a key as the database remembers it.
func kept(k secret.Key) store.MasterKey {
	return store.MasterKey{ID: k.ID(), Check: k.Seal(checkOf(k), []byte(sentence))}
}

// Keep has the database remember the key that is here, if it is the first, and changes nothing if it is another than that.
func (r Ring) Keep(ctx context.Context) error {
	id, err := r.Store.KeyID(ctx)
	if err != nil {
		return err
	}
	past, err := r.Store.MasterKeys(ctx)
	if err != nil || id != "" && id != r.Found.Key.ID() || len(past) > 0 && past[0].ID == id {
		return err
	}
	return r.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepKey(ctx, kept(r.Found.Key)) })
}

// State looks at everything that is sealed. It changes nothing.
func (r Ring) State(ctx context.Context) (s State, err error) {
	s = State{ID: r.Found.Key.ID(), In: r.Found.In}
	if s.Kept, err = r.Store.KeyID(ctx); err != nil {
		return s, err
	}
	if s.Past, err = r.Store.MasterKeys(ctx); err != nil {
		return s, err
	}
	if len(s.Past) > 0 && s.Past[0].ID == s.ID {
		_, s.Check = r.Found.Key.Open(checkOf(r.Found.Key), s.Past[0].Check)
	}
	all, err := sealed(ctx, r.Store.View)
	for _, one := range all {
		_, lost := r.Found.Key.Open(one.Place, one.Text)
		s.Things = append(s.Things, Thing{one.Place, secret.KeyOf(one.Text), lost})
	}
	return s, err
}

// sealed is everything that is kept sealed. A test looks for what is sealed and not among it.
func sealed(ctx context.Context, view store.View) (all []store.Sealed, err error) {
	for _, of := range []func(context.Context, store.View) ([]store.Sealed, error){setup.Sealed, roster.Sealed, posting.Sealed, hook.Sealed} {
		some, err := of(ctx, view)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
