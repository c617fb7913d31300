package measure

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign/store"
)

// commits is how this process writes.
type commits struct {
	took  prometheus.Histogram
	units prometheus.Histogram
}

func newCommits() commits {
	return commits{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "countersign_commit_seconds",
			Help:    "How long transactions that wrote took, from their begin to their commit.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}}),
		units: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "countersign_commit_units",
			Help: "Units of work in one commit: on SQLite those that wait share one, on PostgreSQL each has its own.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64}}),
	}
}

func (c commits) all() []prometheus.Collector { return []prometheus.Collector{c.took, c.units} }

// Committed counts a commit.
func (p *Process) Committed(units int, took time.Duration) {
	p.commits.took.Observe(took.Seconds())
	p.commits.units.Observe(float64(units))
}

// pools is how the connections to the database are used. It asks the database nothing.
type pools struct{ store *store.Store }

var (
	poolInUse  = desc("db_connections_in_use", "Connections to the database that are being used.", "pool")
	poolMax    = desc("db_connections_max", "Connections to the database that there may be.", "pool")
	poolWaits  = desc("db_connection_waits_total", "How often somebody had to wait for a connection.", "pool")
	poolWaited = desc("db_connection_wait_seconds_total", "How long they waited, together.", "pool")
)

func (pools) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolInUse, poolMax, poolWaits, poolWaited} {
		ch <- d
	}
}

func (p pools) Collect(ch chan<- prometheus.Metric) {
	for _, u := range p.store.Usage() {
		ch <- prometheus.MustNewConstMetric(poolInUse, prometheus.GaugeValue, float64(u.InUse), u.Pool)
		ch <- prometheus.MustNewConstMetric(poolMax, prometheus.GaugeValue, float64(u.Max), u.Pool)
		ch <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(u.Waits), u.Pool)
		ch <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, u.Waited.Seconds(), u.Pool)
	}
}
