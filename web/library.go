package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/desk/merchant/library"
	"countersign/store"
)

// libraryScreen is the shop's policies, and where more are brought in.
type libraryScreen struct {
	Documents []documentPanel
	Waiting   int // versions that nobody has confirmed
	MayBring  bool
	Accept    string
	Most      string
	ValidFrom string
	Kept      []keptFile // of what was just sent, what was taken
	Wrong     []notKept  // and what was not, and why
}

// documentPanel is one document with its versions, the newest first.
type documentPanel struct {
	Title    string
	Versions []versionLine
}

type versionLine struct {
	Href, Name, File, Holds, Valid, By string
	Stands                             string // in a few words: in force, waits for its text to be confirmed
	InForce, Waits                     bool
	Added                              moment
}

// keptFile is what became of a file that was sent.
type keptFile struct{ File, Became, Href string }

// notKept is why a file was not taken; Href is the version that it is already, if it is one.
type notKept struct{ Why, Href string }

func libraryPage(v *visit) error { return v.showLibrary(http.StatusOK, libraryScreen{}) }

func (v *visit) showLibrary(status int, p libraryScreen) error {
	ctx := v.r.Context()
	all, err := v.Store.DocumentVersions(ctx)
	if err != nil {
		return err
	}
	names, err := v.Store.Names(ctx)
	if err != nil {
		return err
	}
	p.Documents, p.Waiting = v.documents(all, &file{names: names})
	p.MayBring, p.Accept, p.Most = v.may(auth.Import), library.Extensions, size(library.MostBytes)
	return v.show(status, "library", screen{Title: "Library", Section: "Library", Page: p})
}

// documents are all versions by document.
func (v *visit) documents(all []store.DocumentVersion, who *file) (panels []documentPanel, waiting int) {
	counts := inForceToday(all, v.now)
	last := ""
	for _, d := range all {
		if d.DocumentID != last {
			panels = append(panels, documentPanel{Title: legible(d.Title)})
			last = d.DocumentID
		}
		line := v.versionLine(d, counts[d.ID], who)
		panel := &panels[len(panels)-1]
		panel.Versions = append([]versionLine{line}, panel.Versions...)
		if line.Waits {
			waiting++
		}
	}
	return panels, waiting
}

// inForceToday says which versions an order of today would be judged by.
func inForceToday(all []store.DocumentVersion, now time.Time) map[string]bool {
	today := now.UTC().Format(time.DateOnly)
	counts := map[string]bool{}
	for _, d := range library.InForceOn(all, today) {
		counts[d.ID] = d.ValidFrom <= today // later ones stand in where there is none
	}
	return counts
}

func (v *visit) versionLine(d store.DocumentVersion, inForce bool, who *file) versionLine {
	l := versionLine{Href: "/library/" + d.ID, Name: "v" + strconv.Itoa(d.Number), File: legible(d.File), Valid: validity(d), By: who.actor(d.CreatedBy),
		InForce: inForce, Waits: !d.Confirmed(), Added: v.moment(d.CreatedAt), Holds: d.Kind}
	if e, err := library.Reading(d); err == nil {
		l.Holds = e.Told()[0]
	}
	switch {
	case l.Waits:
		l.Stands = "waits for its text to be confirmed"
	case inForce:
		l.Stands = "in force"
	default:
		l.Stands = "not in force today"
	}
	return l
}

// validity is when a version counts, in words.
func validity(d store.DocumentVersion) string {
	from, until := spelledDay(d.ValidFrom), spelledDay(d.ValidUntil)
	switch {
	case from == "" && until == "":
		return "undated: counts as always in force"
	case from == "":
		return "undated, until " + until
	case until == "":
		return "from " + from
	}
	return from + " to " + until
}

func spelledDay(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format("2 Jan 2006")
}

// mostPolicies is how many files may be sent at once.
const mostPolicies = 20

// postPolicies takes files into the library. One that was taken leads to its text, which waits to be confirmed.
func postPolicies(v *visit) error {
	p := libraryScreen{}
	if err := v.takePolicies(&p); err != nil {
		status := answer.Status(countersign.KindOf(err))
		why, err := explained(err)
		if err != nil {
			return err
		}
		p.Wrong = append(p.Wrong, notKept{Why: why})
		return v.showLibrary(status, p)
	}
	switch {
	case len(p.Wrong) > 0:
		return v.showLibrary(http.StatusUnprocessableEntity, p)
	case len(p.Kept) == 1:
		return v.back(p.Kept[0].Href, p.Kept[0].File+" "+p.Kept[0].Became+".")
	}
	return v.showLibrary(http.StatusOK, p)
}

// takePolicies reads the form as it arrives. The day stands before the files in it, so that each can be kept as it comes.
func (v *visit) takePolicies(p *libraryScreen) error {
	body := v.sending()
	body.left = mostPolicies * library.MostBytes
	v.r.Body = body
	parts, err := v.r.MultipartReader()
	if err != nil {
		return refusal(body, err)
	}
	for files := 0; ; {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && files == 0:
			return countersign.Errorf(countersign.Invalid, "No file was chosen.").Try("Choose the policies to bring in.")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return refusal(body, err)
		}
		switch part.FormName() {
		case "valid_from":
			day, err := io.ReadAll(io.LimitReader(part, 100))
			if err != nil {
				return refusal(body, err)
			}
			p.ValidFrom = string(day)
		case "files":
			if files++; files > mostPolicies {
				return countersign.Errorf(countersign.Invalid, "There are more than %d files; those before were taken.", mostPolicies).Try("Send the others in parts.")
			}
			if err := v.takePolicy(p, part, body); err != nil {
				return err
			}
		}
	}
}

// takePolicy keeps one file. What is wrong with it is noted, and the others come all the same.
func (v *visit) takePolicy(p *libraryScreen, part *multipart.Part, body *sending) error {
	text, err := io.ReadAll(io.LimitReader(part, library.MostBytes+1))
	if err != nil {
		return refusal(body, err)
	}
	if len(text) == 0 && part.FileName() == "" { // what a browser sends when nothing was chosen
		return countersign.Errorf(countersign.Invalid, "No file was chosen.").Try("Choose the policies to bring in.")
	}
	report, err := v.Library.Import(v.r.Context(), v.who.Actor, part.FileName(), text, p.ValidFrom)
	var e *countersign.Error
	switch {
	case errors.As(err, &e) && e.Kind == countersign.Invalid:
		if e.Err != nil {
			v.Log.WarnContext(v.r.Context(), "a policy could not be read", "error", e.Err)
		}
		why, _ := explained(e) // it is for people
		p.Wrong = append(p.Wrong, notKept{legible(why), versionPath(report.VersionID)})
	case err != nil:
		return err
	default:
		p.Kept = append(p.Kept, keptFile{legible(report.File), becameOf(report), versionPath(report.VersionID)})
	}
	return nil
}

func versionPath(id string) string {
	if id == "" {
		return ""
	}
	return "/library/" + id
}

func becameOf(r library.Report) string {
	title := "“" + legible(r.Title) + "”"
	switch r.Outcome {
	case library.NewDocument:
		return "is the new document " + title
	case library.NewVersion:
		return "is version " + r.Version + " of " + title
	case library.Dated:
		return "was here already: version " + r.Version + " of " + title + " is now valid from " + spelledDay(r.ValidFrom)
	}
	return "was here already, as version " + r.Version + " of " + title
}
