package keyring

import (
	"context"

	"countersign"
	"countersign/secret"
	"countersign/store"
)

// Order is what somebody wants who has another key take over.
type Order struct {
	File string // of the new key, made when it is not there; empty for a key that nobody ever had
	Lost bool   // the database's own key is lost for good
	By   countersign.Actor
}

// Rotation is what came of it.
type Rotation struct {
	Old, New string // the ids of the database's keys
	Resealed int
	Left     []Thing // what the key here did not open: it is as it was
}

// Rotate puts another key in the place of the one that the database is kept under. What the key here opens is sealed anew in the
// transaction that says so. Killed at any moment it may be begun again: the new key is on disk before the database knows of it, and
// takes the place of the old one when the database does, at once or at the next start. Where the key here is not the database's own,
// what that one sealed would be left behind: it is refused unless that key is lost.
func (r Ring) Rotate(ctx context.Context, o Order) (done Rotation, err error) {
	id, err := r.Store.KeyID(ctx)
	if err != nil {
		return done, err
	}
	if here := r.Found.Key.ID(); id != here && !o.Lost {
		return done, countersign.Errorf(countersign.Conflict, "the master key here is %s, and this database is kept under %s: what that one sealed could not be sealed anew", here, id).
			Try("put that key back; if it is lost for good, say so with --lost, and enter again what it sealed")
	}
	to, err := r.next(o.File)
	if err != nil {
		return done, err
	}
	done, err = r.replace(ctx, id, to, o.By)
	if err != nil || r.Found.File == "" {
		return done, err
	}
	return done, settled(secret.Settle(r.Found.File, to.ID()), to)
}

// replace is the transaction.
func (r Ring) replace(ctx context.Context, id string, to secret.Key, by countersign.Actor) (done Rotation, err error) {
	err = r.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		done = Rotation{Old: id, New: to.ID()}
		if err := tx.ReplaceKey(ctx, id, kept(to), by); err != nil {
			return err
		}
		return r.reseal(ctx, tx, to, &done)
	})
	return done, err
}

// next is the key that is to take over, where a start will find it.
func (r Ring) next(file string) (to secret.Key, err error) {
	switch {
	case file != "":
		to, err = secret.Open(file, true)
	case r.Found.File == "":
		err = countersign.Errorf(countersign.Invalid, "is needed: the master key is in %s, where this program cannot put another", r.Found.In).In("--new-key-file").
			Try("expected a file that the new key may be written to, or that holds it")
	default:
		to = secret.New()
	}
	if err == nil && to == r.Found.Key {
		err = countersign.Errorf(countersign.Invalid, "%s holds the master key that is here already", file).In("--new-key-file").Try("expected another key, or a file that is not there yet")
	}
	if err != nil || r.Found.File == "" {
		return to, err
	}
	return to, secret.Beside(r.Found.File, to)
}

func (r Ring) reseal(ctx context.Context, tx *store.Tx, to secret.Key, done *Rotation) error {
	all, err := sealed(ctx, tx.View)
	if err != nil {
		return err
	}
	for _, one := range all {
		plain, lost := r.Found.Key.Open(one.Place, one.Text)
		if lost != nil {
			done.Left = append(done.Left, Thing{one.Place, secret.KeyOf(one.Text), lost})
			continue
		}
		if err := one.Keep(ctx, tx, to.Seal(one.Place, plain)); err != nil {
			return err
		}
		done.Resealed++
	}
	return nil
}

// settled is what to say when the database has its new key and the file has not.
func settled(err error, to secret.Key) error {
	if err == nil {
		return nil
	}
	e := countersign.Errorf(countersign.Unavailable, "the database is kept under master key %s now, which is beside the key file and could not take its place", to.ID()).
		Try("nothing is lost: every start finds it there, and tries again")
	e.Err = err
	return e
}
