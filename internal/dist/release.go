package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// options are what a release may be told.
type options struct{ version, out, only string }

// release is what one run makes.
type release struct {
	version string
	at      time.Time // what every file in it says it was last changed
	root    string    // of the module
	out     string
	work    string // for what is not to be kept
	targets []target
}

// versions are what all of the systems' package managers sort in the order that was meant.
var versions = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9a-z]+)?$`)

// begin looks at everything that could be wrong before the first program is compiled.
func begin(ctx context.Context, o options) (*release, error) {
	if !versions.MatchString(o.version) {
		return nil, fmt.Errorf("-version: expected three numbers as in 1.2.3 or 1.2.3-rc1 but got %q", o.version)
	}
	targets, err := targetsOf(o.only)
	if err != nil {
		return nil, err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	at, err := sourceDate(ctx, root)
	if err != nil {
		return nil, err
	}
	out, err := emptyFolder(o.out)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "countersign-dist-")
	if err != nil {
		return nil, err
	}
	return &release{version: o.version, at: at, root: root, out: out, work: work, targets: targets}, nil
}

// stage is a folder for what belongs to a target.
func (r *release) stage(t target) string { return filepath.Join(r.work, t.os+"-"+t.arch) }

func moduleRoot(ctx context.Context) (string, error) {
	file, err := output(ctx, "", nil, "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(file))), nil
}

// sourceDate is the time of the sources: what SOURCE_DATE_EPOCH says, in seconds, or when the commit was made.
func sourceDate(ctx context.Context, root string) (time.Time, error) {
	const variable = "SOURCE_DATE_EPOCH"
	text := os.Getenv(variable)
	if text == "" {
		out, err := output(ctx, root, nil, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("%s is not set, and the commit's time is not known: %w", variable, err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 315532800 { // 1980, before which a zip knows no time
		return time.Time{}, fmt.Errorf("%s: expected seconds since 1970, of a day after 1980, but got %q", variable, text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// emptyFolder makes a folder, or takes one that is there. Files of an earlier run would end up among the sums, and nobody asked for
// them to be removed.
func emptyFolder(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	files, err := os.ReadDir(path)
	if err == nil && len(files) > 0 {
		err = fmt.Errorf("-out: expected an empty folder, but %s holds %s", path, files[0].Name())
	}
	return path, err
}

// make makes everything; the sums come last, so that a folder without them is no release.
func (r *release) make(ctx context.Context) error {
	for _, t := range r.targets {
		if err := r.makeFor(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return r.sums()
}

func (r *release) makeFor(ctx context.Context, t target) error {
	entries, err := r.entries(ctx, t)
	if err != nil {
		return err
	}
	if err := r.archive(t, entries); err != nil {
		return err
	}
	if err := r.bill(ctx, t); err != nil || t.os != "linux" {
		return err
	}
	return r.packages(ctx, t, entries)
}

// entries are the files that somebody with this system gets, whatever they are packed in.
func (r *release) entries(ctx context.Context, t target) ([]entry, error) {
	program, err := r.compile(ctx, t)
	if err != nil {
		return nil, err
	}
	notices, err := r.notices(ctx, t)
	if err != nil {
		return nil, err
	}
	papers, err := r.papers()
	return append([]entry{program, notices}, papers...), err
}
