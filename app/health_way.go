package app

import (
	"fmt"
	"strings"
	"time"

	"countersign/llm/exchange"
	"countersign/pipeline/investigate"
	"countersign/pipeline/queue"
)

// examineWay looks at how browsers reach the dashboard.
func (c Config) examineWay() Finding {
	way, err := c.way()
	if err != nil {
		return wrong("address", err)
	}
	f := Finding{What: "address", OK: true, Says: "wherever a request came to"}
	if way.PublicURL != "" {
		f.Says = way.PublicURL
	}
	var trusted []string
	for _, p := range way.Proxies {
		trusted = append(trusted, p.String())
	}
	if len(trusted) > 0 {
		f.Says += ", behind " + strings.Join(trusted, ", ")
	}
	switch {
	case way.PublicURL == "" && len(trusted) == 0:
		f.Says += "; behind a proxy, set COUNTERSIGN_PUBLIC_URL and COUNTERSIGN_TRUSTED_PROXIES"
	case strings.HasPrefix(way.PublicURL, "http://") && !strings.HasPrefix(way.PublicURL, "http://127.0.0.1") && !strings.HasPrefix(way.PublicURL, "http://localhost"):
		return f.note("passwords and cases travel unencrypted", "put TLS in front, and set COUNTERSIGN_PUBLIC_URL to its https:// address")
	}
	return f
}

// examineWaits holds the times that must be longer than each other side by side.
func (c Config) examineWaits() Finding {
	wall := c.wall()
	f := Finding{What: "time-outs", OK: true, Says: fmt.Sprintf("a model call %s, an investigation %s, a job that is taken for stuck %s", exchange.DefaultTotal, wall, queue.Rescue)}
	if err := c.checkWaits(); err != nil {
		return wrong("time-outs", err)
	}
	if exchange.DefaultTotal >= wall {
		return f.note("one call may use up a whole investigation", "give investigations more time than a call")
	}
	return f
}

func (c Config) wall() (w time.Duration) {
	if w = c.Bounds.Wall; w <= 0 {
		w = investigate.DefaultBounds.Wall
	}
	return w
}
