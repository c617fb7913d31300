-- +goose Up

-- How many cases a pool (a desk, a model) may have under investigation at once, on all machines together. The row is also the lock that
-- whoever takes a place holds; how many places are taken is counted from the cases themselves.
CREATE TABLE pools (
  name TEXT COLLATE "C" PRIMARY KEY, max_cases BIGINT NOT NULL CHECK (max_cases > 0)
);

-- What was set, with who set it; the last is in force.
CREATE TABLE workloads (
  number BIGINT PRIMARY KEY, workload TEXT COLLATE "C" NOT NULL, applied_at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL CHECK (actor <> '')
);
-- +goose StatementBegin
CREATE FUNCTION workloads_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'what was set is kept: % refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER workloads_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON workloads FOR EACH STATEMENT EXECUTE FUNCTION workloads_are_kept();

-- Where a case stands with the pools. It has a row only since some pool has a limit.
CREATE TABLE places (
  case_id TEXT COLLATE "C" PRIMARY KEY REFERENCES cases(id),
  model TEXT COLLATE "C" NOT NULL, -- whose place the case holds while it is investigated, beside its desk's
  waits_for TEXT COLLATE "C" NOT NULL, -- the full pool in whose line the case stands while it is queued; empty when in none
  since BIGINT NOT NULL,
  called BOOLEAN NOT NULL -- a place is free for it, and a job on its way
);
CREATE INDEX places_in_line ON places (waits_for, since, case_id) WHERE waits_for <> '';
CREATE INDEX places_called ON places (waits_for, called, since, case_id) WHERE waits_for <> ''; -- a line may be long, and is not to be counted
