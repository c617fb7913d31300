package review

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"unicode"

	"countersign"
	"countersign/audit"
	"countersign/store"
)

// File is a file that a person adds to a case: what was found in it, and its bytes. Whoever calls has looked into it.
type File struct {
	store.Exhibit
	Bytes []byte
}

// filing is the payload of a row of kind note: what became of a file of the case.
type filing struct {
	Round       int    `json:"round"`
	File        string `json:"file"` // added, removed
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type"`
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"`
	Pages       int    `json:"pages"`
}

func filed(round int, what string, e store.Exhibit) store.Note {
	return store.Note{Kind: audit.Note, Payload: filing{round, what, e.ID, e.Name, e.Description, e.Type, e.Size, e.SHA256, e.Pages}}
}

// AddFiles puts files on a case, all of them or none. They go with what the desk keeps of the decision.
func (r Review) AddFiles(ctx context.Context, act Act, files ...File) (countersign.Case, error) {
	if len(files) == 0 {
		return countersign.Case{}, countersign.Errorf(countersign.Invalid, "is missing").In("file").Try("choose one")
	}
	for _, f := range files {
		if err := oneLine("description", f.Description, 300); err != nil {
			return countersign.Case{}, err
		}
	}
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) (notes []store.Note, err error) {
		room := r.Desks[c.Desk].Room
		if room.Files == 0 {
			return nil, countersign.Errorf(countersign.Conflict, "a case of this desk takes no files")
		}
		for _, f := range files {
			e := f.Exhibit
			e.ID, e.CaseID, e.Size, e.Description = "file_"+strings.ToLower(rand.Text()[:16]), c.ID, int64(len(f.Bytes)), strings.TrimSpace(f.Description)
			if err := tx.AddExhibit(ctx, e, f.Bytes, room, act.Actor); err != nil {
				return nil, err
			}
			notes = append(notes, filed(c.Round, "added", e))
		}
		return notes, nil
	})
}

// oneLine refuses what could not be printed in one line, in a report that others read.
func oneLine(field, text string, most int) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return countersign.Errorf(countersign.Invalid, "has characters that cannot be printed").In(field).Try("say it in one line")
	}
	return short(field, text, most)
}

// RemoveFile takes a file off a case. The record keeps that it was there, and the store its bytes.
func (r Review) RemoveFile(ctx context.Context, act Act, id string) (countersign.Case, error) {
	return r.on(ctx, act, func(ctx context.Context, tx *store.Tx, c *countersign.Case) ([]store.Note, error) {
		all, err := tx.Exhibits(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if err := tx.RemoveExhibit(ctx, c.ID, id, act.Actor); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(e store.Exhibit) bool { return e.ID == id })
		return []store.Note{filed(c.Round, "removed", all[i])}, nil
	})
}
