-- +goose Up

-- Who has a case on their desk. It decides nothing and is no part of the record: see claims.go.
CREATE TABLE claims (
  case_id TEXT PRIMARY KEY REFERENCES cases(id), person_id TEXT NOT NULL CHECK (person_id <> ''), since INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;
CREATE INDEX claims_by_person ON claims (person_id);

-- The queue is read from these without touching a case that is not shown: a case is wide, and there are many.
DROP INDEX cases_by_risk;
CREATE INDEX cases_in_order ON cases (risk, id, status, desk, reason, recommendation, raised, reasons);
CREATE INDEX cases_counted ON cases (reasons, desk, status, reason, recommendation, raised, risk, id) WHERE status <> 'closed';
CREATE INDEX cases_closed ON cases (updated_at, id, desk, reason, recommendation, reasons) WHERE status = 'closed';
DROP INDEX cases_by_customer;
CREATE INDEX cases_by_customer ON cases (customer_id, opened_at, id);
CREATE INDEX cases_by_subject ON cases (subject_id);
CREATE INDEX cases_by_amount ON cases (amount_minor, currency, id);

CREATE INDEX transactions_by_amount ON transactions (amount_minor, currency, occurred_at);
CREATE INDEX transactions_by_reference ON transactions (reference) WHERE reference <> '';
CREATE INDEX accounts_by_number ON accounts (number);
CREATE INDEX accounts_by_last_four ON accounts (SUBSTR(number, LENGTH(number) - 3)) WHERE LENGTH(number) >= 4;

-- The words of customers' names, to find somebody by any of them. The database keeps it, whoever writes a customer.
CREATE TABLE customer_words (
  word TEXT NOT NULL, customer_id TEXT NOT NULL REFERENCES customers(id) ON DELETE CASCADE, PRIMARY KEY (word, customer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX customer_words_by_customer ON customer_words (customer_id);

-- A list in JSON is what SQLite can split: "ada obi-eze" becomes ["ada","obi","eze"].
-- +goose StatementBegin
CREATE TRIGGER customers_named AFTER INSERT ON customers BEGIN
  INSERT INTO customer_words (word, customer_id) SELECT DISTINCT value, NEW.id
    FROM json_each('[' || REPLACE(REPLACE(json_quote(LOWER(NEW.name)), ' ', '","'), '-', '","') || ']') WHERE value <> '';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER customers_renamed AFTER UPDATE OF name ON customers WHEN NEW.name <> OLD.name BEGIN
  DELETE FROM customer_words WHERE customer_id = NEW.id;
  INSERT INTO customer_words (word, customer_id) SELECT DISTINCT value, NEW.id
    FROM json_each('[' || REPLACE(REPLACE(json_quote(LOWER(NEW.name)), ' ', '","'), '-', '","') || ']') WHERE value <> '';
END;
-- +goose StatementEnd

INSERT INTO customer_words (word, customer_id) SELECT DISTINCT value, customers.id
  FROM customers, json_each('[' || REPLACE(REPLACE(json_quote(LOWER(customers.name)), ' ', '","'), '-', '","') || ']') WHERE value <> '';
