package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Others' work may be passed on with its licence beside it. Which work that is is asked of the compiler and not of go.mod: a
// target links other modules than its neighbour, and far fewer than go.mod names. The text itself is what the module's own files say;
// what a tool thinks of it stands in the bill of materials.

// linked is a package that goes into the program.
type linked struct {
	ImportPath string
	Dir        string
	Standard   bool
	EmbedFiles []string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// origin is whose work something is: a module, or Go itself.
func (l linked) origin() (name, root string) {
	switch {
	case l.Standard:
		return "", ""
	case l.Module.Main:
		return "files of others in " + l.Module.Path, l.Module.Dir
	default:
		return l.Module.Path + " " + l.Module.Version, l.Module.Dir
	}
}

// notice is a licence, or what else an author wants to be passed on.
type notice struct{ origin, file, text string }

// licence are the names that authors give such files.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)|licen[cs]e(\.(txt|md))?$`)

// notices is LICENSES.txt, with what a target's program owes to others.
func (r *release) notices(ctx context.Context, t target) (entry, error) {
	packages, err := r.linked(ctx, t)
	if err != nil {
		return entry{}, err
	}
	goroot, err := output(ctx, r.root, nil, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return entry{}, err
	}
	where, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	found, err := noticesIn("the Go programming language "+version, where, []string{where})
	if err != nil {
		return entry{}, err
	}
	theirs, err := noticesOf(packages)
	if err != nil {
		return entry{}, err
	}
	return entry{"LICENSES.txt", 0o644, written(append(found, theirs...))}, nil
}

func (r *release) linked(ctx context.Context, t target) (packages []linked, err error) {
	out, err := output(ctx, r.root, t.env(), "go", "list", "-deps", "-json=ImportPath,Dir,Standard,EmbedFiles,Module", "./cmd/countersign")
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l linked
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what is linked: %w", err)
		}
		packages = append(packages, l)
	}
}

// noticesOf finds the notices of every module that has a package in the program. One that has none is an error: its author said
// nothing of what may be done with it.
func noticesOf(packages []linked) (found []notice, err error) {
	roots, folders := map[string]string{}, map[string][]string{} // by whose they are
	for _, l := range packages {
		if name, root := l.origin(); name != "" {
			roots[name], folders[name] = root, append(folders[name], ancestry(l, root)...)
		}
	}
	for name, dirs := range folders {
		notices, err := noticesIn(name, roots[name], dirs)
		if err != nil {
			return nil, err
		}
		found = append(found, notices...)
	}
	return found, nil
}

// ancestry are the folders whose notices are about a package: its own, those of the files embedded in it, and all on the way up to
// the root of its module. Code that a module has taken over from elsewhere brings its licence in a folder of its own.
func ancestry(l linked, root string) (dirs []string) {
	from := []string{l.Dir}
	for _, f := range l.EmbedFiles {
		from = append(from, filepath.Join(l.Dir, filepath.Dir(f)))
	}
	for _, dir := range from {
		for ; len(dir) > len(root); dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, root)
}

// noticesIn finds the notices that lie in some folders below a root.
func noticesIn(origin, root string, dirs []string) (found []notice, err error) {
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if !f.Type().IsRegular() || filepath.Ext(f.Name()) == ".go" || !licence.MatchString(f.Name()) {
				continue
			}
			path := filepath.Join(dir, f.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path[len(root):]), "/")
			found = append(found, notice{origin, name, string(text)})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no licence: nothing in %s is called one", origin, root)
	}
	return found, nil
}

// written is all of them as one text.
func written(notices []notice) []byte {
	slices.SortStableFunc(notices, func(a, b notice) int { return strings.Compare(a.origin, b.origin) })
	rule := strings.Repeat("=", 78)
	var b bytes.Buffer
	b.WriteString("Countersign contains the work of others, under the licences below. The sources of each\n" +
		"are public, at the address and of the version that stand above its licence.\n")
	for _, n := range notices {
		text := strings.TrimSpace(strings.ReplaceAll(n.text, "\r\n", "\n"))
		fmt.Fprintf(&b, "\n%s\n%s (%s)\n%s\n\n%s\n", rule, n.origin, n.file, rule, text)
	}
	return b.Bytes()
}
