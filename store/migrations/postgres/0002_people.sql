-- +goose Up
CREATE TABLE people (
  id TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL UNIQUE, -- in small letters
  name TEXT COLLATE "C" NOT NULL, role TEXT COLLATE "C" NOT NULL, zone TEXT COLLATE "C" NOT NULL DEFAULT 'UTC',
  password TEXT COLLATE "C" NOT NULL, -- an argon2id hash with its parameters, empty while there is none
  generation BIGINT NOT NULL DEFAULT 1, -- grows when role, password or access change: a session of an earlier one is over
  created_at BIGINT NOT NULL, created_by TEXT COLLATE "C" NOT NULL CHECK (created_by <> ''),
  changed_at BIGINT NOT NULL, changed_by TEXT COLLATE "C" NOT NULL CHECK (changed_by <> ''), disabled_at BIGINT
);

CREATE TABLE sessions (
  token TEXT COLLATE "C" PRIMARY KEY, -- a hash of what the cookie holds
  data BYTEA NOT NULL, expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE links (
  hash TEXT COLLATE "C" PRIMARY KEY,
  person_id TEXT COLLATE "C" NOT NULL, -- empty for setting up: nobody exists yet
  purpose TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, created_by TEXT COLLATE "C" NOT NULL CHECK (created_by <> ''),
  expires_at BIGINT NOT NULL, used_at BIGINT
);
CREATE INDEX links_by_person ON links (person_id);

ALTER TABLE tokens ADD COLUMN revoked_by TEXT COLLATE "C" NOT NULL DEFAULT '';
