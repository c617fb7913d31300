-- +goose Up

-- What people typed in about a case. One that is taken back stays, with who did it: somebody may have relied on it.
CREATE TABLE typed_facts (
  id TEXT COLLATE "C" PRIMARY KEY, case_id TEXT COLLATE "C" NOT NULL REFERENCES cases(id), kind TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL, happened_on TEXT COLLATE "C" NOT NULL, amount_minor BIGINT NOT NULL, currency TEXT COLLATE "C" NOT NULL,
  reference TEXT COLLATE "C" NOT NULL, typed_at BIGINT NOT NULL, typed_by TEXT COLLATE "C" NOT NULL CHECK (typed_by <> ''), removed_at BIGINT,
  removed_by TEXT COLLATE "C" NOT NULL
);
CREATE INDEX typed_facts_by_case ON typed_facts (case_id, typed_at, id);

CREATE TRIGGER typed_facts_stay BEFORE UPDATE OF id, case_id, kind, text, happened_on, amount_minor, currency, reference, typed_at, typed_by ON typed_facts
  FOR EACH ROW EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER typed_facts_are_taken_back_once BEFORE UPDATE ON typed_facts FOR EACH ROW WHEN (OLD.removed_by <> '') EXECUTE FUNCTION evidence_stays();
CREATE TRIGGER typed_facts_are_kept BEFORE DELETE OR TRUNCATE ON typed_facts FOR EACH STATEMENT EXECUTE FUNCTION evidence_stays();
