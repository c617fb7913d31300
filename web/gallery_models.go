package web

import (
	"countersign"
	"countersign/llm/probe"
	"countersign/llm/roster"
	"countersign/pipeline/budget"
	"countersign/secret"
	"countersign/store"
)

// hosted and local are two connections as a bank may have them.
func hosted() roster.Connection {
	c, _ := roster.Typed{Name: "hosted", Provider: "anthropic", BaseURL: "https://models.example.com/v1", Model: "desk-model-1", MaxCases: "32", Key: "invented",
		Currency: "USD", Input: "3.00", Cached: "0.30", Output: "15.00"}.Connection()
	return c
}

func local() roster.Connection {
	c, _ := roster.Typed{Name: "local", Provider: "openai", BaseURL: "http://10.20.0.7:8000/v1", Model: "an-organisation/a-model-with-a-very-long-name-instruct-fp8", Total: "90s",
		Currency: "USD", Input: "0", Output: "0"}.Connection()
	return c
}

// invented are the settings of the samples.
func inventedRoster() roster.Roster {
	money := func(minor int64) *countersign.Money { return &countersign.Money{Minor: minor, Currency: "USD"} }
	return roster.Roster{Connections: []roster.Connection{hosted(), local()}, Offline: true,
		Desks:   map[countersign.DeskName][]string{countersign.Bank: {"hosted", "local"}, countersign.Merchant: {"local"}},
		Budgets: budget.Budgets{Case: budget.Limit{Tokens: 400_000}, Day: budget.Limit{Money: money(20_00)}, Desks: map[countersign.DeskName]budget.Limit{countersign.Merchant: {Tokens: 2_000_000, Money: money(5_00)}}}}
}

// trialOfHosted found a server that is good for everything, trialOfLocal one that is not.
func trialOfHosted() roster.Trial {
	t := roster.Trial{Provider: hosted().Provider, BaseURL: hosted().BaseURL, Model: hosted().Model, At: galleryTime.AddDate(0, 0, -3), By: "person:" + anAdmin.PersonID}
	t.Report.Verdict = probe.Verdict{Use: probe.Ready, Says: "The model can investigate cases."}
	t.Report.Cost = probe.Cost{Calls: 7, Attempts: 7, Input: 29_480, Output: 512}
	for _, what := range []probe.What{probe.ToolCalls, probe.ForcedTool, probe.StrictSchema, probe.SeveralCalls, probe.ToolResults, probe.LongContext, probe.Usage} {
		t.Report.Findings = append(t.Report.Findings, probe.Finding{What: what, Result: probe.OK, Says: "It does."})
	}
	return t
}

func trialOfLocal() roster.Trial {
	t := trialOfHosted()
	t.Provider, t.BaseURL, t.Model = local().Provider, local().BaseURL, local().Model
	t.Report.Verdict = probe.Verdict{Use: probe.Limited, Says: "The model can investigate cases, and some will go to a person for its sake."}
	t.Report.Findings = append([]probe.Finding(nil), t.Report.Findings...)
	t.Report.Findings[1] = probe.Finding{What: probe.ForcedTool, Result: probe.No, Says: "It was asked for one tool and answered in words.", Try: "Nothing depends on it; a model that does not decide in its last turn is left to a person."}
	t.Report.Findings[5] = probe.Finding{What: probe.LongContext, Result: probe.No, Says: "The first message of a conversation of 16,000 tokens did not arrive.", Try: "Start the server with a larger context."}
	t.Report.Findings[6] = probe.Finding{What: probe.Usage, Result: probe.Unknown, Says: "It reports no tokens, so they are estimated for budgets."}
	return t
}

