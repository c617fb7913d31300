package backup

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"countersign"
)

// Lock is for whom a backup is encrypted. The zero one encrypts nothing.
type Lock struct {
	recipients []age.Recipient
	again      []age.Identity // opens what was just written, so that it can be read again; nobody else ever has it
}

// LockFor encrypts for those who have the key to one of these age recipients.
//
// Whoever makes a backup should not be able to read it later, and yet it must be read once, before it counts. So a key is made for
// each backup, one more recipient, and forgotten when the backup was checked.
func LockFor(recipients ...string) (Lock, error) {
	if len(recipients) == 0 {
		return Lock{}, nil
	}
	all, err := age.ParseRecipients(strings.NewReader(strings.Join(recipients, "\n")))
	if err != nil {
		e := countersign.Errorf(countersign.Invalid, "is not a list of age recipients").In("recipients").
			Try("expected lines that begin with age1, as age-keygen prints them")
		e.Err = err
		return Lock{}, e
	}
	return Lock{recipients: all}, nil
}

// LockWith encrypts with a passphrase.
func LockWith(passphrase string) (Lock, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return Lock{}, noPassphrase(err)
	}
	identity, err := age.NewScryptIdentity(passphrase)
	return Lock{[]age.Recipient{recipient}, []age.Identity{identity}}, err
}

func noPassphrase(cause error) error {
	e := countersign.Errorf(countersign.Invalid, "holds no passphrase").In("passphrase file").Try("expected one line of text")
	e.Err = cause
	return e
}

// fresh is the lock for one more backup.
func (l Lock) fresh() (Lock, error) {
	if len(l.recipients) == 0 || l.again != nil {
		return l, nil
	}
	var more age.Recipient
	if _, ok := l.recipients[0].(*age.HybridRecipient); ok { // age mixes the kinds in no file
		identity, err := age.GenerateHybridIdentity()
		if err != nil {
			return l, err
		}
		more, l.again = identity.Recipient(), []age.Identity{identity}
	} else {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			return l, err
		}
		more, l.again = identity.Recipient(), []age.Identity{identity}
	}
	l.recipients = append([]age.Recipient{more}, l.recipients...)
	return l, nil
}

// Closed reports whether it encrypts.
func (l Lock) Closed() bool { return len(l.recipients) > 0 }

// around is a writer that encrypts what goes through it until it is closed.
func (l Lock) around(w io.Writer) (io.WriteCloser, error) {
	if !l.Closed() {
		return open{w}, nil
	}
	return age.Encrypt(w, l.recipients...)
}

type open struct{ io.Writer }

func (open) Close() error { return nil }

// Keys open backups that are encrypted.
type Keys []age.Identity

// ReadKeys reads a file of age identities, one a line.
func ReadKeys(path string) (Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unread("identity file", path, err)
	}
	defer f.Close()
	keys, err := age.ParseIdentities(f)
	if err != nil {
		e := countersign.Errorf(countersign.Invalid, "%s is not a file of age identities", path).In("identity file").
			Try("expected a line that begins with AGE-SECRET-KEY-, as age-keygen writes it")
		e.Err = err
		return nil, e
	}
	return keys, nil
}

// KeyFrom is the key to what LockWith encrypted.
func KeyFrom(passphrase string) (Keys, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, noPassphrase(err)
	}
	return Keys{identity}, nil
}

// ReadPassphrase is the first line of a file.
func ReadPassphrase(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", unread("passphrase file", path, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(first, "\r"), nil
}

func unread(field, path string, cause error) error {
	e := countersign.Errorf(countersign.Invalid, "cannot open %s", path).In(field).Try("expected a file that this user may read")
	e.Err = cause
	return e
}

const ageBegins = "age-encryption.org/v1\n"

// inside is what is encrypted in a file, or the file where nothing is.
func (k Keys) inside(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<20)
	if begin, _ := buffered.Peek(len(ageBegins)); string(begin) != ageBegins {
		return buffered, nil
	}
	if len(k) == 0 {
		return nil, countersign.Errorf(countersign.Unprocessed, "the backup is encrypted").Try("name the file of the age identity with --identity, or of the passphrase with --passphrase-file")
	}
	plain, err := age.Decrypt(buffered, k...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, countersign.Errorf(countersign.Unprocessed, "the backup is encrypted for somebody else: what was given does not open it").
			Try("name the identity of one of those that it was encrypted for; nothing was changed")
	case err != nil:
		return nil, damaged(err)
	}
	return plain, nil
}
