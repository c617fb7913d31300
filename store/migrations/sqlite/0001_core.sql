-- +goose Up

CREATE TABLE customers (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, home_city TEXT NOT NULL,
  home_country TEXT NOT NULL, joined_at TEXT NOT NULL, flags TEXT NOT NULL
) STRICT;

CREATE TABLE accounts (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers(id), number TEXT NOT NULL, currency TEXT NOT NULL,
  kind TEXT NOT NULL, status TEXT NOT NULL,
  postings INTEGER NOT NULL DEFAULT 0 -- grows with every fix and import that touches the account: updating it is the lock
) STRICT;
CREATE INDEX accounts_by_customer ON accounts (customer_id);

CREATE TABLE merchants (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, country TEXT NOT NULL, flagged INTEGER NOT NULL
) STRICT;

CREATE TABLE devices (
  id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers(id), label TEXT NOT NULL, first_seen_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, trusted INTEGER
) STRICT;
CREATE INDEX devices_by_customer ON devices (customer_id);

-- Times in bank records are text: RFC 3339 UTC with six digits of a second, or a bare date. Text order is time order.
CREATE TABLE transactions (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts(id), kind TEXT NOT NULL, direction TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0), currency TEXT NOT NULL, status TEXT NOT NULL, occurred_at TEXT NOT NULL,
  posted_at TEXT NOT NULL, merchant_id TEXT NOT NULL, counterparty_name TEXT NOT NULL, counterparty_account TEXT NOT NULL,
  reference TEXT NOT NULL, end_to_end_id TEXT NOT NULL, channel TEXT NOT NULL, device_id TEXT NOT NULL, city TEXT NOT NULL,
  country TEXT NOT NULL, memo TEXT NOT NULL
) STRICT;
CREATE INDEX transactions_by_account ON transactions (account_id, occurred_at);
CREATE INDEX transactions_by_end_to_end ON transactions (end_to_end_id) WHERE end_to_end_id <> '';

CREATE TABLE ledger_entries (
  id TEXT PRIMARY KEY, transaction_id TEXT NOT NULL, account_id TEXT NOT NULL, direction TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0), currency TEXT NOT NULL, kind TEXT NOT NULL, posted_at TEXT NOT NULL,
  memo TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_entries_by_transaction ON ledger_entries (transaction_id);

CREATE TABLE settlements (
  transaction_id TEXT PRIMARY KEY, status TEXT NOT NULL, final INTEGER NOT NULL, updated_at TEXT NOT NULL, rail TEXT NOT NULL,
  reference TEXT NOT NULL, failure_reason TEXT NOT NULL
) STRICT;

-- Instants of our own are microseconds since 1970, UTC.
CREATE TABLE cases (
  id TEXT PRIMARY KEY, desk TEXT NOT NULL, subject_kind TEXT NOT NULL, subject_id TEXT NOT NULL, customer_id TEXT NOT NULL,
  channel TEXT NOT NULL, reason TEXT NOT NULL, notes TEXT NOT NULL, amount_minor INTEGER NOT NULL, currency TEXT NOT NULL,
  status TEXT NOT NULL, stage TEXT NOT NULL, recommendation TEXT NOT NULL, outcome TEXT NOT NULL, handled_by TEXT NOT NULL,
  raised INTEGER NOT NULL, opened_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, due_at INTEGER, due_source TEXT NOT NULL,
  risk INTEGER NOT NULL, -- the queue's order: 0 while no deadline is known, the deadline while open, the largest number when closed
  round INTEGER NOT NULL, revision INTEGER NOT NULL, proposal TEXT NOT NULL, facts TEXT NOT NULL, verdict TEXT NOT NULL,
  reasons TEXT NOT NULL, -- the verdict's codes between spaces, to filter by
  fix TEXT NOT NULL, message TEXT NOT NULL, model TEXT NOT NULL,
  lease_token INTEGER NOT NULL, lease_until INTEGER NOT NULL, job_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX cases_open ON cases (desk, subject_kind, subject_id, reason) WHERE status <> 'closed';
CREATE INDEX cases_by_risk ON cases (risk, id);
CREATE INDEX cases_by_status ON cases (status, risk, id);
CREATE INDEX cases_by_customer ON cases (customer_id, opened_at);

CREATE TABLE record_heads (
  case_id TEXT PRIMARY KEY REFERENCES cases(id), seq INTEGER NOT NULL, hash TEXT NOT NULL
) STRICT;

CREATE TABLE record_rows (
  case_id TEXT NOT NULL REFERENCES cases(id), seq INTEGER NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor <> ''), at INTEGER NOT NULL, commitment TEXT NOT NULL, prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (case_id, seq), UNIQUE (case_id, prev_hash)
) STRICT;

CREATE TABLE record_payloads (
  case_id TEXT NOT NULL, seq INTEGER NOT NULL, salt BLOB NOT NULL, payload BLOB NOT NULL,
  PRIMARY KEY (case_id, seq)
) STRICT;

CREATE TABLE fixes (
  transaction_id TEXT NOT NULL, kind TEXT NOT NULL, case_id TEXT NOT NULL REFERENCES cases(id), input_hash TEXT NOT NULL,
  account_id TEXT NOT NULL, amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, actor TEXT NOT NULL, posted_at INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, kind)
) STRICT;

CREATE TABLE idempotency_keys (
  principal TEXT NOT NULL, route TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, case_id TEXT NOT NULL,
  created_at INTEGER NOT NULL, PRIMARY KEY (principal, route, key)
) STRICT;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, revoked_at INTEGER
) STRICT;

CREATE TABLE settings (
  name TEXT PRIMARY KEY, value TEXT NOT NULL, changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE policies (
  number INTEGER PRIMARY KEY, limits TEXT NOT NULL, applied_at INTEGER NOT NULL, actor TEXT NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER record_rows_update BEFORE UPDATE ON record_rows BEGIN SELECT RAISE(ABORT, 'the record is append-only: record_rows refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER record_rows_delete BEFORE DELETE ON record_rows BEGIN SELECT RAISE(ABORT, 'the record is append-only: record_rows refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER record_payloads_update BEFORE UPDATE ON record_payloads BEGIN SELECT RAISE(ABORT, 'the record is append-only: record_payloads refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER record_payloads_delete BEFORE DELETE ON record_payloads BEGIN SELECT RAISE(ABORT, 'the record is append-only: record_payloads refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER record_heads_delete BEFORE DELETE ON record_heads BEGIN SELECT RAISE(ABORT, 'the record is append-only: record_heads refuses DELETE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER policies_update BEFORE UPDATE ON policies BEGIN SELECT RAISE(ABORT, 'the record is append-only: policies refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER policies_delete BEFORE DELETE ON policies BEGIN SELECT RAISE(ABORT, 'the record is append-only: policies refuses DELETE'); END;
-- +goose StatementEnd
