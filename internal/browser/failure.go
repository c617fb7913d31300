package browser

import (
	"context"
	"strings"
	"time"
)

// fail ends the test with what a person would want to see, and a picture where pictures are kept.
func (p *Page) fail(doing, why string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 3*time.Second)
	defer cancel()
	here, err := ask[view](ctx, "view")
	if err != nil {
		here.Text = "(the page does not answer: " + err.Error() + ")"
	}
	_ = p.keep(ctx, "failed "+p.t.Name())
	p.t.Fatalf("%s: %s\n  at %s %q\n  which says: %s%s", doing, why, here.Address, here.Title, shortened(here.Text), listed(p.Console()))
}

func shortened(text string) string {
	const enough = 700
	short := []rune(strings.Join(strings.Fields(text), " "))
	if len(short) > enough {
		return string(short[:enough]) + " …"
	}
	return string(short)
}

func listed(complaints []string) string {
	if len(complaints) == 0 {
		return ""
	}
	return "\n  its console: " + strings.Join(complaints, "\n    ")
}
