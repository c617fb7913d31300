package connector

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"countersign/internal/testshop"
)

func TestThePartsOfAnAddressMakeAConnection(t *testing.T) {
	data := few(t)
	for _, row := range []struct {
		name  string
		shop  testshop.Shop
		parts func(t *testing.T, dsn string) Address
	}{
		{"a file", testshop.SQLite(t, data), func(_ *testing.T, dsn string) Address { return Address{Driver: SQLite, File: dsn} }},
		{"PostgreSQL", testshop.Postgres(t, data), partsOfURL},
		{"MariaDB", testshop.MariaDB(t, data), partsOfMySQL},
	} {
		t.Run(row.name, func(t *testing.T) {
			dsn, err := row.parts(t, row.shop.Reader).DSN()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Probe(t.Context(), row.shop.Driver, dsn); err != nil {
				t.Error(err)
			}
		})
	}
}

func partsOfURL(t *testing.T, dsn string) Address {
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return Address{Driver: Postgres, Host: u.Hostname(), Port: u.Port(), Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username(), Password: password}
}

func partsOfMySQL(t *testing.T, dsn string) Address {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(c.Addr)
	return Address{Driver: MySQL, Host: host, Port: port, Database: c.DBName, User: c.User, Password: c.Passwd}
}

func TestWhateverIsInAPasswordItIsAPassword(t *testing.T) {
	const odd = "p@ss:/?#[]&% 'x'\"`\\"
	pg, err := Address{Driver: Postgres, Host: "::1", Database: "a/b?c", User: "u:s@r", Password: odd}.DSN()
	u, parsed := url.Parse(string(pg))
	if err != nil || parsed != nil {
		t.Fatal(err, parsed)
	}
	if password, _ := u.User.Password(); password != odd || u.User.Username() != "u:s@r" || u.Host != "[::1]:5432" || u.Path != "/a/b?c" || u.RawQuery != "sslmode=prefer" {
		t.Errorf("PostgreSQL would be told %+v", u)
	}
	my, err := Address{Driver: MySQL, Host: "db", Database: "shop", User: "reader", Password: odd, Safe: "required"}.DSN()
	c, parsed := mysql.ParseDSN(string(my))
	if err != nil || parsed != nil {
		t.Fatal(err, parsed)
	}
	if c.Passwd != odd || c.Addr != "db:3306" || c.TLSConfig != "true" {
		t.Errorf("MySQL would be told %+v", c)
	}
}

func TestAPartThatIsMissingIsNamed(t *testing.T) {
	for want, a := range map[string]Address{
		"driver": {}, "file": {Driver: SQLite}, "host": {Driver: Postgres}, "database": {Driver: MySQL, Host: "db"}, "user": {Driver: MySQL, Host: "db", Database: "shop"},
	} {
		if _, err := a.DSN(); err == nil || !strings.HasPrefix(err.Error(), want+": missing") {
			t.Errorf("without its %s: %v", want, err)
		}
	}
}
