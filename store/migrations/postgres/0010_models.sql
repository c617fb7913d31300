-- +goose Up

-- Which models there are, which desk asks which of them, and what they may cost. A change is a new version, the last one counts, and
-- the others say how it was before. Keys are sealed and kept apart from the rest, which may be shown.
CREATE TABLE model_settings (
  version BIGINT PRIMARY KEY, settings TEXT NOT NULL, keys TEXT NOT NULL, created_at BIGINT NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
);

-- What a server could do when it was last tried, by the name of its connection. What is kept says what it was tried with.
CREATE TABLE model_trials (
  connection TEXT COLLATE "C" PRIMARY KEY CHECK (connection <> ''), trial TEXT NOT NULL, tried_at BIGINT NOT NULL, actor TEXT NOT NULL CHECK (actor <> '')
);

-- What models used on a day of UTC. A day's count is in several slots, so that cases that end a turn at once need not wait for each other.
CREATE TABLE model_spending (
  day TEXT NOT NULL, desk TEXT NOT NULL, connection TEXT NOT NULL, currency TEXT NOT NULL, slot BIGINT NOT NULL,
  answers BIGINT NOT NULL, failures BIGINT NOT NULL, attempts BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL,
  assumed_tokens BIGINT NOT NULL, -- that no server counted, and that may have to be paid
  micro BIGINT NOT NULL, -- millionths of the currency's unit, with what was assumed
  PRIMARY KEY (day, desk, connection, currency, slot)
);

-- +goose StatementBegin
CREATE FUNCTION model_settings_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a version of the settings for models is never changed: % refuses %', TG_TABLE_NAME, TG_OP; END $$;
-- +goose StatementEnd
CREATE TRIGGER model_settings_refuses BEFORE UPDATE OF version, settings, created_at, actor OR DELETE OR TRUNCATE ON model_settings
  FOR EACH STATEMENT EXECUTE FUNCTION model_settings_are_kept();
