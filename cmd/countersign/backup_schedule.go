package main

import (
	"context"
	"fmt"

	"countersign/app"
	"countersign/backup"
	"countersign/store"
)

type backupScheduleCommand struct {
	Show  backupScheduleShowCommand  `cmd:"" help:"Print as JSON what is in force, and what became of it."`
	Apply backupScheduleApplyCommand `cmd:"" help:"Put a JSON file into force; - reads standard input. {} ends it."`
}

type backupScheduleShowCommand struct{}

func (backupScheduleShowCommand) Run(s *session) error {
	return s.with(func(a *app.App) error {
		schedule, err := a.Store.BackupSchedule(s)
		if err != nil {
			return err
		}
		standing, err := a.Store.BackupStanding(s)
		if err != nil {
			return err
		}
		if schedule.By != "" {
			fmt.Fprintf(s.err, "set by %s on %s\n", schedule.By, schedule.At.Format("2006-01-02"))
		}
		if standing.Good != nil {
			fmt.Fprintf(s.err, "the last backup: %s, %s\n", standing.Good.At.Format("2006-01-02 15:04:05Z"), standing.Good.Says())
		}
		if standing.Failed != nil {
			fmt.Fprintf(s.err, "the last one failed: %s, %s\n", standing.Failed.At.Format("2006-01-02 15:04:05Z"), standing.Failed.Why)
		}
		return indented(s.out, schedule.BackupSchedule)
	})
}

type backupScheduleApplyCommand struct {
	File string `arg:"" name:"FILE"`
}

// Run checks the file before anything changes, and keeps who changed it. Whether the folder is there says the first backup: it is the
// server's folder, and this may be another machine.
func (c backupScheduleApplyCommand) Run(s *session) error {
	return apply(s, c.File, backup.ParseSchedule, func(a *app.App, schedule store.BackupSchedule) error {
		err := a.Store.Write(s, func(ctx context.Context, tx *store.Tx) error {
			return tx.ApplyBackupSchedule(ctx, schedule, operator())
		})
		if err != nil {
			return err
		}
		if schedule.Off() {
			fmt.Fprintln(s.err, "no backup is made by itself any more; those that were made stay")
		} else {
			fmt.Fprintln(s.err, "in force: serve makes the first one within a minute, and countersign doctor says what became of it")
		}
		return indented(s.out, schedule)
	})
}
