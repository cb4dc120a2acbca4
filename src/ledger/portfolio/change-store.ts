// Stores differences between answers, and lists them for the companies of a portfolio.

import type { ItemChange } from '../../domain/change.js';
import { Bodies } from '../answers/bodies.js';
import { IS_VISIBLE } from '../answers/visible-answer.js';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { callParams, changeItems, findCell, parseStored, rowFields } from '../db/stored-json.js';
import { AMONG_IDS } from '../erase/identifiers.js';
import type {
  ChangePage,
  ChangeQuery,
  Comparison,
  MemberChange,
  NamedChange,
  PastAnswer,
  ReplacedAnswer,
} from './changes.js';
import { STILL_KNOWN } from './members.js';

const ANSWER = `SELECT calls.id AS callId, operation, environment_id AS environmentId, subject_space AS space, subject_id AS id,
    CASE WHEN raw_sha256 IS NOT NULL THEN lower(hex(raw_sha256)) END AS rawSha256, replaces,
    CASE WHEN subject_space = 'report' THEN (SELECT company.id FROM row_ids AS report
      JOIN row_ids AS company ON company.run_id = report.run_id AND company.row = report.row AND company.space = 'credit'
      WHERE report.space = 'report' AND report.id = subject_id LIMIT 1) END AS creditId, ${IS_VISIBLE} AS stands
  FROM calls`;

/** Answers with an open review question wait until a person accepts them. */
export const TO_COMPARE = `replaces IS NOT NULL AND compared < @readers AND subject_id IS NOT NULL AND ${IS_VISIBLE}`;

export type ChangeStore = ReturnType<typeof changeStore>;

/** Differences between new answers and those they replace. */
export function changeStore(database: Database) {
  const { count, row, rows, values } = statements(database);
  const bodies = new Bodies(database);
  const toCompare = rows<[object], ReplacedAnswer>(
    `${ANSWER} INDEXED BY calls_replacing WHERE ${TO_COMPARE} ORDER BY compared, calls.id LIMIT @limit`,
  );
  const waiting = count<[object]>(`SELECT count(*) FROM calls INDEXED BY calls_replacing WHERE ${TO_COMPARE}`);
  const about = rows<[object], StoredAnswer>(
    `SELECT id AS callId, operation, params, rawSha256, fetchedAt, replaces FROM (
       SELECT id, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, replaces,
         row_number() OVER (PARTITION BY request_key ORDER BY id DESC) AS place
       FROM calls INDEXED BY calls_by_subject
       WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
         AND operation IN (SELECT value FROM json_each(@operations)) AND raw_sha256 IS NOT NULL AND id < @callId AND ${IS_VISIBLE}) AS past
     WHERE place = 1 ORDER BY operation, id`,
  );
  const like = rows<[object], StoredAnswer>(
    `SELECT id AS callId, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, replaces
     FROM calls INDEXED BY calls_by_subject
     WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
       AND operation = @operation AND raw_sha256 IS NOT NULL AND charge <> 'owned' ORDER BY id`,
  );
  const sound = (found: readonly StoredAnswer[]): readonly PastAnswer[] =>
    found.flatMap((answer) => {
      const params = findCell(callParams, answer.params);
      return params === undefined ? [] : [{ ...answer, params }];
    });
  const note = noteWriter(database);
  const digests = values<[string, string], string>(
    'SELECT lower(hex(sha256)) FROM bodies WHERE sha256 BETWEEN unhex(?) AND unhex(?) ORDER BY sha256 LIMIT 2',
  );
  return {
    /**
     * Answers that replaced others and that this version of the readers has not compared yet. Answers with an open
     * review question are left out: they change nothing before a person accepts them.
     */
    toCompare: (readers: number, limit: number) => toCompare({ readers, limit }),
    waiting: (readers: number) => waiting({ readers }),
    /** One replaced answer as it was when new. Undefined: its call was deleted. */
    find: row<[callId: number], ReplacedAnswer>(`${ANSWER} WHERE calls.id = ? AND subject_id IS NOT NULL`),
    /** The newest answer about a subject to each request sent before a call. */
    answersBefore: async (
      { space, id, environmentId }: ReplacedAnswer,
      operations: readonly string[],
      callId: number,
    ): Promise<readonly PastAnswer[]> =>
      sound(await about({ space, id, environmentId, callId, operations: JSON.stringify(operations) })),
    /** All answers about the same subject to the same operation, oldest first. */
    answersLike: async ({ space, id, environmentId, operation }: ReplacedAnswer): Promise<readonly PastAnswer[]> =>
      sound(await like({ space, id, environmentId, operation })),
    /** Undefined: deleted or damaged. */
    body: (rawSha256: string) => database.read(() => bodies.readSound(rawSha256)),
    /** Stores the changes found, instead of those of an earlier reader version. */
    note: (compared: readonly Comparison[], readers: number, now: number) =>
      database.write(function* () {
        for (const comparison of compared) yield* note(comparison, readers, now);
      }),
    /** Changes of the companies in some portfolios or all, in the order recorded. */
    list: (query: ChangeQuery) => database.read(() => readPage(database, query)),
    /** At most two digests of raw answers that begin with this text. */
    digests: (beginning: string) => digests(beginning.padEnd(64, '0'), beginning.padEnd(64, 'f')),
  };
}

type StoredAnswer = Omit<PastAnswer, 'params'> & { readonly params: string };

