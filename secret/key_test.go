package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"countersign"
)

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAKeyIsMadeOnceAndFoundAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "master.key")
	made, err := Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, create := range []bool{true, false} {
		if found, err := Open(path, create); err != nil || found != made {
			t.Errorf("Open(create %t) found another key, %v", create, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v), want 0600", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the mode of its folder is %v (%v), want 0700", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v), want the key alone", left, err)
	}
}

func TestTwoProgramsThatMakeItAtOnceEndWithOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	keys := make([]Key, 16)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := Open(path, true)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] {
			t.Fatal("two keys were handed out")
		}
	}
}

func TestAKeyThatIsNotOne(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, text := range map[string]string{
		"empty": "", "text": "hunter2", "too short": base64.StdEncoding.EncodeToString(make([]byte, 31)),
		"too long": base64.StdEncoding.EncodeToString(make([]byte, 33)), "two keys": good + "\n" + good + "\n", "NUL bytes": good + "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, text)
			_, err := Open(path, true)
			if countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "32 bytes in base64") {
				t.Errorf("the error is %v", err)
			}
			if err != nil && len(text) > 0 && strings.Contains(err.Error(), text) {
				t.Error("the error repeats what the file holds")
			}
			if kept, _ := os.ReadFile(path); string(kept) != text {
				t.Error("the file was changed")
			}
		})
	}
}

func TestAKeyOutOfReach(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "nowhere.key"), false)
	if countersign.KindOf(err) != countersign.Unavailable || !strings.Contains(err.Error(), "is not there (restore it") {
		t.Errorf("a key that is gone: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error("a key was made though nobody asked for one")
	}
	for name, path := range map[string]string{"a folder": dir, "a file as the folder": filepath.Join(write(t, "x"), "master.key")} {
		_, err := Open(path, true)
		var e *countersign.Error
		if !errors.As(err, &e) || e.Kind != countersign.Unavailable || e.Hint == "" || e.Err == nil {
			t.Errorf("%s: %v, want an error with a hint and a cause", name, err)
		}
	}
}

func TestAKeyNeverPrintsItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	key, err := Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		printed := fmt.Sprintf(form, key)
		if strings.Contains(printed, fmt.Sprintf("%x", key.bytes[:4])) || strings.Contains(printed, fmt.Sprint(key.bytes[0], key.bytes[1], key.bytes[2])) {
			t.Errorf("%s prints %q", form, printed)
		}
	}
	if id := key.ID(); len(id) != 16 || strings.Contains(fmt.Sprintf("%x", key.bytes), id) {
		t.Errorf("the id is %q", id)
	}
}
