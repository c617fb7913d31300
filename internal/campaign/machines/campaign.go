package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"countersign"
	"countersign/internal/campaign/truth"
	"countersign/store"
)

// fleet is the processes of a campaign and those who talk to them.
type fleet struct {
	plan
	network *network
	model   *modelServer
	store   *store.Store // past the processes
	workers []*process
	serves  []*process
	token   string
	client  http.Client
	opened  atomic.Int64
	mu      sync.Mutex
	known   map[*process]string // where a serve answered last
	most    map[string]int64    // cases of a desk under investigation at once, as far as they were seen
}

// run is a whole campaign. What it returns is what is wrong.
func (p plan) run(ctx context.Context) (found []truth.Violation, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	f := &fleet{plan: p, known: map[*process]string{}, most: map[string]int64{}}
	defer f.end()
	if err := f.set(ctx); err != nil {
		return nil, err
	}
	begun := time.Now()
	requests := p.requests()
	done := make(chan error, 1)
	go func() { done <- f.openAll(ctx, requests) }()
	trouble, calm := context.WithCancel(ctx)
	defer calm()
	var watching sync.WaitGroup
	watching.Go(func() { f.watch(trouble) })
	watching.Go(func() { f.supervise(trouble) })
	if err := f.harm(ctx); err != nil {
		return nil, err
	}
	if err := <-done; err != nil {
		return nil, fmt.Errorf("open the cases: %w", err)
	}
	if err := f.rest(ctx); err != nil {
		return nil, err
	}
	calm()
	watching.Wait()
	if err := f.stop(); err != nil {
		return nil, err
	}
	found, err = f.judge(ctx, requests)
	f.report(time.Since(begun))
	return found, err
}

// set prepares books, limits and processes.
func (f *fleet) set(ctx context.Context) (err error) {
	if f.network, err = between(ctx, f.Database); err != nil {
		return err
	}
	f.Say("the network: %s", f.network.Kind)
	if f.model, err = serveModel(f.network.Host); err != nil {
		return err
	}
	here := f.env(f.Database)
	if err := f.fill(ctx, here); err != nil {
		return err
	}
	if f.store, err = store.Open(ctx, f.Database, store.Options{PostgresPool: 4}); err != nil {
		return err
	}
	for i := range f.Serves {
		f.serves = append(f.serves, &process{name: fmt.Sprint("serve ", i+1), env: here, args: []string{f.Program, "serve", "--quiet", "--addr", "127.0.0.1:0"}})
	}
	for i := range f.Workers {
		f.workers = append(f.workers, &process{name: fmt.Sprint("worker ", i+1), inside: f.network.Inside, env: f.env(f.network.Database), args: []string{f.Program, "worker", "--quiet"}})
	}
	for _, p := range f.all() {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) all() []*process { return append(append([]*process{}, f.serves...), f.workers...) }

func (f *fleet) env(database string) []string {
	return []string{"COUNTERSIGN_DATA=" + filepath.Join(f.Folder, "data"), "COUNTERSIGN_DATABASE=" + database, "HOME=" + f.Folder, "PATH=" + os.Getenv("PATH"),
		"COUNTERSIGN_MODEL_PROVIDER=openai", "COUNTERSIGN_MODEL=campaign", "COUNTERSIGN_MODEL_BASE_URL=" + f.model.url, "COUNTERSIGN_MODEL_API_KEY=sk-campaign"}
}

// fill imports the books, sets the limits and makes a token.
func (f *fleet) fill(ctx context.Context, env []string) error {
	set := truth.Books(f.payments())
	books, err := json.Marshal(map[string]any{"customers": set.Customers, "accounts": set.Accounts, "merchants": set.Merchants, "devices": set.Devices,
		"transactions": set.Transactions, "ledger_entries": set.LedgerEntries, "settlements": set.Settlements})
	if err != nil {
		return err
	}
	workload := fmt.Sprintf(`{"max_cases": {"desk:bank": %d, "desk:merchant": %d}}`, f.Limit, f.Limit)
	for name, text := range map[string][]byte{"records.json": books, "workload.json": []byte(workload)} {
		if err := os.WriteFile(filepath.Join(f.Folder, name), text, 0o600); err != nil {
			return err
		}
	}
	if _, err := f.once(ctx, env, "import", "records", filepath.Join(f.Folder, "records.json")); err != nil {
		return err
	}
	if _, err := f.once(ctx, env, "workload", "apply", filepath.Join(f.Folder, "workload.json")); err != nil {
		return err
	}
	token, err := f.once(ctx, env, "token", "create", "--name", "campaign", "--role", "admin")
	f.token = strings.TrimSpace(token)
	return err
}

// harm kills and cuts, as the plan says, while the cases pass through.
func (f *fleet) harm(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(f.Seed, 1))
	cut := make(chan error, 1)
	go func() { cut <- f.cuts(ctx) }()
	all := f.all()
	for n := range f.Kills {
		if !sleep(ctx, f.Every/2+time.Duration(dice.Int64N(int64(f.Every)))) {
			return ctx.Err()
		}
		victim := all[dice.IntN(len(all))]
		if err := f.fallen(); err != nil {
			return err
		}
		victim.kill()
		f.Say("kill %d of %d: %s; %d cases opened, %d turns asked for", n+1, f.Kills, victim.name, f.opened.Load(), f.turns())
		if err := victim.start(); err != nil {
			return err
		}
	}
	return <-cut
}

