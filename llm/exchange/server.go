package exchange

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"context"

	"countersign"
)

// DefaultTotal is how long a call may take in all where nobody says otherwise.
const DefaultTotal = 180 * time.Second

// Server says which server and how patient to be. Zero fields take the defaults named.
type Server struct {
	BaseURL string // up to and including /v1
	Model   string // as the server calls it
	APIKey  string `json:"-"` // empty for servers that want none

	Connect   time.Duration // until a connection, TLS included, stands: 5 s
	FirstByte time.Duration // from the request written to the first header of the answer: 120 s
	Total     time.Duration // the whole call with every attempt and wait: DefaultTotal
	MaxWait   time.Duration // all waiting between attempts together: 10 s
	Attempts  int           // HTTP requests a call may make: 3

	MaxOutput int   // output tokens when a request names none; 0 is for the dialect to decide
	MaxAnswer int64 // bytes of an answer, after decompression: 8 MiB

	// Wait waits between attempts; it returns early with an error when ctx ends. Nil waits for real.
	Wait func(ctx context.Context, d time.Duration) error
}

// String leaves the key out, as do %+v, JSON and slog.
func (s Server) String() string { return fmt.Sprintf("%s at %s", s.Model, s.BaseURL) }

// GoString leaves the key out.
func (s Server) GoString() string { return s.String() }

// LogValue leaves the key out.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Server) withDefaults() Server {
	s.BaseURL = strings.TrimRight(strings.TrimSpace(s.BaseURL), "/")
	s.APIKey = strings.TrimSpace(s.APIKey)
	orElse(&s.Connect, 5*time.Second)
	orElse(&s.FirstByte, 120*time.Second)
	orElse(&s.Total, DefaultTotal)
	orElse(&s.MaxWait, 10*time.Second)
	orElse(&s.Attempts, 3)
	orElse(&s.MaxAnswer, 8<<20)
	if s.Wait == nil {
		s.Wait = wait
	}
	return s
}

func orElse[T comparable](field *T, standard T) {
	if *field == *new(T) {
		*field = standard
	}
}

func (s Server) check() error {
	wrong := func(field, message, expected string) error {
		return countersign.Errorf(countersign.Invalid, "%s", message).In(field).Try("expected " + expected)
	}
	u, err := url.Parse(s.BaseURL)
	switch {
	case s.BaseURL == "":
		return wrong("base_url", "is missing", "the address of a server, such as https://models.example.com/v1")
	case err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != ""),
		strings.Contains(s.BaseURL, "@") && (err != nil || u.Host == ""):
		return wrong("base_url", "holds a user, a query or a fragment", "an address without them; a credential belongs in the API key")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return wrong("base_url", fmt.Sprintf("%q is not the address of a server", s.BaseURL), "something like https://models.example.com/v1")
	case s.Model == "":
		return wrong("model", "is missing", "the name that the server knows the model by")
	case strings.ContainsFunc(s.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return wrong("api_key", "holds a space or a character that is not plain", "a key of printable characters")
	case s.Connect < 0 || s.FirstByte < 0 || s.Total < 0 || s.MaxWait < 0 || s.Attempts < 0 || s.MaxAnswer < 0 || s.MaxOutput < 0:
		return errors.New("model time-outs and limits: expected none below zero")
	}
	return nil
}
