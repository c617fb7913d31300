package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"countersign"
	"countersign/app"
)

// with opens the program for a command that works on the database and does not investigate, and closes it after: what closing says counts
// too.
func (s *session) with(do func(*app.App) error) error { return s.opened(s.config(), do) }

func (s *session) opened(c app.Config, do func(*app.App) error) (err error) {
	a, err := app.Open(s, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return do(a)
}

// apply puts what a file says into force. The file is understood before the program is opened, so that a wrong one changes nothing.
func apply[T any](s *session, file string, parse func([]byte) (T, error), into func(*app.App, T) error) error {
	text, err := readFile(s.in, file)
	if err != nil {
		return err
	}
	settings, err := parse(text)
	if err != nil {
		return err
	}
	return s.with(func(a *app.App) error { return into(a, settings) })
}

func readFile(in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(in, 1<<20))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	return text, nil
}

// cannotOpen is the error of a file that the command line names, which makes it a wrong value.
func cannotOpen(path string, cause error) error {
	var e *fs.PathError
	if errors.As(cause, &e) {
		cause = e.Err
	}
	return countersign.Errorf(countersign.Invalid, "cannot open %s: %s", path, cause).Try("expected a file that this user may read")
}
