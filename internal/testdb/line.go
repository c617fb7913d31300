package testdb

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Line stands between a program and its PostgreSQL server, and breaks as a test wants it to.
type Line struct {
	URL    string // of the database, through the line
	server string
	l      net.Listener

	mu     sync.Mutex
	open   map[net.Conn]bool
	dead   chan struct{} // closed while the line is whole
	commit func() Broken // asked at every COMMIT; nil for a line that is whole
}

// Broken is how a COMMIT on the line ends.
type Broken int

const (
	Whole      Broken = iota
	Unsent            // the connection ends before the server sees it
	Unanswered        // the server has carried it out, and the connection ends before it can say so
)

// Through opens a line to a database, which ends with the test.
func Through(t testing.TB, database string) *Line {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	line := &Line{server: u.Host, l: l, open: map[net.Conn]bool{}, dead: make(chan struct{})}
	close(line.dead)
	u.Host = l.Addr().String()
	line.URL = u.String()
	go line.accept()
	t.Cleanup(func() { l.Close(); line.Drop() })
	return line
}

// AtCommits has every COMMIT ask how it is to end.
func (l *Line) AtCommits(f func() Broken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commit = f
}

// Drop ends every connection, as a server does that restarts.
func (l *Line) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.Close()
	}
}

// Cut lets nothing through any more, in either direction, and says so to nobody. New connections are accepted and hear nothing.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = make(chan struct{})
}

// Mend lets everything through again, what was held back first.
func (l *Line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.dead)
}

func (l *Line) accept() {
	for {
		client, err := l.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.server)
		if err != nil {
			client.Close()
			continue
		}
		l.keep(client, server)
		c := &call{line: l, client: client, server: server}
		go c.send()
		go c.answer()
	}
}

func (l *Line) keep(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		l.open[c] = true
	}
}

// whole waits while the line is cut.
func (l *Line) whole() {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	<-dead
}

func (l *Line) atCommit() Broken {
	l.mu.Lock()
	f := l.commit
	l.mu.Unlock()
	if f == nil {
		return Whole
	}
	return f()
}

// call is one connection over the line.
type call struct {
	line           *Line
	client, server net.Conn
	mu             sync.Mutex
	mute           bool // the next answer ends the connection instead of arriving
}

func (c *call) end() { c.client.Close(); c.server.Close() }

// send carries what the program says. The driver commits in a message of its own.
func (c *call) send() {
	defer c.end()
	b := make([]byte, 64<<10)
	for {
		n, err := c.client.Read(b)
		if err != nil {
			return
		}
		c.line.whole()
		if bytes.Contains(b[:n], []byte("commit\x00")) {
			switch c.line.atCommit() {
			case Unsent:
				return
			case Unanswered:
				c.set(true)
			}
		}
		if _, err := c.server.Write(b[:n]); err != nil {
			return
		}
	}
}

func (c *call) answer() {
	defer c.end()
	b := make([]byte, 64<<10)
	for {
		n, err := c.server.Read(b)
		if err != nil || c.muted() {
			return
		}
		c.line.whole()
		if _, err := c.client.Write(b[:n]); err != nil {
			return
		}
	}
}

func (c *call) set(mute bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mute = mute
}

func (c *call) muted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mute
}
