package connector

import (
	"slices"
	"strings"

	"countersign"
)

// route is the way to one kind of record with every name of the mapping found in the catalog. What stands in it is the
// catalog's spelling and nobody else's.
type route struct {
	kind   Kind
	tables []Table // the records' own, then those that lead to the order
	links  []link  // links[i] leads from tables[i] to tables[i+1]
	key    place   // the order's key
	names  []string
	places []place // where the value called names[i] is
	where  []filter
}

// place is a column of one of a route's tables.
type place struct {
	table  int
	column Column
}

type link struct{ left, right Column }

type filter struct {
	at      place
	counted bool // times are counted, so 0 is none
	Condition
}

// Check finds what a mapping names and the database does not have, or not for this role, each with its field and with what
// may have been meant. A mapping whose every kind of record passes can be read; one that does not pass leaves its kind unread.
func (m Mapping) Check(c Catalog) (all []*countersign.Error) {
	for _, k := range Kinds {
		if _, ok := m.Entities[k]; ok {
			_, found := m.route(k, c)
			all = append(all, found...)
		}
	}
	return append(all, m.unlikeKeys(c)...)
}

// unlikeKeys finds tables whose column for the order's key cannot hold one.
func (m Mapping) unlikeKeys(c Catalog) (all []*countersign.Error) {
	d := dialect(c.Driver)
	order, found := m.route(Order, c)
	if len(found) > 0 || d == SQLite { // any column of SQLite may hold anything
		return nil
	}
	for _, k := range Kinds[1:] {
		r, found := m.route(k, c)
		if _, ok := m.Entities[k]; !ok || len(found) > 0 {
			continue
		}
		if a, b := d.family(order.key.column), d.family(r.key.column); a.number() != b.number() && (a == integers || b == integers) {
			all = append(all, countersign.Errorf(countersign.Unprocessed, "%s holds %s, and the key of an order is %s", shown(r.key.column.Name), b, a).
				In("entities."+string(k)+".order_key").Try("name the column that holds what entities.order.key holds"))
		}
	}
	return all
}

// surveyor looks the names of one entity up.
type surveyor struct {
	catalog Catalog
	path    string
	entity  Entity
	route
	wrong []*countersign.Error
}

func (m Mapping) route(k Kind, c Catalog) (route, []*countersign.Error) {
	s := &surveyor{catalog: c, path: "entities." + string(k), entity: m.Entities[k]}
	s.kind = k
	if !s.reach() {
		return s.route, s.wrong
	}
	if k == Order {
		s.key = s.column(below(s.path, "key"), 0, s.entity.Key)
	}
	for _, name := range forms[k].columns {
		if column, ok := s.entity.Columns[name]; ok {
			s.names = append(s.names, name)
			s.places = append(s.places, s.anywhere(below(s.path, "columns."+name), column))
		}
	}
	zone, _ := zoneOf(m.zone(s.entity)) // one that is none counts nothing: Faults has said so
	for i, condition := range s.entity.Where {
		at := below(oneOf(below(s.path, "where"), len(s.entity.Where), i), "column")
		s.where = append(s.where, filter{s.anywhere(at, condition.Column), zone.counted != 0, condition})
	}
	return s.route, s.wrong
}

func (s *surveyor) refuse(field, format string, args ...any) *countersign.Error {
	e := countersign.Errorf(countersign.Unprocessed, format, args...).In(field)
	s.wrong = append(s.wrong, e)
	return e
}

// reach finds the tables, and the columns that link them. False when a table is missing: its columns would all be, too.
func (s *surveyor) reach() bool {
	if !s.table(s.path, s.entity.Schema, s.entity.Table) {
		return false
	}
	for i, j := range s.entity.Join {
		at := joinPath(s.path, s.entity.Join, i)
		if !s.table(at, j.Schema, j.Table) {
			return false
		}
		s.links = append(s.links, s.link(below(at, "on"), i, j))
	}
	switch last := len(s.entity.Join) - 1; {
	case s.kind == Order:
	case last < 0:
		s.key = s.column(below(s.path, "order_key"), 0, s.entity.OrderKey)
	default:
		s.key = s.column(below(joinPath(s.path, s.entity.Join, last), "order_key"), last+1, s.entity.Join[last].OrderKey)
	}
	return true
}

func (s *surveyor) table(path, schema, name string) bool {
	t, ok := s.catalog.Table(schema, name)
	if ok {
		s.tables = append(s.tables, t)
		return true
	}
	at := below(path, "table")
	switch schemas := s.catalog.Schemas(name); {
	case len(schemas) > 0 && schema != "":
		s.refuse(below(path, "schema"), "%s has no table %s that this role may read", shown(schema), shown(name)).Try("it is in " + some(schemas))
	case len(schemas) > 1:
		s.refuse(below(path, "schema"), "missing: %s is in %s", shown(name), some(schemas))
	default:
		s.refuse(at, "the database has no table %s that this role may read", shown(name)).Try(near(name, s.catalog.tableNames()))
	}
	return false
}

// column finds a column of one of the tables.
func (s *surveyor) column(path string, table int, name string) place {
	c, ok := s.tables[table].Column(name)
	if !ok {
		s.refuse(path, "%s has no column %s that this role may read", shown(s.tables[table].Name), shown(name)).Try(near(name, s.tables[table].columnNames()))
	}
	return place{table, c}
}

// anywhere finds a column of the records' own table, or one that is written with the name of a joined table before it.
func (s *surveyor) anywhere(path, name string) place {
	if _, own := s.tables[0].Column(name); !own {
		for i, t := range s.tables {
			if rest, ok := strings.CutPrefix(name, t.Name+"."); ok {
				return s.column(path, i, rest)
			}
		}
	}
	return s.column(path, 0, name)
}

// link finds the two columns that are equal. Written with their tables before them, they may stand either way round.
func (s *surveyor) link(path string, i int, j Join) link {
	before, after := s.tables[i], s.tables[i+1]
	left, right := j.On.Left, j.On.Right
	if strings.HasPrefix(left, after.Name+".") && strings.HasPrefix(right, before.Name+".") {
		left, right = right, left
	}
	return link{s.column(path, i, s.bare(before, left)).column, s.column(path, i+1, s.bare(after, right)).column}
}

// bare is a column's name without its own table's before it.
func (s *surveyor) bare(t Table, name string) string {
	if rest, ok := strings.CutPrefix(name, t.Name+"."); ok && !slices.Contains(t.columnNames(), name) {
		return rest
	}
	return name
}

// place is where a value of the route is, false if the mapping does not name it.
func (r route) place(name string) (place, bool) {
	if i := slices.Index(r.names, name); i >= 0 {
		return r.places[i], true
	}
	return place{}, false
}
