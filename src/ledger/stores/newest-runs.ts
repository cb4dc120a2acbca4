/**
 * The newest run of each portfolio that has members. It is what a person means who names none, and what the tables of the
 * whole list are made of: it is listed, and kept, however old it is.
 */
export const NEWEST_RUNS = `SELECT id FROM runs AS newest WHERE portfolio_id IS NOT NULL AND superseded_by IS NULL AND state <> 'reading'
  AND EXISTS (SELECT 1 FROM members WHERE members.portfolio_id = newest.portfolio_id AND left_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM runs AS later WHERE later.portfolio_id = newest.portfolio_id AND later.superseded_by IS NULL
    AND later.state <> 'reading' AND later.rowid > newest.rowid)`;
