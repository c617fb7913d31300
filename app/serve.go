package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"countersign"
	"countersign/api"
	"countersign/auth"
	"countersign/auth/session"
	"countersign/desk/merchant/setup"
	"countersign/hook"
	"countersign/pipeline/intake"
	"countersign/store"
	"countersign/web"
)

// Handler is the dashboard and the API over this app. Programs and operators keep their addresses; everything else is a page.
func (a *App) Handler() http.Handler {
	hooks := hook.New(hook.Config{Store: a.Store, Key: a.Key, Events: a.Events, Log: a.Log})
	api, pages := a.api(), a.pages(hooks)
	mux := http.NewServeMux()
	mux.Handle("/hooks/", hooks)
	for _, path := range []string{"/api/", "/openapi.json", "/healthz", "/readyz", "/metrics"} {
		mux.Handle(path, api)
	}
	mux.Handle("/", pages)
	return mux
}

func (a *App) api() http.Handler {
	return api.New(api.Config{Store: a.Store, Intake: a.Intake, Review: a.Review, Desks: a.intakeDesks(), Log: a.Log, Version: a.Version, Stopping: a.stopping, Measure: a.Measure, Room: a.room})
}

func (a *App) intakeDesks() map[countersign.DeskName]intake.Desk {
	desks := map[countersign.DeskName]intake.Desk{}
	for name, d := range a.Desks {
		desks[name] = d.Desk
	}
	return desks
}

// Watchable is what an operator's tools ask a process for that serves nobody else: health, readiness, metrics.
func (a *App) Watchable() http.Handler {
	return api.Watchable(api.Config{Store: a.Store, Log: a.Log, Version: a.Version, Measure: a.Measure})
}

func (a *App) pages(hooks *hook.Hook) http.Handler {
	return web.New(web.Config{Store: a.Store, Intake: a.Intake, Review: a.Review, Desks: a.Desks, Throttle: auth.NewThrottle(a.Store.Now),
		Setup:    setup.Setup{Store: a.Store, Key: a.Key},
		Library:  a.Library,
		Sessions: session.New(a.Store, session.Options{Secure: a.way.HTTPS, Unattended: web.Unattended}),
		Sources:  hook.Sources{Store: a.Store, Key: a.Key}, Hooks: hooks,
		Ring: a.Keys, Inhabited: a.Inhabited,
		Roster:      a.Roster,
		Environment: a.environment(), NoAI: a.offline(), Way: a.way,
		Folder: a.Data, Notice: a.Notice, Log: a.Log, Version: a.Version, Stopping: a.stopping, Answered: a.Measure.Answered, Room: a.room})
}

// environment is the model that the environment names, in words; empty where it names none and the settings say who investigates.
func (a *App) environment() string {
	switch {
	case a.Config.Model.Provider == "":
		return ""
	case a.offline():
		return "The offline reviewer: fixed rules, no AI, no network."
	}
	return a.Model.Identity().Name + " at " + a.Config.Model.BaseURL
}

func (a *App) offline() bool { return a.Model.Identity().Provider == "rulebook" }

// drain is what a stop gives requests that are being answered.
const drain = 10 * time.Second

// Serve answers HTTP, by Handler or Watchable, on the listener until ctx ends, or until the database has a schema that this program was
// not made for, which is an error. Then it takes no new request, ends the event streams, which would never
// end by themselves, and lets the others finish.
func (a *App) Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := a.server(ctx, handler)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	case <-a.Store.OtherSchema():
	}
	a.stop.Do(func() { close(a.stopping) })
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain) // not ctx again: BaseContext reads it meanwhile
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		a.Log.WarnContext(ctx, "requests were cut off at the stop", "after", drain.String())
		return errors.Join(server.Close(), a.outgrown(ctx))
	}
	return a.outgrown(ctx)
}

// Until waits for the end of ctx. It ends with an error when the database has a schema that this program was not made for.
func (a *App) Until(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-a.Store.OtherSchema():
	}
	return a.outgrown(ctx)
}

// outgrown is the error of a program that another version has taken the database from. Nothing is written from then on, so all that is
// left is to end in good order.
func (a *App) outgrown(ctx context.Context) error {
	select {
	case <-a.Store.OtherSchema():
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := a.Store.CheckSchema(ctx)
	if !errors.Is(err, store.ErrOtherSchema) {
		err = errors.Join(store.ErrOtherSchema, err) // it cannot be asked any more
	}
	a.Log.ErrorContext(ctx, "the database has another schema; nothing more is written, and this program ends", "error", err)
	return err
}

// server lets nobody hold a connection by sending a request slowly, or none. How slowly an answer may be taken is in package answer,
// because streams and exports last.
func (a *App) server(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
}

// Listen takes the address that a flag gave, with a plain message when it cannot.
func Listen(flag, addr string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err == nil && port == "" {
		err = errors.New("no port")
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return nil, countersign.Errorf(countersign.Invalid, "%q is not an address", addr).In(flag).
			Try("expected host:port with a port from 0 to 65535, for example 127.0.0.1:8080")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, mend(err, "cannot listen on "+addr, whyNotListen(flag, err))
	}
	return l, nil
}

func whyNotListen(flag string, err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EACCES):
		return "this user may not take that port; choose one above 1023 with " + flag
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		return "this machine has no such address; 127.0.0.1 is for this machine alone, 0.0.0.0 for all"
	}
	return "another program may be using the port; choose one with " + flag + ", for example " + flag + " 127.0.0.1:8081"
}
