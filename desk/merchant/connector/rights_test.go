package connector

import (
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign"
)

func TestARoleThatCanOnlyReadIsTaken(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, odd...)
		if w.d == Postgres {
			w.run(t, "CREATE VIEW shown AS SELECT * FROM refund", "CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY, twice int GENERATED ALWAYS AS (1) STORED)")
		}
		rights, err := Probe(t.Context(), string(w.d), w.reader)
		if err != nil || len(rights.Writes) > 0 || len(rights.Advice) > 0 || rights.Server == "" {
			t.Errorf("%+v, %v", rights, err)
		}
		if w.role != "" && !strings.HasPrefix(rights.Role, w.role) {
			t.Errorf("the role is %q", rights.Role)
		}
	})
}

func TestARoleThatCouldWriteIsRefused(t *testing.T) {
	shops := []world{postgresWorld(t), mysqlWorld(t)}
	for _, w := range shops {
		w.make(t, odd...)
	}
	type each = map[dialect][]string
	for _, row := range []struct {
		name   string
		grants each
		says   string
		back   each // what of it must be undone
	}{
		{"one table's rows", each{Postgres: {"GRANT UPDATE ON «refund» TO {role}"}, MySQL: {"GRANT UPDATE ON «refund» TO {role}"}}, "refund", nil},
		{"one column", each{Postgres: {"GRANT UPDATE («amount») ON «refund» TO {role}"}, MySQL: {"GRANT UPDATE («amount») ON «refund» TO {role}"}}, "refund", nil},
		{"only deleting", each{Postgres: {"GRANT DELETE ON «return» TO {role}"}, MySQL: {"GRANT DELETE ON «return» TO {role}"}}, "return", nil},
		{"emptying", each{Postgres: {"GRANT TRUNCATE ON «return» TO {role}"}}, "may change return", nil},
		{"everything", each{Postgres: {"ALTER ROLE {role} SUPERUSER"}, MySQL: {"GRANT ALL ON *.* TO {role}"}}, "s", nil},
		{"making tables", each{Postgres: {"GRANT CREATE ON SCHEMA public TO {role}"}, MySQL: {"GRANT CREATE ON *.* TO {role}"}}, "create", nil},
		{"making tables, like everybody", each{Postgres: {"GRANT CREATE ON SCHEMA public TO PUBLIC"}}, "may, like everybody, create tables in the schema public",
			each{Postgres: {"REVOKE CREATE ON SCHEMA public FROM PUBLIC"}}},
		{"owning a table", each{Postgres: {"CREATE TABLE mine (id int)", "ALTER TABLE mine OWNER TO {role}"}}, "owns mine", nil},
		{"being a member of who may", each{Postgres: {"GRANT pg_write_all_data TO {role}"}}, "is a member of pg_write_all_data", nil},
		{"becoming who may, without inheriting it", each{Postgres: {"ALTER ROLE {role} NOINHERIT", "CREATE ROLE w_{role}", "GRANT INSERT ON «return» TO w_{role}", "GRANT w_{role} TO {role}"},
			MySQL: {"CREATE ROLE w_{role}", "GRANT w_{role} TO {role}"}}, "", each{Postgres: {"DROP OWNED BY w_{role}", "DROP ROLE w_{role}"}, MySQL: {"DROP ROLE w_{role}"}}},
		{"reading the server's files", each{Postgres: {"GRANT pg_read_server_files TO {role}"}, MySQL: {"GRANT FILE ON *.* TO {role}"}}, "file", nil},
		{"moving a sequence", each{Postgres: {"CREATE SEQUENCE numbers", "GRANT USAGE ON SEQUENCE numbers TO {role}"}}, "may move the sequence numbers", nil},
		{"calling procedures", each{MySQL: {"GRANT EXECUTE ON *.* TO {role}"}}, "has EXECUTE", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, w := range shops {
				if row.grants[w.d] == nil {
					continue
				}
				w = w.another(t)
				for _, grant := range row.grants[w.d] {
					w.run(t, w.spell(strings.ReplaceAll(grant, "{role}", w.role)))
				}
				rights, err := Probe(t.Context(), string(w.d), w.reader)
				if countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(strings.ToLower(strings.Join(rights.Writes, "; ")), strings.ToLower(row.says)) || len(rights.Writes) == 0 {
					t.Errorf("%s: %+v, %v", w.d, rights, err)
				}
				if err == nil || strings.Contains(err.Error(), "secret word") || strings.Contains(err.Error(), "PASSWORD '*") || !strings.Contains(err.Error(), "GRANT SELECT") {
					t.Errorf("%s says %v", w.d, err)
				}
				for _, back := range row.back[w.d] {
					w.run(t, w.spell(strings.ReplaceAll(back, "{role}", w.role)))
				}
			}
		})
	}
}

