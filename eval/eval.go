// Package eval puts a model, and the guard rails round it, before labelled and hostile cases, before anyone trusts either
// with money. Each suite runs the program on a fresh database and says what came of its cases; a suite that finds a hard
// promise broken (money moved that the records do not justify, an instruction in a memo that changed something, a chain that
// does not verify) says so by name.
//
// It knows what was put into each case and therefore what may come out, and never asks the program's own rules for that. It
// decides nothing for the product and is read by nothing in it. Most cases are other people's data and are read from a
// folder; nothing of them is part of the program.
package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"countersign"
	"countersign/app"
)

// Suite is one set of cases. An error of Run means that the suite could not be run to its end; a broken promise is no error
// but a line of the report.
type Suite struct {
	Name  string
	About string
	Run   func(context.Context, Setting) (Report, error)
}

// Suites lists every suite, in the order in which they are run.
var Suites = []Suite{tau2, hostileLedgers, injections, hijackedModels}

// Setting is what a suite is run with.
type Setting struct {
	Data     string          // the folder of the third-party data
	Database string          // an empty database to use; a fresh SQLite file when empty
	Model    app.ModelConfig // investigates in the suites that score a model; the others bring models of their own
	Seed     uint64          // which ledgers are generated; the same seed gives the same ledgers
	Ledgers  int             // how many, 5,000 when zero
	Progress func(done, total int)

	meddle func(*World) // breaks a guard, in tests: a suite that stays green then would be worth nothing
	few    int          // of other people's cases, in those tests; all when zero
}

// most is how many of n cases are run.
func (s Setting) most(n int) int {
	if s.few > 0 {
		return min(s.few, n)
	}
	return n
}

// Find returns the suite of that name.
func Find(name string) (Suite, error) {
	var names []string
	for _, s := range Suites {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, countersign.Errorf(countersign.Invalid, "%q is not one of the suites %s", name, strings.Join(names, ", ")).
		Try("eval --list says what they are")
}

// open opens a file of the data folder, with a plain message when it is not there.
func open(folder string, name ...string) (*os.File, error) {
	path := filepath.Join(append([]string{folder}, name...)...)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, countersign.Errorf(countersign.NotFound, "%s is not there", path).Try("name the folder of the data with --data-folder")
	}
	return f, err
}

// longestLine is the longest line that a data file may have.
const longestLine = 16 << 20

// lines reads a file of the data folder that holds one JSON object a line. A file without any is an error: a suite that
// looked at nothing must not look green.
func lines[T any](folder string, name ...string) (all []T, err error) {
	f, err := open(folder, name...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("read line %d of %s: %w", len(all)+1, f.Name(), err)
		}
		all = append(all, one)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	if len(all) == 0 {
		return nil, countersign.Errorf(countersign.Invalid, "%s holds no line", f.Name())
	}
	return all, nil
}
