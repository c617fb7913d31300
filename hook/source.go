package hook

import (
	"context"
	"crypto/rand"
	"regexp"
	"time"

	"countersign"
	"countersign/secret"
	"countersign/store"
)

// DefaultWindow is how old a signature may be, or how far in the future, when nobody says otherwise.
const DefaultWindow = 5 * time.Minute

// Overlap is how long the secret before is good after it was replaced, when nobody says otherwise.
const Overlap = 24 * time.Hour

// Purpose is what the secret of a source is sealed for.
func Purpose(source string) string { return "secret of the event source " + source }

// Sources keeps who may send events.
type Sources struct {
	Store *store.Store
	Key   secret.Key
}

var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Add makes a source and returns its secret, which nobody can read again.
func (s Sources) Add(ctx context.Context, name string, window time.Duration, by countersign.Actor) (plain string, err error) {
	switch {
	case !sourceName.MatchString(name):
		return "", countersign.Errorf(countersign.Invalid, "%q is no name of a source; expected up to 40 small letters, digits and dashes", clip(name)).In("name")
	case window < 10*time.Second || window > 24*time.Hour || window%time.Second != 0:
		return "", countersign.Errorf(countersign.Invalid, "%s is no window; expected whole seconds from 10s to 24h", window).In("window")
	}
	plain, sealed := s.forge(name)
	err = s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, s.Key.ID()); err != nil {
			return err
		}
		return tx.AddEventSource(ctx, store.EventSource{Name: name, Desk: countersign.Merchant, Secret: sealed, Window: window}, by)
	})
	return plain, err
}

// Rotate gives a source a new secret and returns it. The one that it had stays good for that long.
func (s Sources) Rotate(ctx context.Context, name string, overlap time.Duration, by countersign.Actor) (plain string, err error) {
	if overlap < 0 || overlap > 30*24*time.Hour {
		return "", countersign.Errorf(countersign.Invalid, "%s is no overlap; expected 0 to 720h", overlap).In("overlap")
	}
	plain, sealed := s.forge(name)
	err = s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, s.Key.ID()); err != nil {
			return err
		}
		return tx.RotateEventSource(ctx, name, sealed, tx.Now.Add(overlap), by)
	})
	return plain, err
}

// Opens reports whether the secret of a source can be opened: where not, nothing of it is taken until it has another.
func (s Sources) Opens(source store.EventSource) bool {
	_, err := s.Key.Open(Purpose(source.Name), source.Secret)
	return err == nil
}

// Remove takes a source away. What it sent stays.
func (s Sources) Remove(ctx context.Context, name string, by countersign.Actor) error {
	return s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.RemoveEventSource(ctx, name, by) })
}

func (s Sources) forge(name string) (plain, sealed string) {
	plain = "cshook_" + rand.Text() + rand.Text()
	return plain, s.Key.Seal(Purpose(name), []byte(plain))
}
