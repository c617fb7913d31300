package connector

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// gate stands between the product and a shop's server, and can be shut.
type gate struct {
	listener net.Listener
	dsn      DSN

	mu    sync.Mutex
	conns []net.Conn
}

func newGate(t testing.TB, w world) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: listener}
	server := g.between(t, w)
	go g.serve(server)
	t.Cleanup(g.shut)
	return g
}

// between puts the gate's address into a connection string and returns the server's.
func (g *gate) between(t testing.TB, w world) (server string) {
	if w.d == MySQL {
		c, err := mysql.ParseDSN(string(w.reader))
		if err != nil {
			t.Fatal(err)
		}
		server, c.Addr = c.Addr, g.listener.Addr().String()
		g.dsn = DSN(c.FormatDSN())
		return server
	}
	u, err := url.Parse(string(w.reader))
	if err != nil {
		t.Fatal(err)
	}
	server, u.Host = u.Host, g.listener.Addr().String()
	g.dsn = DSN(u.String())
	return server
}

func (g *gate) serve(server string) {
	for {
		client, err := g.listener.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			client.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, client, upstream)
		g.mu.Unlock()
		go io.Copy(client, upstream)
		go io.Copy(upstream, client)
	}
}

// shut lets nobody in any more and drops who is inside, as a server that stops does.
func (g *gate) shut() {
	g.listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.conns {
		c.Close()
	}
}
