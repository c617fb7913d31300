package main

import (
	"database/sql/driver"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// These variables make the test binary, when it is the program, fail as machines do. The program itself knows neither.
const (
	// wrongClock names a file that says by how much the clock is wrong, such as -1h. It is read at each look at the clock.
	wrongClock = "COUNTERSIGN_TEST_CLOCK"
	// killAtChange is the number of the change to a SQLite database, a row or a commit, at which the process kills itself.
	killAtChange = "COUNTERSIGN_TEST_KILL"
)

// faulty arms what the variables ask for.
func faulty() {
	if path := os.Getenv(wrongClock); path != "" {
		clock = func() time.Time { return time.Now().Add(wrongBy(path)) }
	}
	if n, err := strconv.ParseInt(os.Getenv(killAtChange), 10, 64); err == nil {
		killAt(n)
	}
}

// wrongBy is nothing while the file is being written.
func wrongBy(path string) time.Duration {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return d
}

// killAt counts every row that is changed on any connection, and every commit before it takes place.
func killAt(n int64) {
	var changes atomic.Int64
	count := func() {
		if changes.Add(1) != n {
			return
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
	}
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		hooks, ok := conn.(sqlite.HookRegisterer)
		if !ok {
			return driver.ErrBadConn
		}
		hooks.RegisterPreUpdateHook(func(sqlite.SQLitePreUpdateData) { count() })
		hooks.RegisterCommitHook(func() int32 { count(); return 0 })
		return nil
	})
}
