package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"countersign"
	"countersign/store"
)

// ParseSchedule reads a schedule from JSON, strictly: a folder that was misspelt must not be no backups.
func ParseSchedule(text []byte) (s store.BackupSchedule, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, countersign.Errorf(countersign.Invalid, "cannot be read as a schedule of backups: %s", err).
			Try(`expected JSON such as {"folder": "/srv/backups", "every_hours": 24, "keep": 14, "recipients": ["age1…"]}, or {} for no backups`)
	}
	if d.More() {
		return s, countersign.Errorf(countersign.Invalid, "there is something behind the schedule; expected one JSON object")
	}
	if s.Recipients == nil {
		s.Recipients = []string{}
	}
	return s, checkSchedule(s)
}

func checkSchedule(s store.BackupSchedule) error {
	if s.Off() {
		if s.EveryHours != 0 || s.Keep != 0 || len(s.Recipients) > 0 {
			return countersign.Errorf(countersign.Invalid, "is empty; expected the folder for the backups, or {} for none").In("folder")
		}
		return nil
	}
	switch {
	case !filepath.IsAbs(s.Folder):
		return countersign.Errorf(countersign.Invalid, "is %q; expected the whole path of a folder", s.Folder).In("folder")
	case s.EveryHours < 1 || s.EveryHours > 24*31:
		return countersign.Errorf(countersign.Invalid, "is %d; expected a number from 1 to %d", s.EveryHours, 24*31).In("every_hours")
	case s.Keep < 1 || s.Keep > 1000:
		return countersign.Errorf(countersign.Invalid, "is %d; expected a number from 1 to 1000", s.Keep).In("keep")
	}
	_, err := LockFor(s.Recipients...)
	return err
}

// patience is how long after a failure a backup is tried again, if the next one is not due sooner.
const patience = time.Hour

// Due reports whether the schedule wants a backup now. A time that is yet to come was written by a clock that was wrong.
func Due(s store.BackupSchedule, standing store.BackupStanding, now time.Time) bool {
	if s.Off() {
		return false
	}
	if failed := standing.Failed; failed != nil && !failed.At.After(now) && now.Sub(failed.At) < min(patience, s.Every()) {
		return false
	}
	if len(standing.Kept) == 0 {
		return true
	}
	last := standing.Kept[len(standing.Kept)-1].At
	return last.After(now) || now.Sub(last) >= s.Every()
}

// Prune deletes what is more than is to be kept, the oldest first, and returns what is left. It deletes a file only if that is, byte for byte,
// the backup that was written there; one that is not is nobody's to delete, and is forgotten.
func Prune(ctx context.Context, kept []store.BackupDone, keep int) (left []store.BackupDone, err error) {
	for len(kept) > keep {
		oldest, rest := kept[0], kept[1:]
		if mine, looked := is(ctx, oldest); looked != nil || mine {
			if looked == nil {
				looked = os.Remove(oldest.Path)
			}
			if looked != nil && !errors.Is(looked, fs.ErrNotExist) { // it is tried again after the next backup
				return kept, noRoom(filepath.Dir(oldest.Path), looked)
			}
		}
		kept = rest
	}
	return kept, nil
}

// is reports whether a file is still the backup that it was.
func is(ctx context.Context, b store.BackupDone) (bool, error) {
	c, err := describe(ctx, b.Path, "")
	return c.Size == b.Bytes && c.SHA256 == b.SHA256, err
}
