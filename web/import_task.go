package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/desk/bank/feed"
	"countersign/desk/bank/records"
)

// importTaskScreen is an upload: on its way, waiting for a word, or at its end.
type importTaskScreen struct {
	Task     string
	Names    string
	Phase    phase
	Heading  string
	Lead     string
	Wrong    string // why it stopped, or could not begin
	Hint     string
	Running  bool
	Doing    string
	Did, Of  int64
	Stopping bool
	Asked    []askedFile // what nobody could tell of these
	Files    []fileLine
	Figures  []figure
	Refused  *refusedPanel
	Act      string // what the button does: check or import
	Button   string // its words; empty when there is nothing to do
	Discard  string
}

// askedFile is a file that does not say what it holds.
type askedFile struct {
	Name, Field string
	Arrays      []picked
}

// fileLine is what one file was understood to be, and what becomes of its rows.
type fileLine struct {
	Name, Holds, Written        string
	New, Changed, Same, Refused string
	Notes                       []string
}

type figure struct {
	Title, Count, Class string
}

// refusedPanel lists what was wrong with rows.
type refusedPanel struct {
	Heading, Caption string
	Reasons          []reasonLine // when there are too many rows to see what they have in common
	ManyFiles        bool
	Rows             []refusedRow
}

type reasonLine struct{ Rows, Field, Want string }

type refusedRow struct {
	File, Line, Row, Field string
	ID, Found              cell
	Said, Want             string // beside what was found
}

// upload is the upload of the address, if this person sent it and there is still something to see.
func (v *visit) upload() (*task, *upload, error) {
	t, err := v.task(v.r.PathValue("task"))
	if err != nil {
		return nil, nil, err
	}
	u, ok := t.progress(v.now).Result.(*upload)
	if !ok || u.look().phase == discarded {
		return nil, nil, countersign.Errorf(countersign.NotFound, "These files are not here any more: they were thrown away, or nobody said for an hour what to do with them.").
			Try("Choose them again; what was already stored stays stored.")
	}
	return t, u, nil
}

// importPage shows how far an upload is, and asks what it waits for.
func importPage(v *visit) error {
	t, u, err := v.upload()
	if err != nil {
		return err
	}
	p := importTask(t.ID, u.look(), t.progress(v.now))
	s := screen{Title: p.Heading, Section: "Import", Page: p}
	if p.Running {
		s.Refresh = 2
	}
	return v.show(http.StatusOK, "import_task", s)
}

// importTask is the page of an upload.
func importTask(id string, u uploadView, p progress) *importTaskScreen {
	s := &importTaskScreen{Task: id, Names: u.names(), Phase: u.phase, Running: u.phase.works(), Stopping: u.stopping, Discard: "Throw " + these(u, "it", "them") + " away"}
	sum := u.outcome.sum()
	switch u.phase {
	case checking, importing:
		s.runs(u, p)
	case unclear:
		s.asks(u.files)
	case checked:
		s.offers(sum)
	case imported:
		s.done(u.before, sum)
	default:
		s.explain(u)
	}
	if u.phase == checked || u.phase == imported {
		s.Figures = figures(sum)
		s.understood(u.outcome)
	}
	return s
}

// runs is the page while the files are read.
func (s *importTaskScreen) runs(u uploadView, at progress) {
	files := many(len(u.files), "file", "files")
	s.Heading, s.Lead, s.Discard = "Checking "+files, "Nothing is stored by this.", "Stop, and throw "+these(u, "it", "them")+" away"
	if u.phase == importing {
		s.Heading, s.Lead, s.Discard = "Importing "+files, "What is stored stays stored, also if you stop.", "Stop"
	}
	s.Did, s.Of, s.Doing = at.Did, at.Of, capital(at.Doing)
	switch {
	case s.Stopping:
		s.Doing = "Stopping"
	case at.Doing == "":
		s.Doing = "Reading"
	case at.Of > 0:
		s.Doing += fmt.Sprintf(": %s of %s rows", count(at.Did), count(at.Of))
	case at.Did > 0:
		s.Doing += fmt.Sprintf(": %s rows so far", count(at.Did))
	}
}

// asks is the page when a name does not say what its file holds.
func (s *importTaskScreen) asks(files []sentFile) {
	s.Heading = "What do they hold?"
	s.Lead = "One CSV file holds rows of one kind, and is best named after it. These names say nothing, so please say it here."
	for i, f := range files {
		if f.speaks() {
			continue
		}
		a := askedFile{Name: f.name, Field: arrayField(i)}
		for _, array := range records.Arrays {
			a.Arrays = append(a.Arrays, picked{Value: string(array), Title: plain(array), Current: array == f.array})
		}
		s.Asked = append(s.Asked, a)
	}
	s.Act, s.Button = "check", "Check"
	if len(s.Asked) == 1 {
		s.Heading = "What does it hold?"
		s.Lead = "One CSV file holds rows of one kind, and is best named after it. This name says nothing, so please say it here."
	}
}

