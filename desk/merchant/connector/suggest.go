package connector

import (
	"fmt"
	"maps"
	"slices"
)

// Suggestion is a mapping that may fit a shop, to be looked at by a person: nothing uses one by itself.
type Suggestion struct {
	Platform string // whose tables they look like; empty when only names, types and keys were to go by
	RestsOn  []string
	Caveats  []string // what is easily misread in such a shop
	Mapping  Mapping  // without name and DSN; it may lack what only a person knows
}

// Suggest proposes mappings for a catalog, the likeliest first. The last, if there is a table of orders at all, is put together
// from names, types and keys alone.
func Suggest(c Catalog) (all []Suggestion) {
	for _, p := range platforms {
		if s, ok := p.fit(c); ok {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Suggestion) int { return len(b.Mapping.Entities) - len(a.Mapping.Entities) })
	if s, ok := byNames(c); ok {
		all = append(all, s)
	}
	return all
}

// Missing says which kinds of record a suggestion has nothing for.
func (s Suggestion) Missing() (kinds []Kind) {
	for _, k := range Kinds {
		if _, ok := s.Mapping.Entities[k]; !ok {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// byNames goes through the kinds and takes for each the table whose name and columns fit best.
func byNames(c Catalog) (Suggestion, bool) {
	s := Suggestion{Mapping: Mapping{Driver: c.Driver, Zone: "UTC", Entities: map[Kind]Entity{}}}
	orders, ok := likeliest(c, Order)
	if !ok {
		return s, false
	}
	e := EntityOf(Order, orders)
	e.Key = KeyOf(orders)
	s.take(Order, e, fmt.Sprintf("orders are in %s: its name says so, and %s tells its rows apart", shown(orders.Name), shown(e.Key)))
	for _, k := range Kinds[1:] {
		table, ok := likeliest(c, k)
		if !ok {
			continue
		}
		ways := Ways(c, table, orders, e.Key)
		if len(ways) == 0 {
			continue
		}
		s.take(k, ways[0].On(EntityOf(k, table)), fmt.Sprintf("%s are in %s: %s", k.plural(), shown(table.Name), ways[0].Says))
	}
	return s, true
}

func (s *Suggestion) take(k Kind, e Entity, why string) {
	s.Mapping.Entities[k] = e
	s.RestsOn = append(s.RestsOn, why)
}

// EntityOf proposes which columns of a table hold what is read of a kind of record, by their names and types. How a row finds its
// order is left open: see Ways.
func EntityOf(k Kind, t Table) Entity {
	e := Entity{Schema: t.Schema, Table: t.Name, Columns: map[string]string{}}
	for _, field := range forms[k].columns {
		if column, ok := t.likely(k, field); ok {
			e.Columns[field] = column
		}
	}
	if k != Order && e.Columns["id"] == "" {
		if key := t.ownKey(); key != "" {
			e.Columns["id"] = key
		}
	}
	if column, ok := t.likely(k, "deleted"); ok {
		e.Where = Conditions{{Column: column, IsNull: true}}
	}
	return e
}

// ownKey is the column that tells rows apart that belong to an order: never one that is the order's, where the table is a copy of an
// export that gives them none.
func (t Table) ownKey() string {
	if c, ok := t.Column(LineColumn); ok {
		return c.Name
	}
	return KeyOf(t)
}

// KeyOf is the column that tells a table's rows apart.
func KeyOf(t Table) string {
	if len(t.Key) == 1 {
		return t.Key[0]
	}
	for _, name := range []string{"id", "order_id", "number"} {
		if c, ok := t.Column(name); ok {
			return c.Name
		}
	}
	return ""
}

// Kinds lists the kinds of a mapping in the order in which they are set up.
func (m Mapping) Kinds() (kinds []Kind) {
	for _, k := range Kinds {
		if _, ok := m.Entities[k]; ok {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// clone is a mapping whose entities can be changed without changing the first one's.
func (m Mapping) clone() Mapping {
	entities := map[Kind]Entity{}
	for k, e := range m.Entities {
		e.Join, e.Where = slices.Clone(e.Join), slices.Clone(e.Where)
		e.Columns, e.States = maps.Clone(e.Columns), maps.Clone(e.States)
		entities[k] = e
	}
	m.Entities = entities
	return m
}
