package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A key file is replaced in three steps, between which the program may be killed. The new key is written beside the file, under a name
// with its id. A transaction of the database then says that this is its key. And only then it takes the file's place, by Settle, at once
// or at the next start: the database says which of the keys that are there is the right one. A key that was ever in the file stays
// beside it, also the new one, so that nothing which takes its place, whoever is overtaken by whom, can be the end of a key.

// besides is where the key of that id is kept beside a key file.
func besides(path, id string) string { return path + "." + id }

// New is a key that nobody has ever had.
func New() (k Key) {
	rand.Read(k.bytes[:])
	return k
}

// Beside writes a key beside the file whose place it is to take.
func Beside(path string, k Key) error {
	there, err := put(besides(path, k.ID()), path, k)
	if err == nil && there != k {
		err = unreachable("write", besides(path, k.ID()), errors.New("it holds another key"))
	}
	return err
}

// Settle gives the key file the key of that id, which must be beside it, and keeps the one that was in it beside it.
func Settle(path, id string) error {
	old, err := Open(path, false)
	if err != nil || old.ID() == id {
		return err
	}
	right, err := Open(besides(path, id), false)
	if err != nil {
		return err
	}
	if err := os.Link(path, besides(path, old.ID())); err != nil && !errors.Is(err, fs.ErrExist) {
		return unreachable("keep a copy of", path, err)
	}
	fresh, err := scratch(path, path, right)
	if err != nil {
		return err
	}
	defer os.Remove(fresh)
	if err := os.Rename(fresh, path); err != nil {
		return unreachable("replace", path, err)
	}
	return lasting(path)
}

// Waiting is the key of that id where the file holds another and this one is beside it; ok is false where it does not.
func (f Found) Waiting(id string) (k Key, ok bool) {
	if f.File == "" || id == "" || id == f.Key.ID() {
		return k, false
	}
	k, err := Open(besides(f.File, id), false)
	return k, err == nil && k.ID() == id
}

// put keeps a key in a file that is not there yet, with the rights of the one that is named, and returns the key that it holds then:
// whoever comes second finds the first one's.
func put(path, rights string, k Key) (Key, error) {
	fresh, err := scratch(path, rights, k)
	if err != nil {
		return k, err
	}
	defer os.Remove(fresh)
	if err := os.Link(fresh, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return k, unreachable("make", path, err)
	}
	if err := lasting(path); err != nil {
		return k, err
	}
	return Open(path, false)
}

// scratch writes a key into a file of a name of its own, in the folder of the file that it is meant for.
func scratch(path, rights string, k Key) (name string, err error) {
	fresh, err := os.CreateTemp(filepath.Dir(path), ".master-*") // 0600
	if err != nil {
		return "", unreachable("make", path, err)
	}
	_, err = fresh.WriteString(base64.StdEncoding.EncodeToString(k.bytes[:]) + "\n")
	if err := errors.Join(err, like(rights, fresh), fresh.Sync(), fresh.Close()); err != nil {
		return "", unreachable("write", path, errors.Join(err, os.Remove(fresh.Name())))
	}
	return fresh.Name(), nil
}

// lasting has the file's name survive a power cut. Windows cannot be asked for that, and writes names through.
func lasting(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return unreachable("make", path, err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return unreachable("make", path, err)
	}
	return nil
}
