-- +goose Up

-- Files that people added to a case. One that is taken off again stays, with who did it: it may have been seen.
CREATE TABLE exhibits (
  id TEXT COLLATE "C" PRIMARY KEY, case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), name TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, size BIGINT NOT NULL, sha256 TEXT COLLATE "C" NOT NULL, pages BIGINT NOT NULL,
  bytes BYTEA NOT NULL, added_at BIGINT NOT NULL, added_by TEXT COLLATE "C" NOT NULL CHECK (added_by <> ''), removed_at BIGINT,
  removed_by TEXT COLLATE "C" NOT NULL
);
CREATE INDEX exhibits_by_case ON exhibits (case_id, added_at, id);
CREATE UNIQUE INDEX exhibits_once ON exhibits (case_id, sha256) WHERE removed_by = '';

-- The evidence report of a decision, written with it: the canonical content, as docs/report-format.md has it, and its fingerprint.
CREATE TABLE reports (
  case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), round BIGINT NOT NULL, fingerprint TEXT COLLATE "C" NOT NULL, content BYTEA NOT NULL,
  created_at BIGINT NOT NULL, created_by TEXT COLLATE "C" NOT NULL CHECK (created_by <> ''), PRIMARY KEY (case_id, round)
);

-- The report merged with the files: made once, because merging the same files again gives other bytes.
CREATE TABLE report_packs (
  case_id TEXT COLLATE "C" NOT NULL, round BIGINT NOT NULL, sha256 TEXT COLLATE "C" NOT NULL, pages BIGINT NOT NULL, bytes BYTEA NOT NULL,
  created_at BIGINT NOT NULL, PRIMARY KEY (case_id, round), FOREIGN KEY (case_id, round) REFERENCES reports (case_id, round)
);

-- +goose StatementBegin
CREATE FUNCTION evidence_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% stays as it was: it refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER exhibits_stay BEFORE UPDATE OF id, case_id, name, description, type, size, sha256, pages, bytes, added_at, added_by ON exhibits
  FOR EACH ROW EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER exhibits_are_removed_once BEFORE UPDATE ON exhibits FOR EACH ROW WHEN (OLD.removed_by <> '') EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER exhibits_are_kept BEFORE DELETE OR TRUNCATE ON exhibits FOR EACH STATEMENT EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER reports_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON reports FOR EACH STATEMENT EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER report_packs_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON report_packs FOR EACH STATEMENT EXECUTE FUNCTION evidence_stays();
