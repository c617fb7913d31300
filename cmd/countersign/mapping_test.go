package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign/internal/testdb"
	"countersign/internal/testshop"
)

// The password of a shop's database is in the file that a person wrote, and sealed in ours; it is printed nowhere, logged nowhere
// and exported nowhere, whether things go well or not.
func TestThePasswordOfTheShopIsPrintedNowhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		fill func(testing.TB, testshop.Data) testshop.Shop
	}{{"PostgreSQL", testshop.Postgres}, {"MariaDB", testshop.MariaDB}} {
		t.Run(row.name, func(t *testing.T) {
			shop := row.fill(t, testshop.Data{Orders: testshop.Retail(t).Orders[:20]})
			database := testdb.SQLite(t)
			p := newProgram(t, database)
			file := func(mapping string) string {
				path := filepath.Join(t.TempDir(), "mapping.json")
				if err := os.WriteFile(path, []byte(mapping), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			var printed strings.Builder
			say := func(want int, args ...string) {
				t.Helper()
				cmd := p.command(args...)
				out, _ := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code != want {
					t.Errorf("%q ended with %d, want %d: %s", args, code, want, out)
				}
				printed.Write(out)
			}
			password := passwordOf(t, shop.Reader)
			say(0, "mapping", "apply", file(string(shop.Mapping)))
			say(0, "mapping", "show")
			say(0, "doctor")
			say(0, "audit", "export")
			say(1, "mapping", "apply", file(strings.ReplaceAll(string(shop.Mapping), password, password+"x")))
			say(1, "mapping", "apply", file(strings.ReplaceAll(string(shop.Mapping), inJSON(t, shop.Reader), inJSON(t, shop.Owner))))
			say(2, "mapping", "apply", file(strings.Replace(string(shop.Mapping), `"zone":"`, `"zone":"Nowhere/`, 1)))
			for _, secret := range []string{password, passwordOf(t, shop.Owner)} {
				if strings.Contains(printed.String(), secret) {
					t.Errorf("a command printed a password:\n%s", printed.String())
				}
				for _, path := range []string{database, database + "-wal"} {
					if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), secret) {
						t.Errorf("%s holds a password in clear", filepath.Base(path))
					}
				}
			}
			for _, said := range []string{"may read and nothing else", "refused the user name or the password", "this connection could change the shop's database", "GRANT SELECT ON"} {
				if !strings.Contains(printed.String(), said) {
					t.Errorf("nothing said %q:\n%s", said, printed.String())
				}
			}
		})
	}
}

// inJSON is a text as a JSON document has it.
func inJSON(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func passwordOf(t *testing.T, dsn string) string {
	t.Helper()
	if c, err := mysql.ParseDSN(dsn); err == nil && !strings.Contains(dsn, "://") {
		return c.Passwd
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return password
}
