package storetest

import (
	"testing"

	"countersign/internal/relay"
)

// between listens in front of a PostgreSQL server and returns the database's URL there.
func (f *Faults) between(t testing.TB, database string) string {
	t.Helper()
	r, err := relay.Listen(database, func() (relay.Way, func()) {
		way, fails := f.next()
		switch {
		case !fails:
			return relay.Pass, nil
		case way == Cut:
			return relay.Cut, nil
		case way == Refused:
			return relay.NoSpace, nil
		}
		return relay.Lost, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r.URL
}
