-- +goose Up

-- Where fixes are posted. A change is a new version, the last one counts. What signs instructions is sealed and kept apart from the
-- rest, which may be shown.
CREATE TABLE posting_routes (
  version INTEGER PRIMARY KEY, destination TEXT NOT NULL CHECK (destination <> ''), settings TEXT NOT NULL, secrets TEXT NOT NULL,
  applied_at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;

-- Fixes that others are asked to post: written in the transaction that decides, before anybody is asked. While nobody knows what came
-- of one, there is no other of the same transaction and kind.
CREATE TABLE instructions (
  id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id), round INTEGER NOT NULL, transaction_id TEXT NOT NULL, kind TEXT NOT NULL,
  account_id TEXT NOT NULL, amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, input_hash TEXT NOT NULL,
  body BLOB NOT NULL, body_hash TEXT NOT NULL, -- the bytes that are sent, the same each time
  route INTEGER NOT NULL REFERENCES posting_routes(version), outcome TEXT NOT NULL, handled_by TEXT NOT NULL, waived TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor <> ''), requested_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('requested', 'confirmed', 'rejected', 'unknown')),
  acknowledged INTEGER NOT NULL,                        -- they said once that they have it
  attempts INTEGER NOT NULL, failures INTEGER NOT NULL, failing_since INTEGER NOT NULL,
  ask_at INTEGER NOT NULL, woken_at INTEGER NOT NULL,   -- not before; when a worker was last woken for it
  lease_token INTEGER NOT NULL, lease_until INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX instructions_open ON instructions (transaction_id, kind) WHERE state IN ('requested', 'unknown');
CREATE INDEX instructions_by_case ON instructions (case_id, requested_at);
CREATE INDEX instructions_waiting ON instructions (ask_at) WHERE state = 'requested';

-- +goose StatementBegin
CREATE TRIGGER posting_routes_update BEFORE UPDATE OF version, destination, settings, applied_at, actor ON posting_routes BEGIN SELECT RAISE(ABORT, 'a version of where fixes are posted is never changed: posting_routes refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER posting_routes_delete BEFORE DELETE ON posting_routes BEGIN SELECT RAISE(ABORT, 'a version of where fixes are posted is kept: posting_routes refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER instructions_stay BEFORE UPDATE OF id, case_id, round, transaction_id, kind, account_id, amount_minor, currency, input_hash, body, body_hash, route, outcome, handled_by, waived, actor, requested_at ON instructions
  BEGIN SELECT RAISE(ABORT, 'an instruction stays as it was decided: instructions refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER instructions_end_once BEFORE UPDATE ON instructions WHEN OLD.state IN ('confirmed', 'rejected')
  BEGIN SELECT RAISE(ABORT, 'an instruction that has ended stays so: instructions refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER instructions_are_kept BEFORE DELETE ON instructions BEGIN SELECT RAISE(ABORT, 'an instruction is kept: instructions refuses DELETE'); END;
-- +goose StatementEnd
