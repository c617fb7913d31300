//go:build unix && !linux

package app

import "syscall"

// remote is not known here.
func remote(*syscall.Statfs_t) string { return "" }
