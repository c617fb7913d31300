package measure

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign"
)

// model is how models were asked. Their names are those that the operator configured, so there are few.
type model struct {
	calls, attempts, tokens *prometheus.CounterVec
	answered                *prometheus.HistogramVec
}

func newModel() model {
	return model{
		calls: counter("model_calls_total", "Turns of a model, by how they ended: answered, or why the conversation ended there without a decision.",
			"provider", "model", "result"),
		attempts: counter("model_attempts_total", "HTTP requests to a model's server, by the status of the answer; none when no answer came.",
			"provider", "model", "status"),
		tokens: counter("model_tokens_total", "Tokens, as the model's server counts them.", "provider", "model", "direction"),
		answered: histogram("model_answer_seconds", "How long a model took to answer a turn, attempts and waiting between them included.",
			[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60, 120}, "provider", "model"),
	}
}

func (m model) all() []prometheus.Collector {
	return []prometheus.Collector{m.calls, m.attempts, m.tokens, m.answered}
}

// Call is one turn of a model.
type Call struct {
	Provider, Model string
	Failure         countersign.Failure // empty when it answered
	Took            time.Duration
	Statuses        []int // of each attempt; 0 when no answer came
	Input, Output   int64 // tokens
}

// Asked counts a turn of a model.
func (p *Process) Asked(c Call) {
	result := "answered"
	if c.Failure != "" {
		result = string(c.Failure)
	}
	p.model.calls.WithLabelValues(c.Provider, c.Model, result).Inc()
	p.model.answered.WithLabelValues(c.Provider, c.Model).Observe(c.Took.Seconds())
	for _, status := range c.Statuses {
		p.model.attempts.WithLabelValues(c.Provider, c.Model, statusClass(status)).Inc()
	}
	p.model.tokens.WithLabelValues(c.Provider, c.Model, "input").Add(float64(max(c.Input, 0)))
	p.model.tokens.WithLabelValues(c.Provider, c.Model, "output").Add(float64(max(c.Output, 0)))
}

// statusClass keeps what operators tell apart: a server may invent any number.
func statusClass(status int) string {
	switch {
	case status == 0:
		return "none"
	case status == 401, status == 403, status == 404, status == 429, status == 529:
		return strconv.Itoa(status)
	case status >= 200 && status < 600:
		return strconv.Itoa(status/100) + "xx"
	}
	return "other"
}
