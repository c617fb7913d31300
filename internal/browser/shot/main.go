// Command shot takes a picture of a page of this machine, as somebody would see it:
//
//	go run ./internal/browser/shot http://127.0.0.1:8080/queue queue.png --dark --width 390 --full
//
// It fails where a test would: when the page does not come, or does not show what --see asks for.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"

	"countersign/internal/browser"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	wanted, err := read(args)
	if err != nil {
		return err
	}
	b, err := browser.Start()
	if err != nil {
		return err
	}
	defer b.Close()
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case failure:
			err = reason
		default:
			panic(reason)
		}
	}()
	take(b, wanted)
	return nil
}

// picture is what the command line asks for.
type picture struct {
	address, file string
	o             browser.Options
	full          bool
	cookie        string
	see, click    string
}

// read takes flags before, between and after the two names.
func read(args []string) (w picture, err error) {
	f := flag.NewFlagSet("shot URL FILE", flag.ContinueOnError)
	f.IntVar(&w.o.Width, "width", 1280, "of the window, in pixels")
	f.IntVar(&w.o.Height, "height", 800, "of the window, in pixels")
	f.BoolVar(&w.o.Dark, "dark", false, "as a system in dark mode asks for")
	f.BoolVar(&w.o.NoScript, "noscript", false, "with scripting switched off")
	f.BoolVar(&w.o.Print, "print", false, "as on paper")
	f.BoolVar(&w.full, "full", false, "the whole page and not only the window")
	f.StringVar(&w.cookie, "cookie", "", "name=value, sent along")
	f.StringVar(&w.click, "click", "", "press the link or button with these words first")
	f.StringVar(&w.see, "see", "", "wait until these words are visible")
	w.o.ReducedMotion = true // nobody wants a picture of something halfway
	var names []string
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return w, err
		}
		if args = f.Args(); len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	if len(names) != 2 {
		return w, fmt.Errorf("need a URL and a FILE, got %q", names)
	}
	w.address, w.file = names[0], names[1]
	return w, nil
}

func take(b *browser.Browser, w picture) {
	p := b.Page(caller{}, w.o)
	if name, value, ok := strings.Cut(w.cookie, "="); ok {
		p.Cookie(w.address, &http.Cookie{Name: name, Value: value})
	}
	p.Go(w.address)
	if w.click != "" {
		p.ClickText(w.click)
	}
	if w.see != "" {
		p.See(w.see)
	}
	p.Screenshot(w.file, w.full)
	for _, complaint := range p.Console() {
		fmt.Fprintln(os.Stderr, "console:", complaint)
	}
}

// caller stands where a page expects a test.
type caller struct{}

type failure string

func (f failure) Error() string { return string(f) }

func (caller) Helper()                           {}
func (caller) Name() string                      { return "shot" }
func (caller) Cleanup(func())                    {} // the browser ends with all its pages
func (caller) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }
