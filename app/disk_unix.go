//go:build unix

package app

import (
	"fmt"
	"syscall"
)

// examineDisk says how much room the data folder's disk has. Under 1 GiB is a finding: SQLite needs room to commit.
func (c Config) examineDisk() Finding {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(c.Data, &fs); err != nil {
		return Finding{What: "disk", Says: err.Error()}
	}
	free := uint64(fs.Bavail) * uint64(fs.Bsize)
	f := Finding{What: "disk", OK: free >= 1<<30, Says: fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))}
	if !f.OK {
		f.Try = "free some space on the disk of " + c.Data
	}
	return f
}
