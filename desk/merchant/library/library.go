// Package library keeps the policies of a shop: what may be quoted to a card network, in which version, since when.
//
// A policy comes as a file. Its text is extracted once, in a process of its own that may crash or be killed, and kept beside the
// bytes it came from. What no reader of the document takes for a rule, because it is struck out or hidden, is no part of that text,
// and is said. A person looks at the text and confirms it before anything is quoted from it. The same title again is a new version
// of the same document, and every version stays: a case is judged by the version that was in force on the day of its order.
//
// What is found in a library is the words of the shop, not ours. They are searched as words and shown as text, and nothing in them
// is followed.
package library

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"countersign"
	"countersign/pipeline/verify"
	"countersign/store"
)

// Library is the policies in a store. It may be used by many at once.
type Library struct {
	Store     *store.Store
	Extractor Extractor

	reading sync.Mutex // one file at a time: the process that reads it may take a gigabyte
	mu      sync.Mutex
	indexes []*indexed // those used last, first
}

// Outcome is what became of a file.
type Outcome string

const (
	NewDocument Outcome = "new document"
	NewVersion  Outcome = "new version"
	Dated       Outcome = "dated" // the bytes are on record, and now valid from another day
	Unchanged   Outcome = "unchanged"
)

// Report says what became of a file and what could be read in it.
type Report struct {
	Outcome    Outcome    `json:"outcome"`
	VersionID  string     `json:"version_id"`
	File       string     `json:"file"`
	Title      string     `json:"title"`
	Version    string     `json:"version"`
	ValidFrom  string     `json:"valid_from"` // empty: undated, which counts as always in force
	Confirmed  bool       `json:"confirmed"`
	Extraction Extraction `json:"extraction"`
}

// Import takes a file into the library: as a new document, or as a new version of the one with its title. Nothing is quoted from it
// before somebody confirms its text. validFrom is a day such as 2026-03-01; when it is empty, a first version counts as always in
// force and a later one from today. The bytes of a document's last version again change nothing but that day, if one is given, and not
// that either where it would take the version out of force: that is refused, and the report says which version it is.
func (l *Library) Import(ctx context.Context, by countersign.Actor, name string, file []byte, validFrom string) (Report, error) {
	name = path.Base(strings.ReplaceAll(name, "\\", "/"))
	if err := checkDay("valid_from", validFrom); err != nil {
		return Report{}, err
	}
	e, err := l.extract(ctx, name, file)
	if err != nil {
		return Report{}, err
	}
	r := Report{File: name, Title: e.Title, Extraction: e}
	err = l.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return r.keep(ctx, tx, by, file, validFrom) })
	return r, err
}

func (l *Library) extract(ctx context.Context, name string, file []byte) (Extraction, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	e, err := l.Extractor.Extract(ctx, name, file)
	if err == nil && !verify.Quotable(e.Text) {
		return e, refused("%s has fewer than %d letters and digits, which a quote needs at least: nothing of it could ever be quoted", name, verify.LeastQuoted).
			Try("expected a policy with its whole text")
	}
	return e, err
}

// keep stores what was read, unless it is there.
func (r *Report) keep(ctx context.Context, tx *store.Tx, by countersign.Actor, file []byte, validFrom string) error {
	sum := sha256.Sum256(file)
	hash, key := hex.EncodeToString(sum[:]), titleKey(r.Title)
	id, err := tx.DocumentByTitle(ctx, key)
	if err != nil {
		return err
	}
	all, err := tx.DocumentVersions(ctx)
	if err != nil {
		return err
	}
	if last, there := lastWith(all, hash); there {
		return r.again(ctx, tx, by, last, validFrom)
	}
	r.Outcome, r.ValidFrom = NewVersion, validFrom
	number := 1 + count(all, id)
	if id == "" {
		id, r.Outcome = "doc_"+strings.ToLower(rand.Text()[:12]), NewDocument
		if err := tx.AddDocument(ctx, id, r.Title, key, by); err != nil {
			return err
		}
	} else if validFrom == "" {
		r.ValidFrom = tx.Now.Format(time.DateOnly)
	}
	reading, err := json.Marshal(Extraction{Paged: r.Extraction.Paged, Pages: r.Extraction.Pages, Notes: r.Extraction.Notes, Look: r.Extraction.Look})
	if err != nil {
		return err // unreachable: an extraction is texts and numbers
	}
	d := store.DocumentVersion{ID: id + "-v" + strconv.Itoa(number), DocumentID: id, Title: r.Title, Number: number, File: r.File, Kind: string(r.Extraction.Kind),
		SHA256: hash, Reading: string(reading), ValidFrom: r.ValidFrom, Text: r.Extraction.Text}
	r.VersionID, r.Version = d.ID, versionName(d)
	return tx.AddDocumentVersion(ctx, d, file, by)
}

