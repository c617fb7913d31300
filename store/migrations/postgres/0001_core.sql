-- +goose Up
-- Every text column compares by bytes, as SQLite does: pages, indexes and exports come in the same order on both.

CREATE TABLE customers (
  id TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, email TEXT COLLATE "C" NOT NULL, phone TEXT COLLATE "C" NOT NULL, home_city TEXT COLLATE "C" NOT NULL,
  home_country TEXT COLLATE "C" NOT NULL, joined_at TEXT COLLATE "C" NOT NULL, flags TEXT COLLATE "C" NOT NULL
);

CREATE TABLE accounts (
  id TEXT COLLATE "C" PRIMARY KEY, customer_id TEXT COLLATE "C" NOT NULL REFERENCES customers(id), number TEXT COLLATE "C" NOT NULL, currency TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL, status TEXT COLLATE "C" NOT NULL,
  postings BIGINT NOT NULL DEFAULT 0 -- grows with every fix and import that touches the account: updating it is the lock
);
CREATE INDEX accounts_by_customer ON accounts (customer_id);

CREATE TABLE merchants (
  id TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, category TEXT COLLATE "C" NOT NULL, country TEXT COLLATE "C" NOT NULL, flagged BOOLEAN NOT NULL
);

CREATE TABLE devices (
  id TEXT COLLATE "C" PRIMARY KEY, customer_id TEXT COLLATE "C" NOT NULL REFERENCES customers(id), label TEXT COLLATE "C" NOT NULL, first_seen_at TEXT COLLATE "C" NOT NULL,
  last_seen_at TEXT COLLATE "C" NOT NULL, city TEXT COLLATE "C" NOT NULL, country TEXT COLLATE "C" NOT NULL, trusted BOOLEAN
);
CREATE INDEX devices_by_customer ON devices (customer_id);

-- Times in bank records are text: RFC 3339 UTC with six digits of a second, or a bare date. Text order is time order.
CREATE TABLE transactions (
  id TEXT COLLATE "C" PRIMARY KEY, account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts(id), kind TEXT COLLATE "C" NOT NULL, direction TEXT COLLATE "C" NOT NULL,
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0), currency TEXT COLLATE "C" NOT NULL, status TEXT COLLATE "C" NOT NULL, occurred_at TEXT COLLATE "C" NOT NULL,
  posted_at TEXT COLLATE "C" NOT NULL, merchant_id TEXT COLLATE "C" NOT NULL, counterparty_name TEXT COLLATE "C" NOT NULL, counterparty_account TEXT COLLATE "C" NOT NULL,
  reference TEXT COLLATE "C" NOT NULL, end_to_end_id TEXT COLLATE "C" NOT NULL, channel TEXT COLLATE "C" NOT NULL, device_id TEXT COLLATE "C" NOT NULL, city TEXT COLLATE "C" NOT NULL,
  country TEXT COLLATE "C" NOT NULL, memo TEXT COLLATE "C" NOT NULL
);
CREATE INDEX transactions_by_account ON transactions (account_id, occurred_at);
CREATE INDEX transactions_by_end_to_end ON transactions (end_to_end_id) WHERE end_to_end_id <> '';

CREATE TABLE ledger_entries (
  id TEXT COLLATE "C" PRIMARY KEY, transaction_id TEXT COLLATE "C" NOT NULL, account_id TEXT COLLATE "C" NOT NULL, direction TEXT COLLATE "C" NOT NULL,
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0), currency TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL, posted_at TEXT COLLATE "C" NOT NULL,
  memo TEXT COLLATE "C" NOT NULL
);
CREATE INDEX ledger_entries_by_transaction ON ledger_entries (transaction_id);

CREATE TABLE settlements (
  transaction_id TEXT COLLATE "C" PRIMARY KEY, status TEXT COLLATE "C" NOT NULL, final BOOLEAN NOT NULL, updated_at TEXT COLLATE "C" NOT NULL, rail TEXT COLLATE "C" NOT NULL,
  reference TEXT COLLATE "C" NOT NULL, failure_reason TEXT COLLATE "C" NOT NULL
);

