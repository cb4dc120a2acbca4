import type { ItemChange } from '../../domain/change.js';
import type { ChangePage, ChangeQuery, MemberChange, NamedChange } from '../changes.js';
import type { Script, Sql } from '../database.js';
import { parseStored } from '../stored-json.js';
import { type Cells, changeItems, rowFields } from './cells.js';
import { STILL_KNOWN } from './member-companies.js';

/** A change as it is kept, beside a member whose company it is. */
export interface MemberChangeRow extends Omit<MemberChange, 'inputId' | 'ids' | 'items'> {
  readonly fields: string;
  readonly ids: string;
  readonly items: string;
}

/**
 * From changes to the members whose company it is: one line for each of them. It is theirs from when the company was known
 * to be this one, and while they are in the list. One that is noted never becomes theirs afterwards: who has read up to a
 * number has all that shows up to it.
 */
export const MEMBER_CHANGES = `SELECT changes.id, changes.changed_at AS changedAt, changes.run_id AS runId, members.id AS memberId,
    portfolios.name AS portfolio, members.portfolio_id AS portfolioId, CASE WHEN members.left_at IS NULL THEN members.row END AS row,
    CASE WHEN members.left_at IS NULL THEN members.line END AS line, fields,
    (SELECT coalesce(json_group_object(space, id), '{}') FROM member_companies AS known WHERE member_id = members.id AND ${STILL_KNOWN}) AS ids,
    lower(hex(old_sha256)) AS oldRawSha256, lower(hex(new_sha256)) AS newRawSha256, items
  FROM changes
  CROSS JOIN member_companies AS known ON known.space = changes.subject_space AND known.id = changes.subject_id
    AND known.environment_id = changes.environment_id
  CROSS JOIN members ON members.id = known.member_id
  CROSS JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  CROSS JOIN portfolios ON portfolios.id = members.portfolio_id
  WHERE changes.changed_at > known.known_since AND ${STILL_KNOWN}
    AND changes.changed_at <= coalesce(members.left_at, changes.changed_at)
    AND NOT EXISTS (SELECT 1 FROM absences WHERE absences.member_id = members.id AND absences.space IN ('', known.space)
      AND absences.left_at < changes.noted_at AND absences.back_at > changes.noted_at)`;

/** Undefined where what is kept is damaged. */
export function toMemberChange({ fields, ...row }: MemberChangeRow, cells: Cells): MemberChange | undefined {
  const items = cells.find(changeItems, row.items, [row.id]);
  const inputId = fieldIn(fields, 'id');
  return items && { ...row, inputId, ids: JSON.parse(row.ids) as MemberChange['ids'], items };
}

/** As the file has it; null where what is kept is damaged. */
const fieldIn = (fields: string, name: string): string | null => parseStored(fields, rowFields.fits)?.[name] ?? null;

/** Whether any is kept at all: most ledgers have none for long, and nothing is joined then. */
export function* hasChanges(database: Sql): Script<boolean> {
  return (yield* database.prepare('SELECT 1 FROM changes LIMIT 1').get()) !== undefined;
}

/** Whole answers: who goes on after the last of a page misses nothing. */
export function* readPage(
  database: Sql,
  { portfolioIds, after = 0, notedFrom = 0, limit }: ChangeQuery,
  cells: Cells,
): Script<ChangePage> {
  const ids = yield* database
    .prepare<[object], number>(
      'SELECT id FROM changes WHERE id > @after AND noted_at >= @notedFrom ORDER BY id LIMIT @limit + 1',
    )
    .pluck()
    .all({ after, notedFrom, limit });
  const last = ids.slice(0, limit).at(-1);
  if (last === undefined) return { changes: [], last: Math.max(after, yield* lastOfAll(database)), more: false };
  const ofSome =
    portfolioIds === undefined
      ? ''
      : 'AND members.portfolio_id IN (SELECT CAST(value AS BIGINT) FROM json_each(@portfolios))';
  const rows = yield* database
    .prepare<[object], MemberChangeRow>(
      `${MEMBER_CHANGES} AND changes.id > @after AND changes.id <= @last AND changes.noted_at >= @notedFrom ${ofSome}
       ORDER BY changes.id, members.row, members.id`,
    )
    .all({ after, last, notedFrom, portfolios: JSON.stringify(portfolioIds ?? []) });
  const changes = rows.flatMap((row) => toMemberChange(row, cells) ?? []);
  return { changes: yield* withNames(database, changes), last, more: ids.length > limit };
}

const OF_MEMBERS = 'IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

/** What may tell of another name, the newest first. */
const RENAMINGS = `SELECT known.member_id AS memberId, items FROM member_companies AS known
  CROSS JOIN changes ON subject_space = known.space AND subject_id = known.id AND changes.environment_id = known.environment_id
  WHERE known.member_id ${OF_MEMBERS} AND ${STILL_KNOWN} AND instr(items, '"name"') > 0
  ORDER BY changed_at DESC, changes.id DESC`;

const NAMED_AT_FIRST = `SELECT members.id AS memberId, fields,
    (SELECT name FROM candidates WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed'
     ORDER BY space, position LIMIT 1) AS found
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row WHERE members.id ${OF_MEMBERS}`;

/** As the newest answer says that told of another name; else as it was found, or as the file has it. */
function* withNames(database: Sql, changes: readonly MemberChange[]): Script<readonly NamedChange[]> {
  if (changes.length === 0) return [];
  const members = JSON.stringify([...new Set(changes.map(({ memberId }) => memberId))]);
  const names = new Map<number, string>();
  const renamings = database.prepare<[string], { memberId: number; items: string }>(RENAMINGS);
  yield* renamings.walk(({ memberId, items }) => {
    const name = names.has(memberId) ? undefined : nameIn(parseStored(items, changeItems.fits) ?? []);
    if (name !== undefined) names.set(memberId, name);
  }, members);
  const first = database.prepare<[string], { memberId: number; fields: string; found: string | null }>(NAMED_AT_FIRST);
  for (const { memberId, fields, found } of yield* first.all(members)) {
    const name = names.get(memberId) ?? found ?? fieldIn(fields, 'name');
    if (name !== null) names.set(memberId, name);
  }
  return changes.map((change) => ({ ...change, name: names.get(change.memberId) ?? null }));
}

function nameIn(items: readonly ItemChange[]): string | undefined {
  const fields = items.flatMap(({ table, fields: told }) => (table === 'companies' ? told : []));
  return fields.find(({ column, new: name }) => column === 'name' && name)?.new ?? undefined;
}

/** A number is never given out twice: who has read up to the last one that is there misses none, whatever went after it. */
function* lastOfAll(database: Sql): Script<number> {
  return (yield* database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM changes').pluck().get()) ?? 0;
}
