-- +goose Up
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE, -- in small letters
  name TEXT NOT NULL, role TEXT NOT NULL, zone TEXT NOT NULL DEFAULT 'UTC',
  password TEXT NOT NULL, -- an argon2id hash with its parameters, empty while there is none
  generation INTEGER NOT NULL DEFAULT 1, -- grows when role, password or access change: a session of an earlier one is over
  created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> ''),
  changed_at INTEGER NOT NULL, changed_by TEXT NOT NULL CHECK (changed_by <> ''), disabled_at INTEGER
) STRICT;

CREATE TABLE sessions (
  token TEXT PRIMARY KEY, -- a hash of what the cookie holds
  data BLOB NOT NULL, expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE links (
  hash TEXT PRIMARY KEY,
  person_id TEXT NOT NULL, -- empty for setting up: nobody exists yet
  purpose TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> ''),
  expires_at INTEGER NOT NULL, used_at INTEGER
) STRICT;
CREATE INDEX links_by_person ON links (person_id);

ALTER TABLE tokens ADD COLUMN revoked_by TEXT NOT NULL DEFAULT '';
