package connector

import (
	"cmp"
	"slices"
	"strings"
)

// Catalog is what a shop's database says of itself to the role that reads it: the tables and views it may see, without those of
// the database system.
type Catalog struct {
	Driver string
	Tables []Table // sorted by schema and name
}

// Table is a table or a view.
type Table struct {
	Schema      string // empty in SQLite
	Name        string
	View        bool
	Columns     []Column // in the order of the table
	Key         []string // the primary key's columns, none when there is none
	ForeignKeys []ForeignKey
	Rows        int64 // the database's own estimate, -1 when it has none
}

// Column is a column of a table. Its comment was written by somebody else: it is text to show and nothing else.
type Column struct {
	Name     string
	Type     string // as the database spells it: "numeric(20,6)", "bigint unsigned"
	Nullable bool
	Comment  string

	base string // what a type that the shop made is made of, where Type does not say
}

// ForeignKey says that these columns of a table hold the key of a row in another. Many shops declare none.
type ForeignKey struct {
	Columns    []string
	Schema     string // of the other table
	Table      string
	References []string

	name string // the constraint's
}

// mainSchema is what SQLite calls the one schema that a file has, in which no table of a catalog says to be.
const mainSchema = "main"

// Table finds a table by its exact name. Without a schema, a name that several schemas have is the one in the schema public,
// and otherwise none of them: see Schemas.
func (c Catalog) Table(schema, name string) (Table, bool) {
	if c.Driver == SQLite && strings.EqualFold(schema, mainSchema) {
		schema = ""
	}
	var found []Table
	for _, t := range c.Tables {
		if t.Name == name && (schema == "" || t.Schema == schema) {
			found = append(found, t)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(t Table) bool { return t.Schema != "public" })
	}
	if len(found) != 1 {
		return Table{}, false
	}
	return found[0], true
}

// Schemas are the schemas that have a table of that name.
func (c Catalog) Schemas(table string) (all []string) {
	for _, t := range c.Tables {
		if t.Name == table {
			all = append(all, first(t.Schema, mainSchema))
		}
	}
	return all
}

// Column finds a column by its exact name.
func (t Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

func (c Catalog) tableNames() (names []string) {
	for _, t := range c.Tables {
		names = append(names, t.Name)
	}
	return names
}

func (t Table) columnNames() (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// near is what somebody may have meant by a name that is not there, as the end of a sentence: ": did you mean refunds?", or what
// there is when nothing is like it.
func near(name string, there []string) string {
	type candidate struct {
		name string
		far  int
	}
	var all []candidate
	for _, n := range there {
		if far := Distance(strings.ToLower(name), strings.ToLower(n)); far <= 1+len(name)/4 || contains(n, name) {
			all = append(all, candidate{n, far})
		}
	}
	if len(all) == 0 {
		return "there are " + some(there)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	return "did you mean " + shown(all[0].name) + "?"
}

// contains reports whether one of two names is a part of the other, when that says something.
func contains(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return min(len(a), len(b)) > 3 && (strings.Contains(a, b) || strings.Contains(b, a))
}

// some lists the first of many names.
func some(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none at all"
	}
	var all []string
	for _, n := range names[:min(most, len(names))] {
		all = append(all, shown(n))
	}
	list := strings.Join(all, ", ")
	if len(names) > most {
		list += ", …"
	}
	return list
}

// shown is somebody else's text inside a sentence of ours: short, on one line.
func shown(text string) string {
	const most = 60
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	if r := []rune(plain); len(r) > most {
		return string(r[:most]) + "…"
	}
	return plain
}

// Distance is how many letters must be put in, taken out or changed to make one name of the other. Names longer than any
// database has are as far as can be.
func Distance(a, b string) int {
	const longest = 128
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
