package connector

import (
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"countersign"
)

// Address is where a shop's database is and how to get in, in the parts that a person knows.
type Address struct {
	Driver                         string
	File                           string // of SQLite; the rest is for servers
	Host, Port                     string // the port may be left out
	Database, User, Password, Safe string // Safe is one of Encryption; empty is the first
}

// Encryption says how a connection to a server may be made.
var Encryption = []string{"offered", "required", "off"}

// usualPort is where a server listens when nobody says otherwise.
var usualPort = map[string]string{Postgres: "5432", MySQL: "3306"}

// UsualPort is where a server of that kind listens when nobody says otherwise.
func UsualPort(driver string) string { return usualPort[driver] }

// DSN puts the parts together; the error names the part that is missing.
func (a Address) DSN() (DSN, error) {
	if a.Driver == SQLite {
		return DSN(a.File), needed("file", a.File, "the path of the database file, as this program sees it")
	}
	if _, ok := usualPort[a.Driver]; !ok {
		return "", countersign.Errorf(countersign.Invalid, "missing: which kind of database is it?").In("driver").Try("choose PostgreSQL, MySQL or MariaDB, or a SQLite file")
	}
	for _, part := range [][3]string{{"host", a.Host, "such as db.example.com or 127.0.0.1"}, {"database", a.Database, "its name on that server"},
		{"user", a.User, "a role that may read and nothing else"}} {
		if err := needed(part[0], part[1], part[2]); err != nil {
			return "", err
		}
	}
	host := net.JoinHostPort(strings.Trim(a.Host, "[]"), first(a.Port, usualPort[a.Driver]))
	if a.Driver == MySQL {
		return a.mysql(host), nil
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(a.User, a.Password), Host: host, Path: "/" + a.Database,
		RawQuery: "sslmode=" + map[string]string{"": "prefer", "offered": "prefer", "required": "verify-full", "off": "disable"}[a.Safe]}
	return DSN(u.String()), nil
}

func (a Address) mysql(host string) DSN {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = a.User, a.Password, "tcp", host, a.Database
	c.TLSConfig = map[string]string{"": "preferred", "offered": "preferred", "required": "true", "off": "false"}[a.Safe]
	return DSN(c.FormatDSN())
}

func needed(part, value, what string) error {
	if strings.TrimSpace(value) == "" {
		return countersign.Errorf(countersign.Invalid, "missing").In(part).Try(what)
	}
	return nil
}
