package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	"countersign/pipeline/policy"
)

// api is what an API call answers to a program with that token.
func (o *office) api(token, path string) int {
	o.t.Helper()
	b := o.browser()
	b.bearer = token
	return b.get(path).status
}

// secret is what a page of settings shows this once.
func (p page) secret() string {
	p.t.Helper()
	shown := p.parse().find("section", "aria-labelledby", "secret-title")
	if len(shown) != 1 {
		p.t.Fatalf("the page shows no secret: %.2000s", p.seen())
	}
	return shown[0].find("code")[0].text
}

func TestSettingsOfOnesOwn(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Analyst)
	o.run(t, "a name and a zone count at once, everywhere", func(t *testing.T) {
		p := b.get("/settings")
		b.follow(b.post("/settings/me", with(p.form("/settings/me"), "name", "Ngọzi “N” <Obi>", "zone", "Africa/Lagos"))).is(http.StatusOK, "Kept.", "Ngọzi “N” <Obi> analyst")
		c := o.inReview("T-1")
		b.get("/cases/"+string(c.ID)).is(http.StatusOK, " WAT", "Ngọzi “N” <Obi>")
	})
	for field, value := range map[string]string{"zone": "Lagos", "name": strings.Repeat("n", 101)} {
		o.run(t, "a wrong "+field+" keeps what was typed", func(t *testing.T) {
			before := o.everything()
			form := with(b.get("/settings").form("/settings/me"), field, value)
			back := b.post("/settings/me", form).is(http.StatusBadRequest, strings.ToUpper(field[:1])+field[1:]).form("/settings/me")
			if back.Get(field) != value || o.everything() != before {
				t.Errorf("it came back as %q", back)
			}
		})
	}
	o.run(t, "who investigates is said, and that no AI does", func(*testing.T) {
		b.get("/settings").is(http.StatusOK, "The offline reviewer: fixed rules, no AI, no network.", "No AI is connected.", "COUNTERSIGN_MODEL_PROVIDER=openai")
	})
	o.run(t, "only an admin sees people and tokens", func(t *testing.T) {
		if p := b.get("/settings"); strings.Contains(p.seen(), "API tokens") || strings.Contains(p.text, "/settings/mode") || strings.Contains(p.seen(), "admin@bank.example") {
			t.Errorf("an analyst sees them: %s", p.seen())
		}
	})
}

func TestPasswords(t *testing.T) {
	o := newOffice(t)
	o.run(t, "whoever came by a link chooses one, and comes in by it", func(t *testing.T) {
		b, other := o.as(auth.Analyst), o.as(auth.Analyst)
		p := b.get("/settings").is(http.StatusOK, "You came in by a link and have no password yet.")
		if p.form("/settings/password").Has("current") {
			t.Error("it is asked for the one that is not there")
		}
		b.follow(b.post("/settings/password", url.Values{"password": {password}})).is(http.StatusOK, "The password was changed. You were signed out everywhere else.")
		if p := other.get("/queue"); p.leads() == "" {
			t.Error("the other session goes on")
		}
		o.browser().signIn("analyst@bank.example", password, "").is(http.StatusSeeOther)
	})
	o.run(t, "whoever has one says it first", func(t *testing.T) {
		b, before := o.as(auth.Analyst), o.everything()
		for _, current := range []string{"", "not the password"} {
			p := b.post("/settings/password", url.Values{"current": {current}, "password": {"another good password"}})
			if p.is(http.StatusBadRequest, "The current password is not that one."); strings.Contains(p.text, "another good") {
				t.Error("a password came back")
			}
		}
		b.post("/settings/password", url.Values{"current": {password}, "password": {"short"}}).is(http.StatusBadRequest, "Password has 5 characters, expected at least 12.")
		if o.everything() != before {
			t.Error("something was changed")
		}
		b.post("/settings/password", url.Values{"current": {password}, "password": {"another good password"}}).is(http.StatusSeeOther)
		b.get("/queue").is(http.StatusOK)
	})
	o.run(t, "guessing one's own has an end too", func(t *testing.T) {
		b := o.as(auth.Analyst)
		p := page{status: http.StatusBadRequest}
		for p.status == http.StatusBadRequest {
			p = b.post("/settings/password", url.Values{"current": {"guess"}, "password": {"yet another password"}})
		}
		p.is(http.StatusTooManyRequests, "Too many sign-ins have failed. Try again in 15 minutes", "Current password")
	})
}

