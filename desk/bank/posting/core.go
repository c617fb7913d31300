package posting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/pipeline/outside"
	"countersign/store"
)

// core is the bank's own core, as instructions are sent to it.
type core struct {
	Settings
	client *http.Client
	now    func() time.Time
}

const mostAnswer = 64 << 10

// newCore connects to nothing. Every question has a connection of its own: there are few, and one that was lost must not look like
// another.
func newCore(s Settings, now func() time.Time) core {
	return core{s, &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: seconds(s.ConnectSeconds, 5)}).DialContext,
			TLSHandshakeTimeout: seconds(s.ConnectSeconds, 5), ResponseHeaderTimeout: seconds(s.FirstByteSeconds, 20),
			MaxResponseHeaderBytes: mostAnswer, DisableKeepAlives: true, DisableCompression: true, // what was signed is the bytes as they came
		},
		// What was signed for one address is not carried to another.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, now}
}

// recipient is the core, asked about one instruction.
func (c core) recipient(i store.Instruction) outside.Recipient {
	return outside.Recipient{
		Post: func(ctx context.Context) outside.Answer {
			return c.ask(ctx, http.MethodPost, c.URL, i.ID, i.Body)
		},
		State: func(ctx context.Context) outside.Answer {
			return c.ask(ctx, http.MethodGet, c.URL+"/"+url.PathEscape(i.ID), i.ID, nil)
		},
		Patience: c.patience(),
	}
}

// ask puts one question. What is signed of a question without a body is the instruction that it is about.
func (c core) ask(ctx context.Context, method, address, id string, body []byte) outside.Answer {
	ctx, cancel := context.WithTimeout(ctx, c.patience().Call)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return unclear("the question could not be written")
	}
	text := body
	if body == nil {
		text = []byte(id)
	} else {
		r.Header.Set("Content-Type", "application/json")
		r.GetBody = nil // never sent a second time behind our back
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "countersign")
	r.Header.Set("Idempotency-Key", id)
	r.Header.Set(signatureHeader, Sign(c.Secret, c.KeyID, c.now(), text))
	answer, err := c.client.Do(r)
	if err != nil {
		return unclear("%s", cause(err))
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	a := c.understood(method, id, answer, said, err)
	a.Exchange.Status = answer.StatusCode
	if said = said[:min(len(said), mostAnswer)]; utf8.Valid(said) {
		a.Exchange.Answer = string(said)
	} else {
		a.Exchange.Binary = said
	}
	return a
}

func unclear(format string, args ...any) outside.Answer {
	return outside.Answer{Exchange: store.Exchange{Problem: fmt.Sprintf(format, args...)}}
}

// cause is why no answer came, without the address: whoever reads it knows that.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return "no answer came in time"
		}
		err = u.Err
	}
	return "no answer came: " + err.Error()
}

// understood is what an answer means, by its status and its JSON. Whatever is not exactly as docs/posting.md has it says nothing.
func (c core) understood(method, id string, answer *http.Response, said []byte, err error) outside.Answer {
	status := answer.StatusCode
	switch {
	case err != nil:
		return unclear("the answer broke off")
	case len(said) > mostAnswer:
		return unclear("the answer is longer than %d bytes", mostAnswer)
	case status != 200 && status != 201 && status != 202 && status != 422 && !(status == 404 && method == http.MethodGet):
		return unclear("the answer has the status %d", status)
	case c.AnswerSecret != "" && !signed(answer.Header.Get(signatureHeader), c.AnswerSecret, c.now(), append([]byte(id+"."), said...)):
		return unclear("the answer is not signed with the secret for answers")
	case status == 404:
		return outside.Answer{Kind: outside.NeverSeen, Exchange: store.Exchange{Problem: "they never had it"}}
	}
	words, problem := read(said)
	if problem != "" {
		return unclear("the answer cannot be understood: %s", problem)
	}
	kind, known := map[string]outside.Kind{"confirmed": outside.Confirmed, "rejected": outside.Rejected, "pending": outside.Pending}[words["state"]]
	switch {
	case !known:
		return unclear("the answer cannot be understood: its state is none of confirmed, rejected, pending")
	case status == 202 && kind != outside.Pending, status == 422 && kind != outside.Rejected:
		return unclear("the answer contradicts itself: the status %d and the state %s", status, words["state"])
	case kind == outside.Confirmed && words["reference"] == "":
		return unclear("the answer confirms without a reference")
	}
	return outside.Answer{Kind: kind, Reference: words["reference"], Said: words["reason"]}
}

// longest are the fields of an answer, and how many bytes each may have.
var longest = map[string]int{"state": 20, "reference": 200, "reason": 500}

// read reads the one form that an answer has: an object of these fields, each once, each a text of one line.
func read(said []byte) (words map[string]string, problem string) {
	if !utf8.Valid(said) {
		return nil, "it is no text"
	}
	d := json.NewDecoder(bytes.NewReader(said))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, "it is no JSON object"
	}
	words = map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, "it is no JSON"
		}
		name, _ := key.(string)
		value, err := d.Token()
		text, isText := value.(string)
		_, twice := words[name]
		switch most, known := longest[name]; {
		case err != nil:
			return nil, "it is no JSON"
		case !known:
			return nil, "it has a field that is none of state, reference, reason"
		case twice:
			return nil, "it has the field " + name + " twice"
		case !isText:
			return nil, "its " + name + " is no text"
		case len(text) > most:
			return nil, fmt.Sprintf("its %s is longer than %d bytes", name, most)
		case strings.ContainsFunc(text, unicode.IsControl):
			return nil, "its " + name + " is no single line"
		}
		words[name] = text
	}
	if _, err := d.Token(); err != nil {
		return nil, "it is no JSON"
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, "it goes on after its JSON"
	}
	return words, ""
}
