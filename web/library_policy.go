package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign"
	"countersign/answer"
	"countersign/auth"
	"countersign/desk/merchant/library"
	"countersign/store"
)

// policyScreen is one version of a policy: what could be read of it, and what may be quoted.
type policyScreen struct {
	versionLine
	Title       string
	Sum         string
	Look        []string // what must be looked at, but for pages
	Notes       []string
	Pages       []policyPart
	Doubts      int // pages that somebody should look at
	SHA256      string
	Size        string
	Confirmed   string // by whom; empty until somebody did
	ConfirmedAt moment
	From, Until string
	Others      []versionLine
	History     []policyAct
	MayConfirm  bool
	Wrong       string
}

// policyPart is what could be read on one page, or in all of a document that has none.
type policyPart struct {
	Number   int // 0 when the document has no pages
	Told     string
	Doubtful bool
	// The text, in three parts when somebody came to see a clause of it.
	Before, Clause, After string
	Begins                bool // the clause does, on this page
}

type policyAct struct {
	Words, By string
	At        moment
}

func policyPage(v *visit) error { return v.showPolicy(http.StatusOK, "", nil) }

// showPolicy draws the page of a version, with what was wrong with the days that somebody gave it.
func (v *visit) showPolicy(status int, wrong string, days *[2]string) error {
	ctx := v.r.Context()
	d, err := v.Store.DocumentVersion(ctx, v.r.PathValue("version"))
	if err != nil {
		return err
	}
	all, err := v.Store.DocumentVersions(ctx)
	if err != nil {
		return err
	}
	names, err := v.Store.Names(ctx)
	if err != nil {
		return err
	}
	acts, err := v.Store.DocumentHistory(ctx, d.DocumentID)
	if err != nil {
		return err
	}
	p, err := v.policyScreen(d, clauseIn(v.r.URL.Query(), d.Text), all, acts, &file{names: names})
	if err != nil {
		return err
	}
	if p.Wrong = wrong; days != nil {
		p.From, p.Until = days[0], days[1]
	}
	return v.show(status, "library_policy", screen{Title: p.Title + " " + p.Name, Section: "Library", Page: p})
}

func (v *visit) policyScreen(d store.DocumentVersion, clause [2]int, all []store.DocumentVersion, acts []store.DocumentAct, who *file) (p policyScreen, err error) {
	e, err := library.Reading(d)
	if err != nil {
		return p, err
	}
	counts := inForceToday(all, v.now)
	p = policyScreen{versionLine: v.versionLine(d, counts[d.ID], who), Title: legible(d.Title), SHA256: d.SHA256, Size: size(d.Size), From: d.ValidFrom, Until: d.ValidUntil,
		MayConfirm: v.may(auth.Import), Sum: e.Told()[0]}
	for _, look := range e.Look {
		p.Look = append(p.Look, legible(look))
	}
	for _, note := range e.Notes {
		p.Notes = append(p.Notes, legible(note))
	}
	if d.Confirmed() {
		p.Confirmed, p.ConfirmedAt = who.actor(d.ConfirmedBy), v.moment(d.ConfirmedAt)
	}
	p.Pages, p.Doubts = policyParts(e, clause)
	for _, other := range all {
		if other.DocumentID == d.DocumentID && other.ID != d.ID {
			p.Others = append([]versionLine{v.versionLine(other, counts[other.ID], who)}, p.Others...)
		}
	}
	for _, act := range acts {
		if act.VersionID == d.ID {
			p.History = append(p.History, policyAct{actWords(act), who.actor(act.Actor), v.moment(act.At)})
		}
	}
	return p, nil
}

// clauseIn is the part of a text that an address asks to be shown in its place, as a quote has it: /library/…?start=120&end=188.
// What is no part of the text is none.
func clauseIn(query url.Values, text string) (c [2]int) {
	start, err := strconv.Atoi(query.Get("start"))
	end, err2 := strconv.Atoi(query.Get("end"))
	if err != nil || err2 != nil || start < 0 || end > len(text) || start >= end || !utf8.RuneStart(text[start]) || end < len(text) && !utf8.RuneStart(text[end]) {
		return c
	}
	return [2]int{start, end}
}

func policyParts(e library.Extraction, clause [2]int) (parts []policyPart, doubts int) {
	for i, page := range e.Pages {
		part := policyPart{Told: page.Told(), Doubtful: page.Doubtful()}
		text := e.Page(i)
		from := min(max(clause[0]-page.Start, 0), len(text))
		to := min(max(clause[1]-page.Start, from), len(text))
		if from == to {
			part.Before = legible(strings.TrimSpace(text))
		} else {
			part.Before, part.Clause, part.After = legible(strings.TrimLeft(text[:from], " \n")), legible(text[from:to]), legible(strings.TrimRight(text[to:], " \n"))
		}
		part.Begins = part.Clause != "" && clause[0] >= page.Start
		if e.Paged {
			part.Number = i + 1
		}
		if part.Doubtful {
			doubts++
		}
		parts = append(parts, part)
	}
	return parts, doubts
}

func actWords(a store.DocumentAct) string {
	switch a.Act {
	case "confirmed":
		return "confirmed the text"
	case "dated":
		return "set its days: " + validity(store.DocumentVersion{ValidFrom: a.ValidFrom, ValidUntil: a.ValidUntil})
	}
	return "added it, " + validity(store.DocumentVersion{ValidFrom: a.ValidFrom, ValidUntil: a.ValidUntil})
}

// policyFile hands the bytes back as they came: to keep, never to be shown by the browser as a page of ours.
func policyFile(v *visit) error {
	ctx := v.r.Context()
	d, err := v.Store.DocumentVersion(ctx, v.r.PathValue("version"))
	if err != nil {
		return err
	}
	text, err := v.Store.DocumentBytes(ctx, d.ID)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(d.File))
	_, _ = v.w.Write(text) // nobody is left to tell
	return nil
}

// postConfirmPolicy is a person's word that the text on the page is what the document says.
func postConfirmPolicy(v *visit) error {
	id := v.r.PathValue("version")
	if err := v.Library.Confirm(v.r.Context(), v.who.Actor, id); err != nil {
		return err
	}
	return v.back("/library/"+id, "The text is confirmed, and may be quoted from now on.")
}

func postPolicyDays(v *visit) error {
	if err := v.parse(); err != nil {
		return err
	}
	id, from, until := v.r.PathValue("version"), v.form("valid_from"), v.form("valid_until")
	err := v.Library.Date(v.r.Context(), v.who.Actor, id, from, until)
	if countersign.KindOf(err) == countersign.Invalid {
		why, _ := explained(err) // it is for people
		return v.showPolicy(answer.Status(countersign.Invalid), why, &[2]string{from, until})
	}
	if err != nil {
		return err
	}
	return v.back("/library/"+id, "Its days are kept. What was decided before stays as it was.")
}
