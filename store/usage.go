package store

import (
	"database/sql"
	"time"
)

// PoolUse is how the connections of a pool are used, as far as this process goes.
type PoolUse struct {
	Pool       string // write or read; on PostgreSQL one pool does both
	InUse, Max int
	Waits      int64 // how often somebody waited for a connection
	Waited     time.Duration
}

// Usage asks the pools and not the database.
func (s *Store) Usage() []PoolUse {
	if s.pool != nil {
		stat := s.pool.Stat()
		return []PoolUse{{"write", int(stat.AcquiredConns()), int(stat.MaxConns()), stat.EmptyAcquireCount(), stat.EmptyAcquireWaitTime()}}
	}
	return []PoolUse{usageOf("write", s.write), usageOf("read", s.read)}
}

func usageOf(pool string, db *sql.DB) PoolUse {
	stats := db.Stats()
	return PoolUse{pool, stats.InUse, stats.MaxOpenConnections, stats.WaitCount, stats.WaitDuration}
}
