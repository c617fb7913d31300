package keyring

import (
	"context"

	"countersign"
	"countersign/secret"
	"countersign/store"
)

// Rotation is what came of putting another key into the place of the one that a database is kept under.
type Rotation struct {
	Old, New string // their ids
	Resealed int
	Left     []Thing // what the old key did not open: it is as it was
}

// Rotate seals everything anew that the key here opens, in the transaction that makes another one the key of the database. Where the
// key here is not the database's own, what that one sealed would be left behind: it is refused unless that key is lost.
func (r Ring) Rotate(ctx context.Context, to secret.Key, lost bool, by countersign.Actor) (done Rotation, err error) {
	id, err := r.Store.KeyID(ctx)
	if err != nil {
		return done, err
	}
	if err := r.mayRotate(id, to, lost); err != nil {
		return done, err
	}
	err = r.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		done = Rotation{Old: id, New: to.ID()}
		if err := tx.ReplaceKey(ctx, id, kept(to), by); err != nil {
			return err
		}
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
	})
	return done, err
}

func (r Ring) mayRotate(id string, to secret.Key, lost bool) error {
	switch here := r.Found.Key; {
	case here == to:
		return countersign.Errorf(countersign.Invalid, "the new key is the one that is here, %s", here.ID()).In("--new-key-file").Try("expected another key, or a file that is not there yet")
	case id != here.ID() && !lost:
		return countersign.Errorf(countersign.Conflict, "the key here is %s, and this database is kept under %s: nothing that was sealed under that one could be sealed anew", here.ID(), id).
			Try("put that key back; if it is lost for good, say so with --lost, and enter again what it sealed")
	}
	return nil
}
