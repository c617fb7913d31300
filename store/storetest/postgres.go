package storetest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// between listens in front of a PostgreSQL server and returns the database's URL there.
func (f *Faults) between(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go f.relay(client, server)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}

// line is one client's connection and ours to the server.
type line struct {
	client, server net.Conn
	lost           atomic.Bool // nothing that the server says reaches the client any more
}

func (l *line) cut() {
	l.client.Close()
	l.server.Close()
}

func (f *Faults) relay(client net.Conn, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		client.Close()
		return
	}
	l := &line{client: client, server: server}
	defer l.cut()
	go l.answers()
	f.questions(l)
}

// questions passes on what the client says. The messages of one statement are kept until the one that ends it: all of them
// reach the server or none.
func (f *Faults) questions(l *line) {
	in := bufio.NewReader(l.client)
	start, err := message(in, 0)
	if err != nil {
		return
	}
	if _, err := l.server.Write(start); err != nil {
		return
	}
	var kept []byte
	for {
		m, err := message(in, 1)
		if err != nil {
			return
		}
		kept = append(kept, m...)
		switch m[0] {
		case 'P', 'B', 'D', 'E', 'C': // parse, bind, describe, execute, close: more of the statement follows
			continue
		case 'Q', 'S': // a simple query, or the end of one in parts
			way, fails := f.next()
			if fails && way == Cut {
				return
			}
			l.lost.Store(fails)
		}
		if _, err := l.server.Write(kept); err != nil {
			return
		}
		kept = kept[:0]
	}
}

// answers passes on what the server says, until an answer is lost: then the connection breaks as soon as the server is ready
// for the next question, and so has done what it was asked.
func (l *line) answers() {
	defer l.cut()
	in := bufio.NewReader(l.server)
	for {
		m, err := message(in, 1)
		if err != nil {
			return
		}
		if !l.lost.Load() {
			_, err = l.client.Write(m)
		}
		if err != nil || l.lost.Load() && m[0] == 'Z' {
			return
		}
	}
}

// message reads one message of PostgreSQL's protocol: a letter, except for a client's first, then a length that counts
// itself.
func message(in io.Reader, letter int) ([]byte, error) {
	head := make([]byte, letter+4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	m := make([]byte, letter+int(binary.BigEndian.Uint32(head[letter:])))
	copy(m, head)
	_, err := io.ReadFull(in, m[len(head):])
	return m, err
}
