package store

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
const tcpUserTimeout = 0x12

// userTimeout has the kernel give a connection up whose peer acknowledges nothing, probes of a quiet one included. Without it, what was
// sent into a cut network is repeated for a quarter of an hour.
func userTimeout(connection any) (err error) {
	c, ok := connection.(syscall.Conn)
	if !ok {
		return nil // a kind of connection that has no socket
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds()))
	})
	if set == syscall.ENOPROTOOPT || set == syscall.EOPNOTSUPP {
		set = nil // a socket of this machine's own, which no network can cut
	}
	if err != nil {
		return err
	}
	return set
}
