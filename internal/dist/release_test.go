package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// TestTwoBuildsInTwoFoldersAreTheSameBytes makes a release here and one from a copy of the tree that is not a checkout, by somebody
// with another home, another time zone and other ideas of who may read files. The compiler's cache is the same for both, or it would
// take the better part of an hour: that Go compiles the same twice is Go's promise; all the rest is ours.
func TestTwoBuildsInTwoFoldersAreTheSameBytes(t *testing.T) {
	t.Parallel()
	here, copied := testdb.Root(t), filepath.Join(t.TempDir(), "another folder")
	copyTree(t, here, copied)
	const only = "linux/amd64,windows/amd64"
	first := made(t, here, nil, only)
	second := made(t, copied, []string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "TZ=Pacific/Kiritimati", "LC_ALL=C"}, only)
	if a, b := sumsOf(t, first), sumsOf(t, second); a != b {
		t.Errorf("here:\n%s\nthere:\n%s", a, b)
	}
	t.Run("it is whole, and its sums are those of its files", func(t *testing.T) {
		for _, name := range []string{"countersign_1.2.3-rc1_linux_amd64.tar.gz", "countersign_1.2.3-rc1_windows_amd64.zip",
			"countersign_1.2.3-rc1_linux_amd64.cdx.json", "countersign_1.2.3-rc1_windows_amd64.cdx.json",
			"countersign_1.2.3~rc1_amd64.deb", "countersign-1.2.3~rc1-1.x86_64.rpm", "countersign_1.2.3_rc1_x86_64.apk"} {
			if !strings.Contains(sumsOf(t, first), "  "+name+"\n") {
				t.Errorf("there are no sums of %s", name)
			}
		}
		ran(t, first, nil, "sha256sum", "--check", "--strict", "SHA256SUMS")
	})
	t.Run("it can be tried as docs/running.md says", func(t *testing.T) {
		try, _, _ := typed(t)
		for _, line := range try {
			ran(t, first, nil, "sh", "-c", strings.ReplaceAll(line, "VERSION", "1.2.3-rc1"))
		}
	})
	t.Run("no folder of the machine that made it is in it", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(unpacked(t, first), "countersign"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{here, filepath.Dir(runtime.GOROOT()) + "/go/src", os.Getenv("HOME") + "/go"} {
			if strings.Contains(string(text), path) {
				t.Errorf("the program has %s in it", path)
			}
		}
	})
	t.Run("the program knows its version and needs no library", func(t *testing.T) {
		program := filepath.Join(unpacked(t, first), "countersign")
		if out := ran(t, "", nil, program, "version"); out != "countersign 1.2.3-rc1\n" {
			t.Errorf("it says %q", out)
		}
	})
}

// made makes a release in a folder and returns where it is.
func made(t *testing.T, root string, env []string, only string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	kept := strings.Fields(ran(t, root, nil, "go", "env", "GOCACHE", "GOMODCACHE", "GOPATH")) // which depend on HOME otherwise
	env = append(env, "SOURCE_DATE_EPOCH=1796000000", "GOCACHE="+kept[0], "GOMODCACHE="+kept[1], "GOPATH="+kept[2])
	ran(t, root, env, "sh", "-c", `umask 077; exec go run ./internal/dist -version 1.2.3-rc1 -out "$0" -only "$1"`, out, only)
	return out
}

// unpacked is the folder of the Linux archive.
func unpacked(t *testing.T, dist string) string {
	t.Helper()
	folder := t.TempDir()
	ran(t, folder, nil, "tar", "-xzf", filepath.Join(dist, "countersign_1.2.3-rc1_linux_amd64.tar.gz"))
	return filepath.Join(folder, "countersign_1.2.3-rc1_linux_amd64")
}

func ran(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := output(t.Context(), folder, env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func sumsOf(t *testing.T, dist string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// copyTree copies the sources, without the history that a downloaded archive of them does not have either.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(from, ".git"), path == filepath.Join(from, "dist"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, path[len(from):]), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path[len(from):]), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBecomeAReleaseIsRefusedBeforeItBegins(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "countersign_1.2.2_linux_amd64.tar.gz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		o          options
	}{
		{"a version that is none", `-version: expected three numbers as in 1.2.3 or 1.2.3-rc1 but got "v1"`, options{version: "v1"}},
		{"a version with a path in it", "-version: expected", options{version: "1.2.3/../x"}},
		{"a system that there is not", `-only: expected some of [linux/amd64`, options{version: "1.2.3", only: "linux/amd64,plan9/386"}},
		{"a folder that holds a release already", "holds countersign_1.2.2_linux_amd64.tar.gz", options{version: "1.2.3", out: full}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := begin(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestTheTimeOfAReleaseIsThatOfItsSources(t *testing.T) {
	root := testdb.Root(t)
	for text, want := range map[string]string{"1796000000": "2026-11-30T00:53:20Z", "0": "", "yesterday": ""} {
		t.Setenv("SOURCE_DATE_EPOCH", text)
		at, err := sourceDate(t.Context(), root)
		if want != "" && (err != nil || at.Format("2006-01-02T15:04:05Z") != want) || want == "" && err == nil {
			t.Errorf("%s: %v %v", text, at, err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := sourceDate(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH is not set") {
		t.Errorf("where there is no commit: %v", err)
	}
}
