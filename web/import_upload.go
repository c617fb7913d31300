package web

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

// upload is files that somebody sent, on their way into the books: they are checked, wait for a word, and are imported. They lie
// in a folder of their own, which is removed when nothing more can be done with them.
type upload struct {
	folder string
	files  []sentFile
	array  records.Array // what CSV files hold whose names do not say
	again  chan struct{} // told when there is something to do

	mu   sync.Mutex
	view uploadView
	stop context.CancelFunc // of the import that is under way
}

// sentFile is one of them.
type sentFile struct {
	path, name string
	array      records.Array // empty when the file says what it holds
}

// speaks reports whether the file's name says what the file holds, or that the file does.
func (f sentFile) speaks() bool {
	_, err := records.ArrayNamed(f.name)
	return err == nil || strings.EqualFold(path.Ext(f.name), ".json")
}

// phase is how far an upload is.
type phase string

const (
	checking  phase = "checking"
	unclear   phase = "unclear" // a file does not say what it holds
	checked   phase = "checked"
	unchecked phase = "unchecked" // the check could not be finished, and can be tried again
	importing phase = "importing"
	halted    phase = "halted"   // in the middle of the import, which can go on
	imported  phase = "imported" // to its end
	spoiled   phase = "spoiled"  // a file cannot be read, whoever tries
	discarded phase = "discarded"
)

// open reports whether there is still something to do with the files.
func (p phase) open() bool { return p.works() || p.waits() }

func (p phase) works() bool { return p == checking || p == importing }

func (p phase) waits() bool { return p == unclear || p == checked || p == unchecked || p == halted }

// uploadView is an upload at one moment.
type uploadView struct {
	files    []sentFile
	phase    phase
	outcome  outcome // of the last reading
	before   int     // rows that earlier readings stored
	stopping bool
}

// outcome is what came of reading the files once.
type outcome struct {
	reports []feed.Report
	wrong   []records.Problem // the first things that were wrong with rows
	things  int               // all of them
	reasons []pattern         // by what they are
	results string            // the file that lists them
	err     error
}

// pattern is what is wrong with one column of several rows.
type pattern struct {
	array       records.Array
	field, want string // want is empty when it is not the same for all of them
	rows        int
}

// mostReasons is how many of them are told apart: names of columns are other people's words.
const mostReasons = 20

// mostWrong is how many things that are wrong a page shows; the results have all.
const mostWrong = 50

// forgotten is how long files wait for a word. It is a variable for tests, which need not wait.
var forgotten = kept

func newUpload() *upload {
	return &upload{again: make(chan struct{}, 1), view: uploadView{phase: checking}}
}

func (u *upload) look() uploadView {
	u.mu.Lock()
	defer u.mu.Unlock()
	view := u.view
	view.files = slices.Clone(u.files)
	return view
}

// names are the files in a few words.
func (u uploadView) names() string {
	if len(u.files) == 1 {
		return u.files[0].name
	}
	return u.files[0].name + " and " + many(len(u.files)-1, "other file", "other files")
}

// work is the task of an upload: it goes on until nothing more can be done with the files, or nobody has said for an hour what
// to do with them.
func (d *dashboard) work(u *upload) func(context.Context, *task) (any, error) {
	return func(ctx context.Context, t *task) (any, error) {
		defer d.clear(u)
		d.run(ctx, t, u)
		for u.look().phase.open() {
			select {
			case <-u.again:
				d.run(ctx, t, u)
			case <-ctx.Done():
				u.discard()
			case <-time.After(forgotten):
				u.discard()
			}
		}
		return u, nil
	}
}

// discard gives up files that nothing is being done with.
func (u *upload) discard() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.view.phase.waits() {
		u.view.phase = discarded
	}
}

// importNow begins to import files that were checked, or goes on with an import that stopped. It does nothing else: somebody may
// press a button of a page that was true a while ago, or press it twice.
func (u *upload) importNow() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if p := u.view.phase; p == checked || p == halted {
		u.begin(importing)
	}
}

// checkAgain checks files again whose check did not come to its end, now that somebody said what they hold.
func (u *upload) checkAgain(arrays []records.Array) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if p := u.view.phase; p != unclear && p != unchecked {
		return
	}
	for i, array := range arrays {
		if array != "" {
			u.files[i].array = array
		}
	}
	u.begin(checking)
}

func (u *upload) begin(p phase) {
	u.view.phase = p
	u.again <- struct{}{} // has room: nothing else is under way
}

// cancel gives up what is going on: an import stops where it is and can go on from there, anything else is thrown away once the
// task is cancelled too. It returns the upload as it was.
func (u *upload) cancel() uploadView {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.view
	switch {
	case was.phase.waits():
		u.view.phase = discarded
	case was.phase == importing:
		u.view.stopping = true
		if u.stop != nil {
			u.stop()
		}
	}
	return was
}

