package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/store"
)

// How backups stand is for everybody, since what was done since the last one is theirs; where they are and what is wrong there is an
// admin's to know.
func TestBackupsInTheSettings(t *testing.T) {
	o := newOffice(t)
	admin, analyst := o.as(auth.Admin), o.as(auth.Analyst)
	analyst.get("/settings").is(http.StatusOK, "None was ever made.", "None is made by itself.")
	o.write(func(ctx context.Context, tx *store.Tx) error {
		return tx.ApplyBackupSchedule(ctx, store.BackupSchedule{Folder: "/srv/kept", EveryHours: 6, Keep: 28}, countersign.Actor{Kind: countersign.CLI, ID: "root"})
	})
	admin.get("/settings").is(http.StatusOK, "None was ever made, though they are to be.", "every 6 hours in /srv/kept", "not encrypted", "28 are kept", "Set by root")
	standing := func(change func(*store.BackupStanding)) {
		o.write(func(ctx context.Context, tx *store.Tx) error { return tx.ChangeBackupStanding(ctx, change) })
	}
	standing(func(s *store.BackupStanding) { s.Good = &store.BackupDone{At: o.now(), Path: "/srv/kept/monday"} })
	admin.get("/settings").is(http.StatusOK, "The last good one was made", "/srv/kept/monday")
	standing(func(s *store.BackupStanding) {
		s.Good.At = o.now().Add(-13 * time.Hour)
		s.Failed = &store.BackupFailed{At: o.now(), Why: "no room on /srv"}
	})
	admin.get("/settings").is(http.StatusOK, "The last one could not be made", "The last good one is too old", "no room on ")
	if p := analyst.get("/settings").is(http.StatusOK, "The last one could not be made", "The last good one is too old"); strings.Contains(p.text, "/srv") {
		t.Errorf("an analyst is told where: %s", p.seen())
	}
}
