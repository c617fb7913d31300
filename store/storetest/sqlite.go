package storetest

import (
	"context"
	"errors"
	"testing"

	"modernc.org/sqlite"

	"countersign/store"
)

// authorize asks f about every statement that the store's one writing connection prepares. Statements that were prepared
// before are prepared anew, once, and so are asked about too.
func (f *Faults) authorize(t testing.TB, s *store.Store) {
	t.Helper()
	conn, err := s.DB().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(driverConn any) error {
		registerer, ok := driverConn.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("the driver asks nobody about its statements")
		}
		return registerer.RegisterAuthorizer(f.authorizer())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// authorizer denies the statement whose turn it is. SQLite asks about every column and trigger that a statement touches:
// what is asked again about one table in a row is taken for one statement. A rollback is never denied, because the
// connection could not go on after it.
func (f *Faults) authorizer() sqlite.AuthorizerFn {
	var lastAction sqlite.AuthorizerActionCode
	var lastName string
	return func(action sqlite.AuthorizerActionCode, name, _, _, trigger string) sqlite.AuthorizerReturnCode {
		switch action {
		case sqlite.AuthSelect, sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete, sqlite.AuthSavepoint, sqlite.AuthTransaction:
		default:
			return sqlite.AuthorizerOK
		}
		again := action == sqlite.AuthUpdate && action == lastAction && name == lastName
		lastAction, lastName = action, name
		if again || trigger != "" || action == sqlite.AuthTransaction && name == "ROLLBACK" {
			return sqlite.AuthorizerOK
		}
		if _, fails := f.next(); fails {
			return sqlite.AuthorizerDeny
		}
		return sqlite.AuthorizerOK
	}
}
