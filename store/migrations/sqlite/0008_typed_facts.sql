-- +goose Up

-- What people typed in about a case. One that is taken back stays, with who did it: somebody may have relied on it.
CREATE TABLE typed_facts (
  id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id), kind TEXT NOT NULL, text TEXT NOT NULL, happened_on TEXT NOT NULL,
  amount_minor INTEGER NOT NULL, currency TEXT NOT NULL, reference TEXT NOT NULL, typed_at INTEGER NOT NULL,
  typed_by TEXT NOT NULL CHECK (typed_by <> ''), removed_at INTEGER, removed_by TEXT NOT NULL
) STRICT;
CREATE INDEX typed_facts_by_case ON typed_facts (case_id, typed_at, id);

-- +goose StatementBegin
CREATE TRIGGER typed_facts_stay BEFORE UPDATE OF id, case_id, kind, text, happened_on, amount_minor, currency, reference, typed_at, typed_by ON typed_facts
  BEGIN SELECT RAISE(ABORT, 'a typed-in fact stays as it was typed: typed_facts refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER typed_facts_are_taken_back_once BEFORE UPDATE ON typed_facts WHEN OLD.removed_by <> ''
  BEGIN SELECT RAISE(ABORT, 'a typed-in fact that was taken back stays so: typed_facts refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER typed_facts_are_kept BEFORE DELETE ON typed_facts BEGIN SELECT RAISE(ABORT, 'a typed-in fact is kept: typed_facts refuses DELETE'); END;
-- +goose StatementEnd
