//go:build unix

package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Under so much a disk is a finding: SQLite needs room to commit, and a file needs a place in the file system's list of files.
const (
	leastRoom  = 1 << 30
	leastFiles = 1000
)

// examineDisk says how much room the data folder's disk has.
func (c Config) examineDisk() Finding {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(c.Data, &disk); err != nil {
		return Finding{What: "disk", Says: err.Error()}
	}
	return c.judgeDisk(&disk)
}

// judgeDisk is the finding about a disk that has so much.
func (c Config) judgeDisk(disk *syscall.Statfs_t) Finding {
	free := uint64(disk.Bavail) * uint64(disk.Bsize)
	f := Finding{What: "disk", OK: true, Says: fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))}
	switch {
	case uint64(disk.Flags)&readOnly != 0:
		return f.bad("mounted read-only", "mount the disk of "+c.Data+" for writing, or choose another folder with --data")
	case free < leastRoom:
		return f.bad("", "free some space on the disk of "+c.Data)
	case disk.Files > 0 && uint64(disk.Ffree) < leastFiles: // some file systems have no such list
		return f.bad(fmt.Sprintf("room for %d more files", uint64(disk.Ffree)), "remove files from the disk of "+c.Data+": it has space, and no room for names")
	}
	if kind := remote(disk); kind != "" && !c.onPostgres() {
		return f.bad(kind+", on which SQLite's locks cannot be relied on", "keep the data folder on a disk of this machine, or use PostgreSQL")
	}
	return f
}

// keyFiles are the key's and those beside it, of keys that it replaced. A folder that cannot be read has none.
func (c Config) keyFiles() (all []string) {
	folder, name := filepath.Split(c.keyFile())
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			all = append(all, folder+e.Name())
		}
	}
	return all
}

// readOnly is how a file system says that nothing is written to it, on every system of the kind.
const readOnly = 1

// examineFiles looks at who else on this machine may read what is kept here.
func (c Config) examineFiles() Finding {
	f := Finding{What: "permissions", OK: true}
	var open []string
	look := func(path string, forbidden fs.FileMode) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&forbidden != 0 {
			open = append(open, fmt.Sprintf("%s (%04o)", path, info.Mode().Perm()))
		}
	}
	for _, key := range c.keyFiles() {
		look(key, 0o077)
	}
	if len(open) > 0 {
		return f.bad("others on this machine can reach the key: "+open[0], "chmod 600 "+c.keyFile()+"*")
	}
	look(c.Data, 0o077)
	if !c.onPostgres() {
		look(c.Database, 0o007)
	}
	if len(open) == 0 {
		f.Says = "the data folder, the key and the database are this user's alone"
		return f
	}
	if info, err := os.Stat(c.Data); err == nil && info.Mode().Perm()&0o007 == 0 && len(open) == 1 {
		return f.note("its group can reach "+open[0], "if that is not meant: chmod 700 "+c.Data)
	}
	return f.note("others on this machine can reach "+strings.Join(open, ", "), "chmod 700 "+c.Data)
}
