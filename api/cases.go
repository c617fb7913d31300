package api

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign"
	"countersign/store"
)

// CasePath is the case that a path names. The library reads the fields of an embedded struct only if its name is exported.
type CasePath struct {
	ID string `path:"id" doc:"The case's id."`
}

// maxID is far above the length of any id we make.
const maxID = 64

// check refuses an id that no case can have before a database is asked about it.
func (in CasePath) check() (countersign.CaseID, error) {
	if len(in.ID) > maxID || strings.ContainsFunc(in.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", countersign.Errorf(countersign.NotFound, "there is no such case").In("path.id")
	}
	return countersign.CaseID(in.ID), nil
}

// caseAnswer is a case with its revision as the entity tag.
type caseAnswer struct {
	ETag string `header:"ETag"`
	Body Case
}

func tagged(c Case) *caseAnswer { return &caseAnswer{`"` + strconv.FormatInt(c.Revision, 10) + `"`, c} }

func (a *api) getCase(ctx context.Context, in *CasePath) (*caseAnswer, error) {
	id, err := in.check()
	if err != nil {
		return nil, err
	}
	c, err := View(ctx, a.Store, id)
	if err != nil {
		return nil, err
	}
	return tagged(c), nil
}

// View reads a case as the API shows it and verifies its record, both of one moment.
func View(ctx context.Context, s *store.Store, id countersign.CaseID) (shownCase Case, err error) {
	err = s.Snapshot(ctx, func(v store.View) error {
		c, err := v.Case(ctx, id)
		if err != nil {
			return err
		}
		report, head, err := v.Walk(ctx, c, func(store.RecordRow) {})
		if err != nil {
			return err
		}
		record := summary(report, head)
		shownCase = shown(c)
		shownCase.Record = &record
		return nil
	})
	return shownCase, err
}

// caseFilter is what a list can be narrowed by. An empty parameter does not narrow.
type caseFilter struct {
	Desk           string `query:"desk" enum:"bank,merchant"`
	Status         string `query:"status" enum:"queued,investigating,in_review,awaiting_second_approval,awaiting_confirmation,closed"`
	Recommendation string `query:"recommendation" enum:"resolve,escalate,reject,CONTEST,ACCEPT,MANUAL_REVIEW_REQUIRED"`
	Reason         string `query:"reason" doc:"A reason of the verdict, by its code."`
	Q              string `query:"q" maxLength:"200" doc:"The beginning of a case's id, or the id of a transaction or order."`
	Cursor         string `query:"cursor" doc:"next_cursor of the page before."`
	Limit          limit  `query:"limit"`
}

var (
	deskNames       = words(countersign.Bank, countersign.Merchant)
	statusNames     = words(countersign.Statuses...)
	reasonCodes     = words(countersign.ReasonOrder...)
	recommendations = words("resolve", "escalate", "reject", "CONTEST", "ACCEPT", "MANUAL_REVIEW_REQUIRED")
)

func words[T ~string](list ...T) []string {
	return each(list, func(word T) string { return string(word) })
}

// CaseList is one page.
type CaseList struct {
	Cases      []Case  `json:"cases"`
	NextCursor *string `json:"next_cursor" doc:"null on the last page."`
}

type listAnswer struct{ Body CaseList }

func (a *api) listCases(ctx context.Context, in *caseFilter) (*listAnswer, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	cases, end, err := a.Store.Cases(ctx, f)
	if err != nil {
		return nil, err
	}
	return &listAnswer{CaseList{each(cases, shown), cursorOf(end)}}, nil
}

func (in caseFilter) filter() (f store.Filter, err error) {
	for _, word := range []struct {
		name, value string
		known       []string
	}{
		{"desk", in.Desk, deskNames}, {"status", in.Status, statusNames},
		{"recommendation", in.Recommendation, recommendations}, {"reason", in.Reason, reasonCodes},
	} {
		if word.value != "" && !slices.Contains(word.known, word.value) {
			return f, invalid("query."+word.name, "%q is not one of %s", clip(word.value), strings.Join(word.known, ", "))
		}
	}
	if len(in.Q) > 200 || !utf8.ValidString(in.Q) || strings.ContainsFunc(in.Q, unicode.IsControl) {
		return f, invalid("query.q", "expected at most 200 bytes of text without control characters")
	}
	f = store.Filter{Desk: countersign.DeskName(in.Desk), Status: countersign.Status(in.Status), Recommendation: in.Recommendation,
		Reason: countersign.ReasonCode(in.Reason), Query: in.Q}
	if f.Limit, err = in.Limit.number(); err != nil {
		return f, err
	}
	f.After, err = place(in.Cursor)
	return f, err
}

// limit is a number that is read here, so that a word in its place is answered like every other mistake.
type limit string

func (l limit) number() (int, error) {
	if l == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(string(l))
	if err != nil || n < 1 || n > maxLimit {
		return 0, invalid("query.limit", "%q is not a number from 1 to %d", clip(string(l)), maxLimit)
	}
	return n, nil
}

const (
	defaultLimit = 50
	maxLimit     = 200
)

// cursorOf is the place where a page ended, opaque to the caller; nil for the last page.
func cursorOf(p store.Place) *string {
	if p.ID == "" {
		return nil
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.Risk, 10) + " " + string(p.ID)))
	return &cursor
}

// place reads what cursorOf wrote. A cursor that somebody made up names some other place, and shows nothing that the same
// caller could not list from the start.
func place(cursor string) (p store.Place, err error) {
	if cursor == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	risk, id, _ := strings.Cut(string(raw), " ")
	p.Risk, _ = strconv.ParseInt(risk, 10, 64)
	p.ID, _ = CasePath{id}.check()
	if again := cursorOf(p); err != nil || again == nil || *again != cursor {
		return store.Place{}, invalid("query.cursor", "is not a next_cursor of an earlier page")
	}
	return p, nil
}
