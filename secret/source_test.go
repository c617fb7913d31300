package secret

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
)

func text(k Key) string { return base64.StdEncoding.EncodeToString(k.bytes[:]) }

func TestTheKeyIsFoundWhereverItIs(t *testing.T) {
	k, nowhere := New(), filepath.Join(t.TempDir(), "master.key")
	file := write(t, text(k)+"\n")
	for name, row := range map[string]struct {
		source         Source
		in, file, also string
	}{
		"in the file that counts":      {Source{Default: file}, file, file, ""},
		"in a file that is named":      {Source{File: file, Default: nowhere}, file, file, ""},
		"in the environment":           {Source{Default: nowhere, Text: text(k)}, "COUNTERSIGN_MASTER_KEY", "", ""},
		"in a credential of systemd's": {Source{Default: nowhere, Credential: file}, "the credential " + file, "", ""},
		"everywhere, the same":         {Source{Default: file, Text: text(k), Credential: file}, file, file, "COUNTERSIGN_MASTER_KEY and the credential " + file},
		"with credentials of others":   {Source{Default: file, Credential: nowhere}, file, file, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := row.source.Find()
			if err != nil || found != (Found{k, row.in, row.file, row.also}) {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a key was made though there was one")
	}
	found, err := Source{Default: nowhere, Credential: nowhere + ".cred"}.Find()
	if err != nil || found.File != nowhere {
		t.Errorf("without any key: %+v, %v; want one that was made", found, err)
	}
}

func TestTwoKeysThatDifferAreBothNamed(t *testing.T) {
	one, other := New(), New()
	file := write(t, text(one))
	for name, source := range map[string]Source{
		"a file and the environment":       {Default: file, Text: text(other)},
		"a named file and the environment": {File: file, Text: text(other)},
		"a file and a credential":          {Default: file, Credential: write(t, text(other))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := source.Find()
			for _, said := range []string{file, one.ID(), other.ID()} {
				if err == nil || !strings.Contains(err.Error(), said) {
					t.Errorf("%v does not name %s", err, said)
				}
			}
			if err != nil && strings.Contains(err.Error(), text(other)) {
				t.Error("the error holds a key")
			}
		})
	}
}

func TestAPlaceThatHoldsNoKeyIsNotPassedOver(t *testing.T) {
	good := write(t, text(New()))
	for name, source := range map[string]Source{
		"the environment": {Default: good, Text: "hunter2"},
		"a credential":    {Default: good, Credential: write(t, "hunter2")},
		"a named file":    {File: good + ".gone", Default: good},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := source.Find(); countersign.KindOf(err) != countersign.Unavailable || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}

// settled is a key file after Settle, and what is beside it.
func settled(t *testing.T, path, id string) (Key, []string) {
	t.Helper()
	if err := Settle(path, id); err != nil {
		t.Fatal(err)
	}
	k, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others (%v)", e.Name(), err)
		}
		names = append(names, e.Name())
	}
	return k, names
}

func TestAKeyTakesThePlaceOfAnotherAndNoneIsLost(t *testing.T) {
	old, next := New(), New()
	path := write(t, text(old))
	if err := Beside(path, next); err != nil {
		t.Fatal(err)
	}
	if k, names := settled(t, path, old.ID()); k != old || len(names) != 2 {
		t.Errorf("before the database says so the file holds %v, among %v", k, names)
	}
	if k, ok := (Found{Key: old, File: path}).Waiting(next.ID()); !ok || k != next {
		t.Errorf("the key that is to come is %v, %t", k, ok)
	}
	for _, id := range []string{next.ID(), next.ID(), old.ID(), next.ID()} { // and back, as with a backup from before
		if k, names := settled(t, path, id); k.ID() != id || len(names) != 3 {
			t.Errorf("the file holds %v, want %s; beside it are %v", k, id, names)
		}
	}
	if err := Settle(path, New().ID()); err == nil {
		t.Error("a key that is nowhere took the place of one that is here")
	}
	if k, _ := settled(t, path, next.ID()); k != next {
		t.Errorf("afterwards the file holds %v", k)
	}
}

func TestAKeyTakesOverTheRightsOfTheFile(t *testing.T) {
	if os.Getuid() < 0 {
		return // a system without such rights
	}
	path, next := write(t, text(New())), New()
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Beside(path, next); err != nil {
		t.Fatal(err)
	}
	if err := Settle(path, next.ID()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, besides(path, next.ID())} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode of %s is %v (%v): whoever could read the key cannot read the new one", file, info.Mode(), err)
		}
	}
}
