package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"countersign"
	"countersign/answer"
	"countersign/redact"
	"countersign/store"
)

// Problem is the body of every error answer, as RFC 9457 has it.
type Problem struct {
	Type   string  `json:"type" doc:"Always about:blank: the status says what kind of problem it is."`
	Title  string  `json:"title" doc:"The status in words."`
	Status int     `json:"status"`
	Detail string  `json:"detail" doc:"One sentence for a person, with what to do next where there is something to do."`
	Errors []Fault `json:"errors" doc:"The places of the request that are wrong; empty when it is none in particular."`

	header http.Header
}

// Fault is one place of a request that is wrong. What stood there is not repeated.
type Fault struct {
	Location string `json:"location" doc:"body.<field>, query.<name>, header.<name> or path.<name>."`
	Message  string `json:"message"`
}

func (p *Problem) Error() string             { return p.Detail }
func (p *Problem) GetStatus() int            { return p.Status }
func (p *Problem) GetHeaders() http.Header   { return p.header }
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// write answers with the problem where no call has taken over yet.
func (p *Problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = writeJSON(w, p) // it always marshals
}

// newProblem masks what it says: a sentence of ours may name what was sent, and callers log what they are answered.
func newProblem(status int, detail string, faults ...Fault) *Problem {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: masked(detail), Errors: []Fault{}}
	for _, f := range faults {
		p.Errors = append(p.Errors, f.masked())
	}
	return p
}

func (f Fault) masked() Fault { return Fault{masked(f.Location), masked(f.Message)} }

func masked(text string) string { return redact.Mask(text).String() }

// problem is the one place where an error becomes an answer. What is not meant for the caller is logged here, once, and
// answered without its text.
func (a *api) problem(ctx context.Context, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	if ctx.Err() == nil {
		err = store.Explain(err)
	}
	e := answer.Told(err)
	if e == nil {
		return a.internal(ctx, err)
	}
	p = newProblem(answer.Status(e.Kind), e.Error())
	if e.Field != "" {
		p.Errors = append(p.Errors, Fault{located(e.Field), e.Message}.masked())
	}
	switch e.Kind {
	case countersign.Unauthorized:
		p.header = http.Header{"Www-Authenticate": {`Bearer realm="countersign"`}}
	case countersign.Unavailable, countersign.Altered:
		a.Log.ErrorContext(ctx, "a request could not be answered", "error", err, "cause", e.Err)
	}
	return p
}

func (a *api) internal(ctx context.Context, err error) *Problem {
	if ctx.Err() != nil { // the caller has gone, or the program stops: nobody's fault
		return newProblem(http.StatusServiceUnavailable, "the request was interrupted")
	}
	a.Log.ErrorContext(ctx, "a request failed", "error", err)
	return newProblem(http.StatusInternalServerError, "something went wrong here; nothing you sent can mend it (try again, then tell the operator: request "+answer.RequestID(ctx)+")")
}

// located says where in a request a field is. Fields without a place of their own are the body's.
func located(field string) string {
	switch {
	case slices.Contains(headers, field):
		return "header." + field
	case slices.Contains(places, strings.Split(field, ".")[0]):
		return field
	}
	return "body." + field
}

// places are the parts of a request.
var places = []string{"body", "query", "path", "header"}

// headers are those that are read.
var headers = []string{"Authorization", "Idempotency-Key", "If-Match", "Last-Event-ID"}

func problemResponse(h huma.API) *huma.Response {
	return &huma.Response{Description: "What was wrong", Content: map[string]*huma.MediaType{
		problemType: {Schema: h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")}}}
}
