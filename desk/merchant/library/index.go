package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	_ "modernc.org/sqlite" // the driver named sqlite: full text in memory, whatever our own database is

	"countersign"
	"countersign/store"
)

// Index finds passages by their words, the most telling first, by BM25. It lives in memory and is never changed once it is made:
// the same passages and the same query give the same answer.
type Index struct {
	passages []Passage
	total    int // characters of all of them
	db       *sql.DB
}

// NewIndex indexes passages. Of two that fit a query equally well the earlier comes first.
func NewIndex(ctx context.Context, passages []Passage) (*Index, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("open an index: %w", err)
	}
	db.SetMaxOpenConns(1) // the database lives as long as its connection, and there is one
	x := &Index{passages: passages, db: db}
	if err := x.fill(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("index passages: %w", err), db.Close())
	}
	return x, nil
}

func (x *Index) fill(ctx context.Context) error {
	if _, err := x.db.ExecContext(ctx, "CREATE VIRTUAL TABLE passages USING fts5 (heading, text, tokenize = 'porter unicode61 remove_diacritics 2')"); err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO passages (rowid, heading, text) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	for i, p := range x.passages {
		x.total += p.characters()
		if _, err := insert.ExecContext(ctx, []any{i, p.Title + "\n" + p.Heading, p.Text}...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close gives the memory back. A search that is under way fails.
func (x *Index) Close() error { return x.db.Close() }

// mostFound is how many passages of a query are looked at: a thousand short ones fill any cap.
const mostFound = 1_000

// Select returns the passages that bear on a query, the most telling first, of no more than so many characters together. A passage
// that does not fit any more is left out, and a shorter one behind it may still fit. When all passages together fit, all come:
// nobody then has to guess the shop's own words for a thing.
func (x *Index) Select(ctx context.Context, query string, characters int) ([]Passage, error) {
	found, err := x.find(ctx, matching(query))
	if err != nil {
		return nil, err
	}
	if x.total <= characters {
		for i := range x.passages {
			if !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
	}
	var all []Passage
	for _, i := range found {
		if n := x.passages[i].characters(); n <= characters {
			all, characters = append(all, x.passages[i]), characters-n
		}
	}
	return all, nil
}

func (x *Index) find(ctx context.Context, match string) (found []int, err error) {
	if match == "" {
		return nil, nil
	}
	// A statement that is interrupted may cost the connection, and with it the index.
	rows, err := x.db.QueryContext(context.WithoutCancel(ctx), "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 2.0, 1.0), rowid LIMIT ?", match, mostFound)
	if err != nil {
		return nil, fmt.Errorf("search passages: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var i int
		if err := rows.Scan(&i); err != nil {
			return nil, fmt.Errorf("search passages: %w", err)
		}
		found = append(found, i)
	}
	return found, rows.Err()
}

// A query has no more words than this, and none is longer.
const (
	mostTerms   = 64
	longestTerm = 64 // in bytes
)

// matching is a query in the language of the index: its words, each between quotation marks, any of them. Nothing of that language
// gets through in the words of whoever asks.
func matching(query string) string {
	var terms []string
	for _, term := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
		term = `"` + term + `"`
		if len(term) <= longestTerm && !slices.Contains(terms, term) && len(terms) < mostTerms {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " OR ")
}

// indexed is the index of one choice of versions. Versions never change, so neither does it.
type indexed struct {
	key   string
	make  sync.Once
	index *Index
	err   error
}

// mostIndexes is how many choices of versions are kept. Orders of the last months share two or three.
const mostIndexes = 8

// Search returns the passages that bear on a query, from the versions that InForce returns, of no more than so many characters.
func (l *Library) Search(ctx context.Context, v store.View, placed countersign.When, query string, characters int) ([]Passage, error) {
	chosen, err := l.chosen(ctx, v, placed)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	for {
		x := l.indexOf(ids(chosen))
		x.make.Do(func() { x.index, x.err = build(context.WithoutCancel(ctx), v, chosen) })
		found, err := x.search(ctx, query, characters)
		if err == nil || l.forget(x) || ctx.Err() != nil {
			return found, err
		}
		// It was put away for another before we were done: make it again.
	}
}

func (x *indexed) search(ctx context.Context, query string, characters int) ([]Passage, error) {
	if x.err != nil {
		return nil, x.err
	}
	return x.index.Select(ctx, query, characters)
}

func build(ctx context.Context, v store.View, chosen []store.DocumentVersion) (*Index, error) {
	texts, err := v.DocumentTexts(ctx, ids(chosen))
	if err != nil {
		return nil, err
	}
	all, err := versions(chosen, texts)
	if err != nil {
		return nil, err
	}
	var passages []Passage
	for _, version := range all {
		passages = append(passages, version.passages()...)
	}
	return NewIndex(ctx, passages)
}

// indexOf returns the index of some versions, which may not be made yet, and puts it first.
func (l *Library) indexOf(versions []string) *indexed {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := strings.Join(versions, " ")
	i := slices.IndexFunc(l.indexes, func(x *indexed) bool { return x.key == key })
	if i < 0 {
		l.indexes = append(l.indexes, &indexed{key: key})
		i = len(l.indexes) - 1
	}
	x := l.indexes[i]
	copy(l.indexes[1:i+1], l.indexes[:i])
	l.indexes[0] = x
	if len(l.indexes) > mostIndexes {
		last := l.indexes[mostIndexes]
		l.indexes = l.indexes[:mostIndexes]
		go last.close()
	}
	return x
}

// close waits for one that is being made.
func (x *indexed) close() {
	x.make.Do(func() { x.err = errors.New("the index was put away before it was made") })
	if x.index != nil {
		x.index.Close()
	}
}

// forget drops an index that failed, and reports whether it was still kept.
func (l *Library) forget(x *indexed) (kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.indexes)
	l.indexes = slices.DeleteFunc(l.indexes, func(other *indexed) bool { return other == x })
	if kept = len(l.indexes) < before; kept {
		go x.close()
	}
	return kept
}

// Close puts every index away.
func (l *Library) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.indexes {
		x.close()
	}
	l.indexes = nil
}
