package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// network is what lies between the workers and the rest: a way to the database, which can be cut, and one to the model, which cannot.
type network struct {
	Kind     string   // in words, for the report
	Inside   []string // the command that puts a process behind it
	Database string   // the database's URL from there
	Host     string   // where the model server listens for those behind it
	cut      func(bool) error
	undo     []func()
}

// Cut takes the way to the database away or, with false, gives it back. Nobody is told.
func (n *network) Cut(cut bool) error { return n.cut(cut) }

func (n *network) close() {
	for i := range n.undo {
		n.undo[len(n.undo)-1-i]()
	}
}

// between makes a network of its own if this machine lets it, else a relay.
func between(ctx context.Context, database string) (*network, error) {
	n, err := namespace(ctx, database)
	if err == nil {
		return n, nil
	}
	r, relayed := listen("127.0.0.1:0", database)
	if relayed != nil {
		return nil, relayed
	}
	return &network{Kind: "a relay that swallows what passes through it, because this machine gives no network of its own (" + err.Error() + ")",
		Database: r.url, Host: "127.0.0.1", cut: r.cut, undo: []func(){r.close}}, nil
}

// namespace gives the workers a network namespace with two cables, each into a bridge of its own on this side. The cable to the database
// is cut by taking it out of its bridge: both of its ends stay up, and nothing passes. PostgreSQL itself listens on this machine alone, so
// a relay at the far end of the cable hands on to it what arrives there.
func namespace(ctx context.Context, database string) (n *network, err error) {
	id := os.Getpid()
	ns, base := fmt.Sprintf("countersign-%d", id), fmt.Sprintf("10.%d.%d", 200+id%50, id/50%250)
	n = &network{Kind: "a network namespace of the workers' own, whose cable to the database is taken out of its bridge", Inside: []string{"ip", "netns", "exec", ns}, Host: base + ".17"}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if err := ip(ctx, "netns", "add", ns); err != nil {
		return n, err
	}
	n.undo = append(n.undo, func() { ip(context.Background(), "netns", "del", ns) })
	for _, cable := range []struct{ kind, host, inside string }{{"d", base + ".1", base + ".2"}, {"m", base + ".17", base + ".18"}} {
		bridge, outer, inner := fmt.Sprintf("cb%s%d", cable.kind, id), fmt.Sprintf("co%s%d", cable.kind, id), fmt.Sprintf("ci%s%d", cable.kind, id)
		n.undo = append(n.undo, func() {
			ip(context.Background(), "link", "del", bridge)
			ip(context.Background(), "link", "del", outer)
		})
		for _, command := range []string{
			"link add " + bridge + " type bridge", "addr add " + cable.host + "/28 dev " + bridge, "link set " + bridge + " up",
			"link add " + outer + " type veth peer name " + inner, "link set " + outer + " master " + bridge, "link set " + outer + " up",
			"link set " + inner + " netns " + ns, "-n " + ns + " addr add " + cable.inside + "/28 dev " + inner, "-n " + ns + " link set " + inner + " up",
		} {
			if err := ip(ctx, strings.Fields(command)...); err != nil {
				return n, err
			}
		}
	}
	r, err := listen(base+".1:0", database)
	if err != nil {
		return n, err
	}
	n.undo = append(n.undo, r.close)
	n.Database = r.url
	n.cut = func(cut bool) error {
		if cut {
			return ip(context.Background(), "link", "set", fmt.Sprintf("cod%d", id), "nomaster")
		}
		return ip(context.Background(), "link", "set", fmt.Sprintf("cod%d", id), "master", fmt.Sprintf("cbd%d", id))
	}
	return n, nil
}

func ip(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// relay hands on what arrives at its address to the database.
type relay struct {
	url    string
	server string
	l      net.Listener
	mu     sync.Mutex
	whole  chan struct{} // open while it swallows
}

func listen(addr, database string) (*relay, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	r := &relay{server: u.Host, l: l, whole: make(chan struct{})}
	close(r.whole)
	u.Host = l.Addr().String()
	r.url = u.String()
	go r.accept()
	return r, nil
}

func (r *relay) close() { r.l.Close() }

func (r *relay) cut(cut bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cut {
		r.whole = make(chan struct{})
	} else {
		close(r.whole)
	}
	return nil
}

func (r *relay) accept() {
	for {
		in, err := r.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.server)
		if err != nil {
			in.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
			go func() {
				defer in.Close()
				defer out.Close()
				io.Copy(r.through(way[1]), way[0])
			}()
		}
	}
}

// through writes to w while nothing is cut.
func (r *relay) through(w io.Writer) io.Writer {
	return writer(func(b []byte) (int, error) {
		r.mu.Lock()
		whole := r.whole
		r.mu.Unlock()
		<-whole
		return w.Write(b)
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
