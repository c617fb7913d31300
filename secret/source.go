package secret

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"countersign"
)

// Source is where a master key is looked for. There is one key: of several places that hold one, all must hold the same.
type Source struct {
	File       string // named by COUNTERSIGN_MASTER_KEY_FILE; it must be there
	Default    string // the file that counts when none is named; it is made when there is no key in any place
	Text       string // of COUNTERSIGN_MASTER_KEY
	Credential string // a file of systemd's, $CREDENTIALS_DIRECTORY/countersign-master-key; it need not be there
}

// Found is a key, and the place that it was found in.
type Found struct {
	Key  Key
	In   string // in words
	File string // the same when it is a file of ours, that another key may take the place of; empty otherwise
	Also string // other places that hold it, in words; empty when there are none
}

// Find finds the key, and makes one when there is none in any place.
func (s Source) Find() (Found, error) {
	found, err := s.Look()
	if errors.Is(err, fs.ErrNotExist) {
		k, err := Open(s.Default, true)
		return Found{Key: k, In: s.Default, File: s.Default}, err
	}
	return found, err
}

// Look finds the key; when there is none in any place the error is fs.ErrNotExist.
func (s Source) Look() (Found, error) {
	all, err := s.all()
	switch {
	case err != nil:
		return Found{}, err
	case len(all) == 0:
		return Found{}, fs.ErrNotExist
	}
	var also []string
	for _, other := range all[1:] {
		if other.Key != all[0].Key {
			return Found{}, countersign.Errorf(countersign.Unavailable, "%s holds master key %s, and %s holds %s", all[0].In, all[0].Key.ID(), other.In, other.Key.ID()).
				Try("`countersign doctor` with one of them alone says whether that is the database's key: keep it, and put the other out of the way")
		}
		also = append(also, other.In)
	}
	all[0].Also = strings.Join(also, " and ")
	return all[0], nil
}

// all are the keys that there are, the file's first.
func (s Source) all() (all []Found, err error) {
	add := func(k Key, in, file string, problem error) {
		if errors.Is(problem, fs.ErrNotExist) {
			return
		}
		all, err = append(all, Found{Key: k, In: in, File: file}), errors.Join(err, problem)
	}
	if s.File != "" {
		k, problem := Open(s.File, false)
		add(k, s.File, s.File, problem)
	} else {
		k, problem := openThere(s.Default)
		add(k, s.Default, s.Default, problem)
	}
	if s.Text != "" {
		k, problem := parse("COUNTERSIGN_MASTER_KEY", []byte(s.Text))
		add(k, "COUNTERSIGN_MASTER_KEY", "", problem)
	}
	if s.Credential != "" {
		k, problem := openThere(s.Credential)
		add(k, "the credential "+s.Credential, "", problem)
	}
	return all, err
}

// openThere is Open for a file that need not be there: its error is then fs.ErrNotExist.
func openThere(path string) (Key, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Key{}, fs.ErrNotExist
	}
	return Open(path, false)
}
