package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign"
)

// DocumentVersion is one version of a policy document. A list of them has no Text; the bytes it came from are asked for by
// themselves.
type DocumentVersion struct {
	ID          string
	DocumentID  string
	Title       string // of the document
	Number      int
	File        string
	Kind        string
	Size        int64  // of the bytes
	SHA256      string // of the bytes, in hex
	Reading     string // JSON of the library's own: what could be read on each page
	ValidFrom   string // a day such as 2026-03-01; empty when nobody said since when, which counts as always
	ValidUntil  string // the last day; empty while there is none
	CreatedAt   time.Time
	CreatedBy   string // an actor
	ConfirmedAt time.Time
	ConfirmedBy string // an actor; empty until a person confirmed that the text is right, and until then nothing is quoted from it
	Text        string
}

// Confirmed reports whether a person did.
func (d DocumentVersion) Confirmed() bool { return d.ConfirmedBy != "" }

const versionColumns = `v.id, v.document_id, d.title, v.number, v.file, v.kind, v.size, v.sha256, v.reading, v.valid_from, v.valid_until,
	v.created_at, v.created_by, COALESCE(v.confirmed_at, 0), v.confirmed_by`

const versionTables = " FROM policy_versions v JOIN policy_documents d ON d.id = v.document_id "

func (d *DocumentVersion) into() []any {
	return []any{&d.ID, &d.DocumentID, &d.Title, &d.Number, &d.File, &d.Kind, &d.Size, &d.SHA256, &d.Reading, &d.ValidFrom, &d.ValidUntil,
		scanMicros{&d.CreatedAt}, &d.CreatedBy, scanMicros{&d.ConfirmedAt}, &d.ConfirmedBy}
}

// DocumentVersions lists every version of every document, without the texts: by title, the newest version of a document last.
func (v View) DocumentVersions(ctx context.Context) ([]DocumentVersion, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT "+versionColumns+versionTables+"ORDER BY d.title_key, v.document_id, v.number")
	if err != nil {
		return nil, fmt.Errorf("list the policy documents: %w", err)
	}
	all, err := collect(rows, func(row scanner) (d DocumentVersion, err error) { return d, row.Scan(d.into()...) })
	return all, wrap(err, "list the policy documents")
}

// DocumentVersion reads one version with its text; a NotFound error if there is none of that id.
func (v View) DocumentVersion(ctx context.Context, id string) (d DocumentVersion, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT "+versionColumns+", v.text"+versionTables+"WHERE v.id = $1", id).Scan(append(d.into(), &d.Text)...)
	if errors.Is(err, sql.ErrNoRows) {
		return d, noVersion(id)
	}
	return d, wrap(err, "read version %s of a policy", id)
}

func noVersion(id string) error {
	return countersign.Errorf(countersign.NotFound, "there is no version %q of any policy", id)
}

// DocumentTexts reads the texts of some versions, by id.
func (v View) DocumentTexts(ctx context.Context, ids []string) (map[string]string, error) {
	rows, err := v.q.QueryContext(ctx, "SELECT id, text FROM policy_versions WHERE id "+v.d.in(1), listed(ids))
	if err != nil {
		return nil, fmt.Errorf("read the texts of policies: %w", err)
	}
	all, err := collect(rows, func(row scanner) (pair [2]string, err error) { return pair, row.Scan(&pair[0], &pair[1]) })
	texts := make(map[string]string, len(all))
	for _, pair := range all {
		texts[pair[0]] = pair[1]
	}
	return texts, wrap(err, "read the texts of policies")
}

// DocumentBytes are the bytes that a version came from.
func (v View) DocumentBytes(ctx context.Context, id string) (file []byte, err error) {
	err = v.q.QueryRowContext(ctx, "SELECT bytes FROM policy_versions WHERE id = $1", id).Scan(&file)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noVersion(id)
	}
	return file, wrap(err, "read the file of version %s of a policy", id)
}

// DocumentByTitle finds a document by its title as titles are compared, and holds it until the transaction ends; empty if there is
// none.
func (t *Tx) DocumentByTitle(ctx context.Context, key string) (id string, err error) {
	err = t.q.QueryRowContext(ctx, "SELECT id FROM policy_documents WHERE title_key = $1"+t.d.lock, key).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "look for a policy document")
}

