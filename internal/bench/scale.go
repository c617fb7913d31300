package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"countersign"
	"countersign/auth"
	"countersign/store"
	"countersign/store/storetest"
)

// scaled is one size of the product: how much there is, and on what.
type scaled struct {
	store    *store.Store
	size     storetest.Filled
	database string
	runs     int
	walk     bool
	server   *server
}

// scale fills a database with that many cases, starts the product on it as a process of its own, and says how long pages, a scrape, a
// verification and an export take, and how much memory the process had meanwhile. A database that was filled by an earlier run is
// measured as it is.
func scale(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("scale", flag.ExitOnError)
	var s scaled
	flags.IntVar(&s.size.Cases, "cases", 10_000, "cases")
	flags.IntVar(&s.size.Open, "open", 0, "of them open; one in twenty when zero")
	flags.IntVar(&s.size.Rows, "rows", 20, "rows of each case's record")
	flags.IntVar(&s.runs, "runs", 30, "how often each page is asked for")
	flags.BoolVar(&s.walk, "walk", true, "verify and export every record too, which takes a while of many")
	flags.StringVar(&s.database, "database", "", "a SQLite path or a postgres:// URL, empty or filled by an earlier run; a file that is removed again when not given")
	flags.Parse(args)
	if s.size.Open == 0 {
		s.size.Open = s.size.Cases / 20
	}
	if s.database == "" {
		folder, err := os.MkdirTemp("/var/tmp", "countersign-scale-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s.database = filepath.Join(folder, "scale.db")
	}
	if s.store, err = store.Open(ctx, s.database, store.Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	if err := s.fill(ctx); err != nil {
		return err
	}
	return s.measure(ctx)
}

func (s *scaled) fill(ctx context.Context) error {
	began := time.Now()
	size, err := s.store.RecordSize(ctx)
	if err != nil {
		return err
	}
	if size.Cases == 0 {
		tenth := max(s.size.Cases/10, 1)
		err = s.size.Into(ctx, s.store, func(n int) {
			if n%tenth == 0 {
				fmt.Fprintf(os.Stderr, "%d cases are in after %s\n", n, time.Since(began).Round(time.Second))
			}
		})
		if err != nil {
			return err
		}
		size, err = s.store.RecordSize(ctx)
	}
	bytes, sizeErr := s.bytes(ctx)
	fmt.Printf("%s: %d cases, %d of them open, %d record rows, %.2f GB\n", s.store.Engine(), size.Cases, s.size.Open, size.Rows, float64(bytes)/1e9)
	fmt.Printf(row, "what", "p50", "p95", "memory")
	return errors.Join(err, sizeErr)
}

// bytes is how much room the database takes.
func (s *scaled) bytes(ctx context.Context) (n int64, err error) {
	query := "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	if s.store.Engine() == "postgres" {
		query = "SELECT pg_database_size(current_database())"
	}
	return n, s.store.DB().QueryRowContext(ctx, query).Scan(&n)
}

func (s *scaled) measure(ctx context.Context) (err error) {
	if s.server, err = start(ctx, s.database); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.server.stop()) }()
	if err := s.signIn(ctx); err != nil {
		return err
	}
	paths, err := s.pages(ctx)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if err := s.time(p.name, s.runs, func(n int) error { return s.server.get(p.path(n)) }); err != nil {
			return err
		}
	}
	if !s.walk {
		return nil
	}
	if err := s.time("verify every record", 1, func(int) error { return s.server.verify() }); err != nil {
		return err
	}
	return s.time("export every record", 1, func(int) error { return s.server.get("/record/export") })
}

// asked is a page, and its path when it is asked for the n-th time.
type asked struct {
	name string
	path func(n int) string
}

func always(path string) func(int) string { return func(int) string { return path } }

// pages are those that people look at all day, and the scrape of their operator.
func (s *scaled) pages(ctx context.Context) ([]asked, error) {
	cases, _, err := s.store.Cases(ctx, store.Filter{ForPerson: true, Desk: countersign.Bank, Limit: 500, Now: s.store.Now()})
	if err != nil {
		return nil, err
	}
	one := func(n int) string { return "/cases/" + string(cases[n%len(cases)].ID) }
	return []asked{
		{"the queue", always("/queue")},
		{"the queue, all open cases", always("/queue?show=open")},
		{"the queue, closed cases", always("/queue?show=closed")},
		{"the queue, one reason", always("/queue?why=fraud_suspected")},
		{"search: a customer's name", always("/queue?q=ada+okafor")},
		{"search: an amount", always("/queue?q=NGN+502.25")},
		{"search: the beginning of an id", always("/queue?q=D-A")},
		{"a case", one},
		{"a case's record", func(n int) string { return one(n) + "/record" }},
		{"the page before a decision", func(n int) string { return one(n) + "/override" }},
		{"the look-up of a transaction", func(n int) string { return fmt.Sprint("/open?q=TX-", n*97%s.size.Cases) }},
		{"the page of records", always("/record")},
		{"a scrape of the metrics", always("/metrics")},
	}, nil
}

// signIn makes an account for the run and signs the server's client in to it.
func (s *scaled) signIn(ctx context.Context) error {
	by := countersign.Actor{Kind: countersign.CLI, ID: "bench"}
	p, err := auth.AddPerson(ctx, s.store, auth.NewPerson{Email: fmt.Sprintf("bench-%d@example.com", time.Now().UnixNano()), Role: auth.Admin}, by)
	if err != nil {
		return err
	}
	link, err := auth.MakeLink(ctx, s.store, p.ID, auth.SignInLink, time.Hour, by)
	if err != nil {
		return err
	}
	return s.server.post("/link/" + link)
}

// time runs something that often and prints what half of the runs and nineteen of twenty took at the most, and the most memory that
// the server had meanwhile.
func (s *scaled) time(what string, runs int, run func(n int) error) error {
	s.server.forgetPeak()
	var took []time.Duration
	for n := range runs {
		began := time.Now()
		if err := run(n); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	fmt.Printf(row, what, shown(took[len(took)/2]), shown(took[len(took)*95/100]), s.server.peak())
	return nil
}

// row is a line of the table, printed as soon as it is known: the last ones take minutes.
const row = "%-32s %9s %9s %9s\n"

func shown(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// get reads a whole answer and keeps none of it.
func (s *server) get(path string) error {
	res, err := s.client.Get(s.address + path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d, %v", path, res.StatusCode, err)
	}
	return nil
}

// verify presses the button and waits for the page of the result.
func (s *server) verify() error {
	res, err := s.client.Post(s.address+"/record/verify", "application/x-www-form-urlencoded", nil)
	for err == nil {
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		switch page := string(text); {
		case res.StatusCode != http.StatusOK:
			return fmt.Errorf("the verification answered %d", res.StatusCode)
		case strings.Contains(page, "✓ Intact"):
			return nil
		case !strings.Contains(page, `http-equiv="refresh"`):
			return fmt.Errorf("the verification ended with %s", page)
		}
		time.Sleep(100 * time.Millisecond)
		res, err = s.client.Get(res.Request.URL.String())
	}
	return err
}
