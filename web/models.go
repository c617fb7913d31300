package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/llm/probe"
	"countersign/llm/roster"
	"countersign/pipeline/budget"
	"countersign/store"
)

// modelsScreen is which models there are, who asks them, and what they may cost.
type modelsScreen struct {
	Environment string // what the environment names, which wins over all of this
	Connections []connectionLine
	Desks       []deskOrder
	Offline     bool
	Budgets     []budgetLine
	Currency    string
	Spending    []spendingLine
	Today       string
	Versions    []rosterLine
	Wrong       map[string]string // by form: order, budgets
}

// connectionLine is one connection in the list.
type connectionLine struct {
	Name, Server, Price, Most string
	Href                      string
	Use                       trialMark
	Asked                     string // by whom
}

// trialMark is what is known of what a server can do.
type trialMark struct{ Glyph, Class, Words string }

// deskOrder is the order in which a desk asks, with the choices of each place.
type deskOrder struct {
	Desk, Title string
	Places      []place
	Now         string // the order in words
}

type place struct {
	Field, Label string
	Choices      []picked
}

type budgetLine struct{ Field, Title, Tokens, Money string }

type spendingLine struct{ Whose, Connection, Answers, Failures, Tokens, Assumed, Cost string }

type rosterLine struct {
	Version int64
	By      string
	Since   moment
	Holds   string
}

func modelsPage(v *visit) error { return v.showModels(http.StatusOK, modelsScreen{}, nil) }

// showModels draws the page from the settings in force, or from what somebody typed of them.
func (v *visit) showModels(status int, p modelsScreen, typed *roster.Roster) error {
	ctx := v.r.Context()
	versions, err := v.Roster.Versions(ctx)
	if err != nil {
		return err
	}
	names, err := v.Store.Names(ctx)
	if err != nil {
		return err
	}
	now, trials, err := v.rosterNow()
	if err != nil {
		return err
	}
	spent, err := v.Store.ModelSpending(ctx, store.Day(v.now))
	if err != nil {
		return err
	}
	who := &file{names: names}
	for _, one := range versions {
		p.Versions = append(p.Versions, rosterLine{one.Number, who.actor(one.CreatedBy), v.moment(one.CreatedAt), many(len(one.Connections), "connection", "connections")})
	}
	p.Spending, p.Today = spendingLines(spent), v.now.UTC().Format("Mon 2 Jan 2006")
	drawn := now
	if typed != nil {
		drawn = *typed
	}
	v.fillModels(&p, now, drawn, trials)
	return v.show(status, "models", screen{Title: "Models", Section: "Settings", Page: p})
}

// rosterNow is the roster in force, an empty one while there is none, and what is known of its servers.
func (v *visit) rosterNow() (roster.Roster, map[string]roster.Trial, error) {
	latest, ok, err := v.Roster.Latest(v.r.Context())
	if err != nil {
		return roster.Roster{}, nil, err
	}
	if !ok {
		return roster.Roster{Offline: true}, nil, nil
	}
	trials, err := v.Roster.Trials(v.r.Context(), latest.Roster)
	return latest.Roster, trials, err
}

// fillModels fills in what does not need the database. Connections are those in force; orders and budgets may be typed ones.
func (v *visit) fillModels(p *modelsScreen, now, drawn roster.Roster, trials map[string]roster.Trial) {
	p.Environment, p.Offline, p.Currency = v.Environment, drawn.Offline, cmp.Or(p.Currency, currencyOf(drawn))
	for _, c := range now.Connections {
		p.Connections = append(p.Connections, connectionLine{Name: c.Name, Server: c.Provider + " · " + legible(c.Model) + " at " + legible(c.BaseURL), Price: priced(c), Most: most(c.MaxCases),
			Href: "/settings/models/connections/" + c.Name, Use: trialMarkOf(c, trials), Asked: askedBy(now, c.Name)})
	}
	for _, desk := range []countersign.DeskName{countersign.Bank, countersign.Merchant} {
		p.Desks = append(p.Desks, orderOf(desk, drawn, now, trials))
	}
	if p.Budgets == nil {
		p.Budgets = budgetLines(drawn.Budgets)
	}
	if p.Wrong == nil {
		p.Wrong = map[string]string{}
	}
}

