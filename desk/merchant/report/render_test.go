package report

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var formats = []Format{JSON, HTML, PDF}

func rendered(t testing.TB, c Content, f Format) []byte {
	t.Helper()
	file, err := sealed(t, c).Render(f)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// printSums makes this test binary print the sums of the renderings and end, when it is started again by the test below.
const printSums = "COUNTERSIGN_REPORT_SUMS"

func TestMain(m *testing.M) {
	if os.Getenv(printSums) != "" {
		fmt.Print(sums())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sums() (text string) {
	c := long(300)
	c.Case.Shop, c.Decision.Summary, c.Dispute.Claim = alphabets, alphabets, "دفع محمد علي 12.50 (Visa)\nדוד כהן"
	r, err := Seal(c)
	if err != nil {
		return err.Error()
	}
	for _, f := range formats {
		file, err := r.Render(f)
		text += fmt.Sprintf("%s %x %v\n", f, sha256.Sum256(file), err)
	}
	return text
}

func TestTheSameContentGivesTheSameBytes(t *testing.T) {
	here := sums()
	if again := sums(); again != here {
		t.Errorf("in one process they are\n%s and\n%s", here, again)
	}
	for _, zone := range []string{"UTC", "Africa/Lagos", "Pacific/Kiritimati", "America/New_York"} {
		t.Run("in another process in "+zone, func(t *testing.T) {
			again := exec.Command(os.Args[0])
			again.Env = append(os.Environ(), printSums+"=1", "TZ="+zone, "LANG=tr_TR.UTF-8", "GOMAXPROCS=1")
			out, err := again.Output()
			if err != nil || string(out) != here {
				t.Errorf("they are\n%s and here\n%s (%v)", out, here, err)
			}
		})
	}
	t.Run("and other content gives others", func(t *testing.T) {
		c := sample()
		c.Decision.Summary += "."
		for _, f := range formats {
			if bytes.Equal(rendered(t, c, f), rendered(t, sample(), f)) {
				t.Errorf("%s is the same", f)
			}
		}
	})
}

func TestGolden(t *testing.T) {
	var b bytes.Buffer
	for _, f := range formats {
		fmt.Fprintf(&b, "%x  %s, %s\n", sha256.Sum256(rendered(t, sample(), f)), f, Renderer)
	}
	golden(t, "renderings.sha256", b.Bytes()) // if what is drawn was changed on purpose: count Renderer up, then run with -update
}

func TestEveryTextOfTheContentIsShown(t *testing.T) {
	for _, f := range []Format{HTML, PDF} {
		t.Run(string(f), func(t *testing.T) {
			text := strings.ReplaceAll(textOf(t, f, rendered(t, sample(), f)), " ", "")
			sample().texts(func(path, want string) {
				if shownOtherwise(path) || want == "" {
					return
				}
				for _, word := range strings.Fields(drawn(want)) {
					if !strings.Contains(text, word) {
						t.Errorf("%s: %q is not shown", path, word)
					}
				}
			})
		})
	}
}

// shownOtherwise are the fields that a reader meets in another form: times, hashes in groups, words for codes; and those that only
// programs read.
func shownOtherwise(path string) bool {
	for _, part := range []string{"_at", ".at", "valid_from", "sha256", "head", ".kind", ".weight", ".state", ".name", ".source", ".minor", "due_source", "outcome", "network", "provider",
		".currency", "attachments[0].type", ".status", "rows[0][3]", "rows[0][4]", "rows[0][5]", "rows[1][3]", "tracking"} {
		if strings.HasSuffix(path, part) {
			return true
		}
	}
	return false
}

func TestTheFingerprintIsOnEveryPage(t *testing.T) {
	r := sealed(t, long(200))
	sheets := layOut(r.compose())
	if len(sheets) < 10 {
		t.Fatalf("%d pages are too few for this", len(sheets))
	}
	for i, s := range sheets {
		text := ""
		for _, m := range s.marks {
			text += m.text + " "
		}
		if !strings.Contains(text, Short(r.Fingerprint())) || !strings.Contains(text, pageOf(i+1, len(sheets))) {
			t.Errorf("page %d says neither its fingerprint nor %s", i+1, pageOf(i+1, len(sheets)))
		}
	}
}
