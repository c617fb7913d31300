package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// firstSignIn is the file with the link by which the first account is made. A service prints to nobody: on Windows what it prints is
// gone, and under systemd it is in the journal, which those who install a package may not find, and others may read who should make no
// account. Whoever installs this looks into the folder of the data anyway, and nobody else may. In this form Windows opens the link
// with a double click, and anybody can read it.
const firstSignIn = "first-sign-in.url"

// KeepFirstLink writes that file, over the one of an earlier start.
func (a *App) KeepFirstLink(link string) (path string, err error) {
	path = filepath.Join(a.Data, firstSignIn)
	if err := a.dropFirstLink(); err != nil {
		return path, mend(err, "cannot replace the first link in "+path, "check that this user may write to the data folder")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString("[InternetShortcut]\nURL=" + link + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return path, mend(err, "cannot keep the first link in "+path, "check that this user may write to the data folder")
	}
	return path, nil
}

// Inhabited removes that file: somebody has an account. The link in it is void by then, so one that stays does no harm.
func (a *App) Inhabited(ctx context.Context) {
	if err := a.dropFirstLink(); err != nil {
		a.Log.WarnContext(ctx, "the first link is void, and its file could not be removed", "error", err)
	}
}

func (a *App) dropFirstLink() error {
	err := os.Remove(filepath.Join(a.Data, firstSignIn))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
