// Package testcore is a bank's core for tests: a real HTTP server that checks what it is sent, keeps every key for good, and can be told
// to fail in each way in which the other end of a line does.
//
// It is also what docs/posting.md asks of a receiver, in the fewest lines that do it. It shares no code with the sender: what it accepts
// was signed and written as the document says.
package testcore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Behaviour is what the core does with one request.
type Behaviour string

const (
	Obey           Behaviour = "obey"                // posts and confirms; says what it knows
	Reject         Behaviour = "reject"              // posts nothing, and never will
	Pend           Behaviour = "pend"                // takes it and has not ended
	LoseAnswer     Behaviour = "lose the answer"     // does as Obey, and the line breaks
	FailAfter      Behaviour = "fail after"          // does as Obey, and answers 500
	Refuse         Behaviour = "refuse"              // answers 503 and does nothing
	HangUp         Behaviour = "hang up"             // breaks the line and does nothing
	Stall          Behaviour = "stall"               // does as Obey, and answers when nobody waits any more
	Garbage        Behaviour = "garbage"             // does as Obey, and answers with something else
	Redirect       Behaviour = "redirect"            // sends the caller elsewhere
	Forget         Behaviour = "forget"              // never had it, whatever it said before
	ConfirmInVain  Behaviour = "confirm, unsigned"   // does as Obey, without the signature of its answers
	ConfirmAnother Behaviour = "confirm, misaddress" // does as Obey, with an answer that was signed for another instruction
)

// Core is a running core.
type Core struct {
	*httptest.Server
	Secret, KeyID string // of what it is sent
	AnswerSecret  string // signs what it answers; empty when it does not

	t        testing.TB
	mu       sync.Mutex
	script   []Behaviour
	always   Behaviour
	known    map[string]*entry
	moved    map[string]int // by kind and transaction: how often money was given back
	requests []string
	stalled  chan struct{}
}

type entry struct {
	body  string
	state string // confirmed, rejected, pending
}

// New starts a core that obeys. Answers of the requests that stall are let go at the end of the test.
func New(t testing.TB) *Core {
	c := &Core{t: t, Secret: strings.Repeat("s3cret-", 6), KeyID: "k-1", always: Obey, known: map[string]*entry{}, moved: map[string]int{}, stalled: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(func() {
		close(c.stalled)
		c.Server.Close()
	})
	return c
}

// Address is where instructions are sent.
func (c *Core) Address() string { return c.URL + "/instructions" }

// Next says what the core does with the requests that come next; after those it does as Always says.
func (c *Core) Next(script ...Behaviour) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.script = script
}

// Always says what the core does when the script is at its end.
func (c *Core) Always(b Behaviour) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.always = b
}

// Moved is how often the core gave a transaction back.
func (c *Core) Moved(kind, transaction string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved[kind+" "+transaction]
}

// Requests are the requests that came, as their method and key.
func (c *Core) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.requests...)
}

// End ends what was pending.
func (c *Core) End(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.known {
		if e.state == "pending" {
			e.state = state
			if state == "confirmed" {
				c.move(e.body)
			}
		}
	}
}

func (c *Core) move(body string) {
	var i struct {
		Kind        string `json:"kind"`
		Transaction string `json:"transaction_id"`
	}
	_ = json.Unmarshal([]byte(body), &i)
	c.moved[i.Kind+" "+i.Transaction]++
}

func (c *Core) next() Behaviour {
	if len(c.script) == 0 {
		return c.always
	}
	b := c.script[0]
	c.script = c.script[1:]
	return b
}

func (c *Core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := r.Header.Get("Idempotency-Key")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r.Method+" "+id)
	if why := c.wrong(r, id, body); why != "" {
		c.t.Errorf("the core was sent something that is not as the document says: %s", why)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b := c.next()
	switch b {
	case Refuse:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case HangUp:
		hangUp(w)
		return
	case Redirect:
		http.Redirect(w, r, c.URL+"/elsewhere", http.StatusTemporaryRedirect)
		return
	case Forget:
		c.say(w, id, http.StatusNotFound, "", b)
		return
	}
	e := c.known[id]
	switch {
	case e == nil && r.Method == http.MethodGet:
		c.say(w, id, http.StatusNotFound, "", b)
		return
	case e == nil:
		e = &entry{body: string(body), state: "confirmed"}
		if b == Reject {
			e.state = "rejected"
		}
		if b == Pend {
			e.state = "pending"
		}
		if c.known[id] = e; e.state == "confirmed" {
			c.move(e.body)
		}
	case r.Method == http.MethodPost && e.body != string(body):
		c.t.Errorf("instruction %s came twice, with other bytes", id)
		w.WriteHeader(http.StatusConflict)
		return
	}
	switch b {
	case LoseAnswer:
		hangUp(w)
		return
	case FailAfter:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case Stall:
		c.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-c.stalled:
		}
		c.mu.Lock()
		return
	case Garbage:
		c.say(w, id, http.StatusOK, "<html>Welcome", b)
		return
	}
	status := map[string]int{"confirmed": http.StatusOK, "rejected": http.StatusUnprocessableEntity, "pending": http.StatusAccepted}[e.state]
	reference, reason := "", ""
	if e.state == "confirmed" {
		reference = "CORE-" + id
	}
	if e.state == "rejected" {
		reason = "account closed"
	}
	answer, _ := json.Marshal(map[string]string{"state": e.state, "reference": reference, "reason": reason})
	c.say(w, id, status, string(answer), b)
}

// wrong says what of a request is not as the document has it; empty when nothing is.
func (c *Core) wrong(r *http.Request, id string, body []byte) string {
	text := body
	switch r.Method {
	case http.MethodPost:
		var i struct {
			Instruction string `json:"instruction"`
			Version     int    `json:"version"`
		}
		if err := json.Unmarshal(body, &i); err != nil || i.Instruction != id || i.Version != 1 || r.URL.Path != "/instructions" {
			return fmt.Sprintf("POST %s of %s: %s", r.URL.Path, id, body)
		}
	case http.MethodGet:
		if text = []byte(id); r.URL.Path != "/instructions/"+id || len(body) > 0 {
			return fmt.Sprintf("GET %s of %s: %s", r.URL.Path, id, body)
		}
	default:
		return r.Method
	}
	fields := map[string]string{}
	for _, part := range strings.Split(r.Header.Get("Countersign-Signature"), ",") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	if fields["k"] != c.KeyID || fields["v1"] != c.mac(c.Secret, fields["t"]+"."+string(text)) {
		return "the signature " + r.Header.Get("Countersign-Signature")
	}
	return ""
}

func (c *Core) mac(secret, text string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// say answers, signed where answers are.
func (c *Core) say(w http.ResponseWriter, id string, status int, body string, b Behaviour) {
	if c.AnswerSecret != "" && b != ConfirmInVain {
		about := id
		if b == ConfirmAnother {
			about = "ins_another"
		}
		t := strconv.FormatInt(time.Now().Unix(), 10)
		w.Header().Set("Countersign-Signature", "t="+t+",v1="+c.mac(c.AnswerSecret, t+"."+about+"."+body))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func hangUp(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}
