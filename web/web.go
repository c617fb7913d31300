// Package web is the dashboard: what an analyst sees of a case and does with it, as pages that a browser draws without any
// script of ours.
//
// It decides nothing. A page reads the store and the desk, an act goes through intake or review like every other face's, and
// what other people wrote is shown as their words and never as ours. It promises that a page which was refused, stale or
// broken off has changed nothing and lost nothing that somebody typed; that reading is GET and changing is POST from a page of
// this program; and that who may not do a thing is told so by a page, whatever the button said.
//
// One file is one page: load, check, act, answer. What pages have in common: visit.go is a person's request, screen.go what
// every page is drawn into, words.go the codes in plain words, moment.go time in the reader's zone.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/auth/session"
	"countersign/desk"
	"countersign/desk/merchant/library"
	"countersign/desk/merchant/setup"
	"countersign/follow"
	"countersign/hook"
	"countersign/keyring"
	"countersign/llm/roster"
	"countersign/pipeline/intake"
	"countersign/pipeline/review"
	"countersign/store"
)

// Config is what the dashboard serves. Store, Intake, Review, Desks and Sessions must be there.
type Config struct {
	Store    *store.Store
	Intake   intake.Intake
	Review   review.Review
	Desks    map[countersign.DeskName]desk.Desk
	Sessions *session.Sessions
	Setup    setup.Setup // how the shop's own database is read
	Library  *library.Library
	Roster   roster.Keeper // which models there are, and what they may cost
	Throttle *auth.Throttle
	Sources  hook.Sources // who may send events
	Ring     keyring.Ring // the master key, and what is sealed
	Hooks    *hook.Hook   // what was refused of them of late; nil where none are taken

	Environment string     // the model that the environment names, in words; empty where the settings say who investigates
	NoAI        bool       // that is the offline reviewer
	Way         answer.Way // how browsers reach this

	Folder   string          // where uploads wait until they are imported; the system's folder for temporary files when empty
	Notice   string          // a sentence above every page: that this is a demo, that no AI is connected
	Log      *slog.Logger    // discarded when nil
	Version  string          // of the program, at the foot of every page
	Stopping <-chan struct{} // closed when the program begins to stop, which ends event streams; nil for never

	Inhabited func(context.Context) // told once the first account was made; nil when nobody asks

	Room *follow.Room // for live pages, shared with the API; its own when nil
	// Answered is told of each page that was answered, by its route, event streams left out; nil when nobody measures.
	Answered func(route string, status int, took time.Duration)

	Heartbeat time.Duration // between signs of life on a quiet event stream, 15 s when zero
}

// dashboard is the pages over one database.
type dashboard struct {
	Config
	pages  pages
	assets assets
	tasks  *tasks
	turn   chan struct{} // who holds its one place reads files: what a check has to remember of them is large
}

// New returns the handler of every page. Sessions, claims and what people do are in the database; only running imports and
// verifications are this process's own.
func New(c Config) http.Handler {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Room == nil {
		c.Room = follow.NewRoom()
	}
	if c.Answered == nil {
		c.Answered = func(string, int, time.Duration) {}
	}
	d := &dashboard{Config: c, pages: parsePages(), assets: hashedAssets(), tasks: newTasks(), turn: make(chan struct{}, 1)}
	d.removeLeftovers()
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+r.path, d.answer(r))
	}
	mux.HandleFunc("GET /static/{stamp}/{name}", d.assets.serve)
	mux.HandleFunc("/", d.answer(route{right: anybody, page: unmatched}))
	return d.guarded(mux)
}

// route is one line of the dashboard: what it answers, and who may ask. A page without a right of its own is for everybody
// who has signed in.
type route struct {
	method, path string
	right        auth.Right
	page         func(*visit) error
}

const (
	signedIn auth.Right = ""
	anybody  auth.Right = "see the way in" // whoever comes, session or not
)

