package connector

import (
	"strings"
	"testing"
)

// A row of each refund: when it was made, and when it was deleted. Which of them count is what a condition asks.
func TestATimeThatIsNotSetIsNoneForAConditionEither(t *testing.T) {
	const counts = "1" // refund 1 was made and is not deleted; 2 was never made; 3 was made and deleted
	for name, row := range map[string]struct {
		engine func(testing.TB) world
		kind   string // the type of both columns
		unset  string // how nothing is said
		at     string // how a time is
		zone   string
	}{
		"MariaDB, no datetime":             {mysqlWorld, "datetime NULL", "NULL", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, the zero datetime":       {mysqlWorld, "datetime NULL", "'0000-00-00 00:00:00'", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, that of microseconds":    {mysqlWorld, "datetime(6) NULL", "'0000-00-00 00:00:00'", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, the zero date":           {mysqlWorld, "date NULL", "'0000-00-00'", "'2026-05-13'", "UTC"},
		"MariaDB, the zero timestamp":      {mysqlWorld, "timestamp NULL", "'0000-00-00 00:00:00'", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, the zero date as text":   {mysqlWorld, "varchar(30)", "'0000-00-00 00:00:00'", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, an empty text":           {mysqlWorld, "varchar(30)", "''", "'2026-05-13 10:00:00'", "UTC"},
		"MariaDB, counted":                 {mysqlWorld, "int NULL", "0", "1778666400", "unix"},
		"PostgreSQL, no timestamp":         {postgresWorld, "timestamptz", "NULL", "'2026-05-13 10:00:00Z'", "UTC"},
		"PostgreSQL, an empty text":        {postgresWorld, "text", "''", "'2026-05-13 10:00:00'", "UTC"},
		"PostgreSQL, padded":               {postgresWorld, "char(20)", "' '", "'2026-05-13 10:00:00'", "UTC"},
		"PostgreSQL, counted":              {postgresWorld, "bigint", "0", "1778666400", "unix"},
		"SQLite, nothing":                  {sqliteWorld, "TEXT", "NULL", "'2026-05-13 10:00:00'", "UTC"},
		"SQLite, an empty text":            {sqliteWorld, "TEXT", "' '", "'2026-05-13 10:00:00'", "UTC"},
		"SQLite, one in a column of dates": {sqliteWorld, "DATETIME", "''", "'2026-05-13 10:00:00'", "UTC"},
		"SQLite, a copied zero date":       {sqliteWorld, "TEXT", "'0000-00-00'", "'2026-05-13 10:00:00'", "UTC"},
		"SQLite, counted":                  {sqliteWorld, "INTEGER", "0", "1778666400000", "unix_ms"},
	} {
		t.Run(name, func(t *testing.T) {
			w := row.engine(t)
			w.make(t, "CREATE TABLE o (id {id} PRIMARY KEY, total {money})", "INSERT INTO o VALUES (1, 100)")
			if w.d == MySQL { // a shop that has zero dates has a server that lets them in
				w.owner.SetMaxOpenConns(1)
				w.run(t, "SET SESSION sql_mode = ''")
			}
			w.run(t, w.spell("CREATE TABLE refunds (id {id} PRIMARY KEY, order_id {id}, amount {money}, made "+row.kind+", deleted_at "+row.kind+")"),
				"INSERT INTO refunds VALUES (1, 1, 100, "+row.at+", "+row.unset+"), (2, 1, 100, "+row.unset+", "+row.unset+"), (3, 1, 100, "+row.at+", "+row.at+")")
			m := w.mapping(t, `{"order":{"table":"o","key":"id","columns":{"total":"total"}},"refund":{"table":"refunds","order_key":"order_id",
				"where":[{"column":"made","not_null":true},{"column":"deleted_at","is_null":true}],"columns":{"id":"id","amount":"amount","refunded_at":"made"}}}`)
			m.Zone = row.zone
			s := w.open(t, m)
			all := s.Order(t.Context(), "1")
			var ids []string
			for _, r := range all.Refunds.All {
				ids = append(ids, r.ID)
				if r.RefundedAt.When.String()[:7] != "2026-05" {
					t.Errorf("made at %+v", r.RefundedAt)
				}
			}
			if got := strings.Join(ids, " "); got != counts || all.Refunds.Unread != "" {
				t.Errorf("the refunds that count are %q (%s), want %q", got, all.Refunds.Unread, counts)
			}
			if f, err := s.Follow(t.Context(), Refund, 10); err != nil || f.Rows != 1 || f.Lost != 0 {
				t.Errorf("followed: %+v, %v", f, err)
			}
		})
	}
}

func TestACountOfNothingIsNoTime(t *testing.T) {
	for _, name := range []string{"unix", "unix_ms"} {
		z, err := zoneOf(name)
		if m := momentOf("0", integers, z); err != nil || !m.When.IsZero() || m.Problem != "" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
