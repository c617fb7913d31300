package backup_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign"
	"countersign/backup"
	"countersign/internal/testdb"
)

func TestPostgresWithoutItsPrograms(t *testing.T) {
	i := install(t, testdb.Postgres(t))
	server, err := i.Store.ServerVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, row := range map[string]struct{ says, want string }{
		"missing": {"", "there is no program pg_dump"}, "older": {"pg_dump (PostgreSQL) 9.6.1", fmt.Sprintf("pg_dump is version 9, and the server is version %d", server)},
	} {
		i.Tools.Folder = t.TempDir()
		if row.says != "" {
			if err := os.WriteFile(filepath.Join(i.Tools.Folder, "pg_dump"), []byte("#!/bin/sh\necho '"+row.says+"'\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		_, err := i.Make(t.Context(), backup.Target{Folder: folder})
		if refused(t, err, countersign.Unavailable, row.want); !strings.Contains(fmt.Sprint(err), fmt.Sprintf("version %d or newer", server)) {
			t.Errorf("%s: it does not say which version is needed: %v", name, err)
		}
		empty(t, folder)
	}
}

// Whatever a process was started with can be read by everybody on the machine.
func TestThePasswordIsOnNoCommandLine(t *testing.T) {
	i := install(t, testdb.Postgres(t))
	i.Tools.Folder = t.TempDir()
	seen := filepath.Join(i.Tools.Folder, "seen")
	for _, name := range []string{"pg_dump", "pg_restore"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>'%s'\n[ -z \"$PGPASSWORD\" ] || echo by the environment >>'%s'\nexec '%s' \"$@\"\n", seen, seen, testdb.Program(t, name))
		if err := os.WriteFile(filepath.Join(i.Tools.Folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(i.Database)
	if err != nil {
		t.Fatal(err)
	}
	password, ok := u.User.Password()
	if !ok { // this server asks for none
		password = "pa55-w0rd"
		u.User = url.UserPassword(u.User.Username(), password)
	}
	asked := u.Query()
	asked.Set("pool_max_conns", "4") // which pg_dump does not know
	u.RawQuery = asked.Encode()
	i.Database = u.String()
	i.make(backup.Lock{})
	said, err := os.ReadFile(seen)
	if err != nil || !bytes.Contains(said, []byte("by the environment")) || !bytes.Contains(said, []byte("--snapshot=")) || bytes.Contains(said, []byte(password)) {
		t.Errorf("pg_dump was started with %s (%v)", said, err)
	}
}
