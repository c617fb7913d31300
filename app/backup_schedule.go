package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"countersign"
	"countersign/audit"
	"countersign/backup"
	"countersign/redact"
	"countersign/store"
)

// Backup makes a backup and keeps what became of it, for whoever watches.
func (a *App) Backup(ctx context.Context, to backup.Target) (backup.Made, error) {
	made, err := a.Source().Make(ctx, to)
	switch {
	case err != nil && ctx.Err() != nil: // it was called off, which is no failure
		return made, errors.Join(err, ctx.Err())
	case err != nil:
		a.noteBackup(ctx, failedTo(a.Store.Now(), err))
		return made, err
	}
	a.noteBackup(ctx, func(s *store.BackupStanding) { done := doneWith(made); s.Good, s.Failed = &done, nil })
	a.noteVerified(ctx, made)
	return made, nil
}

func doneWith(made backup.Made) store.BackupDone {
	return store.BackupDone{At: made.At, Path: made.Path, Bytes: made.Bytes, SHA256: made.SHA256, Took: made.Took}
}

func failedTo(at time.Time, err error) func(*store.BackupStanding) {
	return func(s *store.BackupStanding) {
		s.Failed = &store.BackupFailed{At: at.UTC(), Why: redact.Mask(oneLine(err)).String()}
	}
}

// noteBackup keeps what became of a backup. That it cannot be kept makes the backup no worse.
func (a *App) noteBackup(ctx context.Context, change func(*store.BackupStanding)) {
	ctx = context.WithoutCancel(ctx)
	err := a.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ChangeBackupStanding(ctx, change) })
	if err != nil {
		a.Log.WarnContext(ctx, "what became of a backup could not be kept", "error", err)
	}
}

// noteVerified keeps how the record verified: every chain of it was walked, as it was a moment ago.
func (a *App) noteVerified(ctx context.Context, made backup.Made) {
	report := audit.Report{OK: made.Record.Intact, Cases: made.Cases, Rows: made.Rows}
	err := a.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.KeepVerified(ctx, report) })
	if err != nil {
		a.Log.WarnContext(ctx, "that the record was verified could not be kept", "error", err)
	}
}

// KeepBackups makes backups as the schedule says, until it is stopped; a backup that is being made then leaves nothing. The schedule is
// looked at every minute, so that a change counts without a restart.
func (a *App) KeepBackups(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		look := time.NewTicker(time.Minute)
		defer look.Stop()
		for {
			if err := a.BackupIfDue(ctx); err != nil && ctx.Err() == nil {
				a.Log.ErrorContext(ctx, "make the backup that was due", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// BackupIfDue makes one if the schedule wants it, unless another process is at it.
func (a *App) BackupIfDue(ctx context.Context) error {
	if due, _, err := a.backupDue(ctx); err != nil || !due {
		return err
	}
	_, err := a.Store.OneAtATime(ctx, func() error {
		due, schedule, err := a.backupDue(ctx) // another process may just have made it
		if err != nil || !due {
			return err
		}
		return a.backupBySchedule(ctx, schedule)
	})
	return err
}

func (a *App) backupDue(ctx context.Context) (bool, store.BackupSchedule, error) {
	s, err := a.Store.BackupSchedule(ctx)
	if err != nil {
		return false, s.BackupSchedule, err
	}
	standing, err := a.Store.BackupStanding(ctx)
	return err == nil && backup.Due(s.BackupSchedule, standing, a.Store.Now()), s.BackupSchedule, err
}

// backupBySchedule makes a backup, and then takes away the oldest that are too many. While the record is broken nothing is taken away: an
// older backup may be the last whole one.
func (a *App) backupBySchedule(ctx context.Context, s store.BackupSchedule) error {
	lock, err := backup.LockFor(s.Recipients...)
	if err != nil {
		return err
	}
	made, err := a.Backup(ctx, backup.Target{Folder: s.Folder, Lock: lock})
	if err != nil {
		return err
	}
	standing, err := a.Store.BackupStanding(ctx)
	if err != nil {
		return err
	}
	kept := append(standing.Kept, doneWith(made))
	if made.Record.Intact {
		kept, err = backup.Prune(ctx, kept, s.Keep)
	} else {
		err = countersign.Errorf(countersign.Altered, "the record is broken, and no older backup is deleted: %s", made.Record.First).Try("run countersign audit verify")
	}
	a.noteBackup(ctx, func(s *store.BackupStanding) { s.Kept = kept })
	a.Log.InfoContext(ctx, "made the backup that was due", "file", made.Path, "bytes", made.Bytes, "ms", made.Took.Milliseconds())
	return err
}
