package browser

import (
	"context"
	"crypto/sha256"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/internal/testdb"
)

func wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}

func open(t *testing.T, o Options, path string) *Page {
	t.Helper()
	server := site(t)
	p := Open(t).Page(t, o)
	p.Go(server + path)
	return p
}

// A form is filled in by people whose browser runs scripts and by those whose browser does not.
func TestAFormIsFilledInAndSent(t *testing.T) {
	for _, row := range []struct {
		name string
		o    Options
	}{{"with script", Options{}}, {"without script", Options{NoScript: true}}} {
		t.Run(row.name, func(t *testing.T) {
			records := filepath.Join(t.TempDir(), "books.csv")
			if err := os.WriteFile(records, []byte("one line"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := open(t, row.o, "/")
			p.Type("#note", "a friend's debt, ₦ 24,500")
			p.Choose("#fix", "reverse the transfer")
			p.Attach("#records", records)
			p.ClickText("I am sure")
			if got := p.Value("#note"); got != "a friend's debt, ₦ 24,500" {
				t.Errorf("the field holds %q", got)
			}
			p.ClickText("post reversal")
			p.At("/said")
			p.See("You said a friend's debt, ₦ 24,500, chose reversal, were sure: on, attached books.csv with one line.")
			if got := p.Console(); len(got) > 0 {
				t.Errorf("the console complains of %q", got)
			}
		})
	}
}

func TestAnEmptyTextEmptiesAField(t *testing.T) {
	p := open(t, Options{}, "/")
	p.Type("#note", "")
	if got := p.Value("#note"); got != "" {
		t.Errorf("the field holds %q", got)
	}
}

func TestWithoutScriptThePageSaysSo(t *testing.T) {
	open(t, Options{NoScript: true}, "/").See("Nothing here needs a script.")
	p := open(t, Options{}, "/")
	p.Gone("Nothing here needs a script.")
}

func TestWhatAStreamBringsIsWaitedFor(t *testing.T) {
	p := open(t, Options{}, "/")
	p.See("proposed a fix")
	if n := p.Count("#steps li"); n != 2 {
		t.Errorf("%d steps arrived, want 2", n)
	}
}

func TestKeys(t *testing.T) {
	t.Run("a key reaches the page that listens for it", func(t *testing.T) {
		p := open(t, Options{}, "/")
		p.Press("a")
		p.Until("document.title === 'approved'")
		p.Press("?")
		p.Until("document.title === 'keys'")
	})
	t.Run("and the field that has the focus, after a key with another held down", func(t *testing.T) {
		p := open(t, Options{}, "/")
		p.Press("Control+k")
		if got := p.Focused(); got != "#note" {
			t.Fatalf("the focus is on %q, want #note", got)
		}
		p.Press("End", "a")
		if got := p.Value("#note"); got != "old wordsa" {
			t.Errorf("the field holds %q", got)
		}
	})
	t.Run("Tab goes on and back, and Enter follows a link, with script and without", func(t *testing.T) {
		for _, o := range []Options{{}, {NoScript: true}} {
			p := open(t, o, "/")
			p.Press("Tab", "Tab")
			if got := p.Focused(); got != `a "Slowly"` {
				t.Fatalf("the focus is on %q", got)
			}
			p.Press("Shift+Tab", "Enter")
			if got := p.At("/queue?state=*"); got != "/queue?state=review" {
				t.Errorf("at %q", got)
			}
		}
	})
}

func TestAClickWaits(t *testing.T) {
	t.Run("until a button is enabled", func(t *testing.T) {
		p := open(t, Options{}, "/")
		p.Click("#later")
		p.See("Later it is")
	})
	t.Run("for all of the page that it loads", func(t *testing.T) {
		p := open(t, Options{}, "/")
		p.ClickText("Slowly")
		if n := p.Count("#second"); n != 1 {
			t.Error("the second half of the page was not waited for")
		}
	})
}

func TestTextIsWhatIsVisible(t *testing.T) {
	p := open(t, Options{}, "/")
	p.See("The queue") // which the style sheet sets in capitals
	p.Gone("nowhere to be seen")
	p.Gone("read the ledger") // in details that are closed
	p.ClickText("steps")
	p.See("read the ledger")
	if got := p.Text("#steps + p"); got != "" {
		t.Errorf("a hidden paragraph reads %q", got)
	}
}

func TestAttributes(t *testing.T) {
	p := open(t, Options{}, "/")
	if got := p.Attr("nav", "aria-label") + p.Attr("nav", "title"); got != "Pages" {
		t.Errorf("read %q", got)
	}
}

func TestSchemes(t *testing.T) {
	const background = "getComputedStyle(document.body).backgroundColor"
	for _, row := range []struct {
		name, want string
		o          Options
	}{{"light", "rgb(255, 255, 255)", Options{}}, {"dark", "rgb(16, 20, 24)", Options{Dark: true, NoScript: true}}} {
		t.Run(row.name, func(t *testing.T) {
			p := open(t, row.o, "/")
			var got string
			if p.Eval(background, &got); got != row.want {
				t.Errorf("the page is %s, want %s", got, row.want)
			}
		})
	}
	t.Run("paper has no navigation, and who asks for less motion is known", func(t *testing.T) {
		p := open(t, Options{Print: true, ReducedMotion: true, Width: 400, Height: 300}, "/")
		p.Gone("Slowly")
		p.Until("matchMedia('(prefers-reduced-motion: reduce)').matches && innerWidth === 400 && innerHeight === 300")
	})
}

func TestAxe(t *testing.T) {
	t.Run("finds nothing on a good page, under its policy, with script and without", func(t *testing.T) {
		for _, o := range []Options{{Dark: true}, {NoScript: true}} {
			p := open(t, o, "/")
			if got := p.Axe(); len(got) > 0 {
				t.Errorf("axe finds %v", got)
			}
			if got := p.Console(); len(got) > 0 {
				t.Errorf("axe made the console complain of %q", got)
			}
		}
	})
	t.Run("finds what is wrong with a careless one", func(t *testing.T) {
		p := open(t, Options{}, "/careless")
		found := fmt.Sprint(p.Axe())
		for _, rule := range []string{"html-has-lang", "image-alt", "label"} {
			if !strings.Contains(found, rule+" (") {
				t.Errorf("axe does not find %s, but %s", rule, found)
			}
		}
		p.Until("typeof axe === 'undefined'")
	})
	t.Run("is the file that was published", func(t *testing.T) {
		folder := filepath.Join(testdb.Root(t), "web", "testdata", "axe")
		sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
		if len(lines) != 3 {
			t.Fatalf("%d files have a sum, want axe and its two licences", len(lines))
		}
		for _, line := range lines {
			want, name, _ := strings.Cut(line, "  ")
			content, err := os.ReadFile(filepath.Join(folder, name))
			if got := fmt.Sprintf("%x", sha256.Sum256(content)); err != nil || got != want {
				t.Errorf("%s has the sum %s, want %s (%v)", name, got, want, err)
			}
		}
	})
}

func TestComplaintsAreHeard(t *testing.T) {
	p := open(t, Options{}, "/careless")
	heard := strings.Join(p.Console(), "\n")
	for _, want := range []string{"Content Security Policy", "the cause is 7", "out of paper", "a dialog was opened: really?"} {
		if !strings.Contains(heard, want) {
			t.Errorf("no word of %q in:\n%s", want, heard)
		}
	}
	if got := fmt.Sprint(p.Requests()); got != "[http://elsewhere.example/pixel.png]" {
		t.Errorf("the page asked %s of other hosts", got)
	}
}

func TestPagesAreStrangers(t *testing.T) {
	server := site(t)
	mine, other := Open(t).Page(t, Options{}), Open(t).Page(t, Options{})
	mine.Cookie(server, &http.Cookie{Name: "session", Value: "mine"})
	mine.Go(server + "/cookie")
	mine.See("session=mine")
	other.Go(server + "/cookie")
	other.Gone("session")
}

func TestPictures(t *testing.T) {
	p := open(t, Options{Width: 500, Height: 200}, "/")
	folder := filepath.Join(t.TempDir(), "pictures")
	t.Run("are kept where they are wanted, and nowhere else", func(t *testing.T) {
		t.Setenv(Screenshots, "")
		p.Keep("the queue")
		t.Setenv(Screenshots, folder)
		p.Keep("the queue")
		if _, height := size(t, filepath.Join(folder, "the-queue.png")); height <= 200 {
			t.Errorf("a full picture is %d high, and the window 200", height)
		}
	})
	t.Run("show the window if not the whole page", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "window.png")
		p.Screenshot(file, false)
		if width, height := size(t, file); width != 500 || height != 200 {
			t.Errorf("the picture is %d by %d", width, height)
		}
	})
}