func TestMode(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	by := func() (actor string) {
		o.must(o.Store.DB().QueryRow("SELECT actor FROM policies ORDER BY number DESC LIMIT 1").Scan(&actor))
		return actor
	}
	me := countersign.Actor{Kind: countersign.Person, ID: o.people[auth.Admin].ID}.String()
	for _, step := range []struct {
		mode  policy.Mode
		says  string
		after string
	}{
		{policy.Act, "From now on what the policy allows is automatic.", "Act mode."},
		{policy.Shadow, "Shadow mode: nothing is automatic from now on.", "Shadow mode: nothing."},
	} {
		b.follow(b.post("/settings/mode", url.Values{"mode": {string(step.mode)}})).is(http.StatusOK, step.says, step.after)
		if limits, err := o.Store.Limits(t.Context()); err != nil || limits.Mode != step.mode || by() != me || limits.Caps["NGN"] != policy.Default().Caps["NGN"] {
			t.Errorf("the limits are %+v by %s (%v)", limits, by(), err)
		}
	}
	before := o.everything()
	b.post("/settings/mode", url.Values{"mode": {"auto"}}).is(http.StatusBadRequest, `"auto" is not a mode; nothing was changed.`)
	if o.everything() != before {
		t.Error("something was changed")
	}
}

func TestPeople(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	o.run(t, "somebody who is added gets a link that is shown once", func(t *testing.T) {
		p := b.post("/settings/people", url.Values{"email": {"Bola@Bank.example"}, "name": {"Bọla"}, "role": {"auditor"}}).is(http.StatusOK, "A link for Bọla", "It lets them in once")
		link := p.secret()
		if !strings.HasPrefix(link, o.server.URL+"/link/") {
			t.Fatalf("the link is %s", link)
		}
		if strings.Contains(b.get("/settings").text, link) {
			t.Error("it is shown again")
		}
		bola := o.browser()
		bola.follow(bola.post(strings.TrimPrefix(link, o.server.URL), nil)).is(http.StatusOK, "Bọla auditor")
	})
	before := o.everything()
	for sentence, tt := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{
		"an address that somebody has": {url.Values{"email": {"BOLA@bank.example"}, "name": {"Kemi"}, "role": {"admin"}}, 409, ""},
		"an address that is none":      {url.Values{"email": {"kemi"}, "name": {"Kemi"}, "role": {"admin"}}, 400, `Email "kemi" is not an e-mail address.`},
		"a role that is none":          {url.Values{"email": {"kemi@bank.example"}, "name": {"Kemi"}, "role": {"root"}}, 400, `"root" is not`},
		"a name that is several lines": {url.Values{"email": {"kemi@bank.example"}, "name": {"Kemi\nadmin"}, "role": {"admin"}}, 400, "is not one line of text"},
	} {
		o.run(t, sentence+" is refused, and keeps what was typed", func(t *testing.T) {
			p := b.post("/settings/people", tt.form).is(tt.status, tt.says)
			back := p.form("/settings/people")
			if back.Get("email") != tt.form.Get("email") || !strings.HasPrefix(back.Get("name"), "Kemi") || o.everything() != before {
				t.Errorf("it came back as %q", back)
			}
		})
	}
	o.run(t, "another role counts with the next request", func(t *testing.T) {
		analyst := o.as(auth.Analyst)
		b.follow(b.post("/settings/people/"+o.people[auth.Analyst].ID, url.Values{"role": {"auditor"}})).is(http.StatusOK, "Analyst Obi is auditor now.")
		if p := analyst.get("/open"); p.leads() != "/sign-in?next=%2Fopen" {
			t.Errorf("the page is %d", p.status)
		}
		b.post("/settings/people/"+o.people[auth.Analyst].ID, url.Values{"role": {"analyst"}}).is(http.StatusSeeOther)
	})
	o.run(t, "access that is taken away is gone, and can be given back", func(t *testing.T) {
		person, approver := "/settings/people/"+o.people[auth.Approver].ID, o.as(auth.Approver)
		b.follow(b.post(person, url.Values{"access": {"off"}})).is(http.StatusOK, "Approver Obi may not sign in any more, and was signed out everywhere.", "Let in again")
		if p := approver.get("/queue"); p.leads() == "" {
			t.Error("the session goes on")
		}
		b.post(person+"/link", nil).is(http.StatusConflict, "Approver Obi may not sign in any more. Let them in again first.")
		b.follow(b.post(person, url.Values{"access": {"on"}})).is(http.StatusOK, "Approver Obi is approver now.")
		link := b.post(person+"/link", nil).is(http.StatusOK).secret()
		again := o.browser()
		again.post(strings.TrimPrefix(link, o.server.URL), nil).is(http.StatusSeeOther)
	})
	o.run(t, "the last admin stays one", func(t *testing.T) {
		before := o.everything()
		for _, form := range []url.Values{{"role": {"analyst"}}, {"access": {"off"}}} {
			b.post("/settings/people/"+o.people[auth.Admin].ID, form).is(http.StatusConflict, "Role is the last admin who may sign in. Make somebody else an admin first.")
		}
		if o.everything() != before {
			t.Error("something was changed")
		}
	})
	o.run(t, "nobody of that id is not found", func(*testing.T) {
		for _, path := range []string{"/settings/people/usr_none", "/settings/people/usr_none/link", "/settings/people/%00"} {
			b.post(path, url.Values{"role": {"admin"}}).is(http.StatusNotFound, "There is nobody of that id.")
		}
	})
	o.run(t, "everybody is listed as they are", func(t *testing.T) {
		rows := b.get("/settings").parse().find("section", "aria-labelledby", "people-title")[0].find("tr")
		if len(rows) != 1+5 {
			t.Errorf("%d people are listed", len(rows)-1)
		}
		if !slices.ContainsFunc(rows, func(e *element) bool {
			return strings.Contains(e.text, "Admin Obi you") && !strings.Contains(e.text, "Take access away")
		}) {
			t.Error("who reads is not marked, or may lock themselves out")
		}
	})
}

