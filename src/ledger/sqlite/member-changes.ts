import type { ChangePage, ChangeQuery, MemberChange, NamedChange } from '../changes.js';
import { type Cells, changeItems } from './cells.js';
import type { Connection } from './driver.js';
import { STILL_KNOWN } from './member-companies.js';

/** A change as it is kept, beside a member whose company it is. */
export interface MemberChangeRow extends Omit<MemberChange, 'ids' | 'items'> {
  readonly ids: string;
  readonly items: string;
}

/**
 * From changes to the members whose company it is: one line for each of them. It is theirs from when the company was known
 * to be this one, and while they are in the list. One that is noted never becomes theirs afterwards: who has read up to a
 * number has all that shows up to it.
 */
export const MEMBER_CHANGES = `SELECT changes.id, changes.changed_at AS changedAt, changes.run_id AS runId, members.id AS memberId,
    portfolios.name AS portfolio, members.portfolio_id AS portfolioId, iif(members.left_at IS NULL, members.row, NULL) AS row,
    iif(members.left_at IS NULL, members.line, NULL) AS line,
    iif(json_valid(fields), fields ->> '$.id', NULL) AS inputId,
    (SELECT json_group_object(space, id) FROM member_companies AS known WHERE member_id = members.id AND ${STILL_KNOWN}) AS ids,
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
export function toMemberChange(row: MemberChangeRow, cells: Cells): MemberChange | undefined {
  const items = cells.find(changeItems, row.items, [row.id]);
  return items && { ...row, ids: JSON.parse(row.ids) as MemberChange['ids'], items };
}

/** Whether any is kept at all: most ledgers have none for long, and nothing is joined then. */
export const hasChanges = (database: Connection): boolean =>
  database.prepare('SELECT 1 FROM changes LIMIT 1').get() !== undefined;

/** Whole answers: who goes on after the last of a page misses nothing. */
export function readPage(
  database: Connection,
  { portfolioIds, after = 0, notedFrom = 0, limit }: ChangeQuery,
  cells: Cells,
): ChangePage {
  const ids = database
    .prepare<[object], number>(
      'SELECT id FROM changes WHERE id > @after AND noted_at >= @notedFrom ORDER BY id LIMIT @limit + 1',
    )
    .pluck()
    .all({ after, notedFrom, limit });
  const last = ids.slice(0, limit).at(-1);
  if (last === undefined) return { changes: [], last: Math.max(after, lastEver(database)), more: false };
  const rows = database
    .prepare<[object], MemberChangeRow>(
      `${MEMBER_CHANGES} AND changes.id > @after AND changes.id <= @last AND changes.noted_at >= @notedFrom
         AND (@of IS NULL OR members.portfolio_id IN (SELECT value FROM json_each(@of))) ORDER BY changes.id, members.row, members.id`,
    )
    .all({ after, last, notedFrom, of: portfolioIds === undefined ? null : JSON.stringify(portfolioIds) });
  const changes = rows.flatMap((row) => toMemberChange(row, cells) ?? []);
  return { changes: withNames(database, changes), last, more: ids.length > limit };
}

/** As the newest answer says that told of another name; else as it was found, or as the file has it. */
const NAME = `SELECT coalesce(
    (SELECT field.value ->> 'new' FROM member_companies AS known
     JOIN changes ON subject_space = known.space AND subject_id = known.id AND changes.environment_id = known.environment_id
     JOIN json_each(iif(json_valid(items), items, '[]')) AS item JOIN json_each(item.value, '$.fields') AS field
     WHERE known.member_id = members.id AND ${STILL_KNOWN} AND item.value ->> 'table' = 'companies' AND field.value ->> 'column' = 'name' AND field.value ->> 'new' <> ''
     ORDER BY changed_at DESC, changes.id DESC LIMIT 1),
    (SELECT name FROM candidates WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed' LIMIT 1),
    iif(json_valid(fields), fields ->> '$.name', NULL))
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row WHERE members.id = ?`;

function withNames(database: Connection, changes: readonly MemberChange[]): readonly NamedChange[] {
  const find = database.prepare<[number], string | null>(NAME).pluck();
  const names = new Map(
    [...new Set(changes.map(({ memberId }) => memberId))].map((id) => [id, find.get(id) ?? null] as const),
  );
  return changes.map((change) => ({ ...change, name: names.get(change.memberId) ?? null }));
}

const lastEver = (database: Connection): number =>
  database.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").pluck().get() ?? 0;
