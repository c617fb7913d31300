package store_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"countersign"
	"countersign/store"
)

func TestWhatIsOverInAMomentIsExplained(t *testing.T) {
	for name, err := range map[string]error{
		"a server that recovers":             &pgconn.PgError{Code: "57P03"},
		"a server that stops":                &pgconn.PgError{Code: "57P01"},
		"a server that takes no more":        &pgconn.PgError{Code: "53300"},
		"a disk that is full":                &pgconn.PgError{Code: "53100"},
		"a server that nobody can reach":     &pgconn.ConnectError{Config: &pgconn.Config{}},
		"a right that the user lacks":        &pgconn.PgError{Code: "42501", Message: "permission denied for table cases"},
		"a server that recovers, on the way": fmt.Errorf("read case D-1: %w", &pgconn.PgError{Code: "57P03"}),
	} {
		var e *countersign.Error
		if !errors.As(store.Explain(err), &e) || e.Kind != countersign.Unavailable || e.Hint == "" || !errors.Is(e.Err, err) {
			t.Errorf("%s: %v; want a sentence of the kind that says later, with its cause", name, store.Explain(err))
		}
	}
	for name, err := range map[string]error{"nothing": nil, "a bug": errors.New("x"), "an error that has its sentence": countersign.Errorf(countersign.Conflict, "it changed"),
		"a request that ended early": io.ErrUnexpectedEOF, "a column that is not there": &pgconn.PgError{Code: "42703"}} {
		if got := store.Explain(err); got != err {
			t.Errorf("%s was explained: %v", name, got)
		}
	}
}