func size(t *testing.T, file string) (width, height int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	config, err := png.DecodeConfig(f)
	if err != nil {
		t.Fatal(err)
	}
	return config.Width, config.Height
}

// Neither the browser nor its folder outlives the process that opened it, though that ends without a word.
func TestNothingIsLeftBehind(t *testing.T) {
	folder := t.TempDir()
	opener := exec.Command(os.Args[0], "-test.run=^TestPagesAreStrangers$")
	opener.Env = append(os.Environ(), "TMPDIR="+folder)
	if out, err := opener.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startUp)
	defer cancel()
	for {
		left, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if !breathe(ctx) {
			t.Fatalf("left behind: %q", left)
		}
	}
}

// witness is a test that can be watched failing.
type witness struct {
	testing.TB
	fatal string
}

func (w *witness) Helper() {}
func (w *witness) Fatalf(format string, args ...any) {
	w.fatal = fmt.Sprintf(format, args...)
	panic(w)
}

func (w *witness) watch(f func()) {
	defer func() { _ = recover() }()
	f()
}

func TestWhatDoesNotComeAboutFailsWithThePage(t *testing.T) {
	server := site(t)
	w := &witness{TB: t}
	p := Open(t).Page(w, Options{})
	p.Go(server + "/")
	p.patience = 400 * time.Millisecond
	for _, row := range []struct {
		name, says string
		do         func()
	}{
		{"text that is not there", `see "no such words": it is not there`, func() { p.See("no such words") }},
		{"text that stays", `no longer see "the queue"`, func() { p.Gone("the queue") }},
		{"a covered button", "#covered is covered by #cover", func() { p.Click("#covered") }},
		{"an element that is hidden", "#hidden is there and not visible", func() { p.Click("#hidden") }},
		{"an element that is not there", "nothing matches #nothing", func() { p.Value("#nothing") }},
		{"two things with one name", "2 things are called so", func() { p.ClickText("s") }},
		{"an option that is not offered", "#fix offers No fix, Reverse the transfer", func() { p.Choose("#fix", "refund") }},
		{"another address", "it is at /", func() { p.At("/cases/*") }},
		{"a key that no keyboard has", "there is no such key", func() { p.Press("Any") }},
		{"a selector that is none", "SyntaxError", func() { p.Click("##") }},
		{"a host that is not this one", "ERR_NAME_NOT_RESOLVED", func() { p.Go("http://elsewhere.example/") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w.fatal = ""
			w.watch(row.do)
			if !strings.Contains(w.fatal, row.says) {
				t.Errorf("said %q, want %q in it", w.fatal, row.says)
			}
			if !strings.Contains(row.says, "ERR_") && !(strings.Contains(w.fatal, server) && strings.Contains(w.fatal, `"Disputes"`) && strings.Contains(w.fatal, "THE QUEUE")) {
				t.Errorf("said %q, want address, title and text in it", w.fatal)
			}
		})
	}
}