-- Instants of our own are microseconds since 1970, UTC.
CREATE TABLE cases (
  id TEXT COLLATE "C" PRIMARY KEY, desk TEXT COLLATE "C" NOT NULL, subject_kind TEXT COLLATE "C" NOT NULL, subject_id TEXT COLLATE "C" NOT NULL, customer_id TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL, reason TEXT COLLATE "C" NOT NULL, notes TEXT COLLATE "C" NOT NULL, amount_minor BIGINT NOT NULL, currency TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL, stage TEXT COLLATE "C" NOT NULL, recommendation TEXT COLLATE "C" NOT NULL, outcome TEXT COLLATE "C" NOT NULL, handled_by TEXT COLLATE "C" NOT NULL,
  raised BOOLEAN NOT NULL, opened_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, due_at BIGINT, due_source TEXT COLLATE "C" NOT NULL,
  risk BIGINT NOT NULL, -- the queue's order: 0 while no deadline is known, the deadline while open, the largest number when closed
  round BIGINT NOT NULL, revision BIGINT NOT NULL, proposal TEXT COLLATE "C" NOT NULL, facts TEXT COLLATE "C" NOT NULL, verdict TEXT COLLATE "C" NOT NULL,
  reasons TEXT COLLATE "C" NOT NULL, -- the verdict's codes between spaces, to filter by
  fix TEXT COLLATE "C" NOT NULL, message TEXT COLLATE "C" NOT NULL, model TEXT COLLATE "C" NOT NULL,
  lease_token BIGINT NOT NULL, lease_until BIGINT NOT NULL, job_id BIGINT NOT NULL
);
CREATE UNIQUE INDEX cases_open ON cases (desk, subject_kind, subject_id, reason) WHERE status <> 'closed';
CREATE INDEX cases_by_risk ON cases (risk, id);
CREATE INDEX cases_by_status ON cases (status, risk, id);
CREATE INDEX cases_by_customer ON cases (customer_id, opened_at);

CREATE TABLE record_heads (
  case_id TEXT COLLATE "C" PRIMARY KEY REFERENCES cases(id), seq BIGINT NOT NULL, hash TEXT COLLATE "C" NOT NULL
);

CREATE TABLE record_rows (
  case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), seq BIGINT NOT NULL, version BIGINT NOT NULL, kind TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL CHECK (actor <> ''), at BIGINT NOT NULL, commitment TEXT COLLATE "C" NOT NULL, prev_hash TEXT COLLATE "C" NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (case_id, seq), UNIQUE (case_id, prev_hash)
);

CREATE TABLE record_payloads (
  case_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, salt BYTEA NOT NULL, payload BYTEA NOT NULL,
  PRIMARY KEY (case_id, seq)
);

CREATE TABLE fixes (
  transaction_id TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL, case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), input_hash TEXT COLLATE "C" NOT NULL,
  account_id TEXT COLLATE "C" NOT NULL, amount_minor BIGINT NOT NULL, currency TEXT COLLATE "C" NOT NULL, actor TEXT COLLATE "C" NOT NULL, posted_at BIGINT NOT NULL,
  PRIMARY KEY (transaction_id, kind)
);

CREATE TABLE idempotency_keys (
  principal TEXT COLLATE "C" NOT NULL, route TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, body_hash TEXT COLLATE "C" NOT NULL, case_id TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL, PRIMARY KEY (principal, route, key)
);

CREATE TABLE tokens (
  id TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, role TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL UNIQUE, created_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL, revoked_at BIGINT
);

CREATE TABLE settings (
  name TEXT COLLATE "C" PRIMARY KEY, value TEXT COLLATE "C" NOT NULL, changed_at BIGINT NOT NULL
);

CREATE TABLE policies (
  number BIGINT PRIMARY KEY, limits TEXT COLLATE "C" NOT NULL, applied_at BIGINT NOT NULL, actor TEXT COLLATE "C" NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION record_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the record is append-only: % refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER record_rows_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON record_rows FOR EACH STATEMENT EXECUTE FUNCTION record_is_append_only();
CREATE TRIGGER record_payloads_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON record_payloads FOR EACH STATEMENT EXECUTE FUNCTION record_is_append_only();
CREATE TRIGGER record_heads_refuses BEFORE DELETE OR TRUNCATE ON record_heads FOR EACH STATEMENT EXECUTE FUNCTION record_is_append_only();
CREATE TRIGGER policies_refuses BEFORE UPDATE OR DELETE OR TRUNCATE ON policies FOR EACH STATEMENT EXECUTE FUNCTION record_is_append_only();
