package web_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"countersign"
	"countersign/app"
	"countersign/auth"
	"countersign/internal/testdb"
	"countersign/store"
	"countersign/store/storetest"
)

// BenchmarkPages asks for pages over HTTP as an analyst's browser does, from two hundred thousand cases of which a quarter are
// open. Milliseconds are from the request's first byte to the page's last.
func BenchmarkPages(b *testing.B) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": testdb.SQLite, "postgres": testdb.Postgres} {
		b.Run(name, func(b *testing.B) { benchPages(b, database(b)) })
	}
}

func benchPages(b *testing.B, database string) {
	o := newOffice(b, on(database), func(c *app.Config) { c.Work = false })
	storetest.Fill(b, o.Store, storetest.Filled{Cases: 200_000, Open: 50_000})
	cases, _, err := o.Store.Cases(b.Context(), store.Filter{ForPerson: true, Desk: countersign.Bank, Limit: 500, Now: o.now()})
	o.must(err)
	analyst := o.as(auth.Analyst).client
	for _, page := range []struct {
		name string
		path func(n int) string
	}{
		{"queue", func(int) string { return "/queue" }},
		{"queue, all open", func(int) string { return "/queue?show=open" }},
		{"queue, closed", func(int) string { return "/queue?show=closed" }},
		{"queue, one reason", func(int) string { return "/queue?why=fraud_suspected" }},
		{"queue, a name", func(int) string { return "/queue?q=ada+okafor" }},
		{"queue, an amount", func(int) string { return "/queue?q=NGN+502.25" }},
		{"case", func(n int) string { return "/cases/" + string(cases[n%len(cases)].ID) }},
		{"confirmation", func(n int) string { return "/cases/" + string(cases[n%len(cases)].ID) + "/override" }},
		{"look-up", func(n int) string { return fmt.Sprintf("/open?q=TX-%d", n*97%200_000) }},
	} {
		b.Run(page.name, func(b *testing.B) { times(b, func(n int) error { return get(analyst, o.server.URL+page.path(n)) }) })
	}
}

func get(client *http.Client, url string) error {
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d, %v", url, res.StatusCode, err)
	}
	return nil
}

// times reports what half of the runs took at the most, and what nineteen of twenty and ninety-nine of a hundred did.
func times(b *testing.B, run func(n int) error) {
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		if err := run(n); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprint("p", p, "-ms"))
	}
	b.ReportMetric(0, "ns/op")
}
