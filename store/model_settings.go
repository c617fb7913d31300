package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// ModelSettings is one version of which models there are, who asks them and what they may cost.
type ModelSettings struct {
	Version   int64             // from 1; the highest counts
	JSON      string            // without keys: it may be shown; the store does not read it
	Keys      map[string]string // sealed, by the name of their connection; none in a version that another has followed
	CreatedAt time.Time
	CreatedBy string // an actor
}

const modelSettingsColumns = "version, settings, keys, created_at, actor"

func scanModelSettings(row scanner) (m ModelSettings, err error) {
	return m, row.Scan(&m.Version, &m.JSON, asJSON{&m.Keys}, scanMicros{&m.CreatedAt}, &m.CreatedBy)
}

// ModelSettings are those in force; ok is false while there are none.
func (v View) ModelSettings(ctx context.Context) (m ModelSettings, ok bool, err error) {
	m, err = scanModelSettings(v.q.QueryRowContext(ctx, "SELECT "+modelSettingsColumns+" FROM model_settings ORDER BY version DESC LIMIT 1"))
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	return m, err == nil, wrap(err, "read the settings for models in force")
}

// ModelSettingsVersion is the version in force, 0 while there is none: a cheap question for whoever has read that version before.
func (v View) ModelSettingsVersion(ctx context.Context) (version int64, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM model_settings").Scan(&version)
	return version, wrap(err, "read the version of the settings for models")
}

// AllModelSettings lists every version, the one in force first.
func (v View) AllModelSettings(ctx context.Context) ([]ModelSettings, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+modelSettingsColumns+" FROM model_settings ORDER BY version DESC")
	if err != nil {
		return nil, fmt.Errorf("list the settings for models: %w", err)
	}
	all, err := collect(rows, scanModelSettings)
	return all, wrap(err, "list the settings for models")
}

// AddModelSettings puts a new version into force, made from the version that m names, and returns its number; the old ones are kept
// without their keys, so that a key that somebody forgot or replaced is in none. Two that are made from one take turns: the one who
// comes second is run again, and sees what the first one wrote.
func (t *Tx) AddModelSettings(ctx context.Context, m ModelSettings, by countersign.Actor) (version int64, err error) {
	if !by.Valid() {
		return 0, countersign.Errorf(countersign.Internal, "settings for models need an actor")
	}
	if m.Keys == nil {
		m.Keys = map[string]string{}
	}
	version = m.Version + 1
	_, err = t.exec(ctx, "INSERT INTO model_settings ("+modelSettingsColumns+") VALUES ($1, $2, $3, $4, $5)",
		version, m.JSON, asJSON{m.Keys}, t.Now.UnixMicro(), by.String())
	if err != nil {
		return 0, wrap(raced(err), "keep the settings for models")
	}
	_, err = t.exec(ctx, "UPDATE model_settings SET keys = '{}' WHERE version < $1 AND keys <> '{}'", version)
	return version, wrap(err, "forget the keys of earlier settings for models")
}

// ResealModelKey keeps the key of a connection sealed anew, in the version in force.
func (t *Tx) ResealModelKey(ctx context.Context, connection, known, key string) error {
	m, ok, err := t.ModelSettings(ctx)
	if err != nil || !ok || m.Keys[connection] != known {
		return err
	}
	m.Keys[connection] = key
	return t.reseal(ctx, "the key of a model connection", "UPDATE model_settings SET keys = $1 WHERE version = $2", asJSON{m.Keys}, m.Version)
}

// ModelTrial is what a model's server could do when it was last tried.
type ModelTrial struct {
	Connection string
	JSON       string // what it was tried with, and what came of it; the store does not read it
	TriedAt    time.Time
	TriedBy    string // an actor
}

// ModelTrials are the last trials of every connection, those of connections that are gone included.
func (v View) ModelTrials(ctx context.Context) ([]ModelTrial, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT connection, trial, tried_at, actor FROM model_trials ORDER BY connection")
	if err != nil {
		return nil, fmt.Errorf("list the trials of models: %w", err)
	}
	all, err := collect(rows, func(row scanner) (m ModelTrial, err error) {
		return m, row.Scan(&m.Connection, &m.JSON, scanMicros{&m.TriedAt}, &m.TriedBy)
	})
	return all, wrap(err, "list the trials of models")
}

// KeepModelTrial keeps a trial over the one before it.
func (t *Tx) KeepModelTrial(ctx context.Context, m ModelTrial, by countersign.Actor) error {
	if !by.Valid() {
		return countersign.Errorf(countersign.Internal, "a trial of a model needs an actor")
	}
	_, err := t.exec(ctx, `INSERT INTO model_trials (connection, trial, tried_at, actor) VALUES ($1, $2, $3, $4)
		ON CONFLICT (connection) DO UPDATE SET trial = excluded.trial, tried_at = excluded.tried_at, actor = excluded.actor`,
		m.Connection, m.JSON, t.Now.UnixMicro(), by.String())
	return wrap(err, "keep the trial of a model")
}