// AddDocument makes a document that has no version yet.
func (t *Tx) AddDocument(ctx context.Context, id, title, key string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a policy document")
	}
	_, err := t.exec(ctx, "INSERT INTO policy_documents (id, title, title_key, created_at, created_by) VALUES ($1, $2, $3, $4, $5)",
		id, title, key, t.Now.UnixMicro(), by.String())
	return wrap(raced(err), "add the policy document %q", title)
}

func nobodyActs(what string) error {
	return countersign.Errorf(countersign.Internal, "%s needs an actor", what)
}

// AddDocumentVersion adds a version as nobody confirmed it yet; its number must be the next of its document.
func (t *Tx) AddDocumentVersion(ctx context.Context, d DocumentVersion, file []byte, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("a version of a policy")
	}
	_, err := t.exec(ctx, `INSERT INTO policy_versions (id, document_id, number, file, kind, size, sha256, reading, valid_from, valid_until,
		created_at, created_by, confirmed_by, text, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13, $14)`,
		d.ID, d.DocumentID, d.Number, d.File, d.Kind, len(file), d.SHA256, d.Reading, d.ValidFrom, d.ValidUntil, t.Now.UnixMicro(), by.String(), d.Text, file)
	if err != nil {
		return wrap(raced(err), "add version %d of %q", d.Number, d.Title)
	}
	return t.note(ctx, d.ID, "added", d.ValidFrom, d.ValidUntil, by)
}

// ConfirmDocumentVersion says that a person looked at the text and found it right. The second time it changes nothing.
func (t *Tx) ConfirmDocumentVersion(ctx context.Context, id string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("the confirmation of a policy")
	}
	n, err := t.exec(ctx, "UPDATE policy_versions SET confirmed_at = $1, confirmed_by = $2 WHERE id = $3 AND confirmed_by = ''", t.Now.UnixMicro(), by.String(), id)
	if err != nil || n == 0 {
		return wrap(err, "confirm version %s of a policy", id)
	}
	return t.note(ctx, id, "confirmed", "", "", by)
}

// DateDocumentVersion says from which day and until which a version is valid; empty is not limited.
func (t *Tx) DateDocumentVersion(ctx context.Context, id, from, until string, by countersign.Actor) error {
	if !by.Valid() {
		return nobodyActs("the validity of a policy")
	}
	n, err := t.exec(ctx, "UPDATE policy_versions SET valid_from = $1, valid_until = $2 WHERE id = $3", from, until, id)
	if err == nil && n == 0 {
		return noVersion(id)
	}
	if err != nil {
		return wrap(err, "date version %s of a policy", id)
	}
	return t.note(ctx, id, "dated", from, until, by)
}

// note keeps what somebody did with a version.
func (t *Tx) note(ctx context.Context, id, act, from, until string, by countersign.Actor) error {
	_, err := t.exec(ctx, `INSERT INTO policy_history (number, version_id, act, valid_from, valid_until, at, actor)
		SELECT COALESCE(MAX(number), 0) + 1, CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT)
		FROM policy_history`, id, act, from, until, t.Now.UnixMicro(), by.String())
	return wrap(raced(err), "keep the history of a policy")
}

// DocumentAct is what somebody did with a version of a policy.
type DocumentAct struct {
	VersionID             string
	Act                   string // added, confirmed or dated
	ValidFrom, ValidUntil string
	At                    time.Time
	Actor                 string
}

// DocumentHistory lists what was done with the versions of a document, in that order.
func (v View) DocumentHistory(ctx context.Context, documentID string) ([]DocumentAct, error) {
	rows, err := v.q.QueryContext(ctx, `SELECT h.version_id, h.act, h.valid_from, h.valid_until, h.at, h.actor FROM policy_history h
		JOIN policy_versions v ON v.id = h.version_id WHERE v.document_id = $1 ORDER BY h.number`, documentID)
	if err != nil {
		return nil, fmt.Errorf("read the history of a policy: %w", err)
	}
	all, err := collect(rows, func(row scanner) (a DocumentAct, err error) {
		return a, row.Scan(&a.VersionID, &a.Act, &a.ValidFrom, &a.ValidUntil, scanMicros{&a.At}, &a.Actor)
	})
	return all, wrap(err, "read the history of a policy")
}
