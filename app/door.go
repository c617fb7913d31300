package app

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"

	"countersign"
)

// Door is where people come in, and what keeps others from listening there: passwords, sessions and cases pass it.
type Door struct {
	Addr     string
	CertFile string // with the file of its key, for TLS that ends here
	KeyFile  string
	Proxies  bool // proxies were named, who end it before
	Plain    bool // somebody has said that nothing need be encrypted here
	Log      *slog.Logger
}

// Open listens. An address that others can reach is refused unless what passes there is encrypted, or somebody has said that it need
// not be: a first try that listens everywhere is how passwords come to travel in the clear for years.
func (d Door) Open() (net.Listener, error) {
	var encrypted *certificate
	if d.CertFile != "" || d.KeyFile != "" {
		c, err := openCertificate(d.CertFile, d.KeyFile, d.Log)
		if err != nil {
			return nil, err
		}
		encrypted = c
	}
	l, err := Listen("--addr", d.Addr)
	switch {
	case err != nil:
		return nil, err
	case encrypted != nil:
		return tls.NewListener(l, encrypted.config()), nil
	case !d.Proxies && !d.Plain && !loopback(l.Addr()):
		return nil, errors.Join(countersign.Errorf(countersign.Invalid, "%s can be reached by others, and passwords and cases would travel there unencrypted", d.Addr).In("--addr").
			Try("give --tls-cert and --tls-key, or name the proxy that encrypts in COUNTERSIGN_TRUSTED_PROXIES, or say with --plain-http that nobody else is on that network"), l.Close())
	}
	return l, nil
}

// loopback reports whether only this machine can reach an address.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Address is where people reach a program that listens there, when nobody has said otherwise: this machine's name where it
// listens everywhere.
func (d Door) Address(l net.Listener) string {
	scheme, host := "http", l.Addr().String()
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = net.JoinHostPort(name, strconv.Itoa(tcp.Port))
		}
	}
	if d.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + host
}
