package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign"
)

// pair are the files of a certificate and its key.
type pair struct{ cert, key string }

func newPair(t *testing.T) pair {
	dir := t.TempDir()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// issue writes a new certificate for a name, good from one time until another, and returns it.
func (p pair) issue(t *testing.T, name string, from, until time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name}, NotBefore: from, NotAfter: until}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, p.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	put(t, p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	issued, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhereOthersCouldListenNothingIsServedInTheClearUnlessSomebodySaysSo(t *testing.T) {
	p := newPair(t)
	p.issue(t, "desk.example.com", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	for name, row := range map[string]struct {
		door  Door
		opens bool
		is    string // how the address begins
	}{
		"this machine alone":             {Door{Addr: "127.0.0.1:0"}, true, "http://127.0.0.1:"},
		"another address of it":          {Door{Addr: "127.8.0.1:0"}, true, "http://127.8.0.1:"},
		"by its name":                    {Door{Addr: "localhost:0"}, true, "http://127.0.0.1:"},
		"everywhere":                     {Door{Addr: "0.0.0.0:0"}, false, ""},
		"everywhere, in fewer letters":   {Door{Addr: ":0"}, false, ""},
		"everywhere, in the newer way":   {Door{Addr: "[::]:0"}, false, ""},
		"everywhere, with TLS":           {Door{Addr: "0.0.0.0:0", CertFile: p.cert, KeyFile: p.key}, true, "https://"},
		"everywhere, behind a proxy":     {Door{Addr: "0.0.0.0:0", Proxies: true}, true, "http://"},
		"everywhere, by a plain word":    {Door{Addr: "0.0.0.0:0", Plain: true}, true, "http://"},
		"a certificate without its key":  {Door{Addr: "127.0.0.1:0", CertFile: p.cert}, false, ""},
		"a key without its certificate":  {Door{Addr: "127.0.0.1:0", KeyFile: p.key}, false, ""},
		"a key of another certificate":   {Door{Addr: "127.0.0.1:0", CertFile: p.cert, KeyFile: p.cert}, false, ""},
		"TLS that cannot be, and a word": {Door{Addr: "0.0.0.0:0", CertFile: "nowhere.pem", KeyFile: p.key, Plain: true}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := row.door.Open()
			if !row.opens {
				if l != nil || err == nil || countersign.KindOf(err) == countersign.Internal {
					t.Errorf("it opened, or did not say why not: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if at := row.door.Address(l); !strings.HasPrefix(at, row.is) || strings.Contains(at, "0.0.0.0") || strings.Contains(at, "[::]") {
				t.Errorf("people are sent to %s", at)
			}
		})
	}
}

// shown is the certificate that a door shows, to somebody who takes these versions of TLS.
func shown(t *testing.T, l net.Listener, most uint16) (*x509.Certificate, error) {
	t.Helper()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.(*tls.Conn).Handshake() // whose end the caller sees
			c.Close()
		}
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: most}) // which certificate it is, is compared
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0], nil
}

func TestACertificateIsReadAgainWhenItHasChanged(t *testing.T) {
	p, log := newPair(t), &bytes.Buffer{}
	soon, later := time.Now().Add(time.Hour), time.Now().Add(48*time.Hour)
	first := p.issue(t, "desk.example.com", soon.Add(-2*time.Hour), soon)
	l, err := Door{Addr: "127.0.0.1:0", CertFile: p.cert, KeyFile: p.key, Log: slog.New(slog.NewTextHandler(log, nil))}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	see := func(want *x509.Certificate, when string) {
		t.Helper()
		if got, err := shown(t, l, tls.VersionTLS13); err != nil || !got.Equal(want) {
			t.Errorf("%s it shows another certificate (%v)", when, err)
		}
	}
	see(first, "at first")
	put(t, p.cert, []byte("half of it"))
	see(first, "with a file that is being written")
	if !strings.Contains(log.String(), "cannot be used; the one before is still shown") {
		t.Errorf("the log says %s", log)
	}
	second := p.issue(t, "desk.example.com", soon.Add(-2*time.Hour), later)
	see(second, "after it was renewed")
	os.Remove(p.key)
	see(second, "without its key")
	if _, err := shown(t, l, tls.VersionTLS11); err == nil {
		t.Error("it speaks TLS 1.1")
	}
}

func TestDoctorLooksAtTheCertificate(t *testing.T) {
	p, now := newPair(t), time.Now()
	config := Config{Data: t.TempDir(), CertFile: p.cert, CertKeyFile: p.key, PublicURL: "https://desk.example.com"}
	day := 24 * time.Hour
	for name, row := range map[string]struct {
		host        string
		from, until time.Duration
		mark, says  string
	}{
		"good for months":  {"desk.example.com", -day, 80 * day, "well", "for desk.example.com, until "},
		"over soon":        {"desk.example.com", -day, 3 * day, "to know", "which is soon"},
		"over":             {"desk.example.com", -3 * day, -day, "wrong", "which is over"},
		"not good yet":     {"desk.example.com", day, 3 * day, "wrong", "and not before"},
		"for another name": {"other.example.com", -day, 80 * day, "wrong", "and people reach this at https://desk.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			p.issue(t, row.host, now.Add(row.from), now.Add(row.until))
			says(t, finding(t, Examine(t.Context(), config), "certificate"), row.mark, row.says)
		})
	}
	config.PublicURL = "http://desk.example.com"
	says(t, finding(t, Examine(t.Context(), config), "address"), "wrong", "is not encrypted, and --tls-cert says")
}

func TestTheFirstLinkIsInAFileUntilItIsUsed(t *testing.T) {
	a := open(t, Config{Data: t.TempDir()})
	for _, link := range []string{"http://127.0.0.1:1/welcome/a", "http://127.0.0.1:1/welcome/b"} { // of two starts
		path, err := a.KeepFirstLink(link)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "[InternetShortcut]\nURL="+link+"\n" {
			t.Errorf("the file holds %q, %v", text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
	}
	for range 2 {
		a.Inhabited(t.Context())
		if _, err := os.Stat(filepath.Join(a.Data, firstSignIn)); err == nil {
			t.Error("the file is still there")
		}
	}
}
