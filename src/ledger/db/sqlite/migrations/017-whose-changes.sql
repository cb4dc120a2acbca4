-- Whose company each member is known to be, in each space, and from when on: what changed before is none of its changes. It
-- outlives the row while a person is asked, so that nothing is noted meanwhile that shows later under an old number.
CREATE TABLE member_companies (
  member_id      INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  -- What was answered after this time.
  known_since    INTEGER NOT NULL,
  -- The line says something else, or a person has said that it is not the company; null: it is.
  gone_at        INTEGER,
  PRIMARY KEY (member_id, space)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_companies_by_id ON member_companies (space, id);

-- As it was told so far: from when the line says this company, the moment itself with it.
INSERT INTO member_companies (member_id, space, id, environment_id, known_since)
  SELECT members.id, row_ids.space, row_ids.id, environment_id, coalesce(says_since, first_seen) - 1
  FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
  JOIN run_environments ON run_environments.run_id = members.run_id AND api = iif(row_ids.space = 'v1', 'v1', 'v2');
ALTER TABLE members DROP COLUMN says_since;

-- Members that were not in the list for a while, or not known to be their company of one space, and are again: what changed
-- meanwhile is none of theirs.
CREATE TABLE absences (
  member_id INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  -- Empty: the list itself.
  space     TEXT NOT NULL DEFAULT '',
  left_at   INTEGER NOT NULL,
  back_at   INTEGER NOT NULL,
  PRIMARY KEY (member_id, space, left_at)
) STRICT, WITHOUT ROWID;
