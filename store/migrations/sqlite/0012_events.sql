-- +goose Up

-- How the network decided, and why a case is open again, each as JSON; empty while there is none.
ALTER TABLE cases ADD COLUMN result TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN reopened TEXT NOT NULL DEFAULT '';

-- Who may send events. Secrets are sealed; the one before stays good for a while after it was replaced.
CREATE TABLE event_sources (
  name TEXT PRIMARY KEY CHECK (name <> ''), desk TEXT NOT NULL, secret TEXT NOT NULL, former TEXT NOT NULL, former_until INTEGER NOT NULL,
  window_seconds INTEGER NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL CHECK (created_by <> '')
) STRICT;

-- Who changed that, and how: a source that was removed is found here alone.
CREATE TABLE event_source_changes (
  source TEXT NOT NULL, number INTEGER NOT NULL, what TEXT NOT NULL CHECK (what IN ('added', 'rotated', 'removed')), at INTEGER NOT NULL,
  actor TEXT NOT NULL CHECK (actor <> ''), PRIMARY KEY (source, number)
) STRICT;

-- What they sent, byte for byte as it was received. That an event is one, however often it is delivered, is said by the indexes:
-- waiting, applied and unreadable ones alike.
CREATE TABLE events (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, desk TEXT NOT NULL, body BLOB NOT NULL, body_hash TEXT NOT NULL, encoding TEXT NOT NULL, signature TEXT NOT NULL,
  headers TEXT NOT NULL, received_at INTEGER NOT NULL, signed_at INTEGER NOT NULL, seen INTEGER NOT NULL, seen_at INTEGER NOT NULL,
  skew INTEGER NOT NULL, -- of the last delivery, in seconds: ours less the sender's
  event_id TEXT NOT NULL, fingerprint TEXT NOT NULL, dispute TEXT NOT NULL, stage TEXT NOT NULL, refund_order TEXT NOT NULL, said TEXT NOT NULL,
  state TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_body ON events (source, body_hash, encoding); -- bytes that came with the wrong encoding may come again with the right one
CREATE UNIQUE INDEX events_by_event_id ON events (source, event_id) WHERE event_id <> '';
CREATE UNIQUE INDEX events_by_fingerprint ON events (source, fingerprint) WHERE fingerprint <> '';
CREATE INDEX events_waiting ON events (received_at, id) WHERE state = 'waiting';
CREATE INDEX events_unreadable ON events (source, received_at) WHERE state = 'unreadable';
CREATE INDEX events_by_dispute ON events (source, dispute) WHERE dispute <> '';
CREATE INDEX events_by_refund_order ON events (source, refund_order) WHERE refund_order <> '';

-- A thread is what one source says of one dispute at one stage, or of one order's refunds (stage "refunds"), and how much of that a case
-- holds. The one without a stage is there to be locked.
CREATE TABLE event_threads (
  source TEXT NOT NULL, ref TEXT NOT NULL, stage TEXT NOT NULL, case_id TEXT NOT NULL, applied TEXT NOT NULL,
  PRIMARY KEY (source, ref, stage)
) STRICT;
CREATE INDEX event_threads_by_case ON event_threads (case_id) WHERE case_id <> '';

-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE UPDATE OF id, source, desk, body, body_hash, encoding, signature, headers, received_at, event_id, fingerprint, dispute, stage, refund_order, said ON events
  BEGIN SELECT RAISE(ABORT, 'an event stays as it was received: events refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_are_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'an event is kept: events refuses DELETE'); END;
-- +goose StatementEnd
