package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// EventSource is somebody who may send signed events: a provider, or what stands between it and us.
type EventSource struct {
	Name        string
	Desk        countersign.DeskName
	Secret      string    // sealed
	Former      string    // the secret before it, sealed; empty when there is none
	FormerUntil time.Time // until when that one is still good
	Window      time.Duration
	CreatedAt   time.Time
	CreatedBy   string // an actor
}

const sourceColumns = "name, desk, secret, former, former_until, window_seconds, created_at, created_by"

func scanSource(row scanner) (s EventSource, err error) {
	var window int64
	err = row.Scan(&s.Name, &s.Desk, &s.Secret, &s.Former, scanMicros{&s.FormerUntil}, &window, scanMicros{&s.CreatedAt}, &s.CreatedBy)
	s.Window = time.Duration(window) * time.Second
	return s, err
}

// EventSource reads one source; a NotFound error if there is none of that name.
func (v View) EventSource(ctx context.Context, name string) (EventSource, error) {
	s, err := scanSource(v.q.QueryRowContext(ctx, "SELECT "+sourceColumns+" FROM event_sources WHERE name = $1", name))
	if errors.Is(err, sql.ErrNoRows) {
		return s, countersign.Errorf(countersign.NotFound, "there is no source of events %q", name)
	}
	return s, wrap(err, "read the source of events %s", name)
}

// EventSources lists every source by name.
func (v View) EventSources(ctx context.Context) ([]EventSource, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+sourceColumns+" FROM event_sources ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("list the sources of events: %w", err)
	}
	all, err := collect(rows, scanSource)
	return all, wrap(err, "list the sources of events")
}

// AddEventSource keeps a new source. A second one of the name is a Conflict.
func (t *Tx) AddEventSource(ctx context.Context, s EventSource, by countersign.Actor) error {
	_, err := t.exec(ctx, "INSERT INTO event_sources ("+sourceColumns+") VALUES ($1, $2, $3, '', 0, $4, $5, $6)",
		s.Name, string(s.Desk), s.Secret, int64(s.Window/time.Second), t.Now.UnixMicro(), by.String())
	if isUnique(err) {
		return countersign.Errorf(countersign.Conflict, "there is a source of events %q already", s.Name).In("name").Try("choose another name, or rotate its secret")
	}
	if err != nil {
		return wrap(err, "keep the source of events %s", s.Name)
	}
	return t.sourceChanged(ctx, s.Name, SourceAdded, by)
}

// RotateEventSource gives a source another secret. The one that it had stays good until then.
func (t *Tx) RotateEventSource(ctx context.Context, name, secret string, formerUntil time.Time, by countersign.Actor) error {
	n, err := t.exec(ctx, "UPDATE event_sources SET former = secret, former_until = $3, secret = $2 WHERE name = $1", name, secret, formerUntil.UnixMicro())
	if err := noSource(n, err, name); err != nil {
		return err
	}
	return t.sourceChanged(ctx, name, SourceRotated, by)
}

// ResealEventSource keeps the secret of a source sealed anew, the one in force or the one before it, whichever is the one that is known.
func (t *Tx) ResealEventSource(ctx context.Context, name, known, secret string) error {
	return t.reseal(ctx, "a source of events", `UPDATE event_sources SET secret = CASE WHEN secret = $3 THEN $1 ELSE secret END,
		former = CASE WHEN former = $3 THEN $1 ELSE former END WHERE name = $2`, secret, name, known)
}

// RemoveEventSource takes a source away: nothing that it sends is taken any more. What it sent stays.
func (t *Tx) RemoveEventSource(ctx context.Context, name string, by countersign.Actor) error {
	n, err := t.exec(ctx, "DELETE FROM event_sources WHERE name = $1", name)
	if err := noSource(n, err, name); err != nil {
		return err
	}
	return t.sourceChanged(ctx, name, SourceRemoved, by)
}

func noSource(n int64, err error, name string) error {
	if err == nil && n == 0 {
		return countersign.Errorf(countersign.NotFound, "there is no source of events %q", name)
	}
	return wrap(err, "change the source of events %s", name)
}

// How a source was changed.
const (
	SourceAdded   = "added"
	SourceRotated = "rotated" // it has another secret
	SourceRemoved = "removed"
)

// SourceChange is who changed a source of events, and how.
type SourceChange struct {
	Source, What string
	At           time.Time
	Actor        string
}

// sourceChanged notes who changed a source, in the transaction that changed it.
func (t *Tx) sourceChanged(ctx context.Context, name, what string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a source of events")
	}
	_, err := t.exec(ctx, `INSERT INTO event_source_changes (source, number, what, at, actor)
		SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3, $4 FROM event_source_changes WHERE source = $1`, name, what, t.Now.UnixMicro(), by.String())
	return wrap(err, "note who changed the source of events %s", name)
}

// EventSourceChanges lists how sources were changed, the newest first, at most so many.
func (v View) EventSourceChanges(ctx context.Context, most int) ([]SourceChange, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT source, what, at, actor FROM event_source_changes ORDER BY at DESC, source, number DESC LIMIT $1", most)
	if err != nil {
		return nil, fmt.Errorf("list the changes of sources of events: %w", err)
	}
	all, err := collect(rows, func(row scanner) (c SourceChange, err error) {
		return c, row.Scan(&c.Source, &c.What, scanMicros{&c.At}, &c.Actor)
	})
	return all, wrap(err, "list the changes of sources of events")
}

// EventCounts is what came of the events of a source.
type EventCounts struct {
	Deliveries, Events, Waiting, Unreadable int64
	Last                                    time.Time     // delivery; zero when there was none
	Skew                                    time.Duration // of it: our clock less the sender's
}

// EventCounts counts what a source sent.
func (v View) EventCounts(ctx context.Context, source string) (c EventCounts, err error) {
	var last, skew sql.NullInt64
	err = v.q.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(seen), 0) AS BIGINT), COUNT(*), CAST(COALESCE(SUM(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN state = 'unreadable' THEN 1 ELSE 0 END), 0) AS BIGINT), MAX(seen_at),
		(SELECT skew FROM events WHERE source = $1 ORDER BY seen_at DESC, id LIMIT 1) FROM events WHERE source = $1`, source).
		Scan(&c.Deliveries, &c.Events, &c.Waiting, &c.Unreadable, &last, &skew)
	if last.Valid {
		c.Last, c.Skew = time.UnixMicro(last.Int64).UTC(), time.Duration(skew.Int64)*time.Second
	}
	return c, wrap(err, "count the events of %s", source)
}
