-- +goose Up

-- The policies of a shop. The same title again is a new version of the document; every version stays.
CREATE TABLE policy_documents (
  id TEXT COLLATE "C" PRIMARY KEY, title TEXT COLLATE "C" NOT NULL, title_key TEXT COLLATE "C" NOT NULL UNIQUE, -- the key is the title as titles are compared
  created_at BIGINT NOT NULL, created_by TEXT COLLATE "C" NOT NULL CHECK (created_by <> '')
);

-- Dates are days, valid_until the last of them; empty is not limited. What nobody confirmed is not quoted.
CREATE TABLE policy_versions (
  id TEXT COLLATE "C" PRIMARY KEY, document_id TEXT COLLATE "C" NOT NULL REFERENCES policy_documents(id), number BIGINT NOT NULL, file TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL, size BIGINT NOT NULL, sha256 TEXT COLLATE "C" NOT NULL, reading TEXT COLLATE "C" NOT NULL, valid_from TEXT COLLATE "C" NOT NULL,
  valid_until TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, created_by TEXT COLLATE "C" NOT NULL CHECK (created_by <> ''), confirmed_at BIGINT,
  confirmed_by TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, bytes BYTEA NOT NULL, UNIQUE (document_id, number)
);

-- What people did with them: added, confirmed, dated.
CREATE TABLE policy_history (
  number BIGINT PRIMARY KEY, version_id TEXT COLLATE "C" NOT NULL REFERENCES policy_versions(id), act TEXT COLLATE "C" NOT NULL, valid_from TEXT COLLATE "C" NOT NULL,
  valid_until TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL CHECK (actor <> '')
);
CREATE INDEX policy_history_by_version ON policy_history (version_id, number);

-- +goose StatementBegin
CREATE FUNCTION policy_text_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a version of a policy stays as it was: % is refused', TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER policy_versions_stay BEFORE UPDATE OF id, document_id, number, file, kind, size, sha256, reading, created_at, created_by, text, bytes
  ON policy_versions FOR EACH ROW EXECUTE FUNCTION policy_text_stays();
CREATE TRIGGER policy_versions_are_kept BEFORE DELETE OR TRUNCATE ON policy_versions FOR EACH STATEMENT EXECUTE FUNCTION policy_text_stays();
