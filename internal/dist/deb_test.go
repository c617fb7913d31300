package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"countersign/internal/testdb"
)

// TestThePackageIsInstalledUpgradedAndRemoved has scripts/test-deb do to two versions of the Debian package what an operator would.
func TestThePackageIsInstalledUpgradedAndRemoved(t *testing.T) {
	testdb.Program(t, "debootstrap")
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), filepath.Join(testdb.Root(t), "scripts", "test-deb"), deb(t, "1.2.3-rc1"), deb(t, "1.2.3"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// deb makes the Debian package of a version, and nothing else of a release.
func deb(t *testing.T, version string) string {
	t.Helper()
	r, err := begin(t.Context(), options{version: version, out: t.TempDir(), only: "linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(r.work) })
	entries, err := r.entries(t.Context(), r.targets[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := r.unpack(r.targets[0], entries); err != nil {
		t.Fatal(err)
	}
	if err := r.pack(t.Context(), r.targets[0], "deb"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(r.out, "*.deb"))
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	return files[0]
}
