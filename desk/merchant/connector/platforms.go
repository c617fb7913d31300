package connector

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed platforms/*.json
var platformFiles embed.FS

// platform is a mapping that is known to fit the shops that one program keeps, as far as its tables are there.
type platform struct {
	Platform string   `json:"platform"`
	RestsOn  string   `json:"rests_on"`
	Caveats  []string `json:"caveats"`
	Prefixed bool     `json:"prefixed"` // each installation may put letters before the names of all tables
	Mapping  Mapping  `json:"mapping"`
}

var platforms = readPlatforms()

func readPlatforms() (all []platform) {
	files, err := platformFiles.ReadDir("platforms")
	if err != nil {
		panic(err) // unreachable: the folder is in the program
	}
	for _, file := range files {
		text, err := platformFiles.ReadFile("platforms/" + file.Name())
		var p platform
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			panic(fmt.Sprintf("platforms/%s: %v", file.Name(), err)) // unreachable: a test reads them all
		}
		all = append(all, p)
	}
	return all
}

// fit is the platform's mapping for a catalog: its names with the prefix and the schemas that are used there, its columns as far
// as there are such. ok only when the orders and another kind of record are there with all that must be read of them.
func (p platform) fit(c Catalog) (Suggestion, bool) {
	prefix, ok := p.prefix(c)
	if !ok {
		return Suggestion{}, false
	}
	s := Suggestion{Platform: p.Platform, Caveats: p.Caveats, Mapping: p.Mapping.clone(), RestsOn: []string{"found: " + p.RestsOn}}
	s.Mapping.Driver = c.Driver
	for _, k := range s.Mapping.Kinds() {
		e, ok := s.Mapping.Entities[k].in(c, prefix)
		if !ok || !e.whole(k) {
			delete(s.Mapping.Entities, k)
			continue
		}
		s.Mapping.Entities[k] = e
	}
	_, ok = s.Mapping.Entities[Order]
	return s, ok && len(s.Mapping.Entities) > 1
}

// prefix is what stands before the name of every table, empty for most.
func (p platform) prefix(c Catalog) (string, bool) {
	orders := p.Mapping.Entities[Order].Table
	for _, t := range c.Tables {
		before, ok := strings.CutSuffix(t.Name, orders)
		if ok && (before == "" || p.Prefixed) {
			return before, true
		}
	}
	return "", false
}

// in is an entity with the names that a catalog has. Columns that are not there are left out; ok is false when a table is not, or
// a column that a row is found or chosen by.
func (e Entity) in(c Catalog, prefix string) (Entity, bool) {
	base, ok := c.Table("", prefix+e.Table)
	if !ok {
		return e, false
	}
	tables := []Table{base}
	e.Schema, e.Table = base.Schema, base.Name
	for i := range e.Join {
		joined, ok := c.Table("", prefix+e.Join[i].Table)
		if !ok || !joinable(tables, joined, e.Join[i].On) {
			return e, false
		}
		e.Join[i].Schema, e.Join[i].Table = joined.Schema, joined.Name
		tables = append(tables, joined)
	}
	for field, column := range e.Columns {
		if e.Columns[field] = prefixed(column, prefix); !among(tables, e.Columns[field]) {
			delete(e.Columns, field)
		}
	}
	if e.Columns["status"] == "" {
		e.States = nil // there is nothing for them to be the values of
	}
	return e, e.reaches(tables)
}

// prefixed is table.column with the prefix before the table.
func prefixed(column, prefix string) string {
	if strings.Contains(column, ".") {
		return prefix + column
	}
	return column
}

// among reports whether a column is in the first table, or as table.column in any of them.
func among(tables []Table, column string) bool {
	if _, ok := tables[0].Column(column); ok {
		return true
	}
	table, name, two := strings.Cut(column, ".")
	return two && slices.ContainsFunc(tables, func(t Table) bool {
		_, ok := t.Column(name)
		return ok && t.Name == table
	})
}

// joinable reports whether the columns of a join are in the last table and in the joined one.
func joinable(tables []Table, joined Table, on On) bool {
	_, left := tables[len(tables)-1].Column(on.Left)
	_, right := joined.Column(on.Right)
	return left && right
}

// reaches reports whether a row can be chosen and find its order.
func (e Entity) reaches(tables []Table) bool {
	for _, where := range e.Where {
		if !among(tables, where.Column) {
			return false
		}
	}
	key, last := e.Key+e.OrderKey, tables[len(tables)-1]
	if len(e.Join) > 0 {
		key = e.Join[len(e.Join)-1].OrderKey
	}
	_, ok := last.Column(key)
	return ok
}

// whole reports whether all that a kind must have is among the columns.
func (e Entity) whole(k Kind) bool {
	return !slices.ContainsFunc(forms[k].needed, func(field string) bool { return e.Columns[field] == "" })
}
