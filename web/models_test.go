package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"countersign"
	"countersign/auth"
	chromium "countersign/internal/browser"
	"countersign/llm/roster"
)

// talker is a real model server that answers whatever it is asked in words, and repeats the key that it was sent.
func talker(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := json.Marshal("I was called with " + r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"content":%s}}],"usage":{"prompt_tokens":500,"completion_tokens":9}}`, text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

const modelKey = "sk-canary-of-the-form"

// connection is the form of a new connection, filled in.
func connectionForm(address string) url.Values {
	return url.Values{"name": {"hosted"}, "provider": {"openai"}, "base_url": {address}, "model": {"desk-model-1"}, "key": {modelKey},
		"currency": {"usd"}, "input": {"3"}, "output": {"15.00"}}
}

func (o *office) roster() roster.Version {
	o.t.Helper()
	v, _, err := o.Roster.Latest(o.t.Context())
	o.must(err)
	return v
}

func TestModelsInTheSettings(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.as(auth.Admin)
	const at = "/settings/models/connections"
	var shown strings.Builder
	see := func(p page) page { shown.WriteString(p.text); return p }
	o.run(t, "what was typed wrongly comes back, and nothing is kept", func(t *testing.T) {
		for field, value := range map[string]string{"name": "Hosted Model", "base_url": "models.example.com", "input": "3,00", "currency": "US$", "max_cases": "many", "total": "soon"} {
			form := with(connectionForm("http://127.0.0.1:1/v1"), field, value)
			p := see(b.post(at, form).is(http.StatusBadRequest, "xpected"))
			if back := p.form(at); !strings.EqualFold(back.Get(field), value) || back.Get("key") != "" {
				t.Errorf("%s came back as %q, the key as %q", field, back.Get(field), back.Get("key"))
			}
		}
		if v := o.roster(); v.Number != 0 {
			t.Errorf("version %d was kept", v.Number)
		}
	})
	o.run(t, "a connection is kept at once, tried meanwhile, and asked by nobody", func(t *testing.T) {
		b.post(at, connectionForm(talker(t))).is(http.StatusSeeOther)
		c, _ := o.roster().Connection("hosted")
		if c.Key != modelKey || c.Price.Currency != "USD" || len(o.roster().Of(countersign.Bank)) != 0 {
			t.Errorf("it was kept as %+v", c)
		}
		see(b.settled(at+"/hosted")).is(http.StatusOK, "cannot investigate", "Tool calls.", "by no desk")
		see(b.get("/settings/models")).is(http.StatusOK, "cannot investigate", "Trials")
	})
	o.run(t, "a name that is there is not taken twice, and an address asks for the key again", func(t *testing.T) {
		see(b.post(at, connectionForm("http://127.0.0.1:1/v1"))).is(http.StatusBadRequest, "is there already")
		see(b.post(at+"/hosted", with(connectionForm("http://thief.example.com/v1"), "key", ""))).is(http.StatusBadRequest, "expected the key again")
		if c, _ := o.roster().Connection("hosted"); strings.Contains(c.BaseURL, "thief") {
			t.Error("it was kept")
		}
	})
	o.run(t, "the order and the budgets are kept with who made them", func(t *testing.T) {
		see(b.post("/settings/models/order", url.Values{"bank-0": {"hosted"}, "bank-1": {"hosted"}})).is(http.StatusBadRequest, "is there twice")
		b.post("/settings/models/order", url.Values{"bank-0": {"hosted"}, "offline": {"on"}}).is(http.StatusSeeOther)
		see(b.post("/settings/models/budgets", url.Values{"day-money": {"plenty"}, "currency": {"USD"}})).is(http.StatusBadRequest, "plenty")
		see(b.post("/settings/models/budgets", url.Values{"day-money": {"20.00"}, "currency": {"EUR"}})).is(http.StatusBadRequest, "one currency")
		b.post("/settings/models/budgets", url.Values{"day-money": {"20.00"}, "currency": {"usd"}, "case-tokens": {"400,000"}}).is(http.StatusSeeOther)
		v := o.roster()
		if !v.Offline || len(v.Of(countersign.Bank)) != 1 || v.Budgets.Day.Money.Minor != 20_00 || v.Budgets.Case.Tokens != 400_000 || v.CreatedBy != "person:"+o.people[auth.Admin].ID {
			t.Errorf("kept: %+v by %s", v.Roster, v.CreatedBy)
		}
		see(b.get("/settings")).is(http.StatusOK, "hosted, then the offline reviewer")
		if form := see(b.get("/settings/models")).form("/settings/models/budgets"); form.Get("case-tokens") != "400,000" || form.Get("day-money") != "20.00" || form.Get("currency") != "USD" {
			t.Errorf("the form holds %v", form)
		}
	})
	o.run(t, "it is removed after a question, and its key is forgotten", func(t *testing.T) {
		see(b.get(at+"/hosted/remove")).is(http.StatusOK, "forget its key")
		b.post(at+"/hosted/remove", nil).is(http.StatusSeeOther)
		row, _, err := o.Store.ModelSettings(t.Context())
		if err != nil || len(row.Keys) != 0 || len(o.roster().Connections) != 0 {
			t.Errorf("%v: kept is %+v", err, row)
		}
	})
	if strings.Contains(shown.String(), modelKey) || strings.Contains(o.log.String(), modelKey) {
		t.Error("the key is on a page or in the log")
	}
}

func TestAModelIsConnectedInABrowser(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	s := o.sits(auth.Admin, chromium.Options{})
	s.comesIn()
	s.opens("/settings")
	s.ClickText("Models, their order and their budgets")
	s.See("the offline reviewer: fixed rules, no AI, no network")
	s.ClickText("Add a connection")
	for field, text := range map[string]string{"#name": "hosted", "#base_url": talker(t), "#model": "desk-model-1", "#key": modelKey, "#price-currency": "USD", "#input": "3", "#output": "15"} {
		s.Type(field, text)
	}
	s.ClickText("Keep the connection")
	s.See("Kept. Its server is being asked what it can do.")
	s.See("cannot investigate")
	s.opens("/settings/models")
	s.Choose("#bank-0", "hosted (cannot investigate)")
	s.ClickText("Keep the order")
	s.See("now hosted, then the offline reviewer")
	s.goes()
}
