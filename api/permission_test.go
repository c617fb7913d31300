package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/auth"
)

// TestPermissions walks every call with every role and with no token. What a caller may not do must be refused before anything
// else is looked at; what it may do must get as far as an answer about the request itself.
func TestPermissions(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	everybody, deciders, nobody := "analyst approver auditor admin", "analyst approver admin", ""
	walked := map[string]bool{}
	for _, row := range []struct{ pattern, roles string }{
		{"POST /api/v1/disputes", deciders},
		{"POST /api/v1/chargebacks", deciders},
		{"GET /api/v1/cases", everybody},
		{"GET /api/v1/cases/{id}", everybody},
		{"GET /api/v1/cases/{id}/steps", everybody},
		{"GET /api/v1/cases/{id}/record", everybody},
		{"GET /api/v1/cases/{id}/report", everybody},
		{"HEAD /api/v1/cases/{id}/events", everybody},
		{"POST /api/v1/cases/{id}/approve", deciders},
		{"POST /api/v1/cases/{id}/override", deciders},
		{"POST /api/v1/cases/{id}/escalate", deciders},
		{"POST /api/v1/cases/{id}/message", deciders},
		{"POST /api/v1/cases/{id}/deadline", deciders},
		{"POST /api/v1/cases/{id}/attach", deciders},
		{"POST /api/v1/cases/{id}/retry", deciders},
		{"POST /api/v1/cases/{id}/ask", deciders},
		{"POST /api/v1/cases/{id}/settle", deciders},
		{"POST /api/v1/cases/{id}/{verb}", deciders},
		{"GET /healthz", nobody},
		{"GET /readyz", nobody},
		{"GET /metrics", nobody},
		{"GET /api/v1/openapi.json", nobody},
		{"GET /openapi.json", nobody},
	} {
		method, path, _ := strings.Cut(row.pattern, " ")
		walked[strings.Replace(row.pattern, "HEAD", "GET", 1)] = true // GET would follow the case for ever
		path = strings.NewReplacer("{id}", string(c.ID), "{verb}", "shred").Replace(path)
		for _, role := range append([]auth.Role{""}, auth.Roles...) {
			t.Run(fmt.Sprintf("%s as %q", row.pattern, role), func(t *testing.T) {
				r := o.send(sent{method: method, path: path, role: role})
				switch {
				case row.roles != nobody && role == "":
					if r.status != http.StatusUnauthorized || !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
						t.Errorf("without a token: %d, WWW-Authenticate %q", r.status, r.header.Get("WWW-Authenticate"))
					}
				case row.roles != nobody && !strings.Contains(row.roles, string(role)):
					problem(t, r, http.StatusForbidden, "")
					if !strings.Contains(r.json["detail"].(string), "analyst, approver or admin") {
						t.Errorf("the refusal does not name the roles that may: %s", r.text)
					}
				case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.status >= 500 || r.status == 404 && !strings.HasSuffix(path, "/report"): // no decision, no report
					t.Errorf("answered %d %s", r.status, r.text)
				}
			})
		}
	}
	t.Run("no call was left out of this walk", func(t *testing.T) {
		for _, pattern := range o.api.routes.patterns {
			if pattern != "/" && !walked[pattern] {
				t.Errorf("%s was not walked", pattern)
			}
		}
		if len(walked) != len(o.api.routes.patterns)-1 {
			t.Errorf("%d calls were walked, %d are registered", len(walked), len(o.api.routes.patterns)-1)
		}
	})
	t.Run("nothing was changed by those who may not", func(t *testing.T) {
		if got := o.get("/api/v1/cases/" + string(c.ID)).json["revision"]; got != float64(c.Revision) {
			t.Errorf("the case is at revision %v, want %d", got, c.Revision)
		}
	})
}

func TestBadTokens(t *testing.T) {
	o := newOffice(t)
	good := o.tokens[auth.Admin]
	for sentence, header := range map[string]string{
		"another scheme":        "Basic " + good,
		"a token nobody made":   "Bearer ct_" + strings.Repeat("Z", 52),
		"a piece of a token":    "Bearer " + good[:20],
		"a control character":   "Bearer " + good[:20] + "\x01" + good[21:],
		"a token of a megabyte": "Bearer ct_" + strings.Repeat("A", 1<<20),
		"ten megabytes":         "Bearer ct_" + strings.Repeat("A", 10<<20),
	} {
		t.Run(sentence, func(t *testing.T) {
			req := httptest.NewRequest("GET", "/api/v1/cases", nil)
			req.Header.Set("Authorization", header)
			w := httptest.NewRecorder()
			o.api.guarded().ServeHTTP(w, req)
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || w.Body.Len() > 1000 {
				t.Errorf("got %d with %d bytes", w.Code, w.Body.Len())
			}
			if rest := header[len(header)-12:]; strings.Contains(w.Body.String(), rest) || strings.Contains(o.log.String(), rest) {
				t.Error("a piece of the token came back or was logged")
			}
		})
	}
	t.Run("a body is not read before the caller is known", func(t *testing.T) {
		req := httptest.NewRequest("POST", "/api/v1/disputes", unreadable{t})
		w := httptest.NewRecorder()
		o.api.guarded().ServeHTTP(w, req)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("got %d", w.Code)
		}
	})
}

