package web

import (
	"encoding/json"
	"slices"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// statesScreen asks what the statuses that are really there mean, and which rows count at all. What nobody sorts stays unknown,
// and an order with an unknown status goes to a person.
type statesScreen struct {
	shopStep
	Kinds []statesOf
}

type statesOf struct {
	Kind, Title, Table, Column string
	Values                     []valueLine
	Another                    []picked // what a status may mean that no row has yet
	More                       bool     // there are others, too many to sort
	Failed                     string   // why they could not be looked through
	Means                      string   // what every row that counts means, where there is no status
	ByDates                    bool     // a parcel's dates say how far it is
	Where                      []whereChoice
	MustChoose                 bool
}

// valueLine is one status, and what it means. The form sends it back as it is; Text is for reading.
type valueLine struct {
	N, Value, Count string
	Means           []picked
}

// Text is the status as it can be read.
func (l valueLine) Text() string { return legible(l.Value) }

type whereChoice struct {
	Value, Title string
	Chosen       bool
}

// mostValues is how many different statuses a person is asked to sort. A column with more is not one of statuses.
const mostValues = 40

func showStates(w *wizard, status int, p shopStep) error {
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	screen := statesScreen{shopStep: p}
	for _, k := range w.draft.Mapping.Kinds() {
		of, err := w.statesOf(k, s, c)
		if err != nil {
			return err
		}
		if k != connector.Order || len(of.Where) > 0 {
			screen.Kinds = append(screen.Kinds, of)
		}
	}
	return w.draw(status, w.template, screen)
}

func (w *wizard) statesOf(k connector.Kind, s *connector.Shop, c connector.Catalog) (of statesOf, err error) {
	e := w.draft.Mapping.Entities[k]
	own, _ := c.Table(e.Schema, e.Table)
	of = statesOf{Kind: string(k), Title: kindTitles[k], Table: tableName(own, c), Where: wheres(k, e, own)}
	if k == connector.Order {
		return of, nil
	}
	column, named := e.Columns["status"]
	if !named {
		of.ByDates = k == connector.Fulfillment
		of.Means = meanings[string(without[k])]
		of.MustChoose = k == connector.Payment || k == connector.Refund
		return of, nil
	}
	of.Column = legible(column)
	for _, list := range k.States() {
		of.Another = append(of.Another, picked{Value: list, Title: meanings[list]})
	}
	return of, w.sortable(&of, k, e, column, s)
}

// sortable looks the statuses up that are there, and adds those that the mapping already sorts and that no row has now.
func (w *wizard) sortable(of *statesOf, k connector.Kind, e connector.Entity, column string, s *connector.Shop) error {
	schema, table, name := e.Holds(column)
	values, more, err := s.Values(w.r.Context(), schema, table, name, mostValues)
	of.More = more
	if err != nil {
		said := answer.Told(err)
		if said == nil {
			return err
		}
		of.Failed = inWords(said)
	}
	seen := map[string]bool{}
	for _, v := range values {
		if v.Empty || v.Text == "" {
			continue // it means nothing, and never will
		}
		seen[v.Text] = true
		of.add(k, e, v.Text, many(int(v.Count), "row", "rows"))
	}
	for _, list := range k.States() {
		for _, text := range e.States[list] {
			if !seen[text] {
				seen[text] = true
				of.add(k, e, text, "in no row now")
			}
		}
	}
	return nil
}

func (of *statesOf) add(k connector.Kind, e connector.Entity, text, rows string) {
	line := valueLine{N: of.Kind + "-" + count(int64(len(of.Values)+1)), Value: text, Count: rows}
	for _, list := range k.States() {
		line.Means = append(line.Means, picked{Value: list, Title: meanings[list], Current: slices.Contains(e.States[list], text)})
	}
	of.Values = append(of.Values, line)
}

// wheres are the rules by which a row may not count: those that the mapping has, and those that the table's columns suggest. A
// kind whose rows all count says so by its id.
func wheres(k connector.Kind, e connector.Entity, own connector.Table) (all []whereChoice) {
	add := func(c connector.Condition, chosen bool) {
		text, _ := json.Marshal(c) // names and texts, nothing else
		if !slices.ContainsFunc(all, func(there whereChoice) bool { return there.Value == string(text) }) {
			all = append(all, whereChoice{string(text), ruleWords(c, e), chosen})
		}
	}
	for _, c := range e.Where {
		add(c, true)
	}
	for _, c := range connector.Rules(own) {
		add(c, false)
	}
	if _, named := e.Columns["status"]; !named && (k == connector.Payment || k == connector.Refund) {
		add(connector.Condition{Column: e.Columns["id"], NotNull: true}, false)
	}
	return all
}

func ruleWords(c connector.Condition, e connector.Entity) string {
	switch column := legible(c.Column); {
	case c.NotNull && c.Column == e.Columns["id"]:
		return "every row counts"
	case c.IsNull:
		return "only rows where " + column + " is empty"
	case c.NotNull:
		return "only rows where " + column + " is set"
	default:
		return "only rows where " + column + " is " + legible(*c.Equals)
	}
}

// answerStates keeps what was sorted, and which rows count.
func answerStates(w *wizard) error {
	for _, k := range w.draft.Mapping.Kinds() {
		if err := w.takeStates(k); err != nil {
			return err
		}
	}
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := setup.Faults(w.draft.Mapping, c); err != nil {
		return err
	}
	return w.next("")
}

func (w *wizard) takeStates(k connector.Kind) error {
	e := w.draft.Mapping.Entities[k]
	prefix := string(k) + "."
	e.Where = nil
	for _, text := range w.r.PostForm[prefix+"where"] {
		var c connector.Condition
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return countersign.Errorf(countersign.Invalid, "a rule cannot be read; nothing was changed").Try("open the page again")
		}
		e.Where = append(e.Where, c)
	}
	e.States = nil
	means := w.r.PostForm[prefix+"means"]
	for i, text := range w.r.PostForm[prefix+"value"] {
		if i < len(means) && slices.Contains(k.States(), means[i]) && strings.TrimSpace(text) != "" {
			if e.States == nil {
				e.States = map[string][]string{}
			}
			e.States[means[i]] = append(e.States[means[i]], text)
		}
	}
	w.draft.Mapping.Entities[k] = e
	return nil
}
