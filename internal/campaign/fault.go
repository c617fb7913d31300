//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"countersign/internal/relay"
)

// trap waits for the n-th statement of a process.
type trap struct {
	mu     sync.Mutex
	left   int
	way    relay.Way
	kill   func() // with the statement
	refuse int    // how many statements find no room
	struck func() // told when it snaps
}

func (t *trap) set(n int, way relay.Way, kill, struck func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.way, t.kill, t.struck, t.refuse = n, way, kill, struck, 0
}

func (t *trap) clear() { t.set(0, relay.Pass, nil, nil) }

func (t *trap) next() (relay.Way, func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse > 0 {
		t.refuse--
		return relay.NoSpace, nil
	}
	if t.left == 0 {
		return relay.Pass, nil
	}
	if t.left--; t.left > 0 {
		return relay.Pass, nil
	}
	if t.struck != nil {
		t.struck()
	}
	if t.kill != nil && t.way != relay.Lost {
		t.kill()
	}
	return t.way, t.kill
}

// fault is something that machines do. It reports whether it happened; one that waits for a chosen moment says so when it does.
type fault struct {
	name string
	odds int
	do   func(w *world, name string) bool
}

// everywhere and the two others are what can happen, and how often it does beside the others.
var everywhere = []fault{
	{"serve is killed", 12, func(w *world, _ string) bool { return w.serve.signal(syscall.SIGKILL) }},
	{"serve is told to stop", 4, func(w *world, _ string) bool { return w.serve.signal(syscall.SIGTERM) }},
	{"an import is killed", 20, func(w *world, _ string) bool { return w.killCommand() }},
	{"serve stands still for a moment", 3, func(w *world, _ string) bool {
		return w.freeze(w.serve, time.Duration(100+w.roll(1500))*time.Millisecond)
	}},
	{"the clock of serve jumps", 5, func(w *world, _ string) bool { return w.turn("serve") }},
	{"the clock of commands jumps", 2, func(w *world, _ string) bool { return w.turn("command") }},
}

var onSQLite = []fault{
	{"serve dies at a chosen change", 20, func(w *world, name string) bool { w.serve.dieAt(1+w.roll(300), w.snapped(name)); return false }},
	{"an import dies at a chosen change", 8, func(w *world, name string) bool { w.nextCommandDies(1+w.roll(150), w.snapped(name)); return false }},
	{"the disk is full in the middle of a write", 8, func(w *world, _ string) bool { return w.full(uint64(w.roll(60_000))) }},
	{"nothing can be written", 4, func(w *world, _ string) bool { return w.full(0) }},
}

var onPostgres = []fault{
	{"the worker is killed", 10, func(w *world, _ string) bool { return w.worker.signal(syscall.SIGKILL) }},
	{"the worker is told to stop", 3, func(w *world, _ string) bool { return w.worker.signal(syscall.SIGTERM) }},
	{"the worker stands still beyond its lease", 1, func(w *world, _ string) bool { return w.freeze(w.worker, 17*time.Second) }},
	{"the clock of the worker jumps", 5, func(w *world, _ string) bool { return w.turn("worker") }},
	{"serve dies before a chosen statement", 8, func(w *world, name string) bool { return w.at("serve", relay.Cut, true, name) }},
	{"serve dies after a chosen statement", 8, func(w *world, name string) bool { return w.at("serve", relay.Lost, true, name) }},
	{"the worker dies before a chosen statement", 6, func(w *world, name string) bool { return w.at("worker", relay.Cut, true, name) }},
	{"the worker dies after a chosen statement", 6, func(w *world, name string) bool { return w.at("worker", relay.Lost, true, name) }},
	{"an import dies before a chosen statement", 6, func(w *world, name string) bool { return w.at("command", relay.Cut, true, name) }},
	{"an import dies after a chosen statement", 6, func(w *world, name string) bool { return w.at("command", relay.Lost, true, name) }},
	{"the line breaks before a chosen statement", 8, func(w *world, name string) bool { return w.at(w.any(), relay.Cut, false, name) }},
	{"the line breaks after a chosen statement", 8, func(w *world, name string) bool { return w.at(w.any(), relay.Lost, false, name) }},
	{"every line of a process breaks", 6, func(w *world, _ string) bool { return w.relays[w.any()].CutAll() > 0 }},
	{"the server ends every session", 4, func(w *world, _ string) bool { return w.terminate() }},
	{"the server has no room for some statements", 6, func(w *world, _ string) bool { return w.noSpace() }},
	{"the server crashes and recovers", 3, func(w *world, _ string) bool { return w.crash() }},
}

