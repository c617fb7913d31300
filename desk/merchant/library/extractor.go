package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"countersign"
)

// Extractor reads files in a process of their own: this program, started again to read one file and end. Such a file is made by
// people we do not know, with programs we do not know; what it can do at worst is to end that process.
type Extractor struct {
	Program  []string      // how this program is started for it; the file's name is added
	Env      []string      // the process sees these and nothing else of our environment
	Patience time.Duration // how long one file may take; a minute when zero

	ready chan bool // holds whether the reader of PDFs is compiled, or nothing while somebody compiles it; nil when it is not kept
}

// Command stands first in the arguments of the process that reads a file, for whoever lists processes.
const Command = "extract-text"

// asProcess is set in the environment of that process and nowhere else.
const asProcess = "COUNTERSIGN_EXTRACTS_TEXT"

// Self is an Extractor that starts this very program, whichever it is: every program that has this package in it can be that
// process (see init).
func Self(cache string) (Extractor, error) {
	self, err := os.Executable()
	if err != nil {
		return Extractor{}, fmt.Errorf("find this program to start it again: %w", err)
	}
	x := Extractor{Program: []string{self, Command, "--cache", cache}, Env: []string{asProcess + "=1"}, ready: make(chan bool, 1)}
	x.ready <- false
	return x, nil
}

// init makes a program that was started to read a file do that and end, before it begins to be anything else. A test binary that
// did not know the command would run all its tests again, and they would start others.
func init() {
	if os.Getenv(asProcess) == "" {
		return
	}
	name, cache := os.Args[len(os.Args)-1], ""
	if len(os.Args) > 3 && os.Args[2] == "--cache" {
		cache = os.Args[3]
	}
	do := func() error { return ExtractText(name, cache, os.Stdin, os.Stdout) }
	if len(os.Args) == 4 { // no file is named
		do = func() error { return compile(cache) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// answer is what the process says: an extraction, or why there is none.
type answer struct {
	Extraction Extraction `json:"extraction"`
	Refused    string     `json:"refused,omitempty"`
	Hint       string     `json:"hint,omitempty"`
}

// mostAnswer is more than an answer can be: text may need six bytes for one in JSON.
const mostAnswer = 6*mostText + 1<<20

// Extract reads a file. What is wrong with the file comes back as an *countersign.Error that says so.
func (x Extractor) Extract(ctx context.Context, name string, file []byte) (Extraction, error) {
	if len(file) > MostBytes {
		return Extraction{}, refused("%s has more than %d MB", name, MostBytes>>20).Try("cut it into the documents that it is made of")
	}
	kind, err := kindOf(name, file)
	if err != nil {
		return Extraction{}, err
	}
	if kind == Plain || kind == Markdown {
		return extract(name, file, "")
	}
	if kind == PDF {
		x.prepare(ctx)
	}
	return x.apart(ctx, name, file)
}

// prepare has the reader of PDFs compiled, once, in a process of its own that no file is given to: how long that takes says something
// of the machine, and a file that had to wait for it would be refused for taking long. If it fails, whoever reads compiles.
func (x Extractor) prepare(ctx context.Context) {
	if x.ready == nil {
		return
	}
	select {
	case done := <-x.ready:
		if !done {
			cmd := exec.CommandContext(ctx, x.Program[0], x.Program[1:]...)
			cmd.Env, cmd.Dir = append([]string{}, x.Env...), os.TempDir()
			done = cmd.Run() == nil
		}
		x.ready <- done
	case <-ctx.Done():
	}
}

// apart starts the process, and takes an answer only from one that ended well and in time.
func (x Extractor) apart(ctx context.Context, name string, file []byte) (Extraction, error) {
	patience := x.Patience
	if patience == 0 {
		patience = time.Minute
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(limited, x.Program[0], append(x.Program[1:len(x.Program):len(x.Program)], "--", name)...)
	cmd.Env, cmd.Dir = append([]string{}, x.Env...), os.TempDir()
	said, complaint := &atMost{most: mostAnswer}, &atMost{most: 64 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(file), said, complaint
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return Extraction{}, ctx.Err()
	case limited.Err() != nil:
		return Extraction{}, failed(name, fmt.Sprintf("took longer than %s to read", patience), limited.Err())
	case err != nil:
		return Extraction{}, failed(name, "could not be read: the process that reads it did not survive it", fmt.Errorf("%w: %s", err, complaint.kept))
	}
	return answered(name, said.kept)
}

func answered(name string, said []byte) (Extraction, error) {
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return Extraction{}, failed(name, "could not be read: the process that reads it gave no answer", err)
	}
	if a.Refused != "" {
		return Extraction{}, refused("%s", a.Refused).Try(a.Hint)
	}
	return a.Extraction, nil
}

func failed(name, how string, cause error) *countersign.Error {
	e := refused("%s %s", name, how).Try("save it again from the program that wrote it, or as text")
	e.Err = cause
	return e
}

// atMost keeps so many bytes and refuses more. It is no bytes.Buffer: that one has a way of its own to read a pipe to its end.
type atMost struct {
	kept []byte
	most int
}

func (a *atMost) Write(b []byte) (int, error) {
	if len(a.kept)+len(b) > a.most {
		return 0, errors.New("it says too much")
	}
	a.kept = append(a.kept, b...)
	return len(b), nil
}

// ExtractText is that process: it reads one file from in and writes one answer to out. It gives itself limits first, and needs
// nothing of the program but this.
func ExtractText(name, cache string, in io.Reader, out io.Writer) error {
	debug.SetMemoryLimit(mostMemory / 2)
	if err := limit(); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	file, err := io.ReadAll(io.LimitReader(in, MostBytes+1))
	if err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	var a answer
	var e *countersign.Error
	if a.Extraction, err = extract(name, file, cache); errors.As(err, &e) {
		a.Refused, a.Hint = e.Message, e.Hint
	} else if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(a)
}

// mostMemory is what the process may use, and mostSeconds how long it may compute.
const (
	mostMemory  = 1 << 30
	mostSeconds = 60
)
