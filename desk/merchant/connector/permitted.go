package connector

import (
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// permitted is what a connection to a SQLite file may do. SQLite has no roles, and a file opened read-only still lets a statement
// attach another one, copy the whole database elsewhere with VACUUM INTO, and write temporary tables. So SQLite asks this for
// every table and every act of every statement before it is run.
type permitted struct {
	onlySchema bool // for the catalog alone, which looks into every view to say what columns it has

	mu     sync.RWMutex
	tables map[string]bool // those of the mapping; in lower case, as SQLite compares them
	views  map[string]bool // all that the file has: one that is on the list may look at others
	known  map[string]bool // every table and view of the file
}

// watch puts itself between a new connection and its statements.
func (p *permitted) watch(connection sqlite.ExecQuerierContext, _ string) error {
	registerer, ok := connection.(sqlite.AuthorizerRegisterer)
	if !ok {
		return fmt.Errorf("this SQLite cannot be watched")
	}
	return registerer.RegisterAuthorizer(p.answer)
}

// allow lets these tables of a file be read, and no others from now on. All at once: somebody may be reading.
func (p *permitted) allow(c Catalog, tables []Table) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tables, p.views, p.known = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, t := range c.Tables {
		p.known[strings.ToLower(t.Name)] = true
		p.views[strings.ToLower(t.Name)] = t.View
	}
	for _, t := range tables {
		p.tables[strings.ToLower(t.Name)] = true
	}
}

// catalogPragmas are the questions about a schema; they change nothing. Each takes the name of a table.
var catalogPragmas = map[string]bool{"table_xinfo": true, "foreign_key_list": true, "table_list": true}

func (p *permitted) answer(action sqlite.AuthorizerActionCode, first, second, _, inside string) sqlite.AuthorizerReturnCode {
	allowed := false
	switch action {
	case sqlite.AuthSelect, sqlite.AuthTransaction, sqlite.AuthRecursive:
		allowed = true
	case sqlite.AuthFunction:
		allowed = harmless[strings.ToLower(second)]
	case sqlite.AuthPragma:
		allowed = p.onlySchema && catalogPragmas[first]
	case sqlite.AuthRead:
		allowed = p.mayRead(first, inside)
	case sqlite.AuthUpdate, sqlite.AuthInsert, sqlite.AuthDelete: // no statement of ours: it is what a probe must be refused
	}
	if allowed {
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}

// mayRead answers for a table, or for one that a view looks at: inside is the view. Whoever reads a view that is not on the
// list is refused before what is inside it is looked at. A name that is nothing in the file is a view's own WITH.
func (p *permitted) mayRead(table, inside string) bool {
	if p.onlySchema {
		return true
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.known == nil {
		return false
	}
	table, inside = strings.ToLower(table), strings.ToLower(inside)
	return p.tables[table] || p.views[inside] || !p.known[table] && !strings.HasPrefix(table, "sqlite_") && !strings.HasPrefix(table, "pragma_")
}

// harmless are SQLite's functions that make a value of values. A view of the shop may call others: fileio, load_extension and
// the like are not among them.
var harmless = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`abs avg cast ceil ceiling changes char coalesce concat concat_ws count cume_dist date datetime dense_rank
		exp first_value floor format glob group_concat hex if ifnull iif instr json json_array json_array_length json_each json_extract
		json_group_array json_group_object json_object json_patch json_quote json_remove json_type json_valid julianday lag last_value lead
		length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pow power
		printf quote rank replace round row_number rtrim sign soundex sqlite_version sqrt strftime string_agg substr substring sum time timediff total trim
		trunc typeof unhex unicode unixepoch unlikely upper -> ->>`) {
		all[name] = true
	}
	return all
}()