// offers is the page of files that were checked.
func (s *importTaskScreen) offers(sum tally) {
	s.Heading = "Checked, nothing is stored yet"
	if sum.stored() == 0 {
		s.Heading = "Checked, there is nothing to import"
		s.Lead = nothingToImport(sum)
		return
	}
	s.Lead = "This is what importing would do."
	s.Act, s.Button = "import", "Import "+many(sum.stored(), "row", "rows")
	if sum.Refused > 0 {
		s.Hint = many(sum.Refused, "refused row is left out", "refused rows are left out") + "; mended, they can be imported later."
	}
}

func nothingToImport(sum tally) string {
	switch {
	case sum.Same+sum.Refused == 0:
		return "There is not one row in these files."
	case sum.Refused == 0:
		return "Every row is on record already and says the same."
	case sum.Same == 0:
		return "Every row was refused. Mend the rows below and check the files again."
	}
	return "What was not refused is on record already and says the same. Mend the rows below and check the files again."
}

// done is the page of files that were imported.
func (s *importTaskScreen) done(before int, sum tally) {
	s.Heading = "Imported " + many(before+sum.stored(), "row", "rows")
	s.Lead = "The rows are in the books. Importing the same files again would change nothing."
	if before > 0 {
		s.Lead += " " + many(before, "row was", "rows were") + " stored before the import stopped, and count as unchanged here."
	}
	if sum.Refused > 0 {
		s.Hint = many(sum.Refused, "refused row was left out", "refused rows were left out") + "; mended, they can be imported in a file of their own."
	}
}

// explain is the page of files that could not be read to their end.
func (s *importTaskScreen) explain(u uploadView) {
	s.Wrong = unread(u.outcome.err)
	switch u.phase {
	case spoiled:
		s.Heading = these(u, "This file", "These files") + " cannot be imported"
		s.Lead = "Nothing was stored. Mend what is wrong, and choose " + these(u, "it", "all of them") + " again."
	case unchecked:
		s.Heading, s.Lead = "The check was broken off", "Nothing was stored."
		s.Act, s.Button = "check", "Check again"
	case halted:
		s.Heading = "Stopped: " + many(u.before, "row is stored", "rows are stored")
		s.Lead = "Importing again goes on from there: what is stored already is no change."
		s.Act, s.Button = "import", "Import the rest"
	}
}

// these is the word for one file or for several.
func these(u uploadView, one, more string) string {
	if len(u.files) == 1 {
		return one
	}
	return more
}

// unread says why files could not be read to their end; nothing where somebody stopped it.
func unread(err error) string {
	if errors.Is(err, context.Canceled) {
		return ""
	}
	if e := answer.Told(err); e != nil {
		return strings.TrimSpace(stopped(legible(e.Message)) + " " + stopped(capital(e.Hint)))
	}
	return "Something went wrong here while the files were read. Try again; if it happens again, tell whoever runs this program."
}

func figures(sum tally) []figure {
	bad := ""
	if sum.Refused > 0 {
		bad = "bad"
	}
	return []figure{{"New", count(int64(sum.New)), ""}, {"Changed", count(int64(sum.Changed)), ""}, {"Unchanged", count(int64(sum.Same)), ""}, {"Refused", count(int64(sum.Refused)), bad}}
}

// understood lists the files as they were read, and what was refused of them.
func (s *importTaskScreen) understood(o outcome) {
	for _, r := range o.reports {
		s.Files = append(s.Files, fileLineOf(r))
	}
	if o.things == 0 {
		return
	}
	p := &refusedPanel{Heading: "Refused rows", ManyFiles: len(o.reports) > 1, Caption: many(o.things, "thing is wrong", "things are wrong")}
	if o.things > len(o.wrong) {
		p.Caption = fmt.Sprintf("The first %d of %s things that are wrong", len(o.wrong), count(int64(o.things)))
	}
	if o.things > mostSeen {
		p.Reasons = reasonLines(o.reasons)
	}
	for _, problem := range o.wrong {
		p.Rows = append(p.Rows, refusedRowOf(problem))
	}
	s.Refused = p
}

// mostSeen is how many things that are wrong a reader takes in as a list.
const mostSeen = 10

// reasonLines are what is wrong by what it is, the most frequent first.
func reasonLines(reasons []pattern) (lines []reasonLine) {
	most := slices.SortedStableFunc(slices.Values(reasons), func(a, b pattern) int { return b.rows - a.rows })
	for _, r := range most {
		lines = append(lines, reasonLine{many(r.rows, ofArray[r.array].one, plain(r.array)), legible(r.field), legible(r.want)})
	}
	return lines
}

