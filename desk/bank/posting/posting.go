// Package posting is where the bank's fixes are posted: to the ledger of this program, or by the bank's own core, which is sent signed
// instructions over HTTP.
//
// It keeps the settings of that, each change a version with who made it, with the secrets sealed on the way into the store. It knows the
// protocol of docs/posting.md: what is sent is signed, what comes back is understood by its status and one form of JSON, and whatever
// is not exactly that says nothing. It follows no redirect, never sends anything by itself, and decides nothing: when to ask, and what
// an answer does to a case, is for pipeline/outside.
package posting

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"countersign"
	"countersign/pipeline/outside"
	"countersign/secret"
	"countersign/store"
)

// Office keeps where fixes are posted and reaches whoever posts them.
type Office struct {
	Store *store.Store
	Key   secret.Key
}

// secrets are what is sealed of the settings.
type secrets struct{ Secret, AnswerSecret string }

// sealedFor is the place that a version's secrets belong to: in another row they do not open.
func sealedFor(version int64) string {
	return fmt.Sprintf("secrets of version %d of where fixes are posted", version)
}

// Apply puts settings into force for every fix that is decided from now on. Instructions that were written before go where they were
// meant to.
func (o Office) Apply(ctx context.Context, s Settings, by countersign.Actor) (version int64, err error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	shown, err := json.Marshal(s.Shown())
	if err != nil {
		return 0, fmt.Errorf("write where fixes are posted: %w", err) // unreachable: it marshals
	}
	hidden, err := json.Marshal(secrets{s.Secret, s.AnswerSecret})
	if err != nil {
		return 0, fmt.Errorf("write the secrets: %w", err) // unreachable: it marshals
	}
	seal := func(version int64) string { return o.Key.Seal(sealedFor(version), hidden) }
	err = o.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, o.Key.ID()); err != nil {
			return err
		}
		version, err = tx.ApplyRoute(ctx, store.Route{Destination: s.To, Settings: string(shown)}, seal, by)
		return err
	})
	return version, err
}

// InForce are the settings in force, without their secrets, and the version that they are of.
func (o Office) InForce(ctx context.Context) (Settings, store.Route, error) {
	r, err := o.Store.Route(ctx)
	if err != nil || r.Version == 0 {
		return Settings{To: store.Ledger}, r, err
	}
	s, err := settingsOf(r)
	return s, r, err
}

func settingsOf(r store.Route) (s Settings, err error) {
	if err := json.Unmarshal([]byte(r.Settings), &s); err != nil {
		return s, countersign.Errorf(countersign.Internal, "version %d of where fixes are posted cannot be read: %s", r.Version, err)
	}
	return s, nil
}

// opened adds the secrets.
func (o Office) opened(r store.Route) (Settings, error) {
	s, err := settingsOf(r)
	if err != nil {
		return s, err
	}
	hidden, err := o.Key.Open(sealedFor(r.Version), r.Secrets)
	if err != nil {
		return s, err
	}
	var kept secrets
	if err := json.Unmarshal(hidden, &kept); err != nil {
		return s, countersign.Errorf(countersign.Internal, "the secrets of version %d of where fixes are posted cannot be read", r.Version) // its error could quote them
	}
	s.Secret, s.AnswerSecret = kept.Secret, kept.AnswerSecret
	return s, nil
}

// To is who an instruction goes to: the address that it was decided for, with the newest secrets and time-outs that are known of that
// address. Another address may be another core, which has never heard of it.
func (o Office) To(ctx context.Context, i store.Instruction) (outside.Recipient, error) {
	routes, err := o.Store.Routes(ctx)
	if err != nil {
		return outside.Recipient{}, err
	}
	var meant Settings
	for _, r := range routes {
		if r.Version == i.Route {
			if meant, err = settingsOf(r); err != nil {
				return outside.Recipient{}, err
			}
		}
	}
	for _, r := range routes { // the newest first
		s, err := settingsOf(r)
		if err != nil || s.URL != meant.URL || !r.Outside() {
			continue
		}
		if s, err = o.opened(r); err != nil {
			return outside.Recipient{}, err
		}
		return newCore(s, o.Store.Now).recipient(i), nil
	}
	return outside.Recipient{}, countersign.Errorf(countersign.Internal, "version %d of where fixes are posted is gone", i.Route)
}

// Test asks the core in force about an instruction that nobody ever sent. That it never had it is the one right answer, and shows that it
// can be reached and takes the signature; nothing is posted.
func (o Office) Test(ctx context.Context) error {
	r, err := o.Store.Route(ctx)
	if err != nil {
		return err
	}
	if !r.Outside() {
		return countersign.Errorf(countersign.Conflict, "fixes are posted to the ledger of this program, so there is nobody to ask").Try("apply settings of a core first")
	}
	s, err := o.opened(r)
	if err != nil {
		return err
	}
	never := store.Instruction{ID: "ins_test_" + strings.ToLower(rand.Text())}
	switch a := newCore(s, o.Store.Now).recipient(never).State(ctx); a.Kind {
	case outside.NeverSeen:
		return nil
	case outside.Unclear:
		return countersign.Errorf(countersign.Unavailable, "the core gave no answer that can be used: %s", a.Exchange.Problem).
			Try("expected the status 404 to a question about an instruction that was never sent")
	}
	return countersign.Errorf(countersign.Unavailable, "the core says that it knows an instruction which was never sent").
		Try("its answers are not about the instruction that is asked about")
}
