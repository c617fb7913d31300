// Package storetest breaks the database under a store, one chosen statement at a time, to see what a failure there leaves
// behind.
//
// The store under test is the real one and knows nothing of it. On SQLite the database itself refuses the statement. On
// PostgreSQL the server refuses it, because its disk is full, or the connection breaks, either before the server has read the
// statement or after it has carried it out: then nobody who asked can know whether it happened, which is the harder case.
//
// It also fills a store with as many cases as a bank has after years, to see how long a page takes to read then.
package storetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"countersign/store"
)

// Way is how a statement fails.
type Way string

const (
	Refused Way = "the database refuses the statement"
	Cut     Way = "the connection breaks before the statement"
	Lost    Way = "the connection breaks after the statement" // what it answered is lost
)

// Faults makes one statement of a store fail. The zero Faults lets all of them pass.
type Faults struct {
	Ways []Way // those that this database can fail in

	arm   func() // makes the database ask about statements that it knows already
	mu    sync.Mutex
	way   Way
	left  int // statements until the one that fails; 0 when none will
	fired bool
}

// Open opens a store whose statements can be made to fail, and closes it with the test.
func Open(t testing.TB, database string) (*store.Store, *Faults) {
	t.Helper()
	database, f := Between(t, database)
	s, err := store.Open(context.Background(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f.On(t, s)
	return s, f
}

// Between returns the name under which somebody else opens the database so that its statements can be made to fail: on PostgreSQL
// from the first on, on SQLite once On has the store.
func Between(t testing.TB, database string) (string, *Faults) {
	t.Helper()
	f := &Faults{Ways: []Way{Refused}, arm: func() {}}
	if strings.HasPrefix(database, "postgres") {
		f.Ways = []Way{Cut, Lost, Refused}
		database = f.between(t, database)
	}
	return database, f
}

// On makes the statements of a store fail that was opened between.
func (f *Faults) On(t testing.TB, s *store.Store) {
	t.Helper()
	if s.Engine() != "sqlite" {
		return
	}
	f.arm = func() { f.authorize(t, s) }
	f.arm()
}

// At makes the n-th statement from now fail, counted from 1. Beginning and ending a transaction are statements too.
func (f *Faults) At(n int, way Way) {
	f.arm()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.way, f.fired = n, way, false
}

// Fired ends the waiting for the statement that At named, and reports whether it was reached.
func (f *Faults) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = 0
	return f.fired
}

// next counts a statement and says whether, and how, it is to fail.
func (f *Faults) next() (Way, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return "", false
	}
	f.left--
	f.fired = f.left == 0
	return f.way, f.fired
}
