-- +goose Up

-- How the shop's own database is read. A change is a new version, the last one counts, and the others say how it was read before.
-- The connection string is sealed and kept apart from the mapping, which may be shown.
CREATE TABLE shop_mappings (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, mapping TEXT NOT NULL, connection TEXT NOT NULL,
  confirmed_by TEXT NOT NULL CHECK (confirmed_by <> ''), -- who said that the rows it reads are read rightly
  created_at BIGINT NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
);

-- What somebody has answered so far who is setting a mapping up.
CREATE TABLE shop_drafts (
  person_id TEXT COLLATE "C" PRIMARY KEY CHECK (person_id <> ''), draft TEXT NOT NULL, connection TEXT NOT NULL, changed_at BIGINT NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION shop_mapping_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a version of the shop mapping is never changed: % refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER shop_mappings_refuses BEFORE UPDATE OF version, name, mapping, confirmed_by, created_at, actor OR DELETE OR TRUNCATE ON shop_mappings
  FOR EACH STATEMENT EXECUTE FUNCTION shop_mapping_is_kept();
