package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"countersign/internal/testdb"
)

func document(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "report-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheDocumentNamesEveryField(t *testing.T) {
	text, n := document(t), 0
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			return
		}
		for i := range of.NumField() {
			n++
			if key := of.Field(i).Tag.Get("json"); !strings.Contains(text, "`"+key+"`") {
				t.Errorf("docs/report-format.md does not name %s of %s", key, of.Name())
			}
			walk(of.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[Content]())
	if n < 60 {
		t.Errorf("only %d fields were looked for", n)
	}
}

func TestTheVerifierOfTheDocumentAgrees(t *testing.T) {
	found := regexp.MustCompile("(?s)```python\n(.*?)```").FindStringSubmatch(document(t))
	if found == nil {
		t.Fatal("docs/report-format.md has no verifier")
	}
	python, folder := testdb.Program(t, "python3"), t.TempDir()
	script := filepath.Join(folder, "verify.py")
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("verify.py", []byte(found[1]))
	c := sample()
	c.Dispute.Claim = alphabets + " </script><!-- & \\u003c \u2028 \x01 \n"
	for _, f := range formats {
		t.Run(string(f), func(t *testing.T) {
			out, err := exec.Command(python, script, write("report."+string(f), rendered(t, c, f))).CombinedOutput()
			if want := "the content is intact: " + sealed(t, c).Fingerprint() + "\n"; err != nil || string(out) != want {
				t.Errorf("it says %s(%v)", out, err)
			}
			out, err = exec.Command(python, script, write("forged."+string(f), forge(t, f, c))).CombinedOutput()
			if err == nil || !strings.HasPrefix(string(out), "edited: ") {
				t.Errorf("of a forged one it says %s(%v)", out, err)
			}
		})
	}
}
