package audit

import (
	"encoding/json"
	"testing"
)

func TestReportsAsJSON(t *testing.T) {
	for _, x := range []struct {
		name   string
		report Report
		want   string
	}{
		{"nothing wrong is an empty list, not null", Report{OK: true, Cases: 1, Rows: 9}, `{"ok":true,"cases":1,"rows":9,"erased":0,"breaks":[]}`},
		{"a break", Report{Cases: 12, Rows: 140, Breaks: []Break{{"D-1", 5, "why"}}},
			`{"ok":false,"cases":12,"rows":140,"erased":0,"breaks":[{"case":"D-1","seq":5,"why":"why"}]}`},
		{"redacted, with something unchecked", Report{OK: true, Redacted: true, Unchecked: []Break{{"D-1", 5, "why"}}},
			`{"ok":true,"cases":0,"rows":0,"erased":0,"redacted":true,"breaks":[],"unchecked":[{"case":"D-1","seq":5,"why":"why"}]}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got, err := json.Marshal(x.report); err != nil || string(got) != x.want {
				t.Errorf("got %s, %v\nwant %s", got, err, x.want)
			}
		})
	}
}

func TestReportsInWords(t *testing.T) {
	for want, r := range map[string]Report{
		"intact: 1 case, 9 rows": {OK: true, Cases: 1, Rows: 9},
		"case D-1, step 5: it was changed\nBROKEN: 12 cases, 1 row, 1 break":       {Cases: 12, Rows: 1, Breaks: []Break{{"D-1", 5, "it was changed"}}},
		"the export: it was edited\nBROKEN: 0 cases, 0 rows, 1 break":              {Breaks: []Break{{Why: "it was edited"}}},
		"intact: 2 cases, 9 rows, 1 payload erased":                                {OK: true, Cases: 2, Rows: 9, Erased: 1},
		"intact: 2 cases, 9 rows, payloads left out and not compared":              {OK: true, Cases: 2, Rows: 9, Redacted: true},
		"case D-1, step 9: cannot be checked: it is gone\nintact: 0 cases, 0 rows": {OK: true, Unchecked: []Break{{"D-1", 9, "it is gone"}}},
	} {
		if got := r.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
