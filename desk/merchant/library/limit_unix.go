//go:build linux || darwin

package library

import "syscall"

// limit keeps this process from taking more memory and time than a document can need, whatever is in it.
func limit() error {
	for what, most := range map[int]uint64{syscall.RLIMIT_DATA: mostMemory + besides, syscall.RLIMIT_CPU: mostSeconds, syscall.RLIMIT_CORE: 0} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(what, &now); err != nil {
			return err
		}
		if uint64(now.Max) > most {
			if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
				return err
			}
		}
	}
	return nil
}
