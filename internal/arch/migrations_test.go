package arch

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Both databases go through the same steps: the two folders below store/migrations hold files of the same names, numbered
// without a gap, so that a version means the same schema in both.
var step = regexp.MustCompile(`^(\d{4})_[a-z_]+\.sql$`)

func sameSteps(all tree) (checked int, broken []string) {
	steps := map[string][]string{} // by engine
	for _, s := range all.only(func(s source) bool { return path.Dir(s.dir()) == "store/migrations" }) {
		checked++
		engine, name := path.Base(s.dir()), path.Base(s.path)
		steps[engine] = append(steps[engine], name)
		number := step.FindStringSubmatch(name)
		if number == nil {
			broken = append(broken, s.path+": a migration is called 0007_what_it_brings.sql")
			continue
		}
		if n, _ := strconv.Atoi(number[1]); n != len(steps[engine]) { // files come in the order of their names
			broken = append(broken, s.path+": is number "+strconv.Itoa(len(steps[engine]))+" of its folder: a number is missing or there twice")
		}
		if strings.Contains(s.text, "+goose Down") {
			broken = append(broken, s.path+": there is no way back: a record that was written cannot be unwritten")
		}
	}
	if !slices.Equal(steps["sqlite"], steps["postgres"]) {
		broken = append(broken, "store/migrations: sqlite has the steps "+strings.Join(steps["sqlite"], " ")+", postgres "+strings.Join(steps["postgres"], " "))
	}
	return checked, broken
}

func TestMigrations(t *testing.T) {
	t.Run("both databases go through the same steps", func(t *testing.T) { holds(t, sameSteps) })

	const sqlite, postgres = "store/migrations/sqlite/", "store/migrations/postgres/"
	t.Run("a step that one of them lacks is named", func(t *testing.T) {
		refuses(t, sameSteps, "postgres 0001_core.sql", sqlite+"0001_core.sql", "", sqlite+"0002_due.sql", "", postgres+"0001_core.sql", "")
	})
	t.Run("so is a number that is there twice, or missing", func(t *testing.T) {
		refuses(t, sameSteps, "0001_due.sql: is number 2", sqlite+"0001_core.sql", "", sqlite+"0001_due.sql", "")
		refuses(t, sameSteps, "0003_due.sql: is number 2", sqlite+"0001_core.sql", "", sqlite+"0003_due.sql", "")
	})
	t.Run("a step back is refused", func(t *testing.T) {
		refuses(t, sameSteps, "no way back", sqlite+"0001_core.sql", "-- +goose Down\nDROP TABLE cases;")
	})
	t.Run("and a name that says nothing", func(t *testing.T) {
		refuses(t, sameSteps, "is called", sqlite+"1.sql", "")
	})
}
