import { ID_SPACES, idSpaces } from '../../domain/id-spaces.js';
import type { Script, Sql } from '../database.js';
import type { Checkpoint } from '../runs.js';

const OF_V1 = ID_SPACES.filter((space) => idSpaces[space].api === 'v1')
  .map((space) => `'${space}'`)
  .join(', ');

/** The companies of rows by which members stand, at the provider that their run asks. `since` is an SQL value. */
const standing = (since: string) => `INSERT INTO member_companies (member_id, space, id, environment_id, known_since)
  SELECT members.id, row_ids.space, row_ids.id, environment_id, ${since}
  FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
  JOIN run_environments ON run_environments.run_id = members.run_id AND api = CASE WHEN row_ids.space IN (${OF_V1}) THEN 'v1' ELSE 'v2' END`;

/** Of a company of a member, as `known`: nobody has said since that it is not. */
export const STILL_KNOWN = 'known.gone_at IS NULL';

/**
 * Which companies a member is known to be, when a row of it is settled: those that it keeps it has known since before. What
 * this very row has bought came before a company that is new to it: a first purchase is no change.
 */
export function companyWriter(database: Sql) {
  const isSame = 'member_companies.id = excluded.id AND member_companies.environment_id = excluded.environment_id';
  const keep = database.prepare(
    `${standing('@updatedAt')} WHERE members.run_id = @runId AND members.run_row = @row
     ON CONFLICT (member_id, space) DO UPDATE SET id = excluded.id, environment_id = excluded.environment_id,
       known_since = CASE WHEN ${isSame} THEN member_companies.known_since ELSE excluded.known_since END, gone_at = NULL
     WHERE NOT (${isSame}) OR member_companies.gone_at IS NOT NULL`,
  );
  // It turns out to be the same company as before.
  const back = database.prepare(
    `INSERT INTO absences (member_id, space, left_at, back_at)
     SELECT known.member_id, known.space, gone_at, @updatedAt FROM members
     JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row
     JOIN member_companies AS known ON known.member_id = members.id AND known.space = row_ids.space AND known.id = row_ids.id
     WHERE members.run_id = @runId AND members.run_row = @row AND gone_at IS NOT NULL
     ON CONFLICT (member_id, space, left_at) DO UPDATE SET back_at = excluded.back_at`,
  );
  const lose = database.prepare(
    `UPDATE member_companies AS known SET gone_at = @updatedAt
     WHERE member_id IN (SELECT id FROM members WHERE run_id = @runId AND run_row = @row) AND ${STILL_KNOWN}
       AND space NOT IN (SELECT space FROM row_ids WHERE run_id = @runId AND row = @row)`,
  );
  return function* (
    runId: string,
    row: number,
    { outcome, updatedAt }: Pick<Checkpoint, 'outcome' | 'updatedAt'>,
    isAnyKnown: boolean,
  ): Script<void> {
    // One that is still on its way, or has failed, says nothing about who it is not.
    if (isAnyKnown && outcome !== 'pending' && outcome !== 'failed') yield* lose.run({ runId, row, updatedAt });
    if (isAnyKnown) yield* back.run({ runId, row, updatedAt });
    yield* keep.run({ runId, row, updatedAt });
  };
}

/** Members of a list that has just been made of rows which came to rest before: they know since they were first seen. */
export const noteStanding = (database: Sql, portfolioId: number): Script<void> =>
  database.prepare(`${standing('first_seen - 1')} WHERE members.portfolio_id = ?`).run(portfolioId);
