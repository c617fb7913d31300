package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"countersign"
	"countersign/auth"
)

// call is one line of the API: where it is, what the document says of it, who may make it, and the form of its body.
type call struct {
	method, path string
	id, summary  string
	right        auth.Right // anybody when no token is asked for
	body         any        // a value of the body's type, nil when the call has none
}

const (
	anybody  auth.Right = ""
	unlisted            = "" // as a call's id: answered, but no part of the document
)

// routes is the mux, and what was registered on it.
type routes struct {
	*http.ServeMux
	patterns []string
}

func newRoutes() *routes { return &routes{ServeMux: http.NewServeMux()} }

func (r *routes) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	r.patterns = append(r.patterns, pattern)
	r.ServeMux.HandleFunc(pattern, handler)
}

// newHuma makes the library that reads parameters, writes answers and describes both. What it would add by itself is switched
// off: its pages load scripts from elsewhere, and its own checks repeat what was sent.
func newHuma(r *routes, version string) huma.API {
	config := huma.DefaultConfig("Countersign", version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", "", nil
	config.AllowAdditionalPropertiesByDefault = true // answers may grow fields; requests say that they may not
	config.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	return humago.New(r, config)
}

var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: json.Unmarshal}

// writeJSON does not report that the caller has gone: nobody is left to tell. HTML is not escaped, so that a record's payload
// keeps its bytes.
func writeJSON(w io.Writer, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, _ = io.WriteString(w, b.String())
	return nil
}

const rightKey = "right"

// register puts a call on the mux and into the document, and turns the errors of f into problems.
func register[In, Out any](a *api, c call, f func(context.Context, *In) (*Out, error)) {
	op := huma.Operation{
		Method: c.method, Path: c.path, OperationID: c.id, Summary: c.summary, Hidden: c.id == unlisted,
		SkipValidateParams: true, SkipValidateBody: true, Metadata: map[string]any{rightKey: c.right},
		Responses: map[string]*huma.Response{"default": problemResponse(a.huma)},
	}
	if c.right != anybody {
		op.Security = []map[string][]string{{"token": {}}}
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
	if path := a.huma.OpenAPI().Paths[c.path]; c.id != unlisted && c.body != nil && reflect.TypeOf(c.body) != reflect.TypeFor[nothing]() {
		path.Post.RequestBody = &huma.RequestBody{Required: !mayBeAbsent(c.body), Content: map[string]*huma.MediaType{
			"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(c.body), true, "")}}}
	}
}

// request is what the handlers need of a request beside its parameters.
type request struct {
	principal auth.Principal
	header    http.Header
	body      []byte
}

type requestKey struct{}

func requestOf(ctx context.Context) request {
	r, _ := ctx.Value(requestKey{}).(request)
	return r
}

// enter is the way to every call: who is it, may they, is the query one we know, and the body one we can read. A body is not
// read before the caller is known.
func (a *api) enter(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	op := ctx.Operation()
	in := request{header: r.Header}
	var err error
	if in.principal, err = a.admit(r, op.Metadata[rightKey].(auth.Right)); err == nil {
		noteWho(r.Context(), in.principal)
		if err = checkQuery(r.URL, op.Parameters); err == nil && r.Method == http.MethodPost {
			in.body, err = readBody(w, r)
		}
	}
	if err != nil {
		a.problem(r.Context(), err).write(w)
		return
	}
	next(huma.WithValue(ctx, requestKey{}, in))
}

func (a *api) admit(r *http.Request, right auth.Right) (auth.Principal, error) {
	if right == anybody {
		return auth.Principal{}, nil
	}
	header, err := single(r.Header, "Authorization")
	if err != nil {
		return auth.Principal{}, countersign.Errorf(countersign.Unauthorized, "is there more than once").In("Authorization")
	}
	p, err := auth.Authenticate(r.Context(), a.Store.View, header)
	if err != nil {
		return p, err
	}
	return p, p.Needs(right)
}

// single is the value of a header that may be there once at most.
func single(h http.Header, name string) (string, error) {
	values := h.Values(name)
	if len(values) > 1 {
		return "", invalid(name, "is there more than once")
	}
	return h.Get(name), nil
}

// checkQuery refuses parameters that the call does not have: a filter that was misspelled must not list everything.
func checkQuery(u *url.URL, known []*huma.Param) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return invalid("query", "cannot be read as name=value pairs")
	}
	var names []string
	for _, p := range known {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	for name, values := range query {
		switch {
		case !slices.Contains(names, name):
			return invalid("query."+clip(name), "is not a parameter of this call, %s", expected(names))
		case len(values) > 1:
			return invalid("query."+name, "is there more than once")
		}
	}
	return nil
}

func expected(names []string) string {
	if len(names) == 0 {
		return "which has none"
	}
	return "expected one of " + strings.Join(names, ", ")
}

// invalid is a complaint about one place of a request: "query.limit", "body.notes", "header.If-Match" or a header's name.
func invalid(place, format string, args ...any) *countersign.Error {
	return countersign.Errorf(countersign.Invalid, format, args...).In(place)
}

// clip keeps what a caller sent, when it must be named, to a size that can be read.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "")
}
