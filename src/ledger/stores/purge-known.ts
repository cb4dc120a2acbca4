import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import type { Script, Sql } from '../database.js';
import { isTextRecord, parseStored } from '../stored-json.js';
import { STILL_KNOWN } from './member-companies.js';
import {
  AMONG_IDS,
  AMONG_ROWS,
  type EntityIds,
  ONE_COMPANYS,
  type RowKey,
  rowsJson,
  type SpacedId,
} from './purge-ids.js';

/** The members of rows, whether they stand by them or are under way in them. */
const MEMBERS = `(SELECT member_id FROM rows WHERE ${AMONG_ROWS} AND member_id IS NOT NULL
  UNION SELECT id FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS}))`;

/** What members are known to be since before: a row that has failed has not come to all its IDs again. */
export function knownMembers(database: Sql) {
  const ids = database.prepare<[{ rows: string }], SpacedId>(
    `SELECT DISTINCT space, id FROM member_companies AS known WHERE member_id IN ${MEMBERS} AND ${STILL_KNOWN} AND ${ONE_COMPANYS}
     ORDER BY space, id`,
  );
  const rows = database.prepare<[{ ids: string }], RowKey>(
    `SELECT DISTINCT members.run_id, run_row AS row FROM member_companies AS known JOIN members ON members.id = member_id
     WHERE (space, known.id) ${AMONG_IDS} AND ${STILL_KNOWN} AND ${ONE_COMPANYS} AND run_row IS NOT NULL`,
  );
  return {
    idsOf: (found: readonly RowKey[]): Script<readonly SpacedId[]> => ids.all({ rows: rowsJson(found) }),
    rowsOf: (entity: EntityIds): Script<readonly RowKey[]> => rows.all({ ids: entity.json() }),
  };
}

/**
 * The numbers under which the ownership module was asked for the entity, by whomever: those that its members are known by
 * there, and its own, as its rows and its candidates say it. What another company's row or member has, too, is not its.
 */
export function* ownershipNumbers(
  database: Sql,
  ids: EntityIds,
  rows: readonly RowKey[],
  named: NumberMatcher | undefined,
): Script<readonly string[]> {
  const given = { ids: ids.json(), rows: rowsJson(rows) };
  const known = yield* database
    .prepare<[{ rows: string }], string>(
      `SELECT DISTINCT id FROM member_companies WHERE space = 'ownership' AND member_id IN ${MEMBERS}`,
    )
    .pluck()
    .all(given);
  const own = new Set([...known, ...(yield* numbersOf(database, given))]);
  const isOthers = database.prepare<[{ rows: string; id: string }], unknown>(OF_OTHERS);
  const asked = yield* database.prepare<[], string>(ASKED).pluck().all();
  const found: string[] = [];
  for (const id of asked.filter((one) => own.has(one) || named?.is(one)))
    if ((yield* isOthers.get({ rows: given.rows, id })) === undefined) found.push(id);
  return found;
}

const ASKED = `SELECT subject_id FROM calls WHERE subject_space = 'ownership'
  UNION SELECT subject_id FROM changes WHERE subject_space = 'ownership'
  UNION SELECT id FROM member_companies WHERE space = 'ownership' ORDER BY 1`;

const OF_OTHERS = `SELECT 1 FROM row_ids WHERE space = 'ownership' AND id = @id AND NOT ${AMONG_ROWS}
  UNION SELECT 1 FROM candidates WHERE space = 'ownership' AND id = @id AND NOT ${AMONG_ROWS}
  UNION SELECT 1 FROM member_companies AS known WHERE space = 'ownership' AND id = @id AND ${STILL_KNOWN} AND member_id NOT IN ${MEMBERS}`;

function* numbersOf(database: Sql, given: { readonly ids: string; readonly rows: string }): Script<readonly string[]> {
  const fields = yield* database
    .prepare<[{ rows: string }], string>(`SELECT fields FROM rows WHERE ${AMONG_ROWS}`)
    .pluck()
    .all(given);
  const said = fields.flatMap((text) => parseStored(text, isTextRecord)?.registration_number?.trim() ?? []);
  const returned = yield* database
    .prepare<[{ ids: string }], string>(
      `SELECT DISTINCT registration_number FROM candidates WHERE (space, id) ${AMONG_IDS} AND registration_number IS NOT NULL`,
    )
    .pluck()
    .all(given);
  return [...said, ...returned];
}
