-- A provider was filed under every spelling of its base URL, and its answers were bought once for each. base_url() is
-- the one spelling; what lies under the others goes to the oldest of them.
CREATE TABLE respelt AS
  SELECT id, min(id) OVER (PARTITION BY api, base_url(name)) AS kept, base_url(name) AS name FROM environments;
DELETE FROM respelt WHERE kept = id AND name = (SELECT name FROM environments WHERE environments.id = respelt.id);
CREATE TABLE merged AS SELECT id, kept FROM respelt WHERE id <> kept;

UPDATE calls SET environment_id = (SELECT kept FROM merged WHERE merged.id = environment_id)
  WHERE environment_id IN (SELECT id FROM merged);
-- Of two answers to one request the newer is the owned one.
INSERT INTO answers
  SELECT kept, request_key, max(call_id) FROM answers JOIN merged ON merged.id = environment_id GROUP BY 1, 2
  ON CONFLICT (environment_id, request_key) DO UPDATE SET call_id = max(call_id, excluded.call_id);
DELETE FROM answers WHERE environment_id IN (SELECT id FROM merged);

-- What was seen last is what is left. Each spelling took the units of the other for somebody else's, so neither count
-- says anything about both: they start anew with the next answer.
CREATE TABLE seen AS
  SELECT coalesce(kept, environment_id) AS environment_id, max(observed_at) AS observed_at, remaining_units, daily_limit, daily_remaining,
    reset_at, raw, spent_until, available
  FROM allowances LEFT JOIN merged ON merged.id = environment_id
  WHERE environment_id IN (SELECT id FROM merged UNION SELECT kept FROM merged) GROUP BY 1;
DELETE FROM allowances WHERE environment_id IN (SELECT id FROM merged UNION SELECT kept FROM merged);
INSERT INTO allowances (environment_id, observed_at, remaining_units, daily_limit, daily_remaining, reset_at, raw, spent_until, available)
  SELECT * FROM seen;

UPDATE closures SET environment_id = (SELECT kept FROM merged WHERE merged.id = environment_id)
  WHERE environment_id IN (SELECT id FROM merged);
UPDATE run_environments SET environment_id = (SELECT kept FROM merged WHERE merged.id = environment_id)
  WHERE environment_id IN (SELECT id FROM merged);
UPDATE questions SET environment_id = (SELECT kept FROM merged WHERE merged.id = environment_id)
  WHERE environment_id IN (SELECT id FROM merged);
UPDATE decisions SET environment_id = (SELECT kept FROM merged WHERE merged.id = environment_id)
  WHERE environment_id IN (SELECT id FROM merged);

DELETE FROM environments WHERE id IN (SELECT id FROM merged);
UPDATE environments SET name = (SELECT name FROM respelt WHERE respelt.id = environments.id) WHERE id IN (SELECT id FROM respelt);
DROP TABLE seen;
DROP TABLE merged;
DROP TABLE respelt;

-- in_doubt is 1 where the same request must not just be repeated, 2 where a person has looked and let it go on.
DROP INDEX calls_in_doubt;
CREATE INDEX calls_in_doubt ON calls (environment_id, request_key) WHERE in_doubt > 0;
