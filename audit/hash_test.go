package audit

import (
	"strings"
	"testing"
)

func TestHashesReadWhatTheyWrite(t *testing.T) {
	want := sha([]byte("x"))
	got, err := ParseHash(want.String())
	if err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if zero := (Hash{}).String(); zero != strings.Repeat("0", 64) {
		t.Errorf("the zero hash is %s", zero)
	}
}

func TestParseHashRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":             "",
		"too little":          strings.Repeat("a", 63),
		"too much":            strings.Repeat("a", 65),
		"capitals":            strings.Repeat("A", 64),
		"no digits":           strings.Repeat("g", 64),
		"something very long": strings.Repeat("a", 1<<20),
	} {
		h, err := ParseHash(text)
		if err == nil || h != (Hash{}) || !strings.Contains(err.Error(), "is not 64 lower-case hex digits") || len(err.Error()) > 200 {
			t.Errorf("%s: %s, %.300v", name, h, err)
		}
	}
}
