// Package session knows which browser is whose, from one request to the next.
//
// It promises that a restart signs nobody out, that the database holds no token but its hash, that a session which ended is not
// brought back by a request that was still under way, and that what an admin took away is gone with the next request. It is
// apart from package auth because cookies need net/http, and what decides who may act can reach no network.
package session

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"countersign"
	"countersign/auth"
	"countersign/store"
)

// A session ends so long after signing in, and so long after the last request. The second is looked at once a minute: more
// often it would be a write for each page.
const (
	lifetime = 12 * time.Hour
	idle     = 2 * time.Hour
	prolong  = time.Minute
	// unsigned is how long something is remembered for a browser that nobody signed in with: one message.
	unsigned = 10 * time.Minute
)

// What a session holds.
const (
	personKey     = "person"
	generationKey = "generation"
	messageKey    = "message"
)

// Sessions are those that a database holds. What begins or ends one changes the answer's cookie, so it comes before the
// answer's first byte.
type Sessions struct {
	store *store.Store
	now   func() time.Time
	fail  func(http.ResponseWriter, *http.Request, error)

	unattended func(*http.Request) bool
	secure     func(*http.Request) bool
	scs        *scs.SessionManager
}

// Options are what New may be told.
type Options struct {
	// Secure reports whether a request came by HTTPS: its cookie then travels no other way, and nobody else under this domain can set
	// it. None did when nil.
	Secure func(*http.Request) bool
	Now    func() time.Time // the store's clock when nil
	// Unattended reports requests that an open page makes by itself: they do not put off the end of a session that nobody uses.
	Unattended func(*http.Request) bool
	// Fail answers a request whose session could not be looked up, because the database did not answer.
	Fail func(http.ResponseWriter, *http.Request, error)
}

// New returns the sessions that a database holds.
func New(s *store.Store, o Options) *Sessions {
	all := &Sessions{store: s, now: o.Now, fail: o.Fail, unattended: o.Unattended, secure: o.Secure}
	if all.secure == nil {
		all.secure = func(*http.Request) bool { return false }
	}
	if all.unattended == nil {
		all.unattended = func(*http.Request) bool { return false }
	}
	if all.now == nil {
		all.now = s.Now
	}
	if all.fail == nil {
		all.fail = func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "the database does not answer; try again in a moment", http.StatusServiceUnavailable)
		}
	}
	// Not scs.New: that starts a goroutine for a store in memory. Cookies and the idle time are ours, since the library reads
	// no clock but the machine's and writes to the database with each request.
	all.scs = &scs.SessionManager{Lifetime: lifetime, Store: sessionStore{all}, Codec: scs.GobCodec{}, HashTokenInStore: true}
	return all
}

