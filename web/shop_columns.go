package web

import (
	"encoding/json"
	"fmt"
	"slices"

	"countersign"
	"countersign/desk/merchant/connector"
	"countersign/desk/merchant/setup"
)

// columnsScreen asks of each table which columns hold what is read.
type columnsScreen struct {
	shopStep
	Kinds []columnsOf
}

type columnsOf struct {
	Kind, Title, Table string
	Ways               []picked // how a row finds its order; for orders the column that the others mean; empty first while nothing is chosen
	WayTitle           string
	Fields             []columnChoice
}

type columnChoice struct {
	Name, Title string
	Needed      bool
	Columns     []picked
}

func showColumns(w *wizard, status int, p shopStep) error {
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	screen := columnsScreen{shopStep: p}
	for _, k := range w.draft.Mapping.Kinds() {
		ways, err := w.triedWays(k, s)
		if err != nil {
			return err
		}
		if of, ok := w.columnsOf(k, c, ways); ok {
			screen.Kinds = append(screen.Kinds, of)
		} else if screen.Wrong == "" {
			screen.Wrong = "The table of " + plain(kindTitles[k]) + " is not there any more. Choose another."
		}
	}
	return w.draw(status, w.template, screen)
}

// triedWays are the ways from the rows of a kind to their orders, tried on some rows. While the table of orders cannot be read
// there are none, and the page says that with the rest.
func (w *wizard) triedWays(k connector.Kind, s *connector.Shop) ([]connector.Way, error) {
	if k == connector.Order {
		return nil, nil
	}
	ways, err := s.Ways(w.r.Context(), k)
	if countersign.KindOf(err) == countersign.Unprocessed {
		return nil, nil
	}
	return ways, err
}

func (w *wizard) columnsOf(k connector.Kind, c connector.Catalog, ways []connector.Way) (of columnsOf, ok bool) {
	e := w.draft.Mapping.Entities[k]
	t, ok := c.Table(e.Schema, e.Table)
	if !ok {
		return of, false
	}
	of = columnsOf{Kind: string(k), Title: kindTitles[k], Table: tableName(t, c)}
	if k == connector.Order {
		of.WayTitle, of.Ways = "The key that the other tables mean", chosenFirst(columnsIn([]connector.Table{t}, e.Key), "choose a column")
	} else {
		of.WayTitle, of.Ways = "How a row finds its order", chosenFirst(waysOf(e, t, ways), "choose a way: none is certain")
	}
	for _, name := range k.Columns() {
		field := columnChoice{Name: name, Title: fieldTitles[name], Needed: k.Needs(name), Columns: columnsIn(tablesOf(e, t, c), e.Columns[name])}
		if !field.Needed {
			field.Columns = append([]picked{{Title: "the shop does not keep it"}}, field.Columns...)
		} else {
			field.Columns = chosenFirst(field.Columns, "choose a column")
		}
		of.Fields = append(of.Fields, field)
	}
	return of, true
}

// chosenFirst puts before choices of which none is made one that is no answer, so that a browser does not make the first.
func chosenFirst(all []picked, ask string) []picked {
	if slices.ContainsFunc(all, func(p picked) bool { return p.Current }) {
		return all
	}
	return append([]picked{{Title: ask, Current: true}}, all...)
}

// tablesOf are the tables whose columns can be chosen: the records' own first.
func tablesOf(e connector.Entity, own connector.Table, c connector.Catalog) []connector.Table {
	all := []connector.Table{own}
	for _, j := range e.Join {
		if t, ok := c.Table(j.Schema, j.Table); ok {
			all = append(all, t)
		}
	}
	return all
}

// columnsIn lists the columns of tables, those of a joined one with its name before them. A choice that is not there any more is
// among them, so that nothing else looks chosen.
func columnsIn(tables []connector.Table, chosen string) (all []picked) {
	found := chosen == ""
	for i, t := range tables {
		for _, c := range t.Columns {
			name := c.Name
			if i > 0 {
				name = t.Name + "." + c.Name
			}
			found = found || name == chosen
			all = append(all, picked{Value: name, Title: legible(name) + " · " + legible(clip(c.Type)), Current: name == chosen})
		}
	}
	if !found {
		all = append(all, picked{Value: chosen, Title: legible(chosen) + " · not there any more", Current: true})
	}
	return all
}