func fileLineOf(r feed.Report) fileLine {
	l := fileLine{Name: r.File, Written: written(r), New: count(int64(r.New)), Changed: count(int64(r.Changed)), Same: count(int64(r.Same)), Refused: count(int64(r.Refused))}
	var holds []string
	for _, u := range r.Understood {
		holds = append(holds, many(u.Rows, ofArray[u.Array].one, plain(u.Array)))
	}
	l.Holds = strings.Join(holds, ", ")
	for _, c := range r.Unknown {
		l.Notes = append(l.Notes, fmt.Sprintf("The column %s of %s is not known and is left out (%s, first on line %d).", legible(c.Name), plain(c.Array), many(c.Rows, "row", "rows"), c.Line))
	}
	for _, note := range r.Notes {
		l.Notes = append(l.Notes, stopped(capital(legible(note))))
	}
	return l
}

// written is how a file's bytes are its rows, in words for whoever exported it.
func written(r feed.Report) string {
	if r.Format != records.CSV {
		return "JSON"
	}
	all := []string{"CSV", string(r.Encoding), string(r.Delimiter) + " between cells", r.LineEnds + " at line ends"}
	switch r.Decimal {
	case "":
	case records.NoDecimal:
		all = append(all, "no decimal sign in amounts")
	default:
		all = append(all, "decimal sign in amounts: "+string(r.Decimal))
	}
	return strings.Join(all, " · ")
}

func refusedRowOf(p records.Problem) refusedRow {
	r := refusedRow{File: p.File, Row: plain(p.Array), Field: legible(p.Field), ID: inFile(shortened(p.ID)), Want: legible(p.Want)}
	if p.Line > 0 {
		r.Line = count(int64(p.Line))
	}
	if p.Row > 0 {
		r.Row += " " + count(int64(p.Row))
	}
	r.Found, r.Said = found(p.Value)
	return r
}

// inFile is a text as it stood in a file.
func inFile(text string) cell { return cell{Text: legible(text), By: "whoever made the file"} }

// found parts what was found into the file's own text and what is said about it.
func found(value string) (theirs cell, said string) {
	if value == "" {
		return cell{}, "missing"
	}
	end := strings.LastIndexByte(value, '"') + 1
	text, err := strconv.Unquote(value[:end])
	switch {
	case err != nil:
		return cell{}, legible(value)
	case text == "":
		return cell{}, "empty"
	}
	return inFile(text), value[end:]
}

// postImport does what the page of an upload offered, if it can still be done, and shows the page again.
func postImport(v *visit) error {
	t, u, err := v.upload()
	if err != nil {
		return err
	}
	if err := v.parse(); err != nil {
		return err
	}
	switch act := v.form("act"); act {
	case "import":
		u.importNow()
	case "check":
		arrays, err := v.told(u)
		if err != nil {
			return err
		}
		u.checkAgain(arrays)
	default:
		return countersign.Errorf(countersign.Invalid, "%q is not something that can be done with files; nothing was changed.", clip(act)).Try("Expected check or import.")
	}
	return v.back("/import/"+t.ID, "")
}

// told are what the form says that files hold whose names do not.
func (v *visit) told(u *upload) (arrays []records.Array, err error) {
	for i := range u.files {
		array, err := arrayCalled(v.form(arrayField(i)))
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, array)
	}
	return arrays, nil
}

// arrayField is the field that asks what the file of that number holds.
func arrayField(i int) string { return "array-" + strconv.Itoa(i+1) }

// postImportCancel stops an import, or throws away files that are not being imported.
func postImportCancel(v *visit) error {
	t, u, err := v.upload()
	if err != nil {
		return err
	}
	if err := v.parse(); err != nil {
		return err
	}
	was := u.cancel()
	if was.phase == importing || !was.phase.open() {
		return v.back("/import/"+t.ID, "")
	}
	t.cancel()
	if was.before > 0 {
		return v.back("/import", "The files were thrown away. "+many(was.before, "row of them stays", "rows of them stay")+" stored.")
	}
	return v.back("/import", "The files were thrown away. Nothing of them was stored.")
}

// importResults sends what was refused as CSV, a line for each thing that is wrong.
func importResults(v *visit) error {
	_, u, err := v.upload()
	if err != nil {
		return err
	}
	now := u.look()
	if now.outcome.results == "" {
		return countersign.Errorf(countersign.Conflict, "The files have not been read to their end yet.").Try("Wait until their page says what was refused.")
	}
	f, err := os.Open(now.outcome.results)
	if err != nil {
		return countersign.Errorf(countersign.NotFound, "The list of what was refused is not kept any longer.").Try("Check the files again: it says the same.")
	}
	defer f.Close()
	v.attach("text/csv; charset=utf-8", "refused.csv")
	if _, err := io.Copy(v.w, f); err != nil {
		panic(http.ErrAbortHandler) // half a list must not look like a whole one
	}
	return nil
}
