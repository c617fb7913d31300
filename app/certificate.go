package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"time"
)

// certificate is what a door shows. It is read again when its files have changed, so that renewing it needs no restart; while they
// cannot be read, or do not fit each other yet, the one before stays.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu   sync.Mutex
	now  *tls.Certificate
	read stamps
}

// stamps tell whether a certificate and its key have changed.
type stamps [2]struct {
	changed time.Time
	size    int64
}

func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	now, err := readCertificate(cert, key)
	if err != nil {
		return nil, err
	}
	return &certificate{cert: cert, key: key, log: log, now: now, read: stampsOf(cert, key)}, nil
}

func readCertificate(cert, key string) (*tls.Certificate, error) {
	now, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, mend(err, fmt.Sprintf("cannot use the certificate %q with the key %q", cert, key),
			"--tls-cert and --tls-key name two PEM files that belong together: the certificate with those that signed it, and its key without a password")
	}
	return &now, nil
}

func stampsOf(files ...string) (s stamps) {
	for i, file := range files {
		if info, err := os.Stat(file); err == nil {
			s[i].changed, s[i].size = info.ModTime(), info.Size()
		}
	}
	return s
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.latest}
}

// latest looks at the files at each handshake, which costs far more than that by itself. Files that cannot be used are tried again when
// they have changed once more.
func (c *certificate) latest(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there := stampsOf(c.cert, c.key)
	if there == c.read {
		return c.now, nil
	}
	c.read = there
	now, err := readCertificate(c.cert, c.key)
	if err != nil {
		c.log.Warn("the certificate has changed and cannot be used; the one before is still shown", "certificate", c.cert, "error", oneLine(err))
		return c.now, nil
	}
	c.now = now
	c.log.Info("the certificate was read again", "certificate", c.cert, "until", now.Leaf.NotAfter.UTC().Format(time.RFC3339))
	return c.now, nil
}

// renewal is how long before its end a certificate should have been renewed: those that renew themselves are by then.
const renewal = 14 * 24 * time.Hour

// examineCertificate looks at the certificate that serve would show.
func (c Config) examineCertificate() Finding {
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	read, err := readCertificate(c.CertFile, c.CertKeyFile)
	if err != nil {
		return wrong("certificate", err)
	}
	leaf := read.Leaf
	f := Finding{What: "certificate", OK: true, Says: fmt.Sprintf("%s, for %s, until %s", c.CertFile, listed(names(leaf), "nobody"), leaf.NotAfter.UTC().Format(time.RFC3339))}
	switch public, _ := url.Parse(c.PublicURL); {
	case now.After(leaf.NotAfter):
		return f.bad("which is over: no browser lets anybody in", "renew it; this program reads it again by itself")
	case now.Before(leaf.NotBefore):
		return f.bad("and not before "+leaf.NotBefore.UTC().Format(time.RFC3339), "wait, or set this machine's clock")
	case public != nil && public.Host != "" && leaf.VerifyHostname(public.Hostname()) != nil:
		return f.bad("and people reach this at "+c.PublicURL, "get one that names "+public.Hostname()+", or correct COUNTERSIGN_PUBLIC_URL")
	case leaf.NotAfter.Sub(now) < renewal:
		return f.note("which is soon", "renew it; this program reads it again by itself")
	}
	return f
}

func names(leaf *x509.Certificate) (all []string) {
	all = append(all, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}
