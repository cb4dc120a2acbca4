-- Answers to requests that name no company by an ID: whose they are. Several companies may have asked the same.
CREATE TABLE asked_for (
  space          TEXT NOT NULL,
  id             TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  stage          TEXT NOT NULL,
  request_key    BLOB NOT NULL,
  -- The order in which the stage asked.
  position       INTEGER NOT NULL,
  PRIMARY KEY (space, id, environment_id, stage, request_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX asked_for_by_request ON asked_for (environment_id, request_key);
