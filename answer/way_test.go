package answer

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"countersign"
)

func way(t *testing.T, public, proxies string) Way {
	t.Helper()
	trusted, err := ReadProxies(proxies)
	if err != nil {
		t.Fatal(err)
	}
	return Way{public, trusted}
}

func TestOneFunctionSaysWhatIsHTTPS(t *testing.T) {
	for sentence, row := range map[string]struct {
		public, proxies, from string
		header                http.Header
		tls, want             bool
	}{
		"plain HTTP":                              {"", "", "10.0.0.9:1", nil, false, false},
		"TLS of our own":                          {"", "", "10.0.0.9:1", nil, true, true},
		"the operator says so":                    {"https://desk.bank.example", "", "10.0.0.9:1", nil, false, true},
		"the operator says HTTP":                  {"http://desk.bank.example", "", "10.0.0.9:1", nil, false, false},
		"a proxy that is trusted says so":         {"", "10.0.0.0/24", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"https"}}, false, true},
		"one by version six as well":              {"", "10.0.0.9", "[::ffff:10.0.0.9]:1", http.Header{"X-Forwarded-Proto": {"HTTPS"}}, false, true},
		"a proxy that is trusted says HTTP":       {"", "10.0.0.0/24", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"http"}}, false, false},
		"a proxy that is trusted passes on a lie": {"", "10.0.0.0/24", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"https, http"}}, false, false},
		"the same in two lines":                   {"", "10.0.0.0/24", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"https", "http"}}, false, false},
		"somebody says so":                        {"", "", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"https"}}, false, false},
		"somebody beside the trusted proxy does":  {"", "10.0.0.8", "10.0.0.9:1", http.Header{"X-Forwarded-Proto": {"https"}}, false, false},
		"somebody whose address cannot be read":   {"", "10.0.0.8", "@", http.Header{"X-Forwarded-Proto": {"https"}}, false, false},
		"another header of the kind says nothing": {"", "10.0.0.0/24", "10.0.0.9:1", http.Header{"Forwarded": {"proto=https"}}, false, false},
		"a trusted proxy that says nothing of it": {"", "10.0.0.0/24", "10.0.0.9:1", nil, false, false},
		"a proxy for a network of version six":    {"", "fd00::/8", "[fd00::1%eth0]:1", http.Header{"X-Forwarded-Proto": {"https"}}, false, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := &http.Request{RemoteAddr: row.from, Header: row.header}
			if row.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := way(t, row.public, row.proxies)
			if got := w.HTTPS(r); got != row.want {
				t.Errorf("HTTPS is %v, want %v", got, row.want)
			}
			if r.Host = "10.0.0.1:8080"; row.public == "" && strings.HasPrefix(w.Origin(r), "https://") != row.want {
				t.Errorf("its reader is said to be at %s", w.Origin(r))
			}
		})
	}
}

func TestAnAddressIsBelievedOfATrustedProxyAlone(t *testing.T) {
	for sentence, row := range map[string]struct{ proxies, from, forwarded, want string }{
		"nobody forwards":                              {"", "192.0.2.7:9", "", "192.0.2.7"},
		"somebody says who they are":                   {"", "192.0.2.7:9", "198.51.100.1", "192.0.2.7"},
		"somebody beside the proxy does":               {"192.0.2.8", "192.0.2.7:9", "198.51.100.1", "192.0.2.7"},
		"a trusted proxy says who came":                {"192.0.2.0/24", "192.0.2.7:9", "198.51.100.1", "198.51.100.1"},
		"two trusted proxies in a row":                 {"192.0.2.0/24", "192.0.2.7:9", "198.51.100.1, 192.0.2.6", "198.51.100.1"},
		"whoever came had said who they were":          {"192.0.2.0/24", "192.0.2.7:9", "203.0.113.5, 198.51.100.1", "198.51.100.1"},
		"they had said that they were the proxy":       {"192.0.2.0/24", "192.0.2.7:9", "192.0.2.6, 198.51.100.1", "198.51.100.1"},
		"they came from the proxies' own network":      {"192.0.2.0/24", "192.0.2.7:9", "192.0.2.99", "192.0.2.99"},
		"with a port, as some write it":                {"192.0.2.0/24", "192.0.2.7:9", "198.51.100.1:4711", "198.51.100.1"},
		"of version six, in brackets":                  {"192.0.2.0/24", "192.0.2.7:9", "[2001:db8::1]", "2001:db8::1"},
		"what is no address is not taken":              {"192.0.2.0/24", "192.0.2.7:9", "198.51.100.1, unknown", "192.0.2.7"},
		"nothing behind a comma":                       {"192.0.2.0/24", "192.0.2.7:9", "198.51.100.1,", "192.0.2.7"},
		"a proxy that forwards nothing":                {"192.0.2.0/24", "192.0.2.7:9", "", "192.0.2.7"},
		"a connection that has no address of the kind": {"192.0.2.0/24", "pipe", "198.51.100.1", "pipe"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := &http.Request{RemoteAddr: row.from, Header: http.Header{}}
			if row.forwarded != "" {
				r.Header.Set("X-Forwarded-For", row.forwarded)
			}
			if got := way(t, "", row.proxies).Client(r); got != row.want {
				t.Errorf("the client is %s, want %s", got, row.want)
			}
		})
	}
}

func TestReadProxies(t *testing.T) {
	if got := way(t, "", " 10.0.0.5, 10.1.2.3/16 ,::1,,").Proxies; len(got) != 3 || got[0].String() != "10.0.0.5/32" || got[1].String() != "10.1.0.0/16" || got[2].String() != "::1/128" {
		t.Errorf("read %v", got)
	}
	for _, wrong := range []string{"proxy.bank.example", "10.0.0.0/33", "10.0.0.0-10.0.0.9", "10.0.0.5;10.0.0.6", "0.0.0.0/0", "::/0"} {
		if got, err := ReadProxies(wrong); countersign.KindOf(err) != countersign.Invalid {
			t.Errorf("%q was read as %v, %v", wrong, got, err)
		}
	}
}
