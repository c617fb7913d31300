package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compile makes the program. It is static, knows its version and no folder of the machine that it was made on.
func (r *release) compile(ctx context.Context, t target) (entry, error) {
	path := filepath.Join(r.stage(t), t.program())
	_, err := output(ctx, r.root, t.env(), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", path, "./cmd/countersign")
	if err != nil {
		return entry{}, err
	}
	program, err := os.ReadFile(path)
	return entry{t.program(), 0o755, program}, err
}

// output runs a command in a folder, with some variables set besides, and returns what it printed. What it complained of is part of
// the error, and seen by nobody else.
func output(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out.Bytes(), nil
}
