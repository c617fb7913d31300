-- +goose Up

-- What a network or a provider says of a dispute. Two of them may be about one order: each has a reference of its own.
ALTER TABLE cases ADD COLUMN terms TEXT NOT NULL DEFAULT '{}';
ALTER TABLE cases ADD COLUMN provider_ref TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN contested TEXT NOT NULL DEFAULT '';
DROP INDEX cases_open;
CREATE UNIQUE INDEX cases_open ON cases (desk, subject_kind, subject_id, reason, provider_ref) WHERE status <> 'closed';
