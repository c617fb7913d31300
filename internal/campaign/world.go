//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx

	"countersign/desk/bank/records"
	"countersign/internal/campaign/truth"
	"countersign/internal/relay"
	"countersign/internal/testdb"
	"countersign/store"
)

// patience is how long something that was asked for again and again may take until the program is said to hang: more than two
// leases and all that a campaign does meanwhile.
const patience = 3 * time.Minute

// world is one installation of the program, with everything around it.
type world struct {
	options         *options
	engine, program string
	tally           *tally
	faults          atomic.Int64 // that happened in this world

	dir      string
	database string // as it is, past all relays
	addr     string // where the API is served
	token    string
	model    *model
	relays   map[string]*relay.Relay
	traps    map[string]*trap
	serve    *process
	worker   *process // PostgreSQL only

	mu      sync.Mutex
	dice    *mathrand.Rand
	running *process // the command that is under way
	dying   int      // the change at which the next command dies; 0 for none
	died    func()   // told when it has
	want    truth.Expected
	stocked []truth.Payment // imported, and not disputed yet
	number  int             // of the next payment, order, policy
	sold    int
	reports map[string][]byte // by path, as they were given out first
}

func newWorld(o options, engine, program string, seed uint64, t *tally) *world {
	return &world{options: &o, engine: engine, program: program, tally: t, dice: mathrand.New(mathrand.NewPCG(seed, uint64(len(engine)))),
		relays: map[string]*relay.Relay{}, traps: map[string]*trap{}, reports: map[string][]byte{},
		want: truth.Expected{Before: map[string]int64{}, Imported: map[records.Array][]string{}, Policies: map[string]int{}}}
}

// roll is a number from 0 up to n.
func (w *world) roll(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dice.IntN(n)
}

func (w *world) pauseFor(d time.Duration) { time.Sleep(d) }

func (w *world) file(name string) string { return filepath.Join(w.dir, name) }

// wrong notes a violation that was seen from outside.
func (w *world) wrong(format string, args ...any) {
	w.tally.wrong(w.engine, truth.Violation{Kind: truth.Wrong, Says: fmt.Sprintf(format, args...)})
}

// live makes the world, breaks it so often, and takes it down again. Databases that something is wrong with are kept.
func (w *world) live(ctx context.Context, faults int) (err error) {
	before := w.tally.violations()
	if err := w.make(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.unmake(w.tally.violations() == before)) }()
	w.settle(faults)
	w.serve = w.start("serve", w.address("serve"), "serve", "--addr", w.addr, "--workers", "8", "--grace", "2s")
	if w.engine == "postgres" {
		w.worker = w.start("worker", w.address("worker"), "worker", "--workers", "8", "--grace", "2s")
	}
	for w.faults.Load() < int64(faults) && ctx.Err() == nil {
		rest, until := w.traffic(), min(w.faults.Load()+int64(w.options.pause), int64(faults))
		for w.faults.Load() < until && ctx.Err() == nil {
			w.pauseFor(time.Duration(50+w.roll(500)) * time.Millisecond)
			w.strike()
		}
		rest()
		if err := w.look(ctx); err != nil {
			return err
		}
		fmt.Printf("%s %s: %d of %d faults, %d cases, %d violations\n", time.Now().UTC().Format(time.TimeOnly), w.engine, w.faults.Load(), faults, len(w.want.Cases), w.tally.violations())
	}
	return nil
}

