package app

import "syscall"

// remotes are file systems whose files lie on another machine, by the number that the kernel gives each.
var remotes = map[uint32]string{
	0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x01021997: "9P", 0x5346414F: "AFS", 0x00C36400: "Ceph", 0x0BD00BD0: "Lustre",
}

// remote is the kind of a file system on another machine, empty for a disk of this one.
func remote(disk *syscall.Statfs_t) string { return remotes[uint32(disk.Type)] }
