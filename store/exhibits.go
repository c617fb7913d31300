package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
	"countersign/audit"
)

// Exhibit is a file that a person added to a case. Its bytes are asked for by themselves.
type Exhibit struct {
	ID          string
	CaseID      countersign.CaseID
	Name        string
	Description string
	Type        string // as it was found in the bytes, never as somebody called it
	Size        int64
	SHA256      string
	Pages       int
	AddedAt     time.Time
	AddedBy     string // an actor
}

// ExhibitRoom is how much the files of a case may be together.
type ExhibitRoom struct {
	Files int
	Bytes int64
}

const exhibitColumns = "id, case_id, name, description, type, size, sha256, pages, added_at, added_by"

func scanExhibit(row scanner) (e Exhibit, err error) {
	return e, row.Scan(&e.ID, &e.CaseID, &e.Name, &e.Description, &e.Type, &e.Size, &e.SHA256, &e.Pages, scanMicros{&e.AddedAt}, &e.AddedBy)
}

// Exhibits lists the files of a case in the order in which they were added, without those that were taken off.
func (v View) Exhibits(ctx context.Context, id countersign.CaseID) ([]Exhibit, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+exhibitColumns+" FROM exhibits WHERE case_id = $1 AND removed_by = '' ORDER BY added_at, id", string(id))
	if err != nil {
		return nil, fmt.Errorf("list the files of case %s: %w", id, err)
	}
	all, err := collect(rows, scanExhibit)
	return all, wrap(err, "list the files of case %s", id)
}

// ExhibitBytes are the bytes of a file as it was added to that case, also when it was taken off since.
func (v View) ExhibitBytes(ctx context.Context, id countersign.CaseID, exhibit string) (file []byte, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT bytes FROM exhibits WHERE case_id = $1 AND id = $2", string(id), exhibit).Scan(&file)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noExhibit(id, exhibit)
	}
	return file, wrap(err, "read file %s of case %s", exhibit, id)
}

// ExhibitAsAdded reads a file and the record that it is held against in one snapshot: one that is not what the record says was added is
// an Altered error.
func (s *Store) ExhibitAsAdded(ctx context.Context, id countersign.CaseID, e Exhibit) (file []byte, err error) {
	err = s.Snapshot(ctx, func(v View) error {
		if file, err = v.ExhibitBytes(ctx, id, e.ID); err != nil {
			return err
		}
		return v.asSealed(ctx, id, audit.Kept{Thing: audit.FileThing, Name: e.ID, Hash: hashOf(file), Says: e.SHA256})
	})
	return file, err
}

func noExhibit(id countersign.CaseID, exhibit string) error {
	return countersign.Errorf(countersign.NotFound, "case %s has no file %q", id, exhibit)
}

// AddExhibit adds a file to a case that is open. What the files of a case may be together is judged while the case is held, so
// that several that arrive at once cannot each find room that is there only once. The same bytes twice are a Conflict.
func (t *Tx) AddExhibit(ctx context.Context, e Exhibit, file []byte, room ExhibitRoom, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a file of a case")
	}
	if err := t.holdOpen(ctx, e.CaseID); err != nil {
		return err
	}
	if err := t.fits(ctx, e.CaseID, int64(len(file)), room); err != nil {
		return err
	}
	n, err := t.exec(ctx, `INSERT INTO exhibits (id, case_id, name, description, type, size, sha256, pages, bytes, added_at, added_by, removed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '') ON CONFLICT (case_id, sha256) WHERE removed_by = '' DO NOTHING`,
		e.ID, string(e.CaseID), e.Name, e.Description, e.Type, len(file), e.SHA256, e.Pages, file, t.Now.UnixMicro(), by.String())
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.Conflict, "this file is on the case already").In("file")
	}
	return wrap(raced(err), "add a file to case %s", e.CaseID)
}

// holdOpen keeps a case as it is until the transaction ends, and refuses one whose report is made.
func (t *Tx) holdOpen(ctx context.Context, id countersign.CaseID) error {
	c, err := t.oneCase(ctx, id, t.d.lock)
	if err == nil && c.Status == countersign.Closed {
		return countersign.Errorf(countersign.Conflict, "case %s is closed, and its evidence with it", id)
	}
	return err
}

func (t *Tx) fits(ctx context.Context, id countersign.CaseID, size int64, room ExhibitRoom) error {
	var files int
	var used int64
	err := t.q.QueryRowContext(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM exhibits WHERE case_id = $1 AND removed_by = ''", string(id)).Scan(&files, &used)
	switch {
	case err != nil:
		return fmt.Errorf("measure the files of case %s: %w", id, err)
	case files >= room.Files:
		return countersign.Errorf(countersign.TooLarge, "a case has at most %d files", room.Files).In("file").Try("take one off, or merge them")
	case used+size > room.Bytes:
		return countersign.Errorf(countersign.TooLarge, "the files of a case have at most %d bytes together; there are %d, and this one has %d", room.Bytes, used, size).
			In("file").Try("take one off, or make this one smaller")
	}
	return nil
}

// RemoveExhibit takes a file off an open case; who did it stays, and the bytes too.
func (t *Tx) RemoveExhibit(ctx context.Context, id countersign.CaseID, exhibit string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a file of a case")
	}
	if err := t.holdOpen(ctx, id); err != nil {
		return err
	}
	n, err := t.exec(ctx, "UPDATE exhibits SET removed_at = $1, removed_by = $2 WHERE case_id = $3 AND id = $4 AND removed_by = ''", t.Now.UnixMicro(), by.String(), string(id), exhibit)
	if err == nil && n == 0 {
		return noExhibit(id, exhibit)
	}
	return wrap(err, "take file %s off case %s", exhibit, id)
}
