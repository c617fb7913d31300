package web

import (
	"context"

	"countersign"
	"countersign/store"
)

// postClaim tells others that the reader has the case before them. Nobody is kept from deciding it.
func postClaim(v *visit) error {
	id := countersign.CaseID(v.r.PathValue("id"))
	var from store.Claim
	err := v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) (err error) {
		from, err = tx.Claim(ctx, id, v.who.PersonID, tx.Now.Add(claimTime))
		return err
	})
	if err != nil {
		return err
	}
	if from.PersonID == "" {
		return v.back("/cases/"+string(id), "Others see that you have this case.")
	}
	names, err := v.Store.Names(v.r.Context())
	if err != nil {
		return err
	}
	return v.back("/cases/"+string(id), "You have this case now. "+names[from.PersonID]+" had it.")
}

func postRelease(v *visit) error {
	id := countersign.CaseID(v.r.PathValue("id"))
	err := v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.Release(ctx, id, v.who.PersonID) })
	if err != nil {
		return err
	}
	return v.back("/queue", "You let "+string(id)+" go.")
}

// renew puts the end of the reader's claim off, for as long as they look at the case.
func (v *visit) renew(f *file) error {
	if !f.held || f.holder.PersonID != v.who.PersonID {
		return nil
	}
	return v.Store.Write(v.r.Context(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Renew(ctx, f.ID, v.who.PersonID, tx.Now.Add(claimTime))
		return err
	})
}
