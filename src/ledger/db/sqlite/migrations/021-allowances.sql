-- Beside what v2 counts: the permission's own name, which operations draw on it, as the pipeline said at the last start, the last call before that
-- start, and what we have sent since, as it stood when the provider told its count.
ALTER TABLE permission_use ADD COLUMN permission_name TEXT;
ALTER TABLE permission_use ADD COLUMN operations TEXT;
ALTER TABLE permission_use ADD COLUMN last_call_before INTEGER;
ALTER TABLE permission_use ADD COLUMN calls_answered INTEGER;
ALTER TABLE permission_use ADD COLUMN calls_failed INTEGER;
ALTER TABLE permission_use ADD COLUMN extra TEXT;

-- Contacts that were revealed in a range of time, as v2 last said. The zone of the range is not known: it is text.
CREATE TABLE contact_counts (
  environment_id INTEGER PRIMARY KEY REFERENCES environments (id),
  date_from      TEXT NOT NULL,
  date_to        TEXT NOT NULL,
  email_count    INTEGER,
  phone_count    INTEGER,
  extra          TEXT,
  observed_at    INTEGER NOT NULL
) STRICT;