// waysOf are the ways from a row to its order that were tried, every other column of the table's own, and the way that was chosen.
func waysOf(e connector.Entity, t connector.Table, tried []connector.Way) (all []picked) {
	chosen := wayOf(e)
	found := chosen == wayOf(connector.Entity{})
	add := func(value, title string) {
		if slices.ContainsFunc(all, func(there picked) bool { return there.Value == value }) {
			return
		}
		found = found || value == chosen
		all = append(all, picked{Value: value, Title: title, Current: value == chosen})
	}
	for _, way := range tried {
		says := legible(way.Says)
		if tried := way.Tried; tried.Rows > 0 {
			says = fmt.Sprintf("%d of %d rows lead to an order: %s", tried.Rows-tried.Lost, tried.Rows, says)
		}
		add(wayOf(way.On(connector.Entity{})), says)
	}
	for _, column := range t.Columns {
		add(wayOf(connector.Entity{OrderKey: column.Name}), "by its own column "+legible(column.Name))
	}
	if !found {
		all = append([]picked{{Value: chosen, Title: "as it is now: " + wayInWords(e), Current: true}}, all...)
	}
	return all
}

// way is how a row finds its order, as a form has it.
type way struct {
	OrderKey string          `json:"order_key,omitempty"`
	Join     connector.Joins `json:"join,omitempty"`
}

func wayOf(e connector.Entity) string {
	text, _ := json.Marshal(way{e.OrderKey, e.Join}) // names and nothing else
	return string(text)
}

func wayInWords(e connector.Entity) string {
	if e.OrderKey != "" || len(e.Join) == 0 {
		return "by " + legible(e.OrderKey)
	}
	text := ""
	for _, j := range e.Join {
		text += "over " + legible(j.Table) + ", "
	}
	return text + "by " + legible(e.Join[len(e.Join)-1].OrderKey)
}

// answerColumns keeps the columns that were chosen, if they are in the catalog and no better way to the orders is known.
func answerColumns(w *wizard) error {
	s, c, err := w.connected()
	if err != nil {
		return err
	}
	defer s.Close()
	var missing error
	for _, k := range w.draft.Mapping.Kinds() { // all of them, so that what was chosen stays chosen
		if err := w.takeColumns(k); missing == nil {
			missing = err
		}
	}
	if missing != nil {
		return missing
	}
	if wrong := w.draft.Mapping.Check(c); len(wrong) > 0 {
		return wrong[0]
	}
	if err := setup.Misled(w.r.Context(), w.draft.Mapping); err != nil {
		return err
	}
	return w.next("")
}

func (w *wizard) takeColumns(k connector.Kind) (missing error) {
	e := w.draft.Mapping.Entities[k]
	prefix := string(k) + "."
	if k == connector.Order {
		e.Key = w.exact(prefix + "way")
	} else {
		var chosen way
		if err := json.Unmarshal([]byte(w.exact(prefix+"way")), &chosen); err != nil || chosen.OrderKey == "" && len(chosen.Join) == 0 {
			missing = countersign.Errorf(countersign.Invalid, "missing: which column says whose order it is?").In("entities." + string(k))
		}
		e.OrderKey, e.Join = chosen.OrderKey, chosen.Join
	}
	e.Columns = map[string]string{}
	for _, name := range k.Columns() {
		if column := w.exact(prefix + name); column != "" {
			e.Columns[name] = column
		} else if k.Needs(name) && missing == nil {
			missing = countersign.Errorf(countersign.Invalid, "missing: it cannot be read without").In("entities." + string(k) + ".columns." + name)
		}
	}
	w.draft.Mapping.Entities[k] = e
	return missing
}

// exact is a field of the form as it was sent: a column may be called by blanks.
func (w *wizard) exact(name string) string { return w.r.PostFormValue(name) }