// routes are all pages and acts, by page.
var routes = []route{
	{"GET", "/{$}", signedIn, home},

	{"GET", "/sign-in", anybody, signIn},
	{"POST", "/sign-in", anybody, postSignIn},
	{"POST", "/sign-out", signedIn, postSignOut},
	{"GET", "/link/{secret}", anybody, signInLink},
	{"POST", "/link/{secret}", anybody, postSignInLink},
	{"GET", "/welcome/{secret}", anybody, welcome},
	{"POST", "/welcome/{secret}", anybody, postWelcome},

	{"GET", "/queue", auth.Read, queue},
	{"GET", "/queue/news", auth.Read, queueNews},
	{"POST", "/queue/next", auth.Decide, takeNext},
	{"GET", "/open", auth.Open, openForm},
	{"POST", "/open", auth.Open, postOpen},
	{"GET", "/open/chargeback", auth.Open, chargebackForm},
	{"POST", "/open/chargeback", auth.Open, postChargeback},

	{"GET", "/cases/{id}", auth.Read, casePage},
	{"GET", "/cases/{id}/live", auth.Read, caseLive},
	{"GET", "/cases/{id}/report", auth.Read, caseReport},
	{"GET", "/cases/{id}/record", auth.ReadRecord, caseRecord},
	{"GET", "/cases/{id}/record/export", auth.ReadRecord, caseExport},
	{"POST", "/cases/{id}/claim", auth.Decide, postClaim},
	{"POST", "/cases/{id}/release", auth.Decide, postRelease},
	{"POST", "/cases/{id}/exhibits", auth.Decide, postExhibits},
	{"GET", "/cases/{id}/exhibits/{exhibit}", auth.Read, exhibitFile},
	{"POST", "/cases/{id}/exhibits/{exhibit}/remove", auth.Decide, postRemoveExhibit},
	{"POST", "/cases/{id}/typed", auth.Decide, postTyped},
	{"POST", "/cases/{id}/typed/{fact}/remove", auth.Decide, postRemoveTyped},
	{"GET", "/cases/{id}/{verb}", auth.Decide, decideForm},
	{"POST", "/cases/{id}/{verb}", auth.Decide, postDecide},

	{"GET", "/record", auth.ReadRecord, recordPage},
	{"GET", "/record/export", auth.ReadRecord, recordExport},
	{"POST", "/record/verify", auth.ReadRecord, postVerify},
	{"GET", "/record/verify/{task}", auth.ReadRecord, verifyPage},

	{"GET", "/import", auth.Import, importForm},
	{"POST", "/import", auth.Import, postUpload},
	{"GET", "/import/{task}", auth.Import, importPage},
	{"GET", "/import/{task}/results", auth.Import, importResults},
	{"POST", "/import/{task}/run", auth.Import, postImport},
	{"POST", "/import/{task}/cancel", auth.Import, postImportCancel},
	{"GET", "/templates/{file}", auth.Import, importTemplate},

	{"GET", "/library", auth.Read, libraryPage},
	{"POST", "/library", auth.Import, postPolicies},
	{"GET", "/library/{version}", auth.Read, policyPage},
	{"GET", "/library/{version}/file", auth.Read, policyFile},
	{"POST", "/library/{version}/confirm", auth.Import, postConfirmPolicy},
	{"POST", "/library/{version}/days", auth.Import, postPolicyDays},

	{"GET", "/settings", signedIn, settings},
	{"POST", "/settings/me", signedIn, postMe},
	{"POST", "/settings/password", signedIn, postPassword},
	{"POST", "/settings/mode", auth.Manage, postMode},
	{"POST", "/settings/people", auth.Manage, postPerson},
	{"POST", "/settings/people/{person}", auth.Manage, postChangePerson},
	{"POST", "/settings/people/{person}/link", auth.Manage, postPersonLink},
	{"POST", "/settings/tokens", auth.Manage, postToken},
	{"POST", "/settings/tokens/{token}/revoke", auth.Manage, postRevokeToken},
	{"GET", "/settings/events", auth.Manage, eventSources},
	{"POST", "/settings/events", auth.Manage, postEventSource},
	{"POST", "/settings/events/{source}/rotate", auth.Manage, postRotateSource},
	{"POST", "/settings/events/{source}/remove", auth.Manage, postRemoveSource},

	{"GET", "/settings/shop", auth.Manage, shopPage},
	{"POST", "/settings/shop/begin", auth.Manage, postShopBegin},
	{"POST", "/settings/shop/discard", auth.Manage, postShopDiscard},
	{"POST", "/settings/shop/files", auth.Manage, postShopFiles},
	{"GET", "/settings/shop/{step}", auth.Manage, shopQuestion},
	{"POST", "/settings/shop/{step}", auth.Manage, postShopQuestion},

	{"GET", "/settings/models", auth.Manage, modelsPage},
	{"POST", "/settings/models/order", auth.Manage, postModelOrder},
	{"POST", "/settings/models/budgets", auth.Manage, postModelBudgets},
	{"GET", "/settings/models/connections", auth.Manage, newConnection},
	{"POST", "/settings/models/connections", auth.Manage, postConnection},
	{"GET", "/settings/models/connections/{connection}", auth.Manage, connectionPage},
	{"POST", "/settings/models/connections/{connection}", auth.Manage, postChangedConnection},
	{"POST", "/settings/models/connections/{connection}/try", auth.Manage, postTryConnection},
	{"GET", "/settings/models/connections/{connection}/remove", auth.Manage, removeConnection},
	{"POST", "/settings/models/connections/{connection}/remove", auth.Manage, postRemoveConnection},

	{"GET", "/keys", signedIn, keysPage},
}

// claimTime is how long a claim on a case lasts without a sign of its holder.
const claimTime = 10 * time.Minute
