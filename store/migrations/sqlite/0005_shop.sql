-- +goose Up

-- How the shop's own database is read. A change is a new version, the last one counts, and the others say how it was read before.
-- The connection string is sealed and kept apart from the mapping, which may be shown.
CREATE TABLE shop_mappings (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, mapping TEXT NOT NULL, connection TEXT NOT NULL,
  confirmed_by TEXT NOT NULL CHECK (confirmed_by <> ''), -- who said that the rows it reads are read rightly
  created_at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;

-- What somebody has answered so far who is setting a mapping up.
CREATE TABLE shop_drafts (
  person_id TEXT PRIMARY KEY CHECK (person_id <> ''), draft TEXT NOT NULL, connection TEXT NOT NULL, changed_at INTEGER NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER shop_mappings_update BEFORE UPDATE OF version, name, mapping, confirmed_by, created_at, actor ON shop_mappings BEGIN SELECT RAISE(ABORT, 'a version of the shop mapping is never changed: shop_mappings refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER shop_mappings_delete BEFORE DELETE ON shop_mappings BEGIN SELECT RAISE(ABORT, 'a version of the shop mapping is kept: shop_mappings refuses DELETE'); END;
-- +goose StatementEnd
