package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"

	"countersign"
)

// TestMain lets the test binary be several processes that misbehave as one might that reads a file.
func TestMain(m *testing.M) {
	if behave, ok := processes[os.Getenv("LIBRARY_TEST_PROCESS")]; ok {
		if err := behave(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var processes = map[string]func() error{
	"panics": func() error { panic("a bug in a parser") },
	"is killed": func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		select {} // until it is
	},
	"hangs": func() error {
		signal.Ignore(syscall.SIGTERM)
		select {}
	},
	"says nothing": func() error { return nil },
	"talks without an end": func() error {
		for {
			if _, err := io.WriteString(os.Stdout, strings.Repeat("x", 1<<16)); err != nil {
				return nil
			}
		}
	},
	"eats memory": func() error {
		if err := limit(); err != nil {
			return err
		}
		var all [][]byte
		for {
			all = append(all, make([]byte, 256<<20))
			if len(all) > 16 {
				return errors.New("nothing stopped it")
			}
		}
	},
	"tells its environment": func() error {
		fmt.Printf(`{"refused":%q}`, strings.Join(os.Environ(), " "))
		return nil
	},
}

// process is an Extractor whose process behaves like that.
func process(t testing.TB, how string) Extractor {
	t.Helper()
	x := reader(t)
	x.Env = []string{"LIBRARY_TEST_PROCESS=" + how}
	return x
}

// reader is the Extractor of the program, with a cache that outlives the test.
func reader(t testing.TB) Extractor {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	x, err := Self(filepath.Join(cache, "countersign-test"))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var webPage = []byte("<!doctype html><h1>Returns</h1><p>Returns are free.")

func TestAFileIsReadInAProcessOfItsOwn(t *testing.T) {
	e, err := reader(t).Extract(t.Context(), "-policy.html", webPage)
	if err != nil || e.Title != "Returns" || e.Text != "# Returns\n\nReturns are free." || e.Kind != HTML {
		t.Errorf("%+v, %v", e, err)
	}
	_, err = reader(t).Extract(t.Context(), "policy.html", []byte("<html><script>x</script>"))
	if countersign.KindOf(err) != countersign.Invalid || err.Error() != "file: policy.html has no text (expected words that can be quoted)" {
		t.Error(err)
	}
}

func TestAProcessThatMisbehavesRefusesTheFileAndHarmsNothingElse(t *testing.T) {
	for how, want := range map[string]string{
		"panics": "did not survive", "is killed": "did not survive", "says nothing": "gave no answer", "talks without an end": "did not survive",
		"eats memory": "did not survive", "hangs": "took longer than",
	} {
		t.Run(how, func(t *testing.T) {
			x := process(t, how)
			if how == "hangs" {
				x.Patience = 300 * time.Millisecond
			}
			_, err := x.Extract(t.Context(), "policy.html", webPage)
			if countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if cause := errors.Unwrap(err); cause == nil || strings.Contains(cause.Error(), "nothing stopped it") {
				t.Errorf("the cause is %v", cause)
			}
		})
	}
}

// A file has its minute for itself, on a slow machine too, where making its reader may take longer than that.
func TestAFileIsNotChargedForTheMakingOfItsReader(t *testing.T) {
	cache := t.TempDir()
	x, err := Self(cache)
	if err != nil {
		t.Fatal(err)
	}
	file := bound(t, 1, func(doc *fpdf.Fpdf, _ int) { doc.Cell(0, 10, "Returns are free.") })
	x.Patience = 1 // which no file is read in
	if _, err := x.Extract(t.Context(), "policy.pdf", file); countersign.KindOf(err) != countersign.Invalid || !strings.Contains(err.Error(), "took longer than 1ns") {
		t.Errorf("got %v", err)
	}
	compiled := func() map[string]time.Time {
		t.Helper()
		files := map[string]time.Time{}
		err := filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				info, err := entry.Info()
				files[path] = info.ModTime()
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	before := compiled()
	if len(before) == 0 {
		t.Error("the reader was not made")
	}
	x.Patience = 0
	if e, err := x.Extract(t.Context(), "policy.pdf", file); err != nil || e.Text != "Returns are free." {
		t.Errorf("%+v, %v", e, err)
	}
	if !maps.Equal(before, compiled()) {
		t.Error("it was made again")
	}
}

func TestTheProcessSeesNothingOfOurEnvironment(t *testing.T) {
	t.Setenv("COUNTERSIGN_MODEL_API_KEY", "secret")
	_, err := process(t, "tells its environment").Extract(t.Context(), "policy.html", webPage)
	if err == nil || strings.Contains(err.Error(), "COUNTERSIGN") || strings.Contains(err.Error(), "HOME") {
		t.Error(err)
	}
}

func TestWhoeverStopsWaitingStopsTheProcess(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := process(t, "hangs").Extract(ctx, "policy.html", webPage); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestPlainTextNeedsNoProcess(t *testing.T) {
	e, err := Extractor{Program: []string{"/nowhere"}}.Extract(t.Context(), "policy.md", []byte("# Returns\nFree."))
	if err != nil || e.Title != "Returns" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestAFileThatIsTooLargeIsRefusedUnread(t *testing.T) {
	_, err := Extractor{}.Extract(t.Context(), "policy.txt", make([]byte, MostBytes+1))
	if err == nil || !strings.Contains(err.Error(), "more than 20 MB") {
		t.Error(err)
	}
}
