package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"countersign"
)

// A program writes under the schema that it was made for, and under no other. While it runs, a newer program may migrate the
// database, or somebody may put an older backup back: then what this one would write could mean something else. So every
// transaction that writes ends by asking for the schema's version, on PostgreSQL together with the statements that wait for the
// commit anyway, and commits nothing when it is another.

// ErrOtherSchema means that the database has a schema which this program was not made for. Nothing was written.
var ErrOtherSchema = errors.New("the database's schema is not this program's")

// foreign is how the first to meet another schema tells the whole program.
type foreign struct {
	seen chan struct{}
	once sync.Once
}

const ofThisProgram = "SELECT 1 FROM (SELECT MAX(version_id) AS version FROM goose_db_version) AS newest WHERE version = $1"

// sameSchema is asked at the end of a transaction. While Open migrates, nothing is known yet and nothing is asked.
func (t *Tx) sameSchema(ctx context.Context) error {
	mine := t.store.migrated.To
	if mine == 0 {
		return nil
	}
	if _, ok := t.x.(*batched); ok { // where it costs no journey of its own
		return t.later(ctx, t.store.agrees, ofThisProgram, mine)
	}
	var found int64
	err := t.q.QueryRowContext(ctx, ofThisProgram, mine).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return t.store.agrees(found, err)
}

// agrees is told how many schemas of this program's version there are.
func (s *Store) agrees(found int64, err error) error {
	if err == nil && found == 0 {
		s.foreign.meet()
		return otherSchema()
	}
	return wrap(err, "look at the schema's version")
}

func (f *foreign) meet() { f.once.Do(func() { close(f.seen) }) }

// OtherSchema is closed once the database was found to have another schema than this program's. It will not come back to it by
// itself: the program should end.
func (s *Store) OtherSchema() <-chan struct{} { return s.foreign.seen }

// CheckSchema looks at the schema's version, and says what to do when it is not this program's.
func (s *Store) CheckSchema(ctx context.Context) error {
	var version int64
	if err := s.read.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&version); err != nil {
		return fmt.Errorf("look at the schema's version: %w", err)
	}
	if version == s.migrated.To {
		return nil
	}
	s.foreign.meet()
	e := countersign.Errorf(countersign.Unavailable, "the database has schema version %d, and this program is made for %d", version, s.migrated.To)
	e.Err = ErrOtherSchema
	if version < s.migrated.To {
		return e.Try("an older backup was restored: run `countersign migrate`, then start it again")
	}
	return e.Try("a newer program has migrated it: start that one in place of this")
}

func otherSchema() error {
	e := countersign.Errorf(countersign.Unavailable, "the database was changed to another version of this program while this one ran; nothing was written")
	e.Err = ErrOtherSchema
	return e.Try("send it again in a moment")
}
