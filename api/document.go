package api

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// nullable are the properties that hold an object or null. The library knows null only for plain values.
var nullable = map[string][]string{
	"Case": {"result", "reopened", "contested", "proposal", "verdict"}, "Fix": {"amount", "instruction"}, "RecordRow": {"payload"},
}

// finished is the document as it is sent, with what the library cannot say by itself.
func finished(doc *huma.OpenAPI) []byte {
	doc.Info.Description = "Payment disputes: a model proposes, code decides, a person has the last word."
	schemas := doc.Components.Schemas.Map()
	delete(schemas, "ErrorModel") // the library's own problem, which no call here answers with
	delete(schemas, "ErrorDetail")
	for name, s := range schemas {
		for _, property := range s.Properties {
			property.Nullable = property.Nullable && property.Type != huma.TypeArray
		}
		for _, property := range nullable[name] {
			s.Properties[property] = &huma.Schema{Description: s.Properties[property].Description,
				OneOf: []*huma.Schema{s.Properties[property], {Type: "null"}}}
		}
	}
	describe(doc)
	b, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("write the OpenAPI document: %v", err)) // unreachable: it is made of plain values
	}
	return b
}

// describe says what the answers hold that are not written by the library.
func describe(doc *huma.OpenAPI) {
	content := func(path, kind string, schema *huma.Schema) {
		doc.Paths[path].Get.Responses["200"].Content = map[string]*huma.MediaType{kind: {Schema: schema}}
	}
	events := &huma.Schema{Type: huma.TypeString, Description: "Events named step, with an id and a Step as data; events named case, with a CaseState."}
	content("/api/v1/cases/{id}/events", "text/event-stream", events)
	content("/metrics", "text/plain", &huma.Schema{Type: huma.TypeString})
	content("/api/v1/openapi.json", "application/json", &huma.Schema{Type: huma.TypeObject})
	doc.Components.Schemas.Schema(reflect.TypeFor[CaseState](), true, "")
	for _, path := range []string{"/api/v1/disputes", "/api/v1/chargebacks"} {
		open := doc.Paths[path].Post.Responses
		open["202"] = open["200"]
		open["202"].Description = "A new case, which is investigated"
		already := *open["202"]
		already.Description = "The same dispute was open already"
		open["200"] = &already
	}
}
