-- +goose Up

-- Where fixes are posted. A change is a new version, the last one counts. What signs instructions is sealed and kept apart from the
-- rest, which may be shown.
CREATE TABLE posting_routes (
  version BIGINT PRIMARY KEY, destination TEXT COLLATE "C" NOT NULL CHECK (destination <> ''), settings TEXT COLLATE "C" NOT NULL,
  secrets TEXT COLLATE "C" NOT NULL, applied_at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL CHECK (actor <> '')
);

-- Fixes that others are asked to post: written in the transaction that decides, before anybody is asked. While nobody knows what came
-- of one, there is no other of the same transaction and kind.
CREATE TABLE instructions (
  id TEXT COLLATE "C" PRIMARY KEY, case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), round BIGINT NOT NULL,
  transaction_id TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL, amount_minor BIGINT NOT NULL,
  currency TEXT COLLATE "C" NOT NULL, input_hash TEXT COLLATE "C" NOT NULL,
  body BYTEA NOT NULL, body_hash TEXT COLLATE "C" NOT NULL, -- the bytes that are sent, the same each time
  route BIGINT NOT NULL REFERENCES posting_routes(version), outcome TEXT COLLATE "C" NOT NULL, handled_by TEXT COLLATE "C" NOT NULL,
  waived TEXT COLLATE "C" NOT NULL, actor TEXT COLLATE "C" NOT NULL CHECK (actor <> ''), requested_at BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('requested', 'confirmed', 'rejected', 'unknown')),
  acknowledged BOOLEAN NOT NULL,                     -- they said once that they have it
  attempts BIGINT NOT NULL, failures BIGINT NOT NULL, failing_since BIGINT NOT NULL,
  ask_at BIGINT NOT NULL, woken_at BIGINT NOT NULL,  -- not before; when a worker was last woken for it
  lease_token BIGINT NOT NULL, lease_until BIGINT NOT NULL
);
CREATE UNIQUE INDEX instructions_open ON instructions (transaction_id, kind) WHERE state IN ('requested', 'unknown');
CREATE INDEX instructions_by_case ON instructions (case_id, requested_at);
CREATE INDEX instructions_waiting ON instructions (ask_at) WHERE state = 'requested';

-- +goose StatementBegin
CREATE FUNCTION instruction_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% stays as it was: it refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER posting_routes_stay BEFORE UPDATE OF version, destination, settings, applied_at, actor ON posting_routes
  FOR EACH ROW EXECUTE FUNCTION instruction_stays();
CREATE TRIGGER posting_routes_are_kept BEFORE DELETE OR TRUNCATE ON posting_routes FOR EACH STATEMENT EXECUTE FUNCTION instruction_stays();
CREATE TRIGGER instructions_stay BEFORE UPDATE OF id, case_id, round, transaction_id, kind, account_id, amount_minor, currency, input_hash, body, body_hash, route,
  outcome, handled_by, waived, actor, requested_at ON instructions FOR EACH ROW EXECUTE FUNCTION instruction_stays();
CREATE TRIGGER instructions_end_once BEFORE UPDATE ON instructions FOR EACH ROW WHEN (OLD.state IN ('confirmed', 'rejected')) EXECUTE FUNCTION instruction_stays();
CREATE TRIGGER instructions_are_kept BEFORE DELETE OR TRUNCATE ON instructions FOR EACH STATEMENT EXECUTE FUNCTION instruction_stays();
