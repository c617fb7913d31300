package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"countersign"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it was, from byte %d on", name, firstDifference(got, want))
	}
}

func TestCanonical(t *testing.T) {
	t.Run("the same content has the same bytes as in the file that strangers can check against", func(t *testing.T) {
		r := sealed(t, sample())
		golden(t, "golden-v2.json", r.Canonical())
		golden(t, "golden-v2.sha256", []byte(r.Fingerprint()+"  golden-v2.json\n"))
	})
	t.Run("keys are in order, nothing is left out, and nothing is escaped that need not be", func(t *testing.T) {
		var b bytes.Buffer
		writing{&b, FormatVersion}.value(reflect.ValueOf(Event{At: "", What: "a\"b\\c\n\t\x01</script>&é\u2028🙂", Source: "x"}))
		if want := `{"at":"","source":"x","what":"a\"b\\c\n\t\u0001</script>&é` + "\u2028" + `🙂"}`; b.String() != want {
			t.Errorf("got  %s\nwant %s", b.String(), want)
		}
	})
	t.Run("a list that is nil and one that is empty are the same", func(t *testing.T) {
		some, none := sample(), sample()
		some.Timeline, none.Timeline = []Event{}, nil
		if !bytes.Equal(Canonical(some), Canonical(none)) {
			t.Error("they are not")
		}
	})
	t.Run("every field has a key of its own, and a type that can be written", func(t *testing.T) {
		eachType(t, reflect.TypeFor[Content]())
	})
	t.Run("any reader of JSON reads what was meant", func(t *testing.T) {
		var c Content
		if err := json.Unmarshal(Canonical(sample()), &c); err != nil || !reflect.DeepEqual(Canonical(c), Canonical(sample())) {
			t.Errorf("got something else, or %v", err)
		}
	})
}

func eachType(t *testing.T, of reflect.Type) {
	t.Helper()
	switch of.Kind() {
	case reflect.Struct:
		keys := map[string]bool{}
		for i := range of.NumField() {
			f := of.Field(i)
			key := f.Tag.Get("json")
			if key == "" || keys[key] || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				t.Errorf("%s.%s has the key %q", of.Name(), f.Name, key)
			}
			keys[key] = true
			eachType(t, f.Type)
		}
	case reflect.Slice:
		eachType(t, of.Elem())
	case reflect.String, reflect.Int, reflect.Int64, reflect.Bool:
	default:
		t.Errorf("a %s cannot be written", of)
	}
}

func TestRead(t *testing.T) {
	good := string(Canonical(sample()))
	t.Run("what was written is read", func(t *testing.T) {
		c, err := Read([]byte(good))
		if err != nil || string(Canonical(c)) != good {
			t.Errorf("got %v", err)
		}
		if r, err := Open([]byte(good)); err != nil || r.Fingerprint() != sealed(t, sample()).Fingerprint() {
			t.Errorf("opened, it has another fingerprint, or %v", err)
		}
	})
	for why, bad := range map[string]string{
		"a space":                       strings.Replace(good, `":"`, `": "`, 1),
		"a line break at the end":       good + "\n",
		"a second value":                good + good,
		"an escape that need not be":    strings.Replace(good, "Okafor", `\u004fkafor`, 1),
		"an unknown field":              strings.Replace(good, `{"attachments"`, `{"a":1,"attachments"`, 1),
		"a key in another place":        strings.Replace(good, `{"attachments"`, `{"format":2,"attachments"`, 1),
		"a field left out":              strings.Replace(good, `"format":2,`, ``, 1),
		"a number with a point":         strings.Replace(good, `"round":1`, `"round":1.0`, 1),
		"a list that is null":           strings.Replace(good, `"withheld":[`, `"withheld":null,"x":[`, 1),
		"bytes that are no UTF-8":       strings.Replace(good, "Okafor", "Oka\xffor", 1),
		"an amount that does not agree": strings.Replace(good, `"text":"USD 428.53"`, `"text":"USD 828.53"`, 1),
		"nothing":                       "",
		"cut short":                     good[:len(good)-2],
	} {
		t.Run(why+" is refused", func(t *testing.T) {
			if bad == good {
				t.Fatal("the sample has no place for this")
			}
			if _, err := Read([]byte(bad)); countersign.KindOf(err) != countersign.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("content of the first version is read as it was written, and says what is withheld", func(t *testing.T) {
		first, err := os.ReadFile(filepath.Join("testdata", "golden-v1.json"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(first)
		if err != nil || !bytes.Equal(r.Canonical(), Canonical(r.Content())) {
			t.Fatalf("got %v", err)
		}
		for _, f := range formats {
			file, err := r.Render(f)
			if err != nil || f != JSON && !strings.Contains(textOf(t, f, file), "1 fact withheld by A. Okafor") {
				t.Errorf("%s says something else, or %v", f, err)
			}
		}
		if _, err := Read(bytes.Replace(first, []byte(`"by":"A. Okafor","count":1`), []byte(`"by":"A. Okafor","count":1,"what":"clause"`), 1)); err == nil {
			t.Error("a field that came later is read")
		}
	})
	t.Run("content of a later version is not guessed at", func(t *testing.T) {
		_, err := Read([]byte(strings.Replace(good, `"format":2`, `"format":3`, 1)))
		if countersign.KindOf(err) != countersign.Unprocessed {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(Canonical(sample()))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(b)
		if err != nil {
			return
		}
		if !bytes.Equal(Canonical(c), b) {
			t.Error("something was read that is not written so")
		}
		if _, err := (Report{c, b, Fingerprint(b)}).HTML(); err != nil {
			t.Error(err)
		}
		if _, err := (Report{c, b, Fingerprint(b)}).PDF(); err != nil && countersign.KindOf(err) != countersign.Unprocessed {
			t.Error(err)
		}
	})
}
