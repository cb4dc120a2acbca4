-- What SQLite keeps in a table. Here it is counted: workers would wait for each other's counts.
CREATE VIEW row_counts AS
  SELECT run_id, outcome, coalesce(hold, '') AS hold, coalesce(hold_reason, '') AS hold_reason, stages, count(*) AS rows,
    CAST(sum(units_charged) AS bigint) AS units, count(*) FILTER (WHERE error_code = 'PURGED') AS purged
  FROM rows GROUP BY 1, 2, 3, 4, 5;