func currencyOf(r roster.Roster) string {
	for _, l := range []budget.Limit{r.Budgets.Case, r.Budgets.Day, r.Budgets.Desks[countersign.Bank], r.Budgets.Desks[countersign.Merchant]} {
		if l.Money != nil {
			return l.Money.Currency
		}
	}
	for _, c := range r.Connections {
		if c.Price.Set() {
			return c.Price.Currency
		}
	}
	return ""
}

func priced(c roster.Connection) string {
	switch {
	case !c.Price.Set():
		return "not set"
	case c.Price.Free():
		return "costs nothing"
	}
	t := c.Typed()
	text := fmt.Sprintf("%s %s read, %s written", t.Currency, t.Input, t.Output)
	if t.Cached != t.Input {
		text += ", " + t.Cached + " read again"
	}
	return text
}

func most(n int) string {
	if n == 0 {
		return "no limit"
	}
	return count(int64(n))
}

func askedBy(r roster.Roster, name string) string {
	var desks []string
	for _, desk := range []countersign.DeskName{countersign.Bank, countersign.Merchant} {
		if i := slices.Index(r.Desks[desk], name); i >= 0 {
			desks = append(desks, fmt.Sprintf("%s, %s", desk, ordinal(i)))
		}
	}
	if len(desks) == 0 {
		return "by no desk"
	}
	return strings.Join(desks, "; ")
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

func ordinal(i int) string {
	if i < len(ordinals) {
		return ordinals[i]
	}
	return fmt.Sprintf("number %d", i+1)
}

// useWords say what a server is good for, as far as a trial of it tells.
var useWords = map[probe.Use]trialMark{
	probe.Ready:    {"✓", "intact", "ready"},
	probe.Limited:  {"?", "soon", "ready, with limits"},
	probe.Unusable: {"✗", "late", "cannot investigate"},
	probe.Unclear:  {"?", "soon", "did not answer when it was tried"},
}

func trialMarkOf(c roster.Connection, trials map[string]roster.Trial) trialMark {
	if c.Lost != nil {
		return trialMark{"!", "late", "enter the key again"}
	}
	t, tried := trials[c.Name]
	if !tried {
		return trialMark{"?", "soon", "not tried yet"}
	}
	if mark, known := useWords[t.Report.Verdict.Use]; known {
		return mark
	}
	return trialMark{"?", "soon", "not known"}
}

var deskTitles = map[countersign.DeskName]string{countersign.Bank: "The bank's desk", countersign.Merchant: "The merchant's desk"}

// mostPlaces is how many places of an order a form shows, where there are more connections than anybody would wait for.
const mostPlaces = 5

func orderOf(desk countersign.DeskName, drawn, now roster.Roster, trials map[string]roster.Trial) deskOrder {
	d := deskOrder{Desk: string(desk), Title: deskTitles[desk], Now: inOrderOf(now, desk)}
	chosen := drawn.Desks[desk]
	for i := range max(min(len(now.Connections), mostPlaces), len(chosen)) {
		p := place{Field: fmt.Sprintf("%s-%d", desk, i), Label: capital(ordinal(i)), Choices: []picked{{Title: "nobody"}}}
		for _, c := range now.Connections {
			title := c.Name
			if mark := trialMarkOf(c, trials); mark.Words != "ready" {
				title += " (" + mark.Words + ")"
			}
			p.Choices = append(p.Choices, picked{Value: c.Name, Title: title, Current: i < len(chosen) && chosen[i] == c.Name})
		}
		d.Places = append(d.Places, p)
	}
	return d
}

// inOrderOf is who investigates a desk's cases, in words.
func inOrderOf(r roster.Roster, desk countersign.DeskName) string {
	names := slices.Clone(r.Desks[desk])
	switch {
	case len(names) == 0:
		return "the offline reviewer: fixed rules, no AI"
	case r.Offline:
		names = append(names, "the offline reviewer")
	default:
		names = append(names, "a person")
	}
	return strings.Join(names, ", then ")
}

var budgetTitles = []struct{ field, title string }{{"case", "Each case"}, {"day", "All cases of a day"}, {"bank", "The bank's cases of a day"}, {"merchant", "The merchant's cases of a day"}}

func budgetLines(b budget.Budgets) (all []budgetLine) {
	limits := []budget.Limit{b.Case, b.Day, b.Desks[countersign.Bank], b.Desks[countersign.Merchant]}
	for i, of := range budgetTitles {
		line := budgetLine{Field: of.field, Title: of.title}
		if limits[i].Tokens > 0 {
			line.Tokens = count(limits[i].Tokens)
		}
		if m := limits[i].Money; m != nil {
			_, line.Money, _ = strings.Cut(m.String(), " ")
		}
		all = append(all, line)
	}
	return all
}

func spendingLines(spent []store.ModelSpending) (all []spendingLine) {
	for _, m := range spent {
		line := spendingLine{Whose: cmp.Or(deskTitles[m.Desk], "Trials"), Connection: legible(m.Connection), Answers: count(m.Answers), Failures: count(m.Failures),
			Tokens: count(countersign.AddCounts(m.Input, m.Output)), Assumed: count(m.Assumed), Cost: "no price is set"}
		if m.Cost.Currency != "" {
			line.Cost = m.Cost.String()
		}
		all = append(all, line)
	}
	return all
}

// postModelOrder keeps in which order each desk asks, and whether the offline reviewer goes on.
func postModelOrder(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	now, _, err := v.rosterNow()
	if err != nil {
		return err
	}
	typed := now
	typed.Desks, typed.Offline = map[countersign.DeskName][]string{}, v.form("offline") == "on"
	for _, desk := range []countersign.DeskName{countersign.Bank, countersign.Merchant} {
		for i := range 50 {
			if name := v.form(fmt.Sprintf("%s-%d", desk, i)); name != "" {
				typed.Desks[desk] = append(typed.Desks[desk], name)
			}
		}
	}
	_, err = v.Roster.Save(v.r.Context(), roster.Rule(func(r *roster.Roster) { r.Desks, r.Offline = typed.Desks, typed.Offline }), v.who.Actor)
	if err != nil {
		return v.modelsAgain(err, "order", modelsScreen{}, &typed)
	}
	return v.back("/settings/models", "The order is kept, and is asked in from the next case on.")
}

// postModelBudgets keeps what models may use.
func postModelBudgets(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	var b budget.Budgets
	p := modelsScreen{Currency: strings.ToUpper(v.form("currency"))}
	var wrong error
	for _, of := range budgetTitles {
		line := budgetLine{of.field, of.title, v.form(of.field + "-tokens"), v.form(of.field + "-money")}
		p.Budgets = append(p.Budgets, line)
		limit, err := roster.TypedLimit(strings.ToLower(of.title), line.Tokens, line.Money, p.Currency)
		wrong = errors.Join(wrong, err)
		switch of.field {
		case "case":
			b.Case = limit
		case "day":
			b.Day = limit
		default:
			if !limit.None() {
				if b.Desks == nil {
					b.Desks = map[countersign.DeskName]budget.Limit{}
				}
				b.Desks[countersign.DeskName(of.field)] = limit
			}
		}
	}
	if wrong == nil {
		_, wrong = v.Roster.Save(v.r.Context(), roster.Rule(func(r *roster.Roster) { r.Budgets = b }), v.who.Actor)
	}
	if wrong != nil {
		return v.modelsAgain(wrong, "budgets", p, nil)
	}
	return v.back("/settings/models", "The budgets are kept, and hold for every call from now on.")
}

// modelsAgain shows the page with what was wrong beside its form; an error that is not for the form goes on.
func (v *visit) modelsAgain(err error, form string, p modelsScreen, typed *roster.Roster) error {
	e := answer.Told(err)
	if e == nil || e.Kind == countersign.Unavailable {
		return err
	}
	p.Wrong = map[string]string{form: ofModels(e)}
	return v.showModels(answer.Status(e.Kind), p, typed)
}

// placed is where a file of settings has a field; a page has it in sight.
var placed = regexp.MustCompile(`^(connections?(\[\d+\])?|desks|budgets)\.`)

// ofModels is an error of the settings as a sentence of a page.
func ofModels(e *countersign.Error) string {
	plainly := *e
	plainly.Field = strings.NewReplacer(".", ", ", "_", " ", "[", ", place ", "]", "").Replace(placed.ReplaceAllString(e.Field, ""))
	return advised(&plainly)
}