// models are the pages of the model connections.
func (g *gallery) models() {
	v := g.visit(anAdmin)
	page := func(state, address string, p modelsScreen, now roster.Roster, trials map[string]roster.Trial) {
		p.Today = galleryTime.UTC().Format("Mon 2 Jan 2006")
		v.fillModels(&p, now, now, trials)
		g.asking(v, "models", state, address, "Models", p)
	}
	page("no model is connected", "/settings/models", modelsScreen{}, roster.Roster{Offline: true}, nil)
	now, trials := inventedRoster(), map[string]roster.Trial{"hosted": trialOfHosted(), "local": trialOfLocal()}
	used := modelsScreen{Versions: []rosterLine{{2, anAdmin.Name, v.moment(galleryTime.AddDate(0, 0, -3)), "2 connections"}, {1, "root on the command line", v.moment(galleryTime.AddDate(0, -1, 0)), "1 connection"}},
		Spending: spendingLines([]store.ModelSpending{
			{Connection: "local", Answers: 7, Attempts: 7, Assumed: 29_992, Cost: countersign.Cost{Currency: "USD"}},
			{Desk: countersign.Bank, Connection: "hosted", Answers: 1_204, Failures: 3, Input: 3_650_110, Output: 201_448, Assumed: 9_120, Cost: countersign.Cost{Micro: 14_001_233, Currency: "USD"}},
			{Desk: countersign.Merchant, Connection: "local", Answers: 96, Failures: 0, Input: 410_020, Output: 30_871, Cost: countersign.Cost{Currency: "USD"}},
		})}
	page("two in order, with budgets", "", used, now, trials)
	lost := inventedRoster()
	lost.Connections[0].Key, lost.Connections[0].Lost = "", otherKey()
	page("a key of another master key, and one that was not tried", "", used, lost, nil)
	environment := used
	environment.Environment = "desk-model-2 at https://models.bank.example/v1."
	page("the environment wins", "", environment, now, trials)
	wrong := used
	wrong.Wrong = map[string]string{"order": ofModels(countersign.Errorf(countersign.Invalid, "\"hosted\" is there twice; expected each connection once").In("desks.bank[1]")),
		"budgets": ofModels(countersign.Errorf(countersign.Invalid, "\"plenty\" is no number above 0; expected one such as 2,000,000, or nothing for no limit").In("each case.tokens"))}
	wrong.Budgets = budgetLines(now.Budgets)
	wrong.Budgets[0].Tokens = "plenty"
	page("wrong input", "", wrong, now, trials)
	g.modelConnections(v)
}

// otherKey is the error of a key that was sealed under another master key.
func otherKey() error {
	_, err := secret.Key{}.Open("key of the model connection hosted at https://models.example.com/v1", "sealed:1:8f31c2d07ab94e15:AAAA")
	return err
}

func (g *gallery) modelConnections(v *visit) {
	page := func(state, address string, p connectionScreen) {
		for _, provider := range roster.Providers {
			p.Providers = append(p.Providers, picked{Value: provider, Title: providerTitles[provider], Current: provider == p.Typed.Provider})
		}
		s := screen{Title: "A model connection", Section: "Settings", Page: p}
		g.hang(v, "models_connection", state, address, s)
	}
	page("a new one", "/settings/models/connections", connectionScreen{New: true, Typed: roster.Typed{Provider: "openai"}})
	who := &file{names: colleagues}
	kept := connectionScreen{Name: "hosted", Typed: hosted().Typed(), HasKey: true, Asked: "bank, first", Trial: v.trialPanel(trialOfHosted(), who)}
	page("ready", "/settings/models/connections/hosted", kept)
	limited := connectionScreen{Name: "local", Typed: local().Typed(), Asked: "bank, second; merchant, first", Trial: v.trialPanel(trialOfLocal(), who)}
	page("ready, with limits", "", limited)
	fresh := kept
	fresh.Asked, fresh.Trial = "by no desk", nil
	page("not tried yet", "", fresh)
	trying := fresh
	trying.Trying, trying.Took = true, "12 s"
	page("being tried", "", trying)
	lost := kept
	lost.Trial = nil
	lost.Lost, _ = explained(otherKey())
	lost.Failed = lost.Lost
	page("a key of another master key", "", lost)
	wrong := connectionScreen{New: true, Typed: roster.Typed{Name: "Hosted Model", Provider: "openai", BaseURL: "models.example.com", Model: "desk-model-1", Currency: "US$", Input: "3,00", Output: "15"}}
	wrong.Wrong = ofModels(countersign.Errorf(countersign.Invalid, "\"Hosted Model\" is no name; expected up to 40 small letters, digits, dots, dashes and underscores").In("connections[2].name"))
	page("wrong input", "", wrong)
	g.asking(v, "models_remove", "to be confirmed", "/settings/models/connections/hosted/remove", "Remove hosted", connectionScreen{Name: "hosted", Typed: hosted().Typed(), Asked: "bank, first"})
}
