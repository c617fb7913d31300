package keyring

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/hook"
	"countersign/internal/testdb"
	"countersign/secret"
)

// filed is a ring whose key is in a file.
func (h *house) filed() Ring {
	h.Helper()
	return h.start(filepath.Join(h.TempDir(), "master.key"))
}

// again is a ring as the next start finds it.
func (h *house) again(r Ring) Ring {
	h.Helper()
	return h.start(r.Found.File)
}

func (h *house) start(file string) Ring {
	h.Helper()
	found, err := secret.Source{Default: file}.Find()
	if err != nil {
		h.Fatal(err)
	}
	return Ring{Store: h.store, Found: found}
}

func (h *house) rotate(r Ring, o Order) Rotation {
	h.Helper()
	o.By = ada
	done, err := r.Rotate(h.Context(), o)
	if err != nil {
		h.Fatal(err)
	}
	return done
}

func TestAfterARotationEverythingOpensUnderTheNewKeyAlone(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		r := h.filed()
		h.keep(r)
		h.furnish(r.Found.Key)
		all := len(h.state(r).Things)
		for range 2 { // and again
			done := h.rotate(r, Order{})
			if done.Old != r.Found.Key.ID() || done.Resealed != all || len(done.Left) > 0 {
				t.Errorf("%+v, want all %d sealed anew", done, all)
			}
			if lost := h.state(r).Lost(); len(lost) != all {
				t.Errorf("the old key still opens %d of %d", all-len(lost), all)
			}
			r = h.again(r)
			if s := h.state(r); s.ID != done.New || !s.Right() || len(s.Lost()) > 0 || s.Past[0].By != "person:ada" {
				t.Errorf("the next start has %+v", s)
			}
			if found := h.everywhere(); len(found) != 1 || found[done.New] != all {
				t.Errorf("sealed texts by the key that they need: %v, want %d under %s", found, all, done.New)
			}
		}
		if past := h.state(r).Past; len(past) != 3 || past[2].By != "" {
			t.Errorf("the keys that it was kept under are %+v, want three", past)
		}
	})
}

func TestWhatTheOldKeyDoesNotOpenIsNamedAndLeft(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		r, stranger := h.filed(), secret.New()
		h.keep(r)
		h.seal("where fixes are posted", stranger)
		h.seal("a model connection", r.Found.Key)
		done := h.rotate(r, Order{})
		if done.Resealed != 1 || len(done.Left) != 1 || done.Left[0].Key != stranger.ID() || !strings.Contains(done.Left[0].Place, "where fixes are posted") {
			t.Errorf("%+v, want one left, which needs %s", done, stranger.ID())
		}
		if lost := h.state(h.ring(stranger)).Lost(); len(lost) != 1 {
			t.Errorf("with the stranger's key %d are lost, want the model's key alone", len(lost))
		}
	})
}

func TestAReplacedKeySealsNothingMore(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		r := h.filed()
		h.keep(r)
		h.furnish(r.Found.Key)
		done := h.rotate(r, Order{})
		for what, seal := range seals {
			err := seal(t.Context(), h.store, r.Found.Key)
			if countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), "start this program again") {
				t.Errorf("%s was sealed under a key that was replaced: %v", what, err)
			}
		}
		sources, err := h.store.EventSources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (hook.Sources{Store: h.store, Key: r.Found.Key}).Rotate(t.Context(), sources[0].Name, time.Hour, ada); err == nil {
			t.Error("a source got a secret that is sealed under a key that was replaced")
		}
		if found := h.everywhere(); len(found) != 1 || found[done.New] == 0 {
			t.Errorf("sealed texts by the key that they need: %v", found)
		}
	})
}

// A program that seals while the key is replaced does so before, and is sealed anew, or is refused.
func TestWhoeverSealsWhileTheKeyIsReplaced(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		r := h.filed()
		h.keep(r)
		begun, refused := make(chan struct{}), make(chan error, 1)
		go func() {
			for n := 0; ; n++ {
				if err := seals["a source of events"](context.WithoutCancel(t.Context()), h.store, r.Found.Key); err != nil {
					refused <- err
					return
				}
				if n == 0 {
					close(begun)
				}
			}
		}()
		<-begun
		done := h.rotate(r, Order{})
		if err := <-refused; !strings.Contains(err.Error(), "was replaced by "+done.New) {
			t.Error(err)
		}
		if found := h.everywhere(); found[done.Old] > 0 || found[done.New] == 0 {
			t.Errorf("sealed texts by the key that they need: %v, want none under %s, which was replaced", found, done.Old)
		}
	})
}