// another is the same shop with another role that may read it.
func (w world) another(t *testing.T) world {
	role := "other" + strings.ToLower(rand.Text())[:20]
	if w.d == Postgres {
		w.run(t, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret word'", "GRANT USAGE ON SCHEMA public TO "+role, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
		t.Cleanup(func() { w.run(t, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	} else {
		w.run(t, "CREATE USER "+role+" IDENTIFIED BY 'secret word'", w.spell("GRANT SELECT ON «refund» TO "+role), w.spell("GRANT SELECT ON «return» TO "+role))
		t.Cleanup(func() { w.run(t, "DROP USER "+role) })
	}
	w.reader, w.role = as(t, w, role, "secret word"), role
	return w
}

// What the advice says is what it takes: run by the owner, it makes a role that is accepted and can read.
func TestTheAdviceMakesASafeRole(t *testing.T) {
	for _, w := range []world{postgresWorld(t), mysqlWorld(t)} {
		t.Run(string(w.d), func(t *testing.T) {
			w.make(t, odd...)
			if w.d == Postgres {
				w.run(t, "GRANT CREATE ON SCHEMA public TO PUBLIC", "ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM "+w.role)
			} else {
				w.run(t, "GRANT INSERT ON *.* TO "+w.role)
			}
			rights, err := Probe(t.Context(), string(w.d), w.reader)
			if countersign.KindOf(err) != countersign.Unprocessed {
				t.Fatalf("%+v, %v", rights, err)
			}
			made := "made_" + w.role
			for _, statement := range rights.Advice {
				w.run(t, strings.NewReplacer("countersign_reader", made, "…choose one…", "another word").Replace(statement))
			}
			t.Cleanup(func() {
				if w.d == Postgres {
					w.run(t, "DROP OWNED BY "+made)
				}
				w.run(t, map[dialect]string{Postgres: "DROP ROLE " + made, MySQL: "DROP USER '" + made + "'@'%'"}[w.d])
			})
			dsn := as(t, w, made, "another word")
			if rights, err := Probe(t.Context(), string(w.d), dsn); err != nil {
				t.Errorf("the role that was advised: %+v, %v", rights, err)
			}
			m := w.mapping(t, oddEntities)
			m.DSN = dsn
			if all := w.open(t, m).Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
				t.Errorf("it reads %+v", all)
			}
		})
	}
}

// as is the world's connection string for somebody else.
func as(t *testing.T, w world, role, password string) DSN {
	t.Helper()
	if w.d == MySQL {
		c, err := mysql.ParseDSN(string(w.reader))
		if err != nil {
			t.Fatal(err)
		}
		c.User, c.Passwd = role, password
		return DSN(c.FormatDSN())
	}
	u, err := url.Parse(string(w.reader))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return DSN(u.String())
}

func TestALineOfGrants(t *testing.T) {
	for line, want := range map[string]string{
		"GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'": "",
		"GRANT SELECT, SHOW VIEW ON `shop`.* TO `r`@`%`":                                                   "",
		"GRANT SELECT (`id`, `amount`) ON `shop`.`refund` TO `r`@`%`":                                      "",
		"GRANT SELECT, INSERT (`a`, `b`), UPDATE ON `shop`.`refund` TO `r`@`%`":                            "has INSERT on `shop`.`refund`; has UPDATE on `shop`.`refund`",
		"GRANT ALL PRIVILEGES ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*94BD' WITH GRANT OPTION":          "has ALL PRIVILEGES on *.*",
		"GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION":                                    "has PROXY on ''@'%'",
		"GRANT `writers`@`%` TO `r`@`%`":                                                                   "may become the role `writers`@`%`, whose rights cannot be seen from here",
		"GRANT SELECT, SOMETHING NEW ON *.* TO `r`@`%`":                                                    "has SOMETHING NEW on *.*",
		"SET DEFAULT ROLE `writers` FOR `r`@`%`":                                                           "",
		"GRANT SELECT ON `a TO b ON c`.* TO `r`@`%`":                                                       "",
		"GRANT SELECT, CREATE TEMPORARY TABLES ON `s`.* TO `r`":                                            "has CREATE TEMPORARY TABLES on `s`.*",
	} {
		if got := strings.Join(granted(line), "; "); got != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// A file that everybody may write is opened for reading all the same, and stays byte for byte what it was.
func TestASQLiteFileCannotBeChangedOrLeftThroughIt(t *testing.T) {
	w := sqliteWorld(t)
	w.make(t, odd...)
	w.run(t, "CREATE TABLE hidden (secret TEXT)", "INSERT INTO hidden VALUES ('treasure')", "CREATE VIEW peep AS SELECT secret FROM hidden",
		"CREATE VIEW peep2 AS SELECT * FROM peep")
	m := w.mapping(t, oddEntities)
	m.DSN = "file:" + m.DSN + "?mode=rwc&_query_only=0" // settings that are not the connection string's to make
	s := w.open(t, m)
	path := sqlitePath(string(m.DSN))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	leak := path + ".leak"
	for _, text := range []string{
		"UPDATE refund SET amount = 0", "INSERT INTO refund (id) VALUES (99)", "DELETE FROM refund", "REPLACE INTO refund (id) VALUES (1)",
		"DROP TABLE refund", "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "CREATE TEMP VIEW x AS SELECT 1", "CREATE TEMP TRIGGER x AFTER INSERT ON refund BEGIN SELECT 1; END",
		"CREATE INDEX x ON refund (id)", "ALTER TABLE refund ADD COLUMN x", "REINDEX", "ANALYZE", "VACUUM", "VACUUM INTO '" + leak + "'",
		"ATTACH '" + leak + "' AS other", "ATTACH ':memory:' AS other", "DETACH main", "PRAGMA query_only = 0", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1",
		"PRAGMA table_info(refund)", "PRAGMA database_list", "SELECT * FROM hidden", "SELECT count(*) FROM hidden", "SELECT * FROM peep", "SELECT * FROM peep2",
		"SELECT (SELECT secret FROM hidden) FROM refund", "SELECT * FROM refund WHERE EXISTS (SELECT 1 FROM hidden)", "WITH x AS (SELECT secret FROM hidden) SELECT * FROM x",
		"SELECT * FROM sqlite_master", "SELECT * FROM pragma_table_list", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT randomblob(1000000000)",
		"EXPLAIN UPDATE refund SET amount = 0", "SAVEPOINT x", "CREATE VIRTUAL TABLE temp.x USING fts5(a)", "SELECT fts3_tokenizer('x')",
	} {
		rows, err := s.db.QueryContext(t.Context(), text)
		if err == nil {
			rows.Next()
			err = rows.Err()
			rows.Close()
		}
		if err == nil {
			t.Errorf("%s was run", text)
		}
	}
	if all := s.Order(t.Context(), "42"); len(all.Refunds.All) != 3 {
		t.Errorf("afterwards it reads %+v", all)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	if _, err := os.Stat(leak); err == nil {
		t.Error("something was written beside it")
	}
}

func TestAViewOfSQLiteMayLookAtWhatItNeeds(t *testing.T) {
	w := sqliteWorld(t)
	w.run(t, "CREATE TABLE o (id TEXT)", "INSERT INTO o VALUES ('1')", "CREATE TABLE base (id TEXT, o TEXT, amount TEXT)", "INSERT INTO base VALUES ('a', '1', '5.00')",
		"CREATE VIEW inner_view AS SELECT id, o, upper(amount) AS amount FROM base", "CREATE VIEW r AS SELECT * FROM inner_view WHERE o IS NOT NULL")
	s := w.open(t, w.mapping(t, `{"order":{"table":"o","key":"id","columns":{}},
		"refund":{"table":"r","order_key":"o","where":{"column":"id","not_null":true},"columns":{"id":"id","amount":"amount"}}}`))
	if all := s.Order(t.Context(), "1"); len(all.Refunds.All) != 1 {
		t.Errorf("read %+v", all.Refunds)
	}
}

// The program's own database is none of a shop's, whoever names it.
func TestOurOwnDatabaseIsNoShop(t *testing.T) {
	engines(t, func(t *testing.T, w world) {
		w.make(t, odd...)
		for _, name := range []string{"record_heads", "river_job"} {
			w.make(t, "CREATE TABLE "+name+" (case_id int)")
		}
		w.open(t, w.mapping(t, oddEntities)) // a shop that happens to have such a table
		w.make(t, "CREATE TABLE goose_db_version (id int)")
		m := w.mapping(t, oddEntities)
		if s, err := Open(t.Context(), m); countersign.KindOf(err) != countersign.Unprocessed || !strings.Contains(err.Error(), "a database of this program") {
			t.Errorf("it was opened: %v, %v", s, err)
		}
		if _, err := Probe(t.Context(), string(w.d), w.reader); countersign.KindOf(err) != countersign.Unprocessed {
			t.Errorf("it was probed: %v", err)
		}
	})
}