function noteWriter(database: Sql) {
  const compared = database.prepare('UPDATE calls SET compared = ? WHERE id = ?');
  const known = database.prepare<[number], { items: string; noted_at: number }>(
    'SELECT items, noted_at FROM changes WHERE call_id = ?',
  );
  const drop = database.prepare('DELETE FROM changes WHERE call_id = ?');
  const insert = database.prepare(
    `INSERT INTO changes (call_id, environment_id, subject_space, subject_id, run_id, changed_at, noted_at, old_sha256, new_sha256, items)
     SELECT id, environment_id, @space, @subject, run_id, settled_at, @notedAt, unhex(@oldRawSha256), raw_sha256, @items
     FROM calls WHERE id = @callId`,
  );
  return function* ({ answer, items, oldRawSha256 }: Comparison, readers: number, now: number): Script<void> {
    const { callId, creditId } = answer;
    yield* compared.run(readers, callId);
    const before = yield* known.get(callId);
    const text = JSON.stringify(items);
    // A change that is found again keeps its number, so that readers do not see it twice.
    if (items === null || before?.items === text) return;
    yield* drop.run(callId);
    if (items.length === 0) return;
    // A report is replaced by the next one, so the change is recorded for its company.
    const about =
      creditId === null ? { space: answer.space, subject: answer.id } : { space: 'credit', subject: creditId };
    yield* insert.run({ callId, notedAt: before?.noted_at ?? now, oldRawSha256, items: text, ...about });
  };
}

/** A stored change with a member whose company it concerns. */
export interface MemberChangeRow extends Omit<MemberChange, 'inputId' | 'ids' | 'items'> {
  readonly fields: string;
  readonly ids: string;
  readonly items: string;
}

/**
 * One line for each member whose company changed. It counts from when the match was known, and only while the row is in
 * the list. A recorded change is never assigned to a member later, so a reader who has read up to a number has all
 * changes up to it. `further`: columns before the others.
 */
export const memberChanges = (
  further = '',
) => `SELECT ${further} changes.id, changes.changed_at AS changedAt, changes.run_id AS runId, members.id AS memberId,
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

/** Undefined if damaged. */
export function toMemberChange({ fields, ...row }: MemberChangeRow): MemberChange | undefined {
  const items = findCell(changeItems, row.items);
  const inputId = fieldIn(fields, 'id');
  return items && { ...row, inputId, ids: JSON.parse(row.ids) as MemberChange['ids'], items };
}

/** The field in the list. Null if damaged. */
const fieldIn = (fields: string, name: string): string | null => parseStored(fields, rowFields.fits)?.[name] ?? null;

/** Most ledgers have no changes for long, which saves the join. */
export function* hasChanges(database: Sql): Script<boolean> {
  return (yield* database.prepare('SELECT 1 FROM changes LIMIT 1').get()) !== undefined;
}

/** A page never splits an answer's changes, so that reading on after its last number misses none. */
function* readPage(database: Sql, query: ChangeQuery): Script<ChangePage> {
  const { portfolioIds, after = 0, before = Number.MAX_SAFE_INTEGER, notedFrom = 0, about, limit } = query;
  const direction = query.newestFirst ? 'DESC' : 'ASC';
  const found = yield* database
    .prepare<[object], number>(
      `SELECT id FROM changes WHERE id > @after AND id < @before AND noted_at >= @notedFrom
         ${about === undefined ? '' : `AND (subject_space, subject_id) ${AMONG_IDS}`} ORDER BY id ${direction} LIMIT @limit + 1`,
    )
    .pluck()
    .all({ after, before, notedFrom, limit, ...(about === undefined ? {} : { ids: about.json() }) });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined) return { changes: [], last: Math.max(after, yield* lastOfAll(database)), more: false };
  const ofSome =
    portfolioIds === undefined
      ? ''
      : 'AND members.portfolio_id IN (SELECT CAST(value AS BIGINT) FROM json_each(@portfolios))';
  const rows = yield* database
    .prepare<[object], MemberChangeRow>(
      `${memberChanges()} AND changes.id IN (SELECT CAST(value AS BIGINT) FROM json_each(@page)) ${ofSome}
       ORDER BY changes.id ${direction}, members.row, members.id`,
    )
    .all({ page: JSON.stringify(page), ...(portfolioIds && { portfolios: JSON.stringify(portfolioIds) }) });
  const changes = rows.flatMap((row) => toMemberChange(row) ?? []);
  return { changes: yield* withNames(database, changes), last, more: found.length > limit };
}

const OF_MEMBERS = 'IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

/** Changes that may contain a new name, newest first. */
const RENAMINGS = `SELECT known.member_id AS memberId, items FROM member_companies AS known
  CROSS JOIN changes ON subject_space = known.space AND subject_id = known.id AND changes.environment_id = known.environment_id
  WHERE known.member_id ${OF_MEMBERS} AND ${STILL_KNOWN} AND instr(items, '"name"') > 0
  ORDER BY changed_at DESC, changes.id DESC`;

const NAMED_AT_FIRST = `SELECT members.id AS memberId, fields,
    (SELECT name FROM candidates WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed'
     ORDER BY space, position LIMIT 1) AS found
  FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row WHERE members.id ${OF_MEMBERS}`;

/** The newest name in a change, else the name of the search, else that in the file. */
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

/** Numbers are never reused, so a reader who has read up to the last one misses none. */
function* lastOfAll(database: Sql): Script<number> {
  return (yield* database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM changes').pluck().get()) ?? 0;
}
