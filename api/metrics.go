package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign"
	"countersign/store"
)

// metrics are what an operator's tools collect. No label holds an id or anything else that a caller chooses.
type metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(s *store.Store) *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_http_request_duration_seconds", Help: "How long requests took, event streams left out.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "status"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "countersign_event_streams", Help: "Event streams that are open."}),
	}
	registry.MustRegister(m.requests, m.streams, caseCounts{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return m
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// caseCounts counts the cases of each status when it is asked. The store is the truth for every process on it; a counter of
// our own would begin at zero with each start.
type caseCounts struct{ store *store.Store }

var unattendedDesc = prometheus.NewDesc("countersign_cases_unattended", "Cases in review that are due within 48 hours or overdue and that nobody has taken, counted up to 1000.", nil, nil)

var casesDesc = prometheus.NewDesc("countersign_cases", "Cases by status; in_review holds those that wait for a second approval too.", []string{"status"}, nil)

func (c caseCounts) Describe(ch chan<- *prometheus.Desc) { ch <- casesDesc; ch <- unattendedDesc }

func (c caseCounts) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	now, err := c.store.Waiting(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(casesDesc, err)
		return
	}
	for status, n := range map[countersign.Status]int64{countersign.Queued: now.Queued, countersign.Investigating: now.Investigating,
		countersign.InReview: now.InReview, countersign.Closed: now.Closed} {
		ch <- prometheus.MustNewConstMetric(casesDesc, prometheus.GaugeValue, float64(n), string(status))
	}
	at := c.store.Now()
	unattended, err := c.store.Unattended(ctx, at.Add(48*time.Hour), at)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(unattendedDesc, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(unattendedDesc, prometheus.GaugeValue, float64(unattended))
}
