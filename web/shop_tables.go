package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/desk/merchant/connector"
)

// tablesScreen offers what a shop's tables look like, and lets a person choose them one by one.
type tablesScreen struct {
	shopStep
	Suggestions []suggestionPanel
	Kinds       []tableChoice
	Found       string   // how many tables there are
	Files       []string // how exported files were read
}

type suggestionPanel struct {
	Value, Title string
	RestsOn      []string
	Caveats      []string
	Tables       []kindLine
}

type tableChoice struct {
	Kind, Title, About string
	Tables             []picked
	Needed             bool
}

func showTables(w *wizard, status int, p shopStep) error {
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	screen := tablesScreen{shopStep: p, Files: w.draft.Files, Found: many(len(c.Tables), "table that this role may read", "tables that this role may read")}
	for i, suggestion := range connector.Suggest(c) {
		screen.Suggestions = append(screen.Suggestions, panelOfSuggestion(i, suggestion))
	}
	chosen := w.draft.Mapping.Entities
	if len(chosen) == 0 && len(screen.Suggestions) > 0 {
		chosen = connector.Suggest(c)[0].Mapping.Entities
	}
	for _, k := range connector.Kinds {
		screen.Kinds = append(screen.Kinds, tableChoiceOf(k, chosen, c))
	}
	return w.draw(status, w.template, screen)
}

func panelOfSuggestion(i int, s connector.Suggestion) suggestionPanel {
	p := suggestionPanel{Value: strconv.Itoa(i), Title: "By names and keys alone", Caveats: s.Caveats}
	if s.Platform != "" {
		p.Title = "It looks like " + s.Platform
	}
	for _, reason := range s.RestsOn {
		p.RestsOn = append(p.RestsOn, stopped(capital(reason)))
	}
	for _, k := range connector.Kinds {
		if e, ok := s.Mapping.Entities[k]; ok {
			p.Tables = append(p.Tables, kindLine{kindTitles[k], legible(e.Table), ""})
		} else {
			p.Tables = append(p.Tables, kindLine{kindTitles[k], "", "none found"})
		}
	}
	return p
}

func tableChoiceOf(k connector.Kind, all map[connector.Kind]connector.Entity, c connector.Catalog) tableChoice {
	t := tableChoice{Kind: string(k), Title: kindTitles[k], About: kindAbout[k], Needed: k == connector.Order}
	e, mapped := all[k]
	chosen, found := c.Table(e.Schema, e.Table)
	t.Tables = append(t.Tables, picked{Value: "", Title: "not in this database"})
	for _, table := range c.Tables {
		t.Tables = append(t.Tables, picked{Value: tableValue(table), Title: tableName(table, c), Current: mapped && found && table.Schema == chosen.Schema && table.Name == chosen.Name})
	}
	return t
}

// tableValue names a table in a form, whatever letters are in its name.
func tableValue(t connector.Table) string {
	return url.PathEscape(t.Schema) + "/" + url.PathEscape(t.Name)
}

// tableName has the schema before it only where there are several.
func tableName(t connector.Table, c connector.Catalog) string {
	if slices.ContainsFunc(c.Tables, func(other connector.Table) bool { return other.Schema != t.Schema }) {
		return legible(t.Schema + "." + t.Name)
	}
	return legible(t.Name)
}

// answerTables takes one of the suggestions whole, or the tables that were chosen.
func answerTables(w *wizard) error {
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	if value := w.form("suggestion"); value != "" {
		return w.takeSuggestion(value, c)
	}
	entities := map[connector.Kind]connector.Entity{}
	for _, k := range connector.Kinds {
		if err := w.takeTable(k, c, entities); err != nil {
			return err
		}
	}
	w.draft.Mapping.Entities = entities
	if _, ok := entities[connector.Order]; !ok {
		return countersign.Errorf(countersign.Invalid, "missing: without the table of orders nothing can be found").In("entities.order").Try("choose the table that has a row for each order")
	}
	if err := w.findOrders(); err != nil {
		return err
	}
	return w.next("")
}

// findOrders chooses a way to the orders for each kind that has none, or one that its rows speak against: the first for which
// there is a reason. Where there is none, it is left to the person.
func (w *wizard) findOrders() error {
	s, _, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	for _, k := range w.draft.Mapping.Kinds() {
		ways, err := w.triedWays(k, s)
		if err != nil {
			return err
		}
		e := w.draft.Mapping.Entities[k]
		if k == connector.Order || wayOf(e) != wayOf(connector.Entity{}) && !against(e, ways) {
			continue
		}
		e.OrderKey, e.Join = "", nil
		if i := slices.IndexFunc(ways, connector.Way.Likely); i >= 0 {
			e = ways[i].On(e)
		}
		w.draft.Mapping.Entities[k] = e
	}
	return nil
}

// against reports whether rows were followed along an entity's way and none led to an order.
func against(e connector.Entity, ways []connector.Way) bool {
	i := slices.IndexFunc(ways, func(w connector.Way) bool { return wayOf(w.On(e)) == wayOf(e) })
	return i >= 0 && ways[i].Tried.Rows > 0 && !ways[i].Leads()
}

func (w *wizard) takeSuggestion(value string, c connector.Catalog) error {
	all := connector.Suggest(c)
	i, err := strconv.Atoi(value)
	if err != nil || i < 0 || i >= len(all) {
		return countersign.Errorf(countersign.Conflict, "the shop's tables have changed since this page was opened").Try("look at the suggestions again")
	}
	m := all[i].Mapping
	m.Name, m.Driver, m.DSN, m.Currency = w.draft.Mapping.Name, w.draft.Mapping.Driver, w.draft.Mapping.DSN, w.draft.Mapping.Currency
	if all[i].Platform == "" { // names say nothing about a clock
		m.Zone = w.draft.Mapping.Zone
	}
	w.draft.Mapping, w.draft.Platform = m, all[i].Platform
	if err := w.findOrders(); err != nil {
		return err
	}
	return w.next("")
}

// takeTable keeps what is known of a table that was chosen before, and guesses the columns of another.
func (w *wizard) takeTable(k connector.Kind, c connector.Catalog, entities map[connector.Kind]connector.Entity) error {
	value := w.form(string(k))
	if value == "" {
		return nil
	}
	table, ok := tableOf(c, value)
	if !ok {
		return countersign.Errorf(countersign.Conflict, "the table is not there any more").In("entities." + string(k)).Try("choose another")
	}
	e, mapped := w.draft.Mapping.Entities[k]
	if before, found := c.Table(e.Schema, e.Table); mapped && found && before.Schema == table.Schema && before.Name == table.Name {
		entities[k] = e
		return nil
	}
	entities[k] = guessed(k, table)
	return nil
}

func tableOf(c connector.Catalog, value string) (connector.Table, bool) {
	schema, name, _ := strings.Cut(value, "/")
	for _, t := range c.Tables {
		if url.PathEscape(t.Schema) == schema && url.PathEscape(t.Name) == name {
			return t, true
		}
	}
	return connector.Table{}, false
}

// guessed is an entity for a table that somebody chose: its columns by their names, and no way to its orders yet.
func guessed(k connector.Kind, t connector.Table) connector.Entity {
	e := connector.EntityOf(k, t)
	if k == connector.Order {
		e.Key = connector.KeyOf(t)
	}
	return e
}
