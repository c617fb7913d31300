package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

// certified are the files of a certificate that nobody trusts.
func certified(t *testing.T) (cert, key string) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	private, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

var firstLink = regexp.MustCompile(`make the first one at (\S+)`)

// Whoever installs the program finds the link in a file, makes the first account over TLS, and the file is gone.
func TestTheFirstAccountIsMadeOverTLS(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	cert, key := certified(t)
	s := p.start("serve", "--addr", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
	s.until("it says where the first account is made", func() bool { return strings.Contains(s.log.String(), "the link is also in") })
	link := firstLink.FindStringSubmatch(s.log.String())[1]
	file := filepath.Join(p.data(), "first-sign-in.url")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "URL="+link+"\n") || !strings.HasPrefix(link, "https://") {
		t.Errorf("the link is %s, and the file holds %q (%v)", link, text, err)
	}
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	at.Host = "127.0.0.1:" + at.Port()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"email": {"ada@bank.example"}, "name": {"Ada"}, "zone": {"UTC"}, "mode": {"shadow"}, "password": {"correct horse battery"}}
	r, err := http.NewRequest("POST", at.String(), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://"+at.Host)
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || res.ProtoMajor != 2 || len(res.Cookies()) != 1 || !res.Cookies()[0].Secure {
		t.Errorf("the answer is %s by %s with the cookies %v", res.Status, res.Proto, res.Cookies())
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the account was made, and the file is still there")
	}
	plain := *at
	plain.Scheme = "http"
	if res, err := http.Get(plain.String()); err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("in the clear the answer is %v, %v", res, err)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("it ended with %d\n%s", code, s.log)
	}
}

func TestAnAccountThatIsMadeAtTheTerminalEndsTheFirstLink(t *testing.T) {
	t.Parallel()
	p := newProgram(t, testdb.SQLite(t))
	s := p.serve("")
	file := filepath.Join(p.data(), "first-sign-in.url")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	add := p.command("user", "add", "ada@bank.example", "--role", "admin")
	add.Stdin = strings.NewReader("correct horse battery\n")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("somebody has an account, and the file is still there")
	}
	if code := s.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
