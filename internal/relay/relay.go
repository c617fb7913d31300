// Package relay stands between a program and its PostgreSQL server, reads along, and breaks the line at a chosen statement:
// before the server has read it, after the server has carried it out, or with an error that the server never sent.
//
// The program under test is the real one and knows nothing of it. Somebody whose line breaks after a statement cannot know
// whether it happened, which is the harder case.
package relay

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
)

// Way is what becomes of a statement.
type Way int

const (
	Pass    Way = iota
	Cut         // the line breaks before the server has read it
	Lost        // the line breaks once the server has carried it out, and its answer is lost
	NoSpace     // the server never reads it, and the program is told that the disk is full
)

// Next is asked about every statement, by one line or by many at once. Done, if there is one, is called when a statement was
// carried out whose answer will be lost, before anybody can know.
type Next func() (way Way, done func())

// Relay listens until it is closed.
type Relay struct {
	URL string // of the database, here

	server   string
	next     Next
	listener net.Listener
	mu       sync.Mutex
	lines    map[*line]bool
}

// Listen stands in front of the database that a postgres:// URL names.
func Listen(database string, next Next) (*Relay, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &Relay{server: u.Host, next: next, listener: listener, lines: map[*line]bool{}}
	u.Host = listener.Addr().String()
	r.URL = u.String()
	go r.accept()
	return r, nil
}

// Close takes no new line. Those that are there last until either end hangs up.
func (r *Relay) Close() error { return r.listener.Close() }

// CutAll breaks every line, wherever it is, and returns how many there were.
func (r *Relay) CutAll() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.lines {
		l.cut()
	}
	return len(r.lines)
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		go r.carry(client)
	}
}

// line is one client's connection and ours to the server.
type line struct {
	client, server net.Conn
	lost           atomic.Pointer[func()] // nothing that the server says reaches the client any more; what to do then
	status         atomic.Uint32          // of the transaction, as the server said last: I, T or E
}

func (l *line) cut() {
	l.client.Close()
	l.server.Close()
}

func (r *Relay) carry(client net.Conn) {
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		client.Close()
		return
	}
	l := &line{client: client, server: server}
	defer l.cut()
	r.know(l, true)
	defer r.know(l, false)
	go l.answers()
	r.questions(l)
}

func (r *Relay) know(l *line, there bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if there {
		r.lines[l] = true
	} else {
		delete(r.lines, l)
	}
}

// questions passes on what the client says. The messages of one statement are kept until the one that ends it: all of them
// reach the server or none.
func (r *Relay) questions(l *line) {
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
			switch way, done := r.next(); way {
			case Cut:
				return
			case Lost:
				if done == nil {
					done = func() {}
				}
				l.lost.Store(&done)
			case NoSpace:
				if _, err := l.client.Write(l.refusal()); err != nil {
					return
				}
				kept = kept[:0]
				continue
			}
		}
		if _, err := l.server.Write(kept); err != nil {
			return
		}
		kept = kept[:0]
	}
}

// refusal is what a server without room answers: an error, and that it is ready again, in a transaction that has failed if there
// is one. The server itself knows nothing of it; a client ends such a transaction with a rollback, which it does know.
func (l *line) refusal() []byte {
	fields := "SERROR\x00VERROR\x00C53100\x00Mcould not extend file: No space left on device\x00\x00"
	b := binary.BigEndian.AppendUint32([]byte{'E'}, uint32(4+len(fields)))
	b = append(b, fields...)
	status := byte('I')
	if l.status.Load() != 'I' {
		status = 'E'
	}
	return append(b, 'Z', 0, 0, 0, 5, status)
}

// answers passes on what the server says, until an answer is lost: then the line breaks as soon as the server is ready for the
// next question, and so has done what it was asked.
func (l *line) answers() {
	defer l.cut()
	in := bufio.NewReader(l.server)
	for {
		m, err := message(in, 1)
		if err != nil {
			return
		}
		if m[0] == 'Z' {
			l.status.Store(uint32(m[5]))
		}
		done := l.lost.Load()
		if done == nil {
			if _, err := l.client.Write(m); err != nil {
				return
			}
			continue
		}
		if m[0] == 'Z' {
			(*done)()
			return
		}
	}
}

// message reads one message of PostgreSQL's protocol: a letter, except for a client's first, then a length that counts itself.
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
