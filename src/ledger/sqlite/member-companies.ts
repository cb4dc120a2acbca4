import { ID_SPACES, idSpaces } from '../../domain/id-spaces.js';
import type { Checkpoint } from '../runs.js';
import type { Connection } from './driver.js';

const OF_V1 = ID_SPACES.filter((space) => idSpaces[space].api === 'v1')
  .map((space) => `'${space}'`)
  .join(', ');

/** The companies of rows by which members stand, at the provider that their run asks. `since` is an SQL value. */
const standing = (since: string) => `INSERT INTO member_companies (member_id, space, id, environment_id, known_since)
  SELECT members.id, row_ids.space, row_ids.id, environment_id, ${since}
  FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
  JOIN run_environments ON run_environments.run_id = members.run_id AND api = iif(row_ids.space IN (${OF_V1}), 'v1', 'v2')`;

/** Of a company of a member, as `known`: nobody has said since that it is not. */
export const STILL_KNOWN = '(known.gone_at IS NULL OR known.back_at IS NOT NULL)';

/**
 * Which companies a member is known to be, when a row of it is settled: those that it keeps it has known since before. What
 * this very row has bought came before a company that is new to it: a first purchase is no change.
 */
export function companyWriter(database: Connection) {
  const isSame = 'id = excluded.id AND environment_id = excluded.environment_id';
  const keep = database.prepare(
    `${standing('@updatedAt')} WHERE members.run_id = @runId AND members.run_row = @row
     ON CONFLICT DO UPDATE SET id = excluded.id, environment_id = excluded.environment_id,
       known_since = iif(${isSame}, known_since, excluded.known_since), gone_at = iif(${isSame}, gone_at, NULL),
       back_at = iif(${isSame}, excluded.known_since, NULL)
     WHERE NOT (${isSame}) OR (gone_at IS NOT NULL AND back_at IS NULL)`,
  );
  const lose = database.prepare(
    `UPDATE member_companies AS known SET gone_at = coalesce(gone_at, @updatedAt), back_at = NULL
     WHERE member_id = (SELECT id FROM members WHERE run_id = @runId AND run_row = @row) AND ${STILL_KNOWN}
       AND space NOT IN (SELECT space FROM row_ids WHERE run_id = @runId AND row = @row)`,
  );
  return (runId: string, row: number, { outcome, updatedAt }: Pick<Checkpoint, 'outcome' | 'updatedAt'>): void => {
    // One that is still on its way, or has failed, says nothing about who it is not.
    if (outcome !== 'pending' && outcome !== 'failed') lose.run({ runId, row, updatedAt });
    keep.run({ runId, row, updatedAt });
  };
}

/** Members of a list that has just been made of rows which came to rest before: they know since they were first seen. */
export const noteStanding = (database: Connection, portfolioId: number): void =>
  void database.prepare(`${standing('first_seen - 1')} WHERE members.portfolio_id = ?`).run(portfolioId);