func (f *fleet) cuts(ctx context.Context) error {
	for n := range f.Cuts {
		if !sleep(ctx, f.Every*time.Duration(f.Kills)/time.Duration(f.Cuts+1)) {
			return ctx.Err()
		}
		if err := f.network.Cut(true); err != nil {
			return err
		}
		f.Say("cut %d of %d: nothing passes between the workers and the database", n+1, f.Cuts)
		sleep(ctx, f.Cut)
		if err := f.network.Cut(false); err != nil {
			return err
		}
		f.Say("the network is whole again")
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (f *fleet) turns() int {
	f.model.mu.Lock()
	defer f.model.mu.Unlock()
	return f.model.total
}

// watch looks how many cases of a desk are investigated at once.
func (f *fleet) watch(ctx context.Context) {
	for sleep(ctx, 50*time.Millisecond) {
		rows, err := f.store.DB().QueryContext(ctx, "SELECT desk, COUNT(*) FROM cases WHERE status = 'investigating' GROUP BY desk")
		if err != nil {
			continue
		}
		for rows.Next() {
			var desk string
			var n int64
			if rows.Scan(&desk, &n) == nil {
				f.most[desk] = max(f.most[desk], n)
			}
		}
		rows.Close()
	}
}

// supervise starts again who could not reach the database when it was started, as whatever starts programs on a machine does. A program that
// ends by itself for another reason is a finding.
func (f *fleet) supervise(ctx context.Context) {
	for sleep(ctx, time.Second) {
		for _, p := range f.workers {
			if p.fell() && p.unreachable() {
				f.Say("%s found no database, and is started again", p.name)
				if err := p.start(); err != nil {
					f.Say("%v", err)
				}
			}
		}
	}
}

// fallen says who ended by itself though it had a database.
func (f *fleet) fallen() error {
	for _, p := range f.all() {
		if p.fell() && !p.unreachable() {
			return fmt.Errorf("%s ended by itself:\n%s", p.name, p.printed.String())
		}
	}
	return nil
}

// rest waits until nothing is under way.
func (f *fleet) rest(ctx context.Context) error {
	for last := -1; ; {
		if err := f.fallen(); err != nil {
			return err
		}
		left, err := truth.Unrest(ctx, f.store)
		switch {
		case err != nil:
			return fmt.Errorf("%d cases were under way when last seen: %w", last, err)
		case left == 0:
			return nil
		case left/1000 != last/1000:
			f.Say("%d cases are under way", left)
		}
		last = left
		if !sleep(ctx, 200*time.Millisecond) {
			return fmt.Errorf("%d cases never came to an end: %w", left, ctx.Err())
		}
	}
}

// stop stops everybody in good order.
func (f *fleet) stop() error {
	for _, p := range f.all() {
		if p.fell() {
			return fmt.Errorf("%s ended by itself:\n%s", p.name, p.printed.String())
		}
		if code, err := p.stop(time.Minute); err != nil || code != 0 {
			return fmt.Errorf("%s ended with %d: %w\n%s", p.name, code, err, p.printed.String())
		}
	}
	return nil
}

// judge compares what is there with what must be.
func (f *fleet) judge(ctx context.Context, requests []request) ([]truth.Violation, error) {
	books := truth.Books(f.payments())
	want := truth.Expected{Before: truth.Held(books), Imported: truth.Rows(books), Asked: f.model.Asked}
	for _, r := range requests {
		want.Cases = append(want.Cases, r.want)
	}
	found, err := truth.Check(ctx, f.store, want)
	for desk, n := range f.most {
		if n > f.Limit {
			found = append(found, truth.Violation{Kind: truth.Wrong, Says: fmt.Sprintf("%d cases of the %s desk were investigated at once, and %d may be", n, desk, f.Limit)})
		}
	}
	return found, err
}

func (f *fleet) report(took time.Duration) {
	starts := 0
	for _, p := range f.all() {
		starts += p.starts
	}
	f.Say("%d cases ended in %s: %.0f a second", f.Cases, took.Round(time.Second), float64(f.Cases)/took.Seconds())
	f.Say("%d turns were asked for; at most %d bank cases and %d merchant cases were investigated at once, and %d may be; %d processes were started",
		f.turns(), f.most[string(countersign.Bank)], f.most[string(countersign.Merchant)], f.Limit, starts)
}

// address is where a serve answers. It is asked anew after a failure, because it may have been started again elsewhere.
func (f *fleet) address(serve *process, failed bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[serve] == "" || failed {
		f.known[serve] = serve.url()
	}
	return f.known[serve]
}

func (f *fleet) end() {
	for _, p := range f.all() {
		if p.cmd != nil && p.cmd.Process != nil {
			p.kill()
		}
	}
	if f.store != nil {
		f.store.Close()
	}
	if f.model != nil {
		f.model.close()
	}
	if f.network != nil {
		f.network.close()
	}
}
