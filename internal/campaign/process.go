//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// build makes the program: the test binary of cmd/countersign.
func build(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", path, "./cmd/countersign")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program, from the root of the module: %w", err)
	}
	return nil
}

// process is one that is started again whenever it ends, as a service manager would.
type process struct {
	w    *world
	name string
	args []string
	env  []string

	mu      sync.Mutex
	cmd     *exec.Cmd // nil between two lives
	killAt  int       // the change at which the next life ends; 0 for none
	armed   func()    // told when this life ends as it was to
	struck  func()    // the same for the next life
	stopped bool
	ended   chan struct{}
}

// start lets it live until it is stopped.
func (w *world) start(name, database string, args ...string) *process {
	p := &process{w: w, name: name, args: args, env: w.env(name, database), ended: make(chan struct{})}
	go p.live()
	return p
}

func (p *process) live() {
	defer close(p.ended)
	for {
		cmd, err := p.begin()
		if cmd == nil {
			if err != nil {
				p.w.wrong("%s cannot be started: %v", p.name, err)
			}
			return
		}
		cmd.Wait()
		p.over(cmd)
		p.w.pauseFor(100 * time.Millisecond) // a service manager waits too
	}
}

// begin starts the next life; nil when there is to be none.
func (p *process) begin() (*exec.Cmd, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = nil
	if p.stopped {
		return nil, nil
	}
	log, err := os.OpenFile(filepath.Join(p.w.dir, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(p.w.program, p.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.armed = nil
	if p.killAt > 0 {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], fmt.Sprint("COUNTERSIGN_TEST_KILL=", p.killAt))
		p.armed, p.struck, p.killAt = p.struck, nil, 0
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.cmd = cmd
	return cmd, nil
}

// over notes the end of a life that was to end by itself, if it was not ended by us before.
func (p *process) over(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed != nil && killed(cmd) {
		p.armed()
	}
	p.armed = nil
}

func killed(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// signal sends one to the process as it is now, and says whether there was one.
func (p *process) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == syscall.SIGKILL {
		p.armed = nil // it is we who end it
	}
	return p.cmd != nil && p.cmd.Process.Signal(s) == nil
}

// pid is 0 between two lives.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// dieAt ends this life now and the next one at its n-th change.
func (p *process) dieAt(n int, struck func()) {
	p.mu.Lock()
	p.killAt, p.struck = n, struck
	p.mu.Unlock()
	p.signal(syscall.SIGKILL)
}

// stop ends it for good, in good order, and by force when that takes too long.
func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		p.signal(syscall.SIGKILL)
		<-p.ended
	}
}

// command runs a command to its end and returns its exit code, -1 when it was killed, and what it printed. While it runs it can
// be killed like every process.
func (w *world) command(args ...string) (code int, said string) {
	p := &process{w: w, name: "command", env: w.env("command", w.address("command"))}
	cmd := exec.Command(w.program, args...)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var text screen
	cmd.Stdout, cmd.Stderr = &text, &text
	w.mu.Lock()
	if w.dying > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("COUNTERSIGN_TEST_KILL=", w.dying))
		p.armed, w.dying, w.died = w.died, 0, nil
	}
	err := cmd.Start()
	if err == nil {
		p.cmd = cmd
		w.running = p
	}
	w.mu.Unlock()
	if err != nil {
		return -2, err.Error()
	}
	err = cmd.Wait()
	p.over(cmd)
	w.mu.Lock()
	w.running = nil
	w.mu.Unlock()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return -2, err.Error()
	}
	return cmd.ProcessState.ExitCode(), text.String()
}

// until runs a command again until it ends well.
func (w *world) until(args ...string) string {
	begun := time.Now()
	for {
		code, said := w.command(args...)
		if code == 0 {
			return said
		}
		if time.Since(begun) > patience {
			w.wrong("countersign %v does not end well any more: %d, %s", args, code, said)
			return ""
		}
		w.pauseFor(50 * time.Millisecond)
	}
}
