-- +goose Up

-- Who has a case on their desk. It decides nothing and is no part of the record: see claims.go.
CREATE TABLE claims (
  case_id TEXT COLLATE "C" PRIMARY KEY REFERENCES cases(id), person_id TEXT COLLATE "C" NOT NULL CHECK (person_id <> ''),
  since BIGINT NOT NULL, until BIGINT NOT NULL
);
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
  word TEXT COLLATE "C" NOT NULL, customer_id TEXT COLLATE "C" NOT NULL REFERENCES customers(id) ON DELETE CASCADE,
  PRIMARY KEY (word, customer_id)
);
CREATE INDEX customer_words_by_customer ON customer_words (customer_id);

-- +goose StatementBegin
CREATE FUNCTION customer_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM customer_words WHERE customer_id = NEW.id;
  END IF;
  INSERT INTO customer_words (word, customer_id) SELECT DISTINCT word, NEW.id
    FROM unnest(string_to_array(REPLACE(LOWER(NEW.name), '-', ' '), ' ')) AS word WHERE word <> '';
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER customers_named AFTER INSERT ON customers FOR EACH ROW EXECUTE FUNCTION customer_named();
CREATE TRIGGER customers_renamed AFTER UPDATE OF name ON customers FOR EACH ROW WHEN (NEW.name <> OLD.name) EXECUTE FUNCTION customer_named();

INSERT INTO customer_words (word, customer_id) SELECT DISTINCT word, customers.id
  FROM customers, unnest(string_to_array(REPLACE(LOWER(customers.name), '-', ' '), ' ')) AS word WHERE word <> '';
