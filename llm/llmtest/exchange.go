package llmtest

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"countersign/llm"
	"countersign/llm/exchange"
)

// Gzip is about packed answers: they are recorded unpacked.
func Gzip(t *testing.T, d Dialect) {
	body := d.Says("a")
	s := Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, body)
		z.Close()
	})
	m, _ := d.model(t, s.URL)
	if reply := Complete(t, m, First()); reply.Text != "a" || string(reply.Response) != body {
		t.Errorf("text %q, recorded %q", reply.Text, reply.Response)
	}
}

// Huge is about answers over the limit: they are not read to the end.
func Huge(t *testing.T, d Dialect) {
	filler := strings.Repeat("x", 1<<20)
	for _, row := range []struct {
		name      string
		megabytes int
		pack      bool
	}{{"20 MB", 20, false}, {"20 MB packed into a few kilobytes", 20, true}, {"an answer that never ends", 1 << 40, false}} {
		t.Run(row.name, func(t *testing.T) {
			s := Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				var out io.Writer = w
				if row.pack {
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(w)
					defer z.Close()
					out = z
				}
				for range row.megabytes {
					if _, err := io.WriteString(out, filler); err != nil {
						return // the client hung up
					}
				}
			})
			m, _ := d.model(t, s.URL)
			e := Fails(t, m, First())
			if e.Kind != llm.Unreadable || !strings.Contains(e.Message, "larger than 8388608 bytes") {
				t.Errorf("error = %v", e)
			}
			if len(e.Response) != 64<<10 || s.Asked() != 1 {
				t.Errorf("recorded %d bytes, asked %d times", len(e.Response), s.Asked())
			}
		})
	}
}

// Resumed is about a conversation that goes on in another process: it is byte-equal.
func Resumed(t *testing.T, d Dialect) {
	s := Says(t, d.Calls(`{}`))
	a, _ := d.model(t, s.URL)
	b, _ := d.model(t, s.URL) // another process
	one, two := Complete(t, a, History()), Complete(t, b, History())
	if string(one.Request) != string(two.Request) || one.Calls[0] != two.Calls[0] {
		t.Errorf("%s\n%+v\nagain:\n%s\n%+v", one.Request, one.Calls, two.Request, two.Calls)
	}
	if one.Calls[0].ID != "c00040001" {
		t.Errorf("id = %s, want the fourth turn's", one.Calls[0].ID)
	}
}

// Environment is about the variables of vendors: they are ignored.
func Environment(t *testing.T, d Dialect) {
	elsewhere := Says(t, d.Says("wrong server"))
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_HOST", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, elsewhere.URL)
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS",
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"} {
		t.Setenv(name, "X-Leak: from-environment")
	}
	s := Says(t, d.Says("a"))
	m, _ := d.model(t, s.URL, func(c *exchange.Server) { c.APIKey = "" })
	Complete(t, m, First())
	want := d.Plain()
	got := s.Requests[0].Header.Clone()
	got.Del("Content-Length")
	if !maps.EqualFunc(want, got, slices.Equal[[]string]) {
		t.Errorf("headers of a request without a key: %v, want %v", got, want)
	}
	if elsewhere.Asked() != 0 {
		t.Error("the environment chose the server")
	}
}

// BadSettings is about settings that are refused before anything is sent.
func BadSettings(t *testing.T, d Dialect) {
	good := exchange.Server{BaseURL: "https://models.example.com/v1", Model: "m", APIKey: "k"}
	for _, row := range []struct {
		name string
		edit func(*exchange.Server)
		want string // in the error; empty for none
	}{
		{"a slash at the end is no matter", func(c *exchange.Server) { c.BaseURL += "/" }, ""},
		{"white space round a pasted key is no matter", func(c *exchange.Server) { c.APIKey = " k\n" }, ""},
		{"no base URL", func(c *exchange.Server) { c.BaseURL = "" }, "base_url: is missing"},
		{"a host without a scheme", func(c *exchange.Server) { c.BaseURL = "models.example.com/v1" }, `base_url: "models.example.com/v1" is not`},
		{"another scheme", func(c *exchange.Server) { c.BaseURL = "file:///etc/passwd" }, `base_url: "file:///etc/passwd" is not`},
		{"a credential in the base URL", func(c *exchange.Server) { c.BaseURL = "https://u:secret@models.example.com/v1" }, "API key"},
		{"a credential in a base URL that is none", func(c *exchange.Server) { c.BaseURL = "https://u:%secret@models.example.com/v1" }, "API key"},
		{"a credential before a host without a scheme", func(c *exchange.Server) { c.BaseURL = "u:secret@models.example.com/v1" }, "API key"},
		{"a query in the base URL", func(c *exchange.Server) { c.BaseURL += "?key=secret" }, "API key"},
		{"no model", func(c *exchange.Server) { c.Model = "" }, "model: is missing"},
		{"a key over two lines", func(c *exchange.Server) { c.APIKey = "secret\nsecret" }, "api_key: holds a space"},
		{"a time-out below zero", func(c *exchange.Server) { c.Total = -1 }, "time-outs"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cfg := good
			row.edit(&cfg)
			_, err := d.New(cfg)
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("error = %v, want %q in it", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error = %v: it holds the secret", err)
			}
		})
	}
}
