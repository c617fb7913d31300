// Package setup is how a shop's own database comes to be known: what somebody has answered so far, what is tried before anything is
// kept, and the versions that were kept. It seals the connection string on the way into the store and opens it on the way out, and
// nothing else ever holds it in clear.
//
// A mapping is used when a person has seen rows of the shop as the product reads them and has said that they are read rightly.
package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/secret"
	"countersign/store"
)

// Setup keeps mappings in a store, their connection strings sealed under a key.
type Setup struct {
	Store *store.Store
	Key   secret.Key
}

// Version is a mapping that was kept.
type Version struct {
	store.Mapping
	Mapped connector.Mapping // with its connection string only where that is said
}

// sealedFor is the place that a version's connection string belongs to: in another row it does not open.
func sealedFor(version int64) string {
	return fmt.Sprintf("connection string of version %d of the shop mapping", version)
}

// Save keeps a mapping as a new version, which is in force from then on, and drops the draft of whoever confirmed it.
func (s Setup) Save(ctx context.Context, m connector.Mapping, confirmed, by countersign.Actor) (version int64, err error) {
	text, err := json.Marshal(m.WithoutDSN())
	if err != nil {
		return 0, fmt.Errorf("write the shop mapping: %w", err)
	}
	seal := func(version int64) string { return s.Key.Seal(sealedFor(version), []byte(located(m))) }
	err = s.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SealUnder(ctx, s.Key.ID()); err != nil {
			return err
		}
		row := store.Mapping{Name: m.Name, JSON: string(text), ConfirmedBy: confirmed.String()}
		if version, err = tx.AddMapping(ctx, row, seal, by); err != nil {
			return err
		}
		return tx.DropDraft(ctx, confirmed.ID)
	})
	return version, err
}

// located is a mapping's connection string, the path of a file as it is from everywhere: a program that is started in another
// folder would look for it there.
func located(m connector.Mapping) string {
	dsn := string(m.DSN)
	if m.Driver != connector.SQLite || dsn == "" || strings.HasPrefix(dsn, "file:") {
		return dsn
	}
	path, err := filepath.Abs(dsn)
	if err != nil {
		return dsn
	}
	return path
}

// Latest is the mapping in force with its connection string, ready to be opened; ok is false while there is none. When the string
// cannot be opened, because this is another master key, ok is true, the error says what to do, and the mapping lacks only it.
func (s Setup) Latest(ctx context.Context) (v Version, ok bool, err error) {
	row, ok, err := s.Store.LatestMapping(ctx)
	if err != nil || !ok {
		return Version{}, false, err
	}
	v, err = read(row)
	if err != nil {
		return v, true, err
	}
	dsn, err := s.Key.Open(sealedFor(row.Version), row.Connection)
	v.Mapped.DSN = connector.DSN(dsn)
	return v, true, err
}

// Versions lists what was kept, the one in force first, all without their connection strings.
func (s Setup) Versions(ctx context.Context) (all []Version, err error) {
	rows, err := s.Store.Mappings(ctx)
	for _, row := range rows {
		v, problem := read(row)
		all, err = append(all, v), errors.Join(err, problem)
	}
	return all, err
}

func read(row store.Mapping) (v Version, err error) {
	v.Mapping = row
	if err := json.Unmarshal([]byte(row.JSON), &v.Mapped); err != nil {
		return v, fmt.Errorf("read version %d of the shop mapping: %w", row.Version, err)
	}
	return v, nil
}
