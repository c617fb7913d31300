package audit

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestStatement(t *testing.T) {
	for _, x := range []struct{ name, payload, status, outcome string }{
		{"neither", `{"a":1}`, ``, ``},
		{"both", `{"round":1,"status":"closed","outcome":"resolved"}`, `"closed"`, `"resolved"`},
		{"spread over lines", "{\n\t\"status\" :\r\n \"closed\" , \"x\":[ 1 , {\"y\":2} ]\n}", `"closed"`, ``},
		{"an outcome alone", `{"outcome":"resolved"}`, ``, ``},
		{"an outcome before the status", `{"outcome":"resolved","status":"closed"}`, `"closed"`, `"resolved"`},
		{"a status deeper down", `{"result":{"status":"failed","outcome":"x"},"list":[{"status":"y"}]}`, ``, ``},
		{"a status deeper down and one on top", `{"result":{"status":"failed"},"status":"closed"}`, `"closed"`, ``},
		{"a status that is a value", `{"a":"status","b":["status","outcome"]}`, ``, ``},
		{"a status inside a string", `{"a":"\"status\":\"closed\"","b":"x\\\",\"status\":\"y\""}`, ``, ``},
		{"a status said twice", `{"status":"a","status":"b"}`, `"b"`, ``},
		{"a status that is no string", `{"status":{"a":[1,2]},"outcome":null}`, `{"a":[1,2]}`, `null`},
		{"brackets and commas in strings", `{"a":"}],{","status":"c,l}o]sed"}`, `"c,l}o]sed"`, ``},
		{"a string that ends in a backslash", `{"a":"\\","status":"closed"}`, `"closed"`, ``},
		{"a key with a quote in it", `{"a\"status":1,"\"status":2}`, ``, ``},
		{"text cut off", `{"status":"clo`, ``, ``},
		{"no object", `["status","closed"]`, ``, ``},
		{"no key", `{:"status"}`, ``, ``},
		{"no colon", `{"a","status":"closed"}`, ``, ``},
	} {
		t.Run(x.name, func(t *testing.T) {
			status, outcome := statement([]byte(x.payload))
			if string(status) != x.status || string(outcome) != x.outcome {
				t.Errorf("status %s outcome %s, want %s and %s", status, outcome, x.status, x.outcome)
			}
		})
	}
}

// FuzzMembers holds the walk against encoding/json on everything that is an object, and only asks it to end on anything else.
func FuzzMembers(f *testing.F) {
	seeds := []string{`{}`, ` {"a":1, "b":[{}], "c":{"d":"}"}} `, `{"a":"\\\"","b":-1.5e+3,"c":null}`, `{"a":tru`, `[`, `{"":""}`, `{"a" : "b" , "c":[ ] }`}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		walked := map[string]json.RawMessage{}
		plain := true
		for key, value := range members(object) {
			plain = plain && bytes.IndexByte(key, '\\') < 0
			walked[string(key)] = bytes.Clone(value)
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(object, &want) != nil || want == nil || !plain {
			return
		}
		if len(walked) != len(want) {
			t.Fatalf("%q: %d members, want %d", object, len(walked), len(want))
		}
		for key, value := range walked {
			if !bytes.Equal(value, want[key]) && json.Valid([]byte(`"`+key+`"`)) && !bytes.ContainsRune([]byte(key), 0xFFFD) {
				t.Fatalf("%q: member %q is %q, want %q", object, key, value, want[key])
			}
		}
	})
}