// run reads the files once: to say what an import would do, or to import them.
func (d *dashboard) run(ctx context.Context, t *task, u *upload) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := u.started(stop)
	t.tell("waiting until another import is done", 0, 0)
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done(): // reading says so
	}
	o := u.read(ctx, feed.Feed{Store: d.Store, DryRun: p == checking, Progress: t.tellOf(p)}, filepath.Join(u.folder, string(p)+".csv"))
	d.note(ctx, t, p, o, u.ended(o))
}

// started takes note of how to stop what begins now, and returns what that is.
func (u *upload) started(stop context.CancelFunc) phase {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stop = stop; u.view.stopping {
		stop()
	}
	return u.view.phase
}

// ended takes note of what came of it, and returns what the upload is now.
func (u *upload) ended(o outcome) phase {
	u.mu.Lock()
	defer u.mu.Unlock()
	next := follows(u.view.phase, o.err)
	if next == halted {
		u.view.before += o.sum().stored()
	}
	u.stop, u.view.phase, u.view.outcome, u.view.stopping = nil, next, o, false
	return next
}

// follows is the phase after a reading that ended so.
func follows(p phase, err error) phase {
	var said *countersign.Error
	dry := p == checking
	switch {
	case err == nil && dry:
		return checked
	case err == nil:
		return imported
	case dry && errors.Is(err, context.Canceled):
		return discarded
	case errors.As(err, &said) && said.Kind == countersign.Invalid:
		if said.Field == "array" {
			return unclear
		}
		return spoiled
	case dry:
		return unchecked
	}
	return halted
}

// note keeps in the log who brought in how much, and what failed for a reason that no page can show.
func (d *dashboard) note(ctx context.Context, t *task, p phase, o outcome, next phase) {
	if next == unchecked || next == halted && !errors.Is(o.err, context.Canceled) {
		d.Log.ErrorContext(ctx, "uploaded files could not be read to their end", "doing", string(p), "error", o.err)
	}
	if p == importing {
		sum := o.sum()
		d.Log.InfoContext(ctx, "records were imported", "person", t.Owner, "new", sum.New, "changed", sum.Changed, "unchanged", sum.Same,
			"refused", sum.Refused, "finished", next == imported)
	}
}

// tellOf says of a reading how far it is.
func (t *task) tellOf(p phase) func(done, total int, is string) {
	t.tell("", 0, 0)
	return func(done, total int, is string) {
		if array, storing := strings.CutPrefix(is, "storing "); storing {
			verb := map[phase]string{checking: "comparing ", importing: "storing "}[p]
			is = verb + strings.ReplaceAll(array, "_", " ")
		}
		t.tell(is, int64(done), int64(total))
	}
}

// read reads the files through a feed, and writes what is refused to a file.
func (u *upload) read(ctx context.Context, f feed.Feed, results string) (o outcome) {
	sources, err := u.open()
	defer shut(sources)
	if err != nil {
		return outcome{err: err}
	}
	out, err := os.OpenFile(results, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return outcome{err: err}
	}
	o.results, f.Results = results, out
	f.Refused = o.note
	o.reports, err = f.All(ctx, sources...)
	o.err = errors.Join(err, out.Close())
	return o
}

// note takes note of one thing that is wrong with a row.
func (o *outcome) note(p records.Problem) {
	if o.things++; o.things <= mostWrong {
		o.wrong = append(o.wrong, p)
	}
	for i := range o.reasons {
		if r := &o.reasons[i]; r.array == p.Array && r.field == p.Field {
			if r.rows++; r.want != p.Want {
				r.want = ""
			}
			return
		}
	}
	if len(o.reasons) < mostReasons {
		o.reasons = append(o.reasons, pattern{p.Array, p.Field, p.Want, 1})
	}
}

func (u *upload) open() (sources []feed.Source, err error) {
	for _, f := range u.files {
		content, err := os.Open(f.path)
		if err != nil {
			return sources, err
		}
		sources = append(sources, feed.Source{Name: f.name, Array: f.array, Content: content})
	}
	return sources, nil
}

func shut(sources []feed.Source) {
	for _, s := range sources {
		_ = s.Content.(*os.File).Close() // it was only read
	}
}

// tally counts rows by what becomes of them.
type tally struct{ New, Changed, Same, Refused int }

// stored is how many rows are in the books that were not, or said something else.
func (t tally) stored() int { return t.New + t.Changed }

func (o outcome) sum() (t tally) {
	for _, r := range o.reports {
		t = tally{t.New + r.New, t.Changed + r.Changed, t.Same + r.Same, t.Refused + r.Refused}
	}
	return t
}

// clear removes what nobody needs any more: all of an upload, but for the list of what an import refused, which is kept for as
// long as the page that offers it.
func (d *dashboard) clear(u *upload) {
	if now := u.look(); now.phase != imported || now.outcome.things == 0 {
		_ = os.RemoveAll(u.folder) // removeLeftovers tries again
		return
	}
	for _, f := range u.files {
		_ = os.Remove(f.path)
	}
	go func() {
		select {
		case <-d.Stopping:
		case <-time.After(kept):
		}
		_ = os.RemoveAll(u.folder)
	}()
}
