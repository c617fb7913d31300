package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Session is what a browser that came back is known by. Data means something to whoever keeps it here.
type Session struct {
	Token     string // a hash of what the cookie holds
	Data      []byte
	ExpiresAt time.Time
}

// Session finds a session; false if there is none of that token, or its time has passed.
func (v View) Session(ctx context.Context, token string, now time.Time) (s Session, ok bool, err error) {
	s.Token = token
	err = v.q.QueryRowContext(ctx, "SELECT data, expires_at FROM sessions WHERE token = $1 AND expires_at > $2", token, now.UnixMicro()).
		Scan(&s.Data, scanMicros{&s.ExpiresAt})
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, false, nil
	}
	return s, err == nil, wrap(err, "look up the session")
}

// AddSession stores a new session.
func (t *Tx) AddSession(ctx context.Context, s Session) error {
	_, err := t.exec(ctx, "INSERT INTO sessions (token, data, expires_at) VALUES ($1, $2, $3)", s.Token, s.Data, s.ExpiresAt.UnixMicro())
	return wrap(err, "store the session")
}

// KeepSession writes a session back. One that has ended in the meantime stays ended: a request that was under way while
// somebody signed out brings nothing back.
func (t *Tx) KeepSession(ctx context.Context, s Session) error {
	_, err := t.exec(ctx, "UPDATE sessions SET data = $2, expires_at = $3 WHERE token = $1", s.Token, s.Data, s.ExpiresAt.UnixMicro())
	return wrap(err, "keep the session")
}

// ProlongSession moves a session's end, unless it has ended.
func (t *Tx) ProlongSession(ctx context.Context, token string, until time.Time) error {
	_, err := t.exec(ctx, "UPDATE sessions SET expires_at = $2 WHERE token = $1", token, until.UnixMicro())
	return wrap(err, "prolong the session")
}

// EndSession ends a session. One that does not exist has ended.
func (t *Tx) EndSession(ctx context.Context, token string) error {
	_, err := t.exec(ctx, "DELETE FROM sessions WHERE token = $1", token)
	return wrap(err, "end the session")
}

// DropExpired removes the sessions and links whose time has passed, and the links that were used.
func (t *Tx) DropExpired(ctx context.Context, now time.Time) error {
	if _, err := t.exec(ctx, "DELETE FROM sessions WHERE expires_at <= $1", now.UnixMicro()); err != nil {
		return wrap(err, "remove the sessions that have ended")
	}
	_, err := t.exec(ctx, "DELETE FROM links WHERE expires_at <= $1 OR used_at IS NOT NULL", now.UnixMicro())
	return wrap(err, "remove the links that have ended")
}
