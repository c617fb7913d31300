-- +goose Up

-- The policies of a shop. The same title again is a new version of the document; every version stays.
CREATE TABLE policy_documents (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, title_key TEXT NOT NULL UNIQUE, -- the key is the title as titles are compared
  created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> '')
) STRICT;

-- Dates are days, valid_until the last of them; empty is not limited. What nobody confirmed is not quoted.
CREATE TABLE policy_versions (
  id TEXT PRIMARY KEY, document_id TEXT NOT NULL REFERENCES policy_documents(id), number INTEGER NOT NULL, file TEXT NOT NULL,
  kind TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, reading TEXT NOT NULL, valid_from TEXT NOT NULL,
  valid_until TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> ''), confirmed_at INTEGER,
  confirmed_by TEXT NOT NULL, text TEXT NOT NULL, bytes BLOB NOT NULL, UNIQUE (document_id, number)
) STRICT;

-- What people did with them: added, confirmed, dated.
CREATE TABLE policy_history (
  number INTEGER PRIMARY KEY, version_id TEXT NOT NULL REFERENCES policy_versions(id), act TEXT NOT NULL, valid_from TEXT NOT NULL,
  valid_until TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;
CREATE INDEX policy_history_by_version ON policy_history (version_id, number);

-- +goose StatementBegin
CREATE TRIGGER policy_versions_stay BEFORE UPDATE OF id, document_id, number, file, kind, size, sha256, reading, created_at, created_by, text, bytes
  ON policy_versions BEGIN SELECT RAISE(ABORT, 'the text of a policy stays as it was'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER policy_versions_are_kept BEFORE DELETE ON policy_versions BEGIN SELECT RAISE(ABORT, 'a version of a policy is kept'); END;
-- +goose StatementEnd
