-- +goose Up

-- An inquiry and the chargeback that it became are two disputes: the second has a clock of its own and wants an answer of its own.
DROP INDEX cases_open;
CREATE UNIQUE INDEX cases_open ON cases (desk, subject_kind, subject_id, reason, provider_ref, stage) WHERE status <> 'closed';

-- By a provider's own reference of a dispute, which is what its mails name.
CREATE INDEX cases_by_reference ON cases (provider_ref) WHERE provider_ref <> '';