// lastWith finds the document whose last version has these bytes.
func lastWith(all []store.DocumentVersion, hash string) (found store.DocumentVersion, ok bool) {
	for i, d := range all {
		last := i+1 == len(all) || all[i+1].DocumentID != d.DocumentID
		if last && d.SHA256 == hash {
			return d, true
		}
	}
	return found, false
}

func count(all []store.DocumentVersion, document string) (n int) {
	for _, d := range all {
		if d.DocumentID == document {
			n++
		}
	}
	return n
}

// titleKey is a title as titles are compared: case, spaces and the way accents are written aside.
func titleKey(title string) string {
	return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(title), " ")))
}

func versionName(d store.DocumentVersion) string { return "v" + strconv.Itoa(d.Number) }

// Confirm says that somebody looked at the text of a version and found that it is what the document says. From then on it may be
// quoted.
func (l *Library) Confirm(ctx context.Context, by countersign.Actor, versionID string) error {
	return l.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.DocumentVersion(ctx, versionID); err != nil {
			return err
		}
		return tx.ConfirmDocumentVersion(ctx, versionID, by)
	})
}

// Version is a version of a document that counts for a case, whole.
type Version struct {
	ID        string
	Title     string
	File      string
	Name      string
	SHA256    string // of the bytes of its file
	Text      string
	Pages     []int // where in Text each page begins; nil when it has none
	ValidFrom countersign.When
}

// InForce returns the versions that counted on the day an order was placed, by title; on today's when that day is not known. Only
// when no document had a version then do later ones come, the earliest of each document.
func (l *Library) InForce(ctx context.Context, v store.View, placed countersign.When) ([]Version, error) {
	chosen, err := l.chosen(ctx, v, placed)
	if err != nil {
		return nil, err
	}
	texts, err := v.DocumentTexts(ctx, ids(chosen))
	if err != nil {
		return nil, err
	}
	return versions(chosen, texts)
}

// Reading is what could be read in the file of a version when it was imported.
func Reading(d store.DocumentVersion) (e Extraction, err error) {
	if err := json.Unmarshal([]byte(d.Reading), &e); err != nil {
		return e, fmt.Errorf("read the pages of %s: %w", d.ID, err)
	}
	e.Kind, e.Title, e.Text = Kind(d.Kind), d.Title, d.Text
	return e, nil
}

func versions(chosen []store.DocumentVersion, texts map[string]string) (all []Version, err error) {
	for _, d := range chosen {
		reading, err := Reading(d)
		if err != nil {
			return nil, err
		}
		from, err := countersign.ParseWhen(d.ValidFrom)
		if err != nil {
			return nil, fmt.Errorf("read the validity of %s: %w", d.ID, err)
		}
		all = append(all, Version{ID: d.ID, Title: d.Title, File: d.File, Name: versionName(d), SHA256: d.SHA256, Text: texts[d.ID], Pages: reading.Starts(), ValidFrom: from})
	}
	return all, nil
}

func ids(all []store.DocumentVersion) []string {
	list := make([]string, len(all))
	for i, d := range all {
		list[i] = d.ID
	}
	return list
}

func (l *Library) chosen(ctx context.Context, v store.View, placed countersign.When) ([]store.DocumentVersion, error) {
	all, err := v.DocumentVersions(ctx)
	if err != nil {
		return nil, err
	}
	if placed.IsZero() {
		placed = countersign.At(l.Store.Now())
	}
	return InForceOn(all, placed.String()[:len(time.DateOnly)]), nil
}

// InForceOn chooses from all versions those that counted on a day, of each document the one that came into force last. What nobody
// confirmed never counts.
func InForceOn(all []store.DocumentVersion, day string) []store.DocumentVersion {
	all = slices.DeleteFunc(slices.Clone(all), func(d store.DocumentVersion) bool { return !d.Confirmed() })
	now := ofEach(all, func(d store.DocumentVersion) bool {
		return d.ValidFrom <= day && (d.ValidUntil == "" || day <= d.ValidUntil)
	},
		func(a, b store.DocumentVersion) bool { return a.ValidFrom >= b.ValidFrom })
	if len(now) > 0 {
		return now
	}
	return ofEach(all, func(d store.DocumentVersion) bool { return d.ValidFrom > day },
		func(a, b store.DocumentVersion) bool { return a.ValidFrom < b.ValidFrom })
}

// ofEach takes from each document the one version that fits and goes before the others that do; all are in the order of their
// documents and numbers.
func ofEach(all []store.DocumentVersion, fits func(store.DocumentVersion) bool, before func(a, b store.DocumentVersion) bool) (chosen []store.DocumentVersion) {
	for _, d := range all {
		last := len(chosen) - 1
		switch {
		case !fits(d):
		case last < 0 || chosen[last].DocumentID != d.DocumentID:
			chosen = append(chosen, d)
		case before(d, chosen[last]):
			chosen[last] = d
		}
	}
	return chosen
}