// cookieOf is the cookie of a request that came by HTTPS, or of one that did not, but for its value. They have different names, so
// that one which was set in the clear is never taken for the other.
func cookieOf(secure bool) http.Cookie {
	c := http.Cookie{Name: "countersign", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
	if secure {
		c.Name = "__Host-countersign"
	}
	return c
}

// visit is one request.
type visit struct {
	w      http.ResponseWriter
	cookie http.Cookie // as it is sent, but for its value
	token  string      // what the browser has, or is about to have
	found  string      // the hash of it, once it is known to be a session
	alone  bool        // nobody is known to be there: the page asks by itself
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit { return ctx.Value(visitKey{}).(*visit) }

// Middleware looks up the session of each request; the other methods want the context that it hands on. It leaves the
// ResponseWriter as it is.
func (s *Sessions) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Cookie")
		v := &visit{w: w, cookie: cookieOf(s.secure(r)), alone: s.unattended(r)}
		if cookie, err := r.Cookie(v.cookie.Name); err == nil {
			v.token = cookie.Value
		}
		ctx, err := s.scs.Load(context.WithValue(r.Context(), visitKey{}, v), v.token)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// SignIn begins a session of that person, with a new token: whoever knew the old one knows nothing.
func (s *Sessions) SignIn(ctx context.Context, p store.Person) error {
	if err := s.scs.RenewToken(ctx); err != nil {
		return err
	}
	s.scs.SetDeadline(ctx, s.now().Add(lifetime))
	s.scs.Put(ctx, personKey, p.ID)
	s.scs.Put(ctx, generationKey, p.Generation)
	return s.keep(ctx)
}

// SignOut ends the session, in the database and in the browser.
func (s *Sessions) SignOut(ctx context.Context) error {
	if s.scs.Token(ctx) != "" {
		if err := s.scs.Destroy(ctx); err != nil {
			return err
		}
	}
	s.hand(ctx, "")
	return nil
}

// Principal is who makes the request; false if nobody has signed in, or their session is over. It reads the database: an
// answer that goes on for long may ask again whether its reader may still read.
func (s *Sessions) Principal(ctx context.Context) (auth.Principal, bool, error) {
	id := s.scs.GetString(ctx, personKey)
	if id == "" || !s.now().Before(s.scs.Deadline(ctx)) {
		return auth.Principal{}, false, nil
	}
	// What the request began with is of no use to an answer that goes on: they may have signed out in the meantime.
	if _, ok, err := s.store.Session(ctx, visitOf(ctx).found, s.now()); err != nil || !ok {
		return auth.Principal{}, false, err
	}
	p, err := s.store.Person(ctx, id)
	switch {
	case countersign.KindOf(err) == countersign.NotFound:
		return auth.Principal{}, false, nil
	case err != nil:
		return auth.Principal{}, false, err
	case p.Disabled || p.Generation != s.scs.GetInt64(ctx, generationKey):
		return auth.Principal{}, false, nil
	}
	return auth.PrincipalOf(p), true, nil
}

// Say leaves a message for the next page that this browser is shown.
func (s *Sessions) Say(ctx context.Context, text string) error {
	s.scs.Put(ctx, messageKey, text)
	if s.scs.GetString(ctx, personKey) == "" {
		s.scs.SetDeadline(ctx, s.now().Add(unsigned))
	}
	return s.keep(ctx)
}

// Told returns what Say left, once; empty when there is nothing.
func (s *Sessions) Told(ctx context.Context) string {
	if !s.scs.Exists(ctx, messageKey) {
		return ""
	}
	text := s.scs.PopString(ctx, messageKey)
	_ = s.keep(ctx) // at worst it is shown twice
	return text
}

// keep stores the session and hands the browser its token if it has another.
func (s *Sessions) keep(ctx context.Context) error {
	token, _, err := s.scs.Commit(ctx)
	if err != nil {
		return err
	}
	if token != visitOf(ctx).token {
		s.hand(ctx, token)
	}
	return nil
}

// hand gives the browser a token, or takes it away when empty. The cookie ends with the browser; when the session does, the
// database knows. One that this answer was already to carry is not sent: browsers need not agree which of two counts.
func (s *Sessions) hand(ctx context.Context, token string) {
	v := visitOf(ctx)
	cookie := v.cookie
	v.token, cookie.Value = token, token
	if token == "" {
		cookie.MaxAge = -1
	}
	header := v.w.Header()
	header["Set-Cookie"] = slices.DeleteFunc(header["Set-Cookie"], func(line string) bool { return strings.HasPrefix(line, cookie.Name+"=") })
	header.Set("Cache-Control", "no-store")
	http.SetCookie(v.w, &cookie)
}

// sessionStore is the database as the library wants it. The library hands it hashes of tokens.
type sessionStore struct{ *Sessions }

// FindCtx finds a session and, when it was not for a while, moves its end. What it cannot read is no session: its holder signs
// in again.
func (s sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	kept, ok, err := s.store.Session(ctx, token, s.now())
	if err != nil || !ok {
		return nil, false, err
	}
	deadline, _, err := s.scs.Codec.Decode(kept.Data)
	if err != nil {
		return nil, false, nil
	}
	if end := s.end(deadline); end.Sub(kept.ExpiresAt) >= prolong && !visitOf(ctx).alone {
		// That it failed must not keep anybody from reading, on a disk that is full: the session only ends sooner.
		_ = s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.ProlongSession(ctx, token, end) })
	}
	visitOf(ctx).found = token
	return kept.Data, true, nil
}

// end is when a session ends if nothing more is heard of it.
func (s sessionStore) end(deadline time.Time) time.Time {
	if quiet := s.now().Add(idle); quiet.Before(deadline) {
		return quiet
	}
	return deadline
}

// CommitCtx stores a session. A new one sweeps up those that have ended.
func (s sessionStore) CommitCtx(ctx context.Context, token string, data []byte, deadline time.Time) error {
	v, session := visitOf(ctx), store.Session{Token: token, Data: data, ExpiresAt: s.end(deadline)}
	err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if token == v.found {
			return tx.KeepSession(ctx, session)
		}
		if err := tx.DropExpired(ctx, s.now()); err != nil {
			return err
		}
		return tx.AddSession(ctx, session)
	})
	if err == nil {
		v.found = token
	}
	return err
}

func (s sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.EndSession(ctx, token) })
}

// The library wants these to exist, and calls those above.

func (sessionStore) Find(string) ([]byte, bool, error)      { panic(notCalled) }
func (sessionStore) Commit(string, []byte, time.Time) error { panic(notCalled) }
func (sessionStore) Delete(string) error                    { panic(notCalled) }

const notCalled = "unreachable unless scs prefers a store without a context"
