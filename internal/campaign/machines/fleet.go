package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// build makes the program that is put to the test.
func build(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "countersign")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "countersign/cmd/countersign").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return program, nil
}

// process is one of the fleet's, which is killed and started again under the same name.
type process struct {
	name   string
	inside []string // the command that puts it on its side of the network; empty for this side
	args   []string
	env    []string

	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   chan struct{}
	printed screen
	starts  int
}

// screen is what a process has printed since its start.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() > 1<<20 {
		s.text.Reset() // of a long life only the end is of interest
	}
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

// start starts it, unless it runs: two may come to the thought at once.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		select {
		case <-p.ended:
		default:
			return nil
		}
	}
	p.printed.clear()
	all := append(append([]string{}, p.inside...), p.args...)
	p.cmd = exec.Command(all[0], all[1:]...)
	p.cmd.Env = p.env
	p.cmd.Stdout, p.cmd.Stderr = &p.printed, &p.printed
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.starts++
	ended := make(chan struct{})
	p.ended = ended
	go func(cmd *exec.Cmd) { cmd.Wait(); close(ended) }(p.cmd)
	return nil
}

// kill ends it as a power cut would.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd.Process.Kill()
	<-p.ended
}

// stop asks it to end, and returns its exit code.
func (p *process) stop(patience time.Duration) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(patience):
		p.cmd.Process.Kill()
		return -1, fmt.Errorf("%s did not end in %s after it was asked to", p.name, patience)
	}
}

// fell reports whether it ended though nobody had killed it.
func (p *process) fell() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// unreachable reports whether it said, as its last word, that it lost the database before it had begun, or found none.
func (p *process) unreachable() bool {
	_, last, said := strings.Cut(p.printed.String(), "countersign: ")
	return said && (strings.Contains(last, "cannot reach the database") || strings.Contains(last, "failed to connect") || strings.Contains(last, "timed out"))
}

var serves = regexp.MustCompile(`countersign serves (http://[\d.:]+) on`)

// url is where a serve answers; empty while it does not.
func (p *process) url() string {
	found := serves.FindStringSubmatch(p.printed.String())
	if found == nil {
		return ""
	}
	res, err := http.Get(found[1] + "/readyz")
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return ""
	}
	return found[1]
}

// once runs a command of the program to its end.
func (p plan) once(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.Program, args...)
	cmd.Env = env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("countersign %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), nil
}
