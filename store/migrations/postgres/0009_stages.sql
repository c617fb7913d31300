-- +goose Up

-- An inquiry and the chargeback that it became are two disputes: the second has a clock of its own and wants an answer of its own.
DROP INDEX cases_open;
CREATE UNIQUE INDEX cases_open ON cases (desk, subject_kind, subject_id, reason, provider_ref, stage) WHERE status <> 'closed';