// make makes all but the installation itself.
func (w *world) make(ctx context.Context) (err error) {
	if w.dir, err = os.MkdirTemp(w.options.keep, w.engine+"-"); err != nil {
		return err
	}
	w.model = newModel()
	w.want.Asked = w.model.asked
	if err := w.stock(ctx); err != nil {
		return fmt.Errorf("stock the shop: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.addr = l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	if w.engine == "sqlite" {
		w.database = w.file("countersign.db")
		return nil
	}
	return w.onServer(ctx)
}

// onServer makes a database on the test server, and a relay in front of it for each process.
func (w *world) onServer(ctx context.Context) error {
	server := os.Getenv(testdb.Server)
	if server == "" {
		return fmt.Errorf("%s is not set: run `make campaign`, which starts a private server", testdb.Server)
	}
	name := "campaign_" + strings.ToLower(rand.Text())
	if err := w.administer(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	w.database = strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	for _, of := range []string{"serve", "worker", "command"} {
		t := &trap{}
		r, err := relay.Listen(w.database, t.next)
		if err != nil {
			return err
		}
		w.relays[of], w.traps[of] = r, t
	}
	return nil
}

func (w *world) administer(ctx context.Context, statement string) (err error) {
	db, err := sql.Open("pgx", os.Getenv(testdb.Server))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

func (w *world) unmake(clean bool) error {
	for _, p := range w.processes() {
		p.stop()
	}
	w.model.CloseClientConnections()
	w.model.Close()
	for _, r := range w.relays {
		r.Close()
	}
	if !clean {
		return nil
	}
	if w.engine == "postgres" {
		name := w.database[strings.LastIndex(w.database, "/")+1 : strings.LastIndex(w.database, "?")]
		if err := w.administer(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return os.RemoveAll(w.dir)
}

func (w *world) processes() (all []*process) {
	for _, p := range []*process{w.serve, w.worker} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// address is the database as one of the processes reaches it.
func (w *world) address(name string) string {
	if r := w.relays[name]; r != nil {
		return r.URL
	}
	return w.database
}

func (w *world) env(name, database string) []string {
	return []string{"COUNTERSIGN_TEST_PROGRAM=1", "COUNTERSIGN_TEST_CLOCK=" + w.file("clock-"+name), "HOME=" + w.dir, "PATH=" + os.Getenv("PATH"),
		"COUNTERSIGN_DATA=" + w.dir, "COUNTERSIGN_DATABASE=" + database, "COUNTERSIGN_MODEL_PROVIDER=openai", "COUNTERSIGN_MODEL=test",
		"COUNTERSIGN_MODEL_BASE_URL=" + w.model.URL + "/v1", "COUNTERSIGN_MODEL_API_KEY=sk-campaign"}
}

// settle makes the installation, and kills each command of that a few times first.
func (w *world) settle(faults int) {
	shipping, err := w.policy("Shipping", clause)
	if err != nil {
		w.wrong("write a policy: %v", err)
	}
	for _, args := range [][]string{{"migrate"}, {"mapping", "apply", w.file("mapping.json")}, {"import", "policies", "--confirm", shipping},
		{"token", "create", "--name", "campaign", "--role", "admin"}} {
		for range min(3, faults/20) {
			w.killedCommand(args...)
		}
		if said := strings.TrimSpace(w.until(args...)); args[0] == "token" {
			w.token = said[strings.LastIndexByte(said, '\n')+1:]
		}
	}
	w.want.Policies["Shipping"] = 1
}

// look waits until everything has come to rest, with every clock right and every process well, and compares it with what is
// expected.
func (w *world) look(ctx context.Context) error {
	w.heal()
	s, err := store.Open(ctx, w.database, store.Options{})
	for begun := time.Now(); err != nil && time.Since(begun) < patience; w.pauseFor(time.Second) {
		s, err = store.Open(ctx, w.database, store.Options{}) // the server may still be recovering
	}
	if err != nil {
		return err
	}
	defer s.Close()
	for begun := time.Now(); ; w.pauseFor(100 * time.Millisecond) {
		if n, err := truth.Unrest(ctx, s); err != nil || n == 0 || time.Since(begun) > patience {
			break
		}
	}
	w.mu.Lock()
	want := w.want
	want.Before, want.Policies = maps.Clone(want.Before), maps.Clone(want.Policies)
	w.mu.Unlock()
	found, err := truth.Check(ctx, s, want)
	for _, v := range found {
		w.tally.wrong(w.engine, v)
	}
	w.tally.looked(w.engine, len(want.Cases))
	w.sealed()
	w.panics()
	return err
}
