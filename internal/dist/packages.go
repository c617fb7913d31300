package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

const packageTool = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

// packages writes a target's packages for Debian, Red Hat and Alpine, whose content packaging/nfpm.yaml says. Their names are what
// each system expects, which is never the same.
func (r *release) packages(ctx context.Context, t target, entries []entry) error {
	if err := r.unpack(t, entries); err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		if err := r.pack(ctx, t, format); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) pack(ctx context.Context, t target, format string) error {
	env := []string{"VERSION=" + r.version, "ARCH=" + t.arch, "STAGE=" + r.stage(t), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix())}
	return r.tool(ctx, env, packageTool, "package", "--config", "packaging/nfpm.yaml", "--packager", format, "--target", r.out)
}

// unpack lays a target's files out for the tool, which takes the modes and the times of folders from the disk: those of a builder's
// checkout are his own.
func (r *release) unpack(t target, entries []entry) error {
	for _, e := range entries {
		path := filepath.Join(r.stage(t), e.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, e.data, e.mode); err != nil {
			return err
		}
	}
	return filepath.WalkDir(r.stage(t), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if d.IsDir() || d.Name() == t.program() {
			mode = 0o755
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return os.Chtimes(path, r.at, r.at)
	})
}
