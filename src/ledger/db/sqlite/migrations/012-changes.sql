-- By which version of the readers an answer was compared with the one that it took the place of; 0: not yet.
ALTER TABLE calls ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;
DROP INDEX calls_replacing;
CREATE INDEX calls_replacing ON calls (compared, id) WHERE replaces IS NOT NULL;

-- What a new answer about a company says otherwise than the one before it. Made from raw answers: it can be made again.
CREATE TABLE changes (
  -- Never used twice: whoever has read up to one asks for those after it.
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The new answer.
  call_id        INTEGER NOT NULL UNIQUE,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  subject_space  TEXT NOT NULL,
  subject_id     TEXT NOT NULL,
  run_id         TEXT,
  changed_at     INTEGER NOT NULL,
  noted_at       INTEGER NOT NULL,
  old_sha256     BLOB NOT NULL,
  new_sha256     BLOB NOT NULL,
  -- JSON: the items that came, went or differ.
  items          TEXT NOT NULL
) STRICT;
CREATE INDEX changes_by_subject ON changes (subject_space, subject_id);
CREATE INDEX changes_by_time ON changes (changed_at, call_id);

-- Since when the line says the company that it says; null: since it is in the list.
ALTER TABLE members ADD COLUMN says_since INTEGER;

-- Whose company it is.
CREATE INDEX row_ids_by_id ON row_ids (space, id);