// strike does one of them.
func (w *world) strike() {
	all := append(everywhere[:len(everywhere):len(everywhere)], onSQLite...)
	if w.engine == "postgres" {
		all = append(everywhere[:len(everywhere):len(everywhere)], onPostgres...)
	}
	sum := 0
	for _, f := range all {
		sum += f.odds
	}
	n := w.roll(sum)
	for _, f := range all {
		if n -= f.odds; n < 0 {
			if f.do(w, f.name) {
				w.struck(f.name)
			}
			return
		}
	}
}

func (w *world) struck(name string) {
	w.faults.Add(1)
	w.tally.struck(w.engine, name)
}

// snapped is struck for a fault that waits.
func (w *world) snapped(name string) func() { return func() { w.struck(name) } }

// any is one of the processes.
func (w *world) any() string { return []string{"serve", "worker", "command"}[w.roll(3)] }

// killCommand kills the command that is under way.
func (w *world) killCommand() bool {
	w.mu.Lock()
	p := w.running
	w.mu.Unlock()
	return p != nil && p.signal(syscall.SIGKILL)
}

func (w *world) freeze(p *process, d time.Duration) bool {
	if !p.signal(syscall.SIGSTOP) {
		return false
	}
	w.pauseFor(d)
	return p.signal(syscall.SIGCONT)
}

// turn sets the clock of a process wrong, or right again.
func (w *world) turn(name string) bool {
	w.clock(name, []string{"24h", "-1h", "20s", "-20s", "16s", "0s", "0s"}[w.roll(7)])
	return true
}

func (w *world) clock(name, by string) {
	if err := os.WriteFile(w.file("clock-"+name), []byte(by), 0o600); err != nil {
		w.wrong("turn a clock: %v", err)
	}
}

// at sets the trap of a process, which it steps into sooner or later.
func (w *world) at(name string, way relay.Way, dies bool, fault string) bool {
	var kill func()
	if dies {
		p := map[string]*process{"serve": w.serve, "worker": w.worker}[name]
		kill = func() {
			if p != nil {
				p.signal(syscall.SIGKILL)
			} else {
				w.killCommand()
			}
		}
	}
	w.traps[name].set(1+w.roll(120), way, kill, w.snapped(fault))
	return false
}

func (w *world) noSpace() bool {
	t := w.traps[w.any()]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuse = 1 + w.roll(40)
	return true
}

// onDatabase runs a statement past the relays.
func (w *world) onDatabase(see func(*sql.Rows) error, statement string) error {
	db, err := sql.Open("pgx", w.database)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := see(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// terminate does nothing while the server recovers: then nobody has a session.
func (w *world) terminate() bool {
	return nil == w.onDatabase(func(*sql.Rows) error { return nil },
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
}

// crash kills a server process: the server then ends all the others and recovers from its log. It is for a server of our own.
func (w *world) crash() (crashed bool) {
	if !w.options.private {
		return false
	}
	err := w.onDatabase(func(r *sql.Rows) error {
		var pid int
		if err := r.Scan(&pid); err != nil {
			return err
		}
		crashed = true
		return syscall.Kill(pid, syscall.SIGKILL)
	}, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' LIMIT 1")
	if err != nil && !crashed {
		return false // it recovers from the last one
	}
	return crashed
}

// full lets the files of serve grow by so much and no more, for a while. 0 is not even what they have.
func (w *world) full(by uint64) bool {
	pid := w.serve.pid()
	if pid == 0 {
		return false
	}
	most := by
	if by > 0 {
		if log, err := os.Stat(w.database + "-wal"); err == nil {
			most += uint64(log.Size())
		}
	}
	limit(pid, most)
	w.pauseFor(time.Duration(200+w.roll(1000)) * time.Millisecond)
	limit(pid, plenty)
	return true
}

const plenty = 1 << 50

// limit sets how large a file of a running process may become; one that has ended meanwhile does not mind. It is done by a program
// because no pointer is needed for that.
func limit(pid int, most uint64) {
	_ = exec.Command("prlimit", "--pid", fmt.Sprint(pid), fmt.Sprintf("--fsize=%d:unlimited", most)).Run()
}

// killedCommand runs a command that dies somewhere on its way, or ends before that.
func (w *world) killedCommand(args ...string) {
	const name = "a command of the set-up dies"
	if w.engine == "sqlite" {
		w.nextCommandDies(1+w.roll(40), w.snapped(name))
		w.command(args...)
		return
	}
	w.at("command", []relay.Way{relay.Cut, relay.Lost}[w.roll(2)], true, name)
	w.command(args...)
	w.traps["command"].clear()
}

// nextCommandDies has the next command die at one of its changes.
func (w *world) nextCommandDies(n int, struck func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dying, w.died = n, struck
}

// heal makes every clock right and wakes whoever stands still.
func (w *world) heal() {
	for _, name := range []string{"serve", "worker", "command"} {
		w.clock(name, "0s")
		if t := w.traps[name]; t != nil {
			t.clear()
		}
	}
	for _, p := range w.processes() {
		p.signal(syscall.SIGCONT)
	}
}
