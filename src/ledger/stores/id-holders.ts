import type { IdOwner } from '../../domain/id-owner.js';
import { idSpaces } from '../../domain/id-spaces.js';
import type { Script, Sql } from '../database.js';
import type { PlaceOfRow } from '../review.js';
import type { IdClaim } from '../runs.js';

const AT_MOST = 100;

/**
 * The companies that an ID was confirmed as in other rows, in whichever run of the same provider. What a row's own member was
 * confirmed as before is not another company's.
 */
export function idHolders(database: Sql) {
  const holders = database.prepare<[object], IdOwner>(
    `SELECT DISTINCT candidates.registration_number, candidates.country_code, candidates.state, candidates.jurisdiction
     FROM row_ids JOIN rows ON rows.run_id = row_ids.run_id AND rows.row = row_ids.row
     JOIN run_environments ON run_environments.run_id = row_ids.run_id AND api = @api AND environment_id = @environmentId
     JOIN candidates ON candidates.run_id = row_ids.run_id AND candidates.row = row_ids.row AND candidates.decision = 'confirmed'
       AND candidates.registration_number IS NOT NULL
     WHERE row_ids.space = @space AND row_ids.id = @id AND NOT (row_ids.run_id = @runId AND row_ids.row = @row)
       AND coalesce(rows.member_id, -1) <> coalesce((SELECT member_id FROM rows WHERE run_id = @runId AND row = @row), -2)
     LIMIT ${AT_MOST}`,
  );
  return ({ space, id, environmentId }: Omit<IdClaim, 'owner'>, place: PlaceOfRow) =>
    holders.all({
      api: idSpaces[space].api,
      space,
      id,
      environmentId,
      runId: place.runId ?? '',
      row: place.row,
    }) as Script<IdOwner[]>;
}
