-- A list of companies that is kept up to date. What one provider said is nothing to the account of another.
CREATE TABLE portfolios (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL,
  providers     TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  -- The newest file that was taken in: what it was read as, its path, its header, and when.
  input_key     TEXT,
  input_path    TEXT NOT NULL,
  columns       TEXT NOT NULL,
  seen_at       INTEGER NOT NULL,
  UNIQUE (name, providers)
) STRICT;

-- One line of the list, known again from file to file. What it says is in the row that it stands by.
CREATE TABLE members (
  id           INTEGER PRIMARY KEY,
  portfolio_id INTEGER NOT NULL REFERENCES portfolios (id),
  -- The analyst's own ID, else the company, else the position.
  known_by     TEXT NOT NULL,
  -- What identifies the company, and which of the lines that say the same; null where nothing does.
  company      TEXT,
  -- Digests: of what is searched for, and of all cells.
  says         BLOB NOT NULL,
  cells        BLOB NOT NULL,
  -- Where it stands in the newest file.
  row          INTEGER NOT NULL,
  line         INTEGER NOT NULL,
  first_seen   INTEGER NOT NULL,
  -- Null while it is in the list.
  last_seen    INTEGER,
  left_at      INTEGER,
  -- The provider's watch says that it has changed: when that was heard.
  changed_at   INTEGER,
  -- The row in which it came to rest last, or is on its way for the first time.
  run_id       TEXT NOT NULL,
  run_row      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX members_by_key ON members (portfolio_id, known_by);
CREATE INDEX members_by_row ON members (portfolio_id, row) WHERE left_at IS NULL;
CREATE INDEX members_by_company ON members (portfolio_id, company);
CREATE INDEX members_by_place ON members (run_id, run_row);

ALTER TABLE rows ADD COLUMN member_id INTEGER;
-- JSON: stage → when its answer was fetched.
ALTER TABLE rows ADD COLUMN fetched TEXT NOT NULL DEFAULT '{}';
-- In which order rows set out.
ALTER TABLE rows ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
-- Answers from before are not used for it.
ALTER TABLE rows ADD COLUMN not_before INTEGER;

CREATE INDEX rows_on_their_way ON rows (member_id) WHERE outcome = 'pending' AND member_id IS NOT NULL;

ALTER TABLE runs ADD COLUMN portfolio_id INTEGER;
-- Another run has taken over what it had not done.
ALTER TABLE runs ADD COLUMN superseded_by TEXT;
-- It came to rest long ago, and is not listed any more; members still stand by its rows.
ALTER TABLE runs ADD COLUMN put_away INTEGER NOT NULL DEFAULT 0;
-- Units of rows that have gone on in later runs.
ALTER TABLE runs ADD COLUMN units_moved INTEGER NOT NULL DEFAULT 0;
DROP INDEX runs_by_input;
CREATE INDEX runs_by_portfolio ON runs (portfolio_id, created_at);

-- The call whose answer this one took the place of.
ALTER TABLE calls ADD COLUMN replaces INTEGER;
CREATE INDEX calls_replacing ON calls (id) WHERE replaces IS NOT NULL;