func TestOfTwoRotationsAtOnceOneIsRefused(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		r := h.filed()
		h.keep(r)
		h.furnish(r.Found.Key)
		// Both have looked at the database before either writes.
		id, first, second := r.Found.Key.ID(), secret.New(), secret.New()
		if err := secret.Beside(r.Found.File, first); err != nil {
			t.Fatal(err)
		}
		if _, err := r.replace(t.Context(), id, first, ada); err != nil {
			t.Fatal(err)
		}
		if _, err := r.replace(t.Context(), id, second, ada); countersign.KindOf(err) != countersign.Conflict || !strings.Contains(err.Error(), first.ID()) {
			t.Errorf("the second ended with %v", err)
		}
		if s := h.state(h.ring(first)); !s.Right() || len(s.Lost()) > 0 {
			t.Errorf("afterwards: right %t, lost %v", s.Right(), s.Lost())
		}
	})
}

func TestARotationThatIsRefused(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	r := h.filed()
	h.keep(r)
	h.furnish(r.Found.Key)
	for name, row := range map[string]struct {
		ring  Ring
		order Order
		says  string
	}{
		"with a key that is not the database's": {h.ring(secret.New()), Order{By: ada}, "--lost"},
		"of a key in no file":                   {h.ring(r.Found.Key), Order{By: ada}, "--new-key-file"},
		"to the key that is here":               {r, Order{File: r.Found.File, By: ada}, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := row.ring.Rotate(t.Context(), row.order); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v does not say %s", err, row.says)
			}
		})
	}
	if entries, err := os.ReadDir(filepath.Dir(r.Found.File)); err != nil || len(entries) != 1 {
		t.Errorf("keys were left behind: %v, %v", entries, err)
	}
	if _, err := r.Rotate(t.Context(), Order{}); err == nil {
		t.Error("nobody replaced the key")
	}
	if s := h.state(r); !s.Right() || len(s.Lost()) > 0 || len(s.Past) != 1 {
		t.Errorf("something was changed: %+v", s)
	}
}

func TestAKeyThatWasReplacedDoesNotComeBack(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t))
	r := h.filed()
	h.keep(r)
	h.rotate(r, Order{})
	former := r.Found.File + "." + r.Found.Key.ID()
	if _, err := h.again(r).Rotate(t.Context(), Order{File: former, By: ada}); err == nil || !strings.Contains(err.Error(), "never had") {
		t.Error(err)
	}
}

// What an earlier program left has the id of its key and no row of it.
func TestAKeyThatAnEarlierProgramKeptIsReplacedToo(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h, lost := newHouse(t, database), secret.New()
		r := h.filed()
		h.keep(h.ring(lost))
		if _, err := h.store.DB().Exec("DELETE FROM settings WHERE name LIKE 'master_key/%'"); err != nil {
			t.Fatal(err)
		}
		h.rotate(r, Order{Lost: true})
		if err := seals["a draft"](t.Context(), h.store, lost); err == nil {
			t.Error("something was sealed under a key that was replaced")
		}
	})
}

func TestWithTheOwnKeyLostTheOneHereTakesOver(t *testing.T) {
	testdb.Engines(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		lost, r := secret.New(), h.filed()
		h.keep(h.ring(lost))
		h.furnish(lost)
		h.seal("a draft", r.Found.Key) // entered again
		done := h.rotate(r, Order{Lost: true})
		if done.Old != lost.ID() || done.Resealed != 1 || len(done.Left) == 0 {
			t.Errorf("%+v, want one sealed anew and the others left", done)
		}
		if s := h.state(h.again(r)); !s.Right() || len(s.Lost()) != len(done.Left) {
			t.Errorf("afterwards it is right: %t, and %d are lost", s.Right(), len(s.Lost()))
		}
	})
}
