package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// BackupSchedule is where backups go by themselves, how often, and how many stay. The zero one makes none.
type BackupSchedule struct {
	Folder     string   `json:"folder"` // as the process that serves sees it; empty for no backups
	EveryHours int      `json:"every_hours"`
	Keep       int      `json:"keep"`
	Recipients []string `json:"recipients"` // age's; none for backups that are not encrypted
}

// Every is the time from one backup to the next.
func (s BackupSchedule) Every() time.Duration { return time.Duration(s.EveryHours) * time.Hour }

// Off reports whether no backup is made by itself.
func (s BackupSchedule) Off() bool { return s.Folder == "" }

// BackupScheduled is a schedule and who set it.
type BackupScheduled struct {
	BackupSchedule
	By string    `json:"by"` // an actor; empty when nobody ever set it
	At time.Time `json:"at"`
}

// BackupDone is a backup that was made and looked at.
type BackupDone struct {
	At     time.Time     `json:"at"`
	Path   string        `json:"path"`
	Bytes  int64         `json:"bytes"`
	SHA256 string        `json:"sha256"` // of the file
	Took   time.Duration `json:"took"`
}

// BackupFailed is a backup that could not be made.
type BackupFailed struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// BackupStanding is what became of backups, however they were asked for.
type BackupStanding struct {
	Good   *BackupDone   `json:"good"`   // the last one
	Failed *BackupFailed `json:"failed"` // the last one, nil when one has succeeded since
	Kept   []BackupDone  `json:"kept"`   // those of the schedule that are still to be there, the oldest first
}

// BackupSchedule is the one in force.
func (v View) BackupSchedule(ctx context.Context) (s BackupScheduled, err error) {
	return s, v.setting(ctx, "backup_schedule", "", &s)
}

// BackupStanding is how it stands.
func (v View) BackupStanding(ctx context.Context) (s BackupStanding, err error) {
	return s, v.setting(ctx, "backup_standing", "", &s)
}

// setting reads a setting that is kept as JSON; one that is not there changes nothing.
func (v View) setting(ctx context.Context, name, lock string, into any) error {
	err := v.q.QueryRowContext(ctx, "SELECT value FROM settings WHERE name = $1"+lock, name).Scan(asJSON{into})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return wrap(err, "read the setting "+name)
}

func (t *Tx) keepSetting(ctx context.Context, name string, value any) error {
	_, err := t.exec(ctx, `INSERT INTO settings (name, value, changed_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at`, name, asJSON{value}, t.Now.UnixMicro())
	return wrap(err, "keep the setting "+name)
}

// ApplyBackupSchedule puts a schedule into force, with who did it.
func (t *Tx) ApplyBackupSchedule(ctx context.Context, s BackupSchedule, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a change of the schedule of backups needs an actor")
	}
	return t.keepSetting(ctx, "backup_schedule", BackupScheduled{s, by.String(), t.Now})
}

// ChangeBackupStanding changes how backups stand. Two that do it take turns.
func (t *Tx) ChangeBackupStanding(ctx context.Context, change func(*BackupStanding)) error {
	if _, err := t.exec(ctx, "INSERT INTO settings (name, value, changed_at) VALUES ('backup_standing', '{}', 0) ON CONFLICT (name) DO NOTHING"); err != nil {
		return wrap(err, "keep the setting backup_standing")
	}
	var s BackupStanding
	if err := t.setting(ctx, "backup_standing", t.d.lock, &s); err != nil {
		return err
	}
	change(&s)
	return t.keepSetting(ctx, "backup_standing", s)
}

// OneAtATime runs f unless another process of this database is in it. A process that dies has left it. On SQLite there is one process that
// serves, and nobody is asked.
func (s *Store) OneAtATime(ctx context.Context, f func() error) (ran bool, err error) {
	if s.dialect == sqliteDialect {
		return true, f()
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return false, unconnected(err)
	}
	defer conn.Close()
	if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(7020312)").Scan(&ran); err != nil || !ran {
		return false, explain(wrap(err, "ask whose turn it is"))
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(7020312)")
	return true, f()
}

// Says is a backup in a few words.
func (b BackupDone) Says() string {
	return fmt.Sprintf("%s (%d bytes, in %s)", b.Path, b.Bytes, b.Took.Round(time.Millisecond))
}
