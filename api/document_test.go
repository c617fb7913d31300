package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"countersign/auth"
)

func TestDocument(t *testing.T) {
	o := newOffice(t)
	r := o.send(sent{method: "GET", path: "/api/v1/openapi.json"})
	var doc struct {
		OpenAPI    string                                `json:"openapi"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(r.text), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("the document is OpenAPI %q: %v", doc.OpenAPI, err)
	}
	t.Run("it lists exactly the calls that are served", func(t *testing.T) {
		served := map[string]bool{}
		for _, pattern := range o.api.routes.patterns {
			served[pattern] = true
		}
		// Answered, but not calls of their own: an error for every other verb, the document's other place, and the rest.
		for _, aside := range []string{"POST /api/v1/cases/{id}/{verb}", "GET /openapi.json", "/"} {
			if !served[aside] {
				t.Errorf("%s is no longer served: take it off this list", aside)
			}
			delete(served, aside)
		}
		listed := map[string]bool{}
		for path, methods := range doc.Paths {
			for method := range methods {
				listed[strings.ToUpper(method)+" "+path] = true
			}
		}
		if diff := cmp.Diff(served, listed); diff != "" || len(listed) < 10 {
			t.Errorf("served and listed differ (-served +listed):\n%s", diff)
		}
	})
	t.Run("the promised names are there", func(t *testing.T) {
		for _, call := range []string{"POST /api/v1/disputes", "GET /api/v1/cases", "GET /api/v1/cases/{id}", "GET /api/v1/cases/{id}/steps",
			"GET /api/v1/cases/{id}/record", "GET /api/v1/cases/{id}/events", "POST /api/v1/cases/{id}/approve", "POST /api/v1/cases/{id}/override",
			"POST /api/v1/cases/{id}/escalate", "POST /api/v1/cases/{id}/message", "POST /api/v1/cases/{id}/retry", "GET /api/v1/openapi.json",
			"GET /healthz", "GET /readyz", "GET /metrics"} {
			if !slices.Contains(o.api.routes.patterns, call) {
				t.Errorf("%s is not served", call)
			}
		}
	})
	t.Run("every call says how it fails, and which token it needs", func(t *testing.T) {
		for path, methods := range doc.Paths {
			for method, raw := range methods {
				var op struct {
					Security  []any                      `json:"security"`
					Responses map[string]json.RawMessage `json:"responses"`
				}
				if err := json.Unmarshal(raw, &op); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(op.Responses["default"]), "problem+json") {
					t.Errorf("%s %s does not say how it fails: %s", method, path, slices.Collect(maps.Keys(op.Responses)))
				}
				if opens := path == "/api/v1/disputes" || path == "/api/v1/chargebacks"; opens && (op.Responses["200"] == nil || op.Responses["202"] == nil) {
					t.Errorf("%s answers only %s", path, slices.Collect(maps.Keys(op.Responses)))
				}
				if free := !strings.HasPrefix(path, "/api/v1/cases") && !strings.HasPrefix(path, "/api/v1/disputes") && !strings.HasPrefix(path, "/api/v1/chargebacks"); free == (len(op.Security) > 0) {
					t.Errorf("%s %s has the security %v", method, path, op.Security)
				}
			}
		}
	})
	t.Run("bodies are described as strict, and the library's own error is not there", func(t *testing.T) {
		for _, name := range []string{"NewDispute", "NewChargeback", "NewApproval", "NewOverride", "NewEscalation", "NewMessage"} {
			if !strings.Contains(string(doc.Components.Schemas[name]), `"additionalProperties":false`) {
				t.Errorf("%s is %s", name, doc.Components.Schemas[name])
			}
		}
		for _, name := range []string{"ErrorModel", "ErrorDetail"} {
			if _, there := doc.Components.Schemas[name]; there {
				t.Errorf("%s is in the document", name)
			}
		}
		if strings.Contains(r.text, "ErrorModel") {
			t.Error("something refers to ErrorModel")
		}
	})
	t.Run("it is served at the root too", func(t *testing.T) {
		if other := o.send(sent{method: "GET", path: "/openapi.json"}); other.text != r.text {
			t.Error("the two documents differ")
		}
	})
}

// TestAnswersFitTheDocument holds real answers against the schemas that describe them.
func TestAnswersFitTheDocument(t *testing.T) {
	o := newOffice(t)
	c := o.reviewed("T1", "reject")
	path := "/api/v1/cases/" + string(c.ID)
	for sentence, row := range map[string]struct {
		reply  reply
		schema string
	}{
		"a case in review":  {o.get(path), "Case"},
		"a new case":        {o.get("/api/v1/cases/" + string(o.dispute("T2"))), "Case"},
		"a list":            {o.get("/api/v1/cases"), "CaseList"},
		"steps":             {o.get(path + "/steps"), "StepList"},
		"a record":          {o.get(path + "/record"), "WholeRecord"},
		"health":            {o.get("/healthz"), "Health"},
		"a problem":         {o.get("/api/v1/cases?limit=0"), "Problem"},
		"a dispute":         {o.post("/api/v1/disputes", `{"transaction_id":"T3","reason":"other"}`), "Opened"},
		"a case, escalated": {o.decide(c.ID, "escalate", c.Revision, `{"reason":"x","reference":"y"}`), "Case"},
	} {
		t.Run(sentence, func(t *testing.T) {
			registry := o.api.huma.OpenAPI().Components.Schemas
			schema := registry.Map()[row.schema]
			if schema == nil {
				t.Fatalf("there is no schema %s", row.schema)
			}
			if misfits := compare(registry, schema, row.reply.json, row.schema); len(misfits) > 0 {
				t.Errorf("the answer does not fit:\n%s\n%s", strings.Join(misfits, "\n"), row.reply.text)
			}
		})
	}
}

// compare says where a value does not fit its schema. It also wants every field of an answer to be described.
func compare(registry huma.Registry, s *huma.Schema, v any, place string) (misfits []string) {
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	misfit := func(format string, args ...any) { misfits = append(misfits, place+": "+fmt.Sprintf(format, args...)) }
	switch v := v.(type) {
	case nil:
		if !s.Nullable && len(s.OneOf) == 0 {
			misfit("is null, and is not said to be")
		}
	case map[string]any:
		if len(s.OneOf) > 0 {
			return compare(registry, s.OneOf[0], v, place)
		}
		if s.Type == "" { // anything: a payload, a tool's result
			return nil
		}
		for name, value := range v {
			if s.Properties[name] == nil {
				misfit("%s is not described", name)
				continue
			}
			misfits = append(misfits, compare(registry, s.Properties[name], value, place+"."+name)...)
		}
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				misfit("%s is missing", name)
			}
		}
	case []any:
		if s.Type != huma.TypeArray {
			misfit("is a list, described as %q", s.Type)
			return misfits
		}
		for i, value := range v {
			misfits = append(misfits, compare(registry, s.Items, value, fmt.Sprintf("%s[%d]", place, i))...)
		}
	case string:
		if s.Type != huma.TypeString || len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)) {
			misfit("is %q, described as %q of %v", v, s.Type, s.Enum)
		}
	case float64:
		if s.Type != huma.TypeInteger && s.Type != huma.TypeNumber {
			misfit("is a number, described as %q", s.Type)
		}
	case bool:
		if s.Type != huma.TypeBoolean {
			misfit("is true or false, described as %q", s.Type)
		}
	}
	return misfits
}

func TestDocumentNeedsNoToken(t *testing.T) {
	o := newOffice(t)
	if r := o.send(sent{method: "GET", path: "/api/v1/openapi.json", role: auth.Role("")}); r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s", r.status, r.header.Get("Content-Type"))
	}
}
