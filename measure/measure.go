// Package measure counts what this process does, looks at how the whole database stands, and shows both in Prometheus form.
//
// It promises that no label holds anything that somebody outside chooses: a label is a word of ours, a route of ours, a status,
// or the name of a model as the operator set it up. It promises too that being asked costs little however often somebody asks
// and however much is stored: what the database is asked is kept for a while, and the longer when the answer took long.
//
// The stages know nothing of it. They tell whoever asked to be told, by functions that they are handed, and package app hands
// them those of a Process.
package measure

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign/store"
)

// Process is what one process has done since it started. Every method may be called from any goroutine.
type Process struct {
	registry *prometheus.Registry

	requests *prometheus.HistogramVec
	streams  prometheus.Gauge
	cases    cases
	model    model
	commits  commits
}

// New returns a process that has done nothing yet. Register shows the database's side too, once it is open.
func New(version string) *Process {
	p := &Process{registry: prometheus.NewRegistry(), cases: newCases(), model: newModel(), commits: newCommits(),
		requests: histogram("http_request_duration_seconds", "How long requests took, event streams left out.",
			[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}, "route", "status"),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "countersign_event_streams", Help: "Event streams that are open."})}
	build := gauge("build_info", "1, with the version that runs.", "version")
	build.WithLabelValues(version).Set(1)
	p.registry.MustRegister(build, p.requests, p.streams, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	p.registry.MustRegister(p.cases.all()...)
	p.registry.MustRegister(p.model.all()...)
	p.registry.MustRegister(p.commits.all()...)
	return p
}

// Watch shows how that database stands as well.
func (p *Process) Watch(s *store.Store) {
	p.registry.MustRegister(newStanding(s), pools{s})
}

// Handler answers a scrape. What cannot be measured is left out, and the rest is answered.
func (p *Process) Handler() http.Handler {
	return promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

// Answered counts a request by the route that answered it, never by its path, which holds ids.
func (p *Process) Answered(route string, status int, took time.Duration) {
	p.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// StreamOpened and StreamClosed count the event streams that are open.
func (p *Process) StreamOpened() { p.streams.Inc() }
func (p *Process) StreamClosed() { p.streams.Dec() }

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "countersign_" + name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "countersign_" + name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "countersign_" + name, Help: help, Buckets: buckets}, labels)
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("countersign_"+name, help, labels, nil)
}
