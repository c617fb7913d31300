package app

import (
	"syscall"
	"testing"
)

func TestDoctorMindsTheDisk(t *testing.T) {
	const nfs = 0x6969
	for name, tt := range map[string]struct {
		change   func(*syscall.Statfs_t)
		database string
		mark     string
		words    []string
	}{
		"room for everything":                   {func(*syscall.Statfs_t) {}, "", "well", []string{"2.0 GiB free"}},
		"mounted for reading":                   {func(d *syscall.Statfs_t) { d.Flags |= syscall.MS_RDONLY }, "", "wrong", []string{"mounted read-only"}},
		"less than a GiB":                       {func(d *syscall.Statfs_t) { d.Bavail = 1<<18 - 1 }, "", "wrong", []string{"1.0 GiB free"}},
		"a GiB that only the superuser may use": {func(d *syscall.Statfs_t) { d.Bavail, d.Bfree = 0, 1<<30 }, "", "wrong", []string{"0.0 GiB free"}},
		"no room for names":                     {func(d *syscall.Statfs_t) { d.Ffree = 999 }, "", "wrong", []string{"room for 999 more files"}},
		"a file system without a list of names": {func(d *syscall.Statfs_t) { d.Files, d.Ffree = 0, 0 }, "", "well", nil},
		"another machine's":                     {func(d *syscall.Statfs_t) { d.Type = nfs }, "", "wrong", []string{"NFS, on which SQLite's locks cannot be relied on"}},
		"another machine's, beside PostgreSQL":  {func(d *syscall.Statfs_t) { d.Type = nfs }, "postgres://h/x", "well", nil},
	} {
		t.Run(name, func(t *testing.T) {
			disk := syscall.Statfs_t{Bsize: 4096, Bavail: 1 << 19, Bfree: 1 << 19, Files: 1 << 20, Ffree: 1000}
			tt.change(&disk)
			says(t, Config{Data: "/data", Database: tt.database}.judgeDisk(&disk), tt.mark, tt.words...)
		})
	}
	t.Run("none at all", func(t *testing.T) {
		if f := (Config{Data: t.TempDir() + "/nowhere"}).examineDisk(); f.OK {
			t.Errorf("it is said to be well: %+v", f)
		}
	})
}
