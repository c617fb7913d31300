-- +goose Up

-- How many cases a pool (a desk, a model) may have under investigation at once, on all machines together. The row is also the lock that
-- whoever takes a place holds; how many places are taken is counted from the cases themselves.
CREATE TABLE pools (
  name TEXT PRIMARY KEY, max_cases INTEGER NOT NULL CHECK (max_cases > 0)
) STRICT;

-- What was set, with who set it; the last is in force.
CREATE TABLE workloads (
  number INTEGER PRIMARY KEY, workload TEXT NOT NULL, applied_at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER workloads_update BEFORE UPDATE ON workloads BEGIN SELECT RAISE(ABORT, 'what was set is kept: workloads refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER workloads_delete BEFORE DELETE ON workloads BEGIN SELECT RAISE(ABORT, 'what was set is kept: workloads refuses DELETE'); END;
-- +goose StatementEnd

-- Where a case stands with the pools. It has a row only since some pool has a limit.
CREATE TABLE places (
  case_id TEXT PRIMARY KEY REFERENCES cases(id),
  model TEXT NOT NULL, -- whose place the case holds while it is investigated, beside its desk's
  waits_for TEXT NOT NULL, -- the full pool in whose line the case stands while it is queued; empty when in none
  since INTEGER NOT NULL,
  called INTEGER NOT NULL -- a place is free for it, and a job on its way
) STRICT;
CREATE INDEX places_in_line ON places (waits_for, since, case_id) WHERE waits_for <> '';
CREATE INDEX places_called ON places (waits_for, called, since, case_id) WHERE waits_for <> ''; -- a line may be long, and is not to be counted
