package report

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"countersign/internal/browser"
)

// The page is opened as it is served: with a policy that lets it load and run nothing, so what it needs it must carry.
func TestThePageCanBeReadByEverybody(t *testing.T) {
	c := sample()
	c.Decision.Summary += " " + alphabets + " 中村 محمد"
	file := rendered(t, c, HTML)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'") // and a sandbox, in which axe could not run either
		_, _ = w.Write(file)
	}))
	t.Cleanup(server.Close)
	for name, o := range map[string]browser.Options{"on a desk": {NoScript: true}, "on a phone": {NoScript: true, Width: 390, Height: 844}} {
		t.Run(name, func(t *testing.T) {
			p := browser.Open(t).Page(t, o)
			p.Go(server.URL)
			for _, v := range p.Axe() {
				t.Error(v)
			}
		})
	}
}