// unreadable is a body that nobody may read.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, http.ErrBodyNotAllowed
}

func TestLog(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	o.send(sent{method: "GET", path: "/api/v1/cases?q=SECRETQUERY", role: auth.Auditor})
	o.send(sent{method: "POST", path: "/api/v1/cases/" + string(c.ID) + "/message", role: auth.Analyst, body: `{"text":"SECRETBODY"}`})
	o.server.Close() // every request has been accounted for
	text := o.log.String()
	t.Run("a request is one line: method, route, status, time, who", func(t *testing.T) {
		for _, want := range []string{"method=GET", `route="GET /api/v1/cases"`, "status=200", "ms=", "principal=tok_", `route="POST /api/v1/cases/{id}/message"`, "status=428"} {
			if !strings.Contains(text, want) {
				t.Errorf("the log has no %s:\n%s", want, text)
			}
		}
	})
	t.Run("neither query nor body nor token is in it", func(t *testing.T) {
		for _, secret := range []string{"SECRET", "it never arrived", string(c.ID), o.tokens[auth.Auditor]} {
			if strings.Contains(text, secret) {
				t.Errorf("the log holds %s:\n%s", secret, text)
			}
		}
	})
}

func TestFailures(t *testing.T) {
	t.Run("a panic is a neutral 500, logged once, and the next request is answered", func(t *testing.T) {
		o := newOffice(t)
		o.api.routes.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("the cause") })
		r := o.get("/panic")
		problem(t, r, http.StatusInternalServerError, "")
		if strings.Contains(r.text, "the cause") {
			t.Errorf("the cause was shown: %s", r.text)
		}
		if alive := o.get("/healthz"); alive.status != http.StatusOK {
			t.Errorf("afterwards /healthz is %d", alive.status)
		}
		o.server.Close()
		if n := strings.Count(o.log.String(), "the cause"); n != 1 {
			t.Errorf("the cause was logged %d times", n)
		}
	})
	t.Run("a panic inside a transaction is a neutral 500 and stores nothing", func(t *testing.T) {
		o := newOffice(t)
		r := o.post("/api/v1/disputes", `{"transaction_id":"T-PANIC","reason":"other"}`)
		problem(t, r, http.StatusInternalServerError, "")
		if strings.Contains(r.text, "fire") || o.cases() != 0 {
			t.Errorf("got %s and %d cases", r.text, o.cases())
		}
	})
	t.Run("a database that is gone is a neutral error, and not ready", func(t *testing.T) {
		o := newOffice(t)
		if err := o.store.Close(); err != nil {
			t.Fatal(err)
		}
		problem(t, o.get("/api/v1/cases"), http.StatusInternalServerError, "")
		problem(t, o.get("/readyz"), http.StatusServiceUnavailable, "")
		if r := o.get("/healthz"); r.status != http.StatusOK || r.json["status"] != "ok" || r.json["version"] != "test" {
			t.Errorf("/healthz is %d %s", r.status, r.text)
		}
		if text := o.get("/metrics").text; !strings.Contains(text, "countersign_http_request_duration_seconds") {
			t.Errorf("/metrics lost what needs no database:\n%s", text)
		}
		o.server.Close()
		if !strings.Contains(o.log.String(), "database is closed") {
			t.Errorf("the cause was not logged:\n%s", o.log.String())
		}
	})
	t.Run("half an answer is broken off and not ended", func(t *testing.T) {
		o := newOffice(t)
		o.api.routes.HandleFunc("GET /half", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
			panic("the cause")
		})
		res, err := o.server.Client().Get(o.server.URL + "/half")
		if err == nil {
			_, err = bytes.NewBuffer(nil).ReadFrom(res.Body)
			_ = res.Body.Close()
		}
		if err == nil {
			t.Error("the answer ended as if it were whole")
		}
	})
}

func TestMetrics(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	o.dispute("T2")
	o.get("/api/v1/cases/" + string(c.ID))
	text := o.get("/metrics").text
	for _, want := range []string{`countersign_cases{desk="bank",status="in_review"} 1`, `countersign_cases{desk="bank",status="queued"} 1`,
		`countersign_cases{desk="merchant",status="queued"} 0`,
		`countersign_http_request_duration_seconds_count{route="POST /api/v1/disputes",status="202"} 2`, "countersign_event_streams 0", "go_goroutines"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, string(c.ID)) || strings.Contains(text, "tok_") {
		t.Error("a label holds an id")
	}
}

func TestReady(t *testing.T) {
	a := build(Config{Store: newOffice(t).store, Log: slog.New(slog.DiscardHandler)})
	w := httptest.NewRecorder()
	a.guarded().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusOK {
		t.Errorf("a database that answers is %d %s", w.Code, w.Body)
	}
}