func TestTokens(t *testing.T) {
	o := newOffice(t)
	b := o.as(auth.Admin)
	o.run(t, "a token is shown once, and opens the API until it is revoked", func(t *testing.T) {
		p := b.post("/settings/tokens", url.Values{"name": {"Intake <bot>"}, "role": {"auditor"}}).is(http.StatusOK, "Token Intake <bot>", "It is not shown again.")
		token := p.secret()
		if got := o.api(token, "/api/v1/cases"); got != http.StatusOK {
			t.Errorf("the API answers it with %d", got)
		}
		list := b.get("/settings")
		if strings.Contains(list.text, token) {
			t.Error("it is shown again")
		}
		var revoke string
		for _, form := range list.parse().find("form") {
			if strings.Contains(form.text, "Revoke Intake <bot>") {
				revoke = form.attrs["action"]
			}
		}
		b.follow(b.post(revoke, nil)).is(http.StatusOK, "The token is not valid any more.", "revoked")
		if got := o.api(token, "/api/v1/cases"); got != http.StatusUnauthorized {
			t.Errorf("the API answers it with %d", got)
		}
	})
	before := o.everything()
	o.run(t, "a wrong role keeps the name", func(t *testing.T) {
		back := b.post("/settings/tokens", url.Values{"name": {"bot"}, "role": {"root"}}).is(http.StatusBadRequest, `"root" is not`).form("/settings/tokens")
		if back.Get("name") != "bot" {
			t.Errorf("it came back as %q", back)
		}
	})
	o.run(t, "one without a name is refused", func(*testing.T) {
		b.post("/settings/tokens", url.Values{"name": {" "}, "role": {"admin"}}).is(http.StatusBadRequest, "Name is missing.")
	})
	o.run(t, "one that is not there cannot be revoked", func(*testing.T) {
		b.post("/settings/tokens/tok_none/revoke", nil).is(http.StatusNotFound)
	})
	if o.everything() != before {
		t.Error("something was changed")
	}
}
