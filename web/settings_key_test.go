package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/app"
	"countersign/auth"
	"countersign/desk/bank/posting"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
	"countersign/hook"
	"countersign/internal/testdb"
	"countersign/llm/roster"
)

// sealedElsewhere is a database with one of everything that is sealed, whose master key is not here.
func sealedElsewhere(t *testing.T) (database string) {
	t.Helper()
	database = testdb.SQLite(t)
	a, err := app.Open(t.Context(), app.Config{Data: t.TempDir(), Database: database})
	if err != nil {
		t.Fatal(err)
	}
	const canary = "canary-of-forty-characters-that-nobody-may-read"
	_, err = a.Setup.Save(t.Context(), connector.Mapping{Name: "shop", Driver: connector.Postgres, DSN: canary}, operator, operator)
	if err == nil {
		err = a.Setup.Keep(t.Context(), "eve", setup.Draft{Mapping: connector.Mapping{Driver: connector.Postgres, DSN: canary}})
	}
	if err == nil {
		c := roster.Connection{Name: "hosted", Provider: "openai", Model: "m", BaseURL: "https://models.example.com/v1", Key: canary}
		_, err = a.Roster.Save(t.Context(), roster.Put(c, true), operator)
	}
	if err == nil {
		_, err = a.Posting().Apply(t.Context(), posting.Settings{To: posting.Core, URL: "https://core.example.com/i", KeyID: "k-1", Secret: canary}, operator)
	}
	if err == nil {
		_, err = hook.Sources{Store: a.Store, Key: a.Key}.Add(t.Context(), "till", time.Minute, operator)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return database
}

func TestWithAnotherMasterKeyEverySettingSaysWhatNeedsReEntry(t *testing.T) {
	o := newOffice(t, on(sealedElsewhere(t)))
	b := o.as(auth.Admin)
	before := o.everything()
	o.run(t, "all of it is listed in the settings", func(*testing.T) {
		b.get("/settings").is(http.StatusOK, "This database is kept under master key", "Of 5 secrets", "Connection string of version 1 of the shop mapping: needs re-entry",
			"Connection string of the unfinished shop mapping of eve: needs re-entry", "Key of the model connection hosted at https://models.example.com/v1: needs re-entry",
			"Secrets of version 1 of where fixes are posted: needs re-entry", "Secret of the event source till: needs re-entry")
	})
	o.run(t, "and each page says so of its own", func(*testing.T) {
		b.get("/settings/events").is(http.StatusOK, "Its secret needs re-entry")
		b.get("/settings/models/connections/hosted").is(http.StatusOK, "Enter the key again")
		b.get("/settings/models").is(http.StatusOK, "hosted")
		b.get("/settings/shop").is(http.StatusOK, "It cannot be read now", "was sealed under master key")
	})
	if o.everything() != before {
		t.Error("looking at it changed something")
	}
	o.run(t, "what is entered again counts at once", func(t *testing.T) {
		b.post("/settings/events/till/rotate", url.Values{}).is(http.StatusOK, "Secret of till")
		if p := b.get("/settings/events"); strings.Contains(p.seen(), "needs re-entry") {
			t.Errorf("it was entered again: %s", p.seen())
		}
	})
	o.run(t, "an analyst sees none of it", func(t *testing.T) {
		if p := o.as(auth.Analyst).get("/settings"); strings.Contains(p.seen(), "under master key") || strings.Contains(p.seen(), "needs re-entry") {
			t.Errorf("an analyst sees it: %s", p.seen())
		}
	})
}
