-- +goose Up

-- Which models there are, which desk asks which of them, and what they may cost. A change is a new version, the last one counts, and
-- the others say how it was before. Keys are sealed and kept apart from the rest, which may be shown.
CREATE TABLE model_settings (
  version INTEGER PRIMARY KEY, settings TEXT NOT NULL, keys TEXT NOT NULL, created_at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;

-- What a server could do when it was last tried, by the name of its connection. What is kept says what it was tried with.
CREATE TABLE model_trials (
  connection TEXT PRIMARY KEY CHECK (connection <> ''), trial TEXT NOT NULL, tried_at INTEGER NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
) STRICT;

-- What models used on a day of UTC. A day's count is in several slots, so that cases that end a turn at once need not wait for each other.
CREATE TABLE model_spending (
  day TEXT NOT NULL, desk TEXT NOT NULL, connection TEXT NOT NULL, currency TEXT NOT NULL, slot INTEGER NOT NULL,
  answers INTEGER NOT NULL, failures INTEGER NOT NULL, attempts INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
  assumed_tokens INTEGER NOT NULL, -- that no server counted, and that may have to be paid
  micro INTEGER NOT NULL, -- millionths of the currency's unit, with what was assumed
  PRIMARY KEY (day, desk, connection, currency, slot)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER model_settings_update BEFORE UPDATE OF version, settings, created_at, actor ON model_settings BEGIN SELECT RAISE(ABORT, 'a version of the settings for models is never changed: model_settings refuses UPDATE'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER model_settings_delete BEFORE DELETE ON model_settings BEGIN SELECT RAISE(ABORT, 'a version of the settings for models is kept: model_settings refuses DELETE'); END;
-- +goose StatementEnd
