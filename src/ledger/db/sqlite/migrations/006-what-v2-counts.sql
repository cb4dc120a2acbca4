-- A report in doubt is known by its company, whatever else was asked for with it: another form of it is the same report.
CREATE INDEX calls_reports_in_doubt ON calls (environment_id, subject_space, subject_id) WHERE in_doubt > 0 AND meter = 'report';

-- What v2 counts, as it last said, and what it said when the last run was started.
CREATE TABLE permission_use (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  permission     TEXT NOT NULL,
  metric         TEXT NOT NULL,
  name           TEXT NOT NULL,
  used           INTEGER,
  total          INTEGER,
  used_at_start  INTEGER,
  observed_at    INTEGER NOT NULL,
  PRIMARY KEY (environment_id, permission, metric)
) STRICT, WITHOUT ROWID;
