package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"

	"countersign/app"
)

// server is the product in a process of its own, so that its memory is its own.
type server struct {
	address string
	client  *http.Client
	process *exec.Cmd
	folder  string
}

// start starts this program again, to serve.
func start(ctx context.Context, database string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "countersign-bench-")
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &server{client: &http.Client{Jar: jar}, folder: folder, process: exec.CommandContext(ctx, self, "serve", "-data", folder, "-database", database)}
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s.address = strings.TrimSpace(line)
	return s, err
}

func (s *server) stop() error {
	s.process.Process.Signal(os.Interrupt)
	return errors.Join(s.process.Wait(), os.RemoveAll(s.folder))
}

// post sends an empty form, as a page of the server's own would.
func (s *server) post(path string) error {
	res, err := s.client.Post(s.address+path, "application/x-www-form-urlencoded", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusOK { // after what it led to
		return fmt.Errorf("%s answered %d, %v", path, res.StatusCode, err)
	}
	return err
}

// forgetPeak has the kernel begin anew to look for the most memory that the server has. Elsewhere than on Linux nothing does.
func (s *server) forgetPeak() {
	os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.process.Process.Pid), []byte("5"), 0)
}

// peak is the most memory that the server has had since then.
func (s *server) peak() string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return fmt.Sprintf("%d MB", kb/1024)
		}
	}
	return "unknown"
}

// serve is what start starts: the dashboard and the API, without workers, so that what was filled in stays as it is.
func serve(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	data := flags.String("data", "", "folder of the key")
	database := flags.String("database", "", "a SQLite path or a postgres:// URL")
	flags.Parse(args)
	a, err := app.Open(ctx, app.Config{Data: *data, Database: *database, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	l, err := app.Listen("-addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return a.Serve(ctx, l, a.Handler())
}
