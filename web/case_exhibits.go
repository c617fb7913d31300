package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/desk/merchant/report"
	"countersign/pipeline/review"
	"countersign/store"
)

// exhibitsPanel is the files of a case that go with its report, and where a person adds more.
type exhibitsPanel struct {
	Files       []exhibitLine
	Add         string // where to; empty when this reader may not, or nobody any more
	Accept      string
	Most        string
	Description string // as it was typed, when it was not taken
}

// exhibitLine is one file. Its name and description are somebody's words.
type exhibitLine struct {
	Href, Remove            string
	Name, Description, Hash string
	Number                  int    // from 1, for who hears the page
	Holds                   string // type, pages and size
	By                      string
	Added                   moment
}

// acceptExhibits is what a browser offers to choose; what is sent is looked into all the same.
const acceptExhibits = ".pdf,.png,.jpg,.jpeg"

// exhibits are nil at a desk that takes no files, and where there are none and none can be added.
func (v *visit) exhibits(f *file) *exhibitsPanel {
	room := f.desk.Room
	if room.Files == 0 {
		return nil
	}
	on := "/cases/" + string(f.ID) + "/exhibits"
	p := &exhibitsPanel{Accept: acceptExhibits, Most: many(room.Files, "file", "files") + " and " + size(room.Bytes) + " together"}
	if f.Status == countersign.InReview && v.may(auth.Decide) {
		p.Add = on
	}
	for _, e := range f.exhibits {
		_, kind, _ := strings.Cut(e.Type, "/")
		line := exhibitLine{Number: len(p.Files) + 1, Href: on + "/" + e.ID, Name: legible(e.Name), Description: legible(e.Description), Hash: e.SHA256[:min(12, len(e.SHA256))], By: f.actor(e.AddedBy),
			Added: v.moment(e.AddedAt), Holds: strings.ToUpper(kind) + ", " + many(e.Pages, "page", "pages") + ", " + report.Size(e.Size)}
		if p.Add != "" {
			line.Remove = line.Href + "/remove"
		}
		p.Files = append(p.Files, line)
	}
	if p.Add == "" && len(p.Files) == 0 {
		return nil
	}
	return p
}

// postExhibits adds files to a case: all of those that were sent, or none.
func postExhibits(v *visit) error {
	sent, err := v.receiveExhibits()
	if err == nil {
		_, err = v.Review.AddFiles(v.r.Context(), sent.act, sent.files...)
	}
	if err != nil {
		return v.exhibitsRefused(sent, err)
	}
	said := legible(sent.files[0].Name) + " was added."
	if n := len(sent.files); n > 1 {
		said = strconv.Itoa(n) + " files were added."
	}
	return v.back("/cases/"+string(sent.act.Case), said)
}

// postRemoveExhibit takes a file off.
func postRemoveExhibit(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	act, err := v.act(v.form("revision"))
	if err != nil {
		return err
	}
	if _, err := v.Review.RemoveFile(v.r.Context(), act, v.r.PathValue("exhibit")); err != nil {
		return v.exhibitsRefused(&sentExhibits{}, err)
	}
	return v.back("/cases/"+string(act.Case), "The file was taken off. The record keeps that it was there.")
}

// sentExhibits is what somebody wants to add to the files of a case.
type sentExhibits struct {
	act         review.Act
	files       []review.File
	description string
}

// on reports whether all that was sent is on the case: then it was sent twice, and a browser shows the answer to the second time.
func (s *sentExhibits) on(f *file) bool {
	for _, sent := range s.files {
		if !slices.ContainsFunc(f.exhibits, func(e store.Exhibit) bool {
			return e.SHA256 == sent.SHA256 && e.AddedBy == s.act.Actor.String()
		}) {
			return false
		}
	}
	return len(s.files) > 0
}

// exhibitsRefused shows the case as it is now, and says why its files are what they were.
func (v *visit) exhibitsRefused(sent *sentExhibits, err error) error {
	return v.notAdded(err, sent.on, func(_ *file, p *caseScreen, _, why string) {
		p.Wrong = why
		switch {
		case p.Exhibits != nil && p.Exhibits.Add != "":
			p.Exhibits.Description = sent.description
		case sent.description != "":
			p.Lost = []typedText{{"description", "What the files show", sent.description}}
		}
	})
}

// notAdded shows the case as it is now, with why what was sent was not put on it, in the field that is wrong. What is on it already
// was sent twice: a browser shows the answer to the second time.
func (v *visit) notAdded(err error, already func(*file) bool, say func(f *file, p *caseScreen, field, why string)) error {
	e := answer.Told(err)
	if e == nil || e.Kind == countersign.NotFound || e.Kind == countersign.Precondition {
		return err
	}
	if e.Err != nil {
		v.Log.WarnContext(v.r.Context(), "something could not be added to a case", "error", e.Err)
	}
	f, err := v.load(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if e.Kind == countersign.Conflict && f.Status == countersign.InReview && already != nil && already(f) {
		return v.back("/cases/"+string(f.ID), "What was sent is on the case.")
	}
	page, err := v.caseScreen(f)
	if err != nil {
		return err
	}
	say(f, page, e.Field, legible(whyNotAdded(e)))
	return v.show(answer.Status(e.Kind), "case", screen{Title: string(f.ID) + " " + page.Title, Section: "Queue", Page: page})
}

func whyNotAdded(e *countersign.Error) string {
	said := sentence(e)
	switch {
	case e.Field == "If-Match":
		return "The case changed while this page was open, so nothing was added or taken off. This is the case as it is now."
	case e.Field == "file" && e.Kind != countersign.Invalid: // it speaks of the case, and not of one file
		said = stopped(capital(e.Message))
	}
	if e.Hint != "" {
		said += " " + stopped(capital(e.Hint))
	}
	return said
}

// exhibitFile sends a file as it was added. It is somebody's: a browser keeps it and shows it nowhere.
func exhibitFile(v *visit) error {
	id := countersign.CaseID(v.r.PathValue("id"))
	all, err := v.Store.Exhibits(v.r.Context(), id)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(e store.Exhibit) bool { return e.ID == v.r.PathValue("exhibit") })
	if i < 0 {
		return countersign.Errorf(countersign.NotFound, "The case has no such file.").Try("Go back to the case: it may have been taken off.")
	}
	file, err := v.Store.ExhibitAsAdded(v.r.Context(), id, all[i])
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", all[i].Type)
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(all[i].Name))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(file) // nobody is left to tell
	return nil
}
