package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"countersign"
)

// Tools are PostgreSQL's own programs, which alone know how to write down and read back all of a database.
type Tools struct {
	Folder string // where they are; where PATH finds them when empty
}

// find looks a program up, and refuses one that is older than the server: it would not know what is new there. Zero takes any.
func (t Tools) find(ctx context.Context, name string, server int) (path string, err error) {
	if path, err = exec.LookPath(filepath.Join(t.Folder, name)); err != nil {
		return "", missing(name, server, err)
	}
	said, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", missing(name, server, err)
	}
	if version := versionIn(string(said)); version < server {
		return "", countersign.Errorf(countersign.Unavailable, "%s is version %d, and the server is version %d", path, version, server).
			Try(fmt.Sprintf("install PostgreSQL's client programs of version %d or newer, and name their folder in COUNTERSIGN_POSTGRES_TOOLS", server))
	}
	return path, nil
}

func missing(name string, server int, cause error) error {
	e := countersign.Errorf(countersign.Unavailable, "there is no program %s here, without which PostgreSQL is not backed up or restored", name)
	e.Err = cause
	if server == 0 {
		return e.Try("install PostgreSQL's client programs, and name their folder in COUNTERSIGN_POSTGRES_TOOLS if PATH does not find them")
	}
	return e.Try(fmt.Sprintf("install PostgreSQL's client programs of version %d or newer, and name their folder in COUNTERSIGN_POSTGRES_TOOLS if PATH does not find them", server))
}

var version = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// versionIn is the major version that a program says of itself, 0 when it says none.
func versionIn(said string) int {
	m := version.FindStringSubmatch(said)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

// run runs a program on a database. Its password goes by the environment: what stands on a command line can be read by everybody on
// the machine.
func (t Tools) run(ctx context.Context, path, database string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = os.Environ()
	if database != "" {
		name, password, err := connection(database)
		if err != nil {
			return err
		}
		cmd.Args = append(cmd.Args[:1], append([]string{"--dbname=" + name}, cmd.Args[1:]...)...)
		if password != "" {
			cmd.Env = append(cmd.Env, "PGPASSWORD="+password)
		}
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := countersign.Errorf(countersign.Unavailable, "%s failed: %s", filepath.Base(path), lastLines(said.String()))
		e.Err = err
		return e
	}
	return nil
}

// understood are the parameters of a database's URL that PostgreSQL's programs know. Ours and the driver's own would be errors to them.
var understood = []string{"sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port", "user", "dbname", "connect_timeout", "target_session_attrs", "passfile", "service"}

// connection is the URL of a database without its password, and the password.
func connection(database string) (name, password string, err error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", "", errors.New("the database URL cannot be read") // unreachable: it was connected to; and the cause would show the password
	}
	password, _ = u.User.Password()
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	asked, kept := u.Query(), url.Values{}
	if password == "" {
		password = asked.Get("password")
	}
	for _, name := range understood {
		if asked.Has(name) {
			kept.Set(name, asked.Get(name))
		}
	}
	u.RawQuery = kept.Encode()
	return u.String(), password, nil
}

// lastLines is what a program said at its end, in one line.
func lastLines(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.Join(lines[max(len(lines)-3, 0):], "; ")
}

// list has pg_restore read the contents of a dump.
func (t Tools) list(ctx context.Context, dump string) error {
	path, err := t.find(ctx, "pg_restore", 0)
	if err != nil {
		return err
	}
	if err := t.run(ctx, path, "", "--list", "--file="+os.DevNull, dump); err != nil {
		return damaged(err)
	}
	return nil
}
