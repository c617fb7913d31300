package app

import (
	"context"
	"fmt"
	"time"

	"countersign/store"
)

// examineBackups says when the last backup was made, and whether the next one comes by itself.
func examineBackups(ctx context.Context, db *store.Store) Finding {
	s, err := db.BackupSchedule(ctx)
	if err != nil {
		return wrong("backups", err)
	}
	standing, err := db.BackupStanding(ctx)
	if err != nil {
		return wrong("backups", err)
	}
	return judgeBackups(s.BackupSchedule, standing, db.Now())
}

func judgeBackups(s store.BackupSchedule, standing store.BackupStanding, now time.Time) Finding {
	f := Finding{What: "backups", OK: true, Says: "none was ever made"}
	if good := standing.Good; good != nil {
		f.Says = fmt.Sprintf("the last one %s ago: %s", now.Sub(good.At).Round(time.Minute), good.Path)
	}
	switch failed := standing.Failed; {
	case failed != nil:
		return f.bad(fmt.Sprintf("and the one of %s failed: %s", failed.At.Format(time.RFC3339), failed.Why), "mend what it says, and run countersign backup")
	case s.Off():
		return f.note("and none is made by itself", "set a schedule with countersign backup schedule apply, or run countersign backup from a timer")
	case standing.Good == nil || now.Sub(standing.Good.At) > 2*s.Every():
		return f.bad(fmt.Sprintf("and one is due every %d hours", s.EveryHours), "is countersign serve running, and what does its log say of backups?")
	}
	f.Says += fmt.Sprintf("; every %d hours, %d are kept", s.EveryHours, s.Keep)
	return f
}
