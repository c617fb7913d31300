-- +goose Up

-- Files that people added to a case. One that is taken off again stays, with who did it: it may have been seen.
CREATE TABLE exhibits (
  id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id), name TEXT NOT NULL, description TEXT NOT NULL, type TEXT NOT NULL,
  size INTEGER NOT NULL, sha256 TEXT NOT NULL, pages INTEGER NOT NULL, bytes BLOB NOT NULL, added_at INTEGER NOT NULL,
  added_by TEXT NOT NULL CHECK (added_by <> ''), removed_at INTEGER, removed_by TEXT NOT NULL
) STRICT;
CREATE INDEX exhibits_by_case ON exhibits (case_id, added_at, id);
CREATE UNIQUE INDEX exhibits_once ON exhibits (case_id, sha256) WHERE removed_by = '';

-- The evidence report of a decision, written with it: the canonical content, as docs/report-format.md has it, and its fingerprint.
CREATE TABLE reports (
  case_id TEXT NOT NULL REFERENCES cases(id), round INTEGER NOT NULL, fingerprint TEXT NOT NULL, content BLOB NOT NULL,
  created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> ''), PRIMARY KEY (case_id, round)
) STRICT;

-- The report merged with the files: made once, because merging the same files again gives other bytes.
CREATE TABLE report_packs (
  case_id TEXT NOT NULL, round INTEGER NOT NULL, sha256 TEXT NOT NULL, pages INTEGER NOT NULL, bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL, PRIMARY KEY (case_id, round), FOREIGN KEY (case_id, round) REFERENCES reports (case_id, round)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER exhibits_stay BEFORE UPDATE OF id, case_id, name, description, type, size, sha256, pages, bytes, added_at, added_by ON exhibits
  BEGIN SELECT RAISE(ABORT, 'a file stays as it was added: exhibits refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER exhibits_are_removed_once BEFORE UPDATE ON exhibits WHEN OLD.removed_by <> ''
  BEGIN SELECT RAISE(ABORT, 'a file that was taken off stays so: exhibits refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER exhibits_are_kept BEFORE DELETE ON exhibits BEGIN SELECT RAISE(ABORT, 'a file is kept: exhibits refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER reports_stay BEFORE UPDATE ON reports BEGIN SELECT RAISE(ABORT, 'a report stays as it was approved: reports refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER reports_are_kept BEFORE DELETE ON reports BEGIN SELECT RAISE(ABORT, 'a report is kept: reports refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER report_packs_stay BEFORE UPDATE ON report_packs BEGIN SELECT RAISE(ABORT, 'a pack stays as it was made: report_packs refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER report_packs_are_kept BEFORE DELETE ON report_packs BEGIN SELECT RAISE(ABORT, 'a pack is kept: report_packs refuses DELETE'); END;
-- +goose StatementEnd
