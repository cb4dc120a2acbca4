// Erases one company from the ledger.

import type { NumberMatcher } from '../../domain/numbers/compare.js';
import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES } from '../../domain/provider.js';
import { Bodies } from '../answers/bodies.js';
import type { Script, Sql } from '../db/database.js';
import { isTextRecord, parseStored } from '../db/stored-json.js';
import { clearUnknownCharges } from '../money/read-intent-state.js';
import { restoreQuestions } from '../review/questions.js';
import {
  type Entity,
  type EntityRequest,
  findCalls,
  findEntity,
  type Lists,
  namedNumber,
  saidAndReturned,
} from './find-company.js';
import type { EraseReport, ListedLine } from './housekeeping.js';
import {
  AMONG_IDS,
  AMONG_ROWS,
  isDistinctive,
  json,
  type RowKey,
  rowsJson,
  wordsIn,
  wordsPattern,
} from './identifiers.js';

type Counted = 'answers' | 'bodies' | 'candidates' | 'questions' | 'decisions' | 'changes';

/** Records about a company. They are deleted, or changed with `set`. */
interface Place {
  readonly table: string;
  readonly where: string;
  readonly set?: string;
  /** Where the report counts them. */
  readonly counts?: Counted;
}

/** A text that may name the company, and the key of its record. */
interface Text {
  readonly table: string;
  readonly column: string;
  readonly key: readonly string[];
  readonly where: string;
}

const AMONG_CALLS = 'IN (SELECT CAST(value AS BIGINT) FROM json_each(@calls))';
const AMONG_MEMBERS = `IN (SELECT id FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS}))`;
const ASKED_ABOUT = `(space, candidate_id) ${AMONG_IDS} OR entity_key IN (SELECT value FROM json_each(@keys))`;
const shownIn = (table: string) =>
  `EXISTS (SELECT 1 FROM json_each(shown) AS seen WHERE (${table}.space, seen.value) ${AMONG_IDS})`;

/**
 * Every place where a company can be, in the order of erasure. Calls and rows stay without names, so that the ledger
 * adds up.
 */
export const PLACES: readonly Place[] = [
  { table: 'answers', where: `call_id ${AMONG_CALLS}`, counts: 'answers' },
  {
    table: 'calls',
    set: 'raw_sha256 = NULL, params = NULL, subject_space = NULL, subject_id = NULL',
    where: `id ${AMONG_CALLS}`,
  },
  // Bytes that also answer others, such as `[]`, are kept for them.
  {
    table: 'bodies',
    where:
      'sha256 IN (SELECT unhex(value) FROM json_each(@bodies) EXCEPT SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL)',
    counts: 'bodies',
  },
  {
    table: 'changes',
    where: `(subject_space, subject_id) ${AMONG_IDS} OR call_id ${AMONG_CALLS}`,
    counts: 'changes',
  },
  { table: 'candidates', where: AMONG_ROWS, counts: 'candidates' },
  { table: 'candidates', where: `(space, id) ${AMONG_IDS}`, counts: 'candidates' },
  { table: 'questions', where: `${ASKED_ABOUT} OR ${AMONG_ROWS}`, counts: 'questions' },
  { table: 'decisions', where: `${ASKED_ABOUT} OR ${shownIn('decisions')}`, counts: 'decisions' },
  { table: 'held_decisions', where: `${ASKED_ABOUT} OR ${shownIn('held_decisions')}`, counts: 'decisions' },
  // The same file is read again, and a line that is still in it comes back as new.
  {
    table: 'portfolios',
    set: 'input_key = NULL',
    where: `id IN (SELECT portfolio_id FROM members WHERE id ${AMONG_MEMBERS})`,
  },
  // Members leave their list without being reported as missing.
  {
    table: 'members',
    set: `known_by = 'removed:' || id, company = NULL, says = unhex(''), cells = unhex(''),
      last_seen = CASE WHEN left_at IS NULL THEN (SELECT seen_at FROM portfolios WHERE portfolios.id = portfolio_id) ELSE last_seen END,
      left_at = coalesce(left_at, @now)`,
    where: `id ${AMONG_MEMBERS}`,
  },
  // An unfinished row cannot continue.
  {
    table: 'rows',
    set: `input_values = '[]', input_kinds = NULL, fields = '{}', match_grade = NULL, matched_on = NULL, hold = NULL, hold_reason = NULL,
      next_at = NULL, outcome = CASE WHEN outcome IN ('complete', 'no_match') THEN outcome ELSE 'invalid' END,
      error_code = 'PURGED', error_message = 'the data of this row was erased'`,
    where: AMONG_ROWS,
  },
  { table: 'row_ids', where: AMONG_ROWS },
  { table: 'errors', where: AMONG_ROWS },
  // A call with a company ID is about that company, and others may use its answer.
  { table: 'calls', set: 'params = NULL', where: `${AMONG_ROWS} AND subject_id IS NULL` },
  { table: 'member_companies', where: `(space, id) ${AMONG_IDS}` },
  { table: 'asked_for', where: `(space, id) ${AMONG_IDS}` },
  // Answers that it shared with other companies are now only theirs.
  {
    table: 'calls',
    set: `(subject_space, subject_id) = (SELECT space, id FROM asked_for
      WHERE asked_for.environment_id = calls.environment_id AND asked_for.request_key = calls.request_key ORDER BY space, id LIMIT 1)`,
    where: `(subject_space, subject_id) ${AMONG_IDS}`,
  },
  { table: 'verdicts', where: `(space, id) ${AMONG_IDS}` },
  { table: 'watches', where: `('v2', company_id) ${AMONG_IDS}` },
  { table: 'watch_events', where: `('v2', company_id) ${AMONG_IDS}` },
];

/** Texts of rows that had it as a candidate, of stopped attempts, and notes about lost calls. They stay without its identifiers. */
export const TEXTS: readonly Text[] = [
  { table: 'rows', column: 'error_message', key: ['run_id', 'row'], where: AMONG_ROWS },
  { table: 'questions', column: 'message', key: ['run_id', 'row', 'space', 'stage'], where: AMONG_ROWS },
  { table: 'errors', column: 'message', key: ['id'], where: `row IS NULL OR ${AMONG_ROWS}` },
  { table: 'candidates', column: 'evidence', key: ['run_id', 'row', 'space', 'position'], where: AMONG_ROWS },
  { table: 'starts', column: 'ending', key: ['id'], where: 'ending IS NOT NULL' },
  { table: 'calls', column: 'reconciled', key: ['id'], where: 'reconciled IS NOT NULL' },
];

/** Finds the company in the ledger, and erases it from every place. */
export function* eraseEntity(database: Sql, lists: Lists, request: EntityRequest, now: number): Script<EraseReport> {
  const entity = yield* findEntity(database, lists, request);
  const { ids, rows } = entity;
  const keys = yield* entityKeys(database, request, rows);
  const identifiers = yield* identifiersOf(database, request, entity);
  const naming = yield* toolCallsNaming(database, identifiers);
  const { calls, bodies } = yield* withReuses(database, [
    ...(yield* findCalls(database, lists, request, entity)),
    ...naming,
  ]);
  // Rows of other companies that had it as a candidate.
  const beside = yield* database
    .prepare<[{ ids: string }], RowKey>(`SELECT run_id, row FROM candidates WHERE (space, id) ${AMONG_IDS}`)
    .all({ ids: ids.json() });
  const stillListed = yield* linesOf(database, rows);
  yield* clearUnknownCharges(database, 'SELECT CAST(value AS BIGINT) FROM json_each(?)', calls);
  const given = { ids: ids.json(), rows: rowsJson(rows), keys: json(keys), calls, bodies, now };
  const counts = { answers: 0, bodies: 0, candidates: 0, questions: 0, decisions: 0, changes: 0 };
  for (const { table, where, set, counts: counted } of PLACES) {
    const change = set === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${set}`;
    const changed = yield* database.prepare(`${change} WHERE ${where}`).change(given);
    if (counted !== undefined) counts[counted] += changed;
  }
  yield* restoreQuestions(database);
  yield* redactTexts(database, beside, identifiers);
  return {
    runs: [...new Set([...rows, ...beside].map(({ run_id }) => run_id))].sort(),
    runsRemoved: [],
    rows: rows.length,
    ...counts,
    identifiers,
    stillListed,
    boughtAgain: [],
  };
}

/** Question keys contain name and number. Decisions outlive the rows that asked. */
function* entityKeys(database: Sql, request: EntityRequest, rows: readonly RowKey[]): Script<ReadonlySet<string>> {
  const asked = yield* database
    .prepare<[{ rows: string }], string>(`SELECT entity_key FROM questions WHERE ${AMONG_ROWS}`)
    .pluck()
    .all({ rows: rowsJson(rows) });
  if (request.kind === 'entity') return new Set(asked);
  const named = namedNumber(request);
  const decided = yield* database
    .prepare<[], string>('SELECT entity_key FROM decisions UNION SELECT entity_key FROM held_decisions')
    .pluck()
    .all();
  return new Set([...asked, ...decided.filter((key) => isKeyOf(key, named))]);
}

/** The space, country, number and register in the format of `questionKey`. */
const KEY = new RegExp(
  `^(?:(?:${ID_SPACES.join('|')})\\|)?([A-Z]{2})\\|(?:damaged-)?number:([^|@]*)(?:@([^|]*))?(?:\\||$)`,
);

function isKeyOf(key: string, named: NumberMatcher): boolean {
  const [, countryCode, number = '', register] = KEY.exec(key) ?? [];
  return countryCode === named.countryCode && named.matches(number, register);
}

/** Its identifiers: as requested, as in its rows, and as returned by searches. */
function* identifiersOf(database: Sql, request: EntityRequest, { ids, rows }: Entity): Script<readonly string[]> {
  const { said, returned } = yield* saidAndReturned(database, { ids: ids.json(), rows: rowsJson(rows) });
  const listed = said.flatMap(({ country, state, registration_number: number, vat_number: vat }) => {
    const place = resolveLocation(country ?? '', state);
    return [...spellings(number, place.ok ? (place.countryCode ?? '') : '', state), vat];
  });
  const asked =
    request.kind === 'entity'
      ? [request.id]
      : spellings(request.registrationNumber, request.countryCode, request.state);
  const all = [...asked, ...ids.texts(), ...listed, ...returned.flatMap(({ number, vat }) => [number, vat])];
  return [...new Set(all.flatMap((text) => text?.trim() || []))];
}

const spellings = (number: string | undefined, countryCode: string, state: string | undefined) =>
  number === undefined ? [] : [number, parseRegistrationNumber(number, countryCode, state).canonical];

/** Calls with their reuses, which have no parameters and may have no subject, and the digests of their bodies. */
function* withReuses(database: Sql, found: readonly number[]) {
  const listed = 'SELECT CAST(value AS BIGINT) FROM json_each(?)';
  const alike = yield* database
    .prepare<[string], number>(
      `SELECT id FROM calls WHERE (environment_id, request_key, raw_sha256) IN
         (SELECT environment_id, request_key, raw_sha256 FROM calls WHERE id IN (${listed}))`,
    )
    .pluck()
    .all(json(found));
  const calls = json(new Set([...found, ...alike]));
  const digests = yield* database
    .prepare<[string], string>(
      `SELECT DISTINCT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL AND id IN (${listed})`,
    )
    .pluck()
    .all(calls);
  return { calls, bodies: json(digests) };
}

function* redactTexts(database: Sql, rows: readonly RowKey[], identifiers: readonly string[]): Script<void> {
  const telling = identifiers.filter(isDistinctive);
  if (telling.length === 0) return;
  const pattern = wordsPattern(telling);
  for (const { table, column, key, where } of TEXTS) {
    // There may be many, so only matching texts are kept in memory.
    const naming: [string, ...unknown[]][] = [];
    yield* database
      .prepare<[{ rows: string }], [string | null, ...unknown[]]>(
        `SELECT ${[column, ...key].join(', ')} FROM ${table} WHERE ${where} ORDER BY ${key.join(', ')}`,
      )
      .raw()
      .walk(
        ([text, ...of]) => {
          const without = text?.replace(pattern, '(removed)');
          if (without !== undefined && without !== text) naming.push([without, ...of]);
        },
        { rows: rowsJson(rows) },
      );
    const save = database.prepare(
      `UPDATE ${table} SET ${column} = ? WHERE ${key.map((name) => `${name} = ?`).join(' AND ')}`,
    );
    for (const values of naming) yield* save.run(...values);
  }
}

function* linesOf(database: Sql, found: readonly RowKey[]): Script<readonly ListedLine[]> {
  const lines = yield* database
    .prepare<[{ readonly rows: string }], { portfolio: string; row: number; line: number; fields: string }>(
      `SELECT portfolios.name AS portfolio, members.row, members.line, fields FROM members JOIN portfolios ON portfolios.id = portfolio_id
         JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE members.id ${AMONG_MEMBERS} AND left_at IS NULL ORDER BY portfolios.name, members.row`,
    )
    .all({ rows: rowsJson(found) });
  return lines.map(({ portfolio, row, line, fields }) => ({
    portfolio,
    row,
    line,
    inputId: parseStored(fields, isTextRecord)?.id ?? null,
  }));
}

/**
 * Calls of tools whose request or answer names the company. A tool's answer has no subject and no ID space, so all that
 * name it are deleted. They can be requested again.
 */
function* toolCallsNaming(database: Sql, identifiers: readonly string[]): Script<readonly number[]> {
  const telling = identifiers.filter(isDistinctive);
  if (telling.length === 0) return [];
  const pattern = wordsPattern(telling);
  const bodies = new Bodies(database);
  const calls = yield* database
    .prepare<[], ToolCall>(
      `SELECT calls.id AS id, params, coalesce(lower(hex(raw_sha256)), '') AS sha256
       FROM environments JOIN calls ON calls.environment_id = environments.id WHERE api = 'mcp'`,
    )
    .all();
  const naming: number[] = [];
  for (const { id, params, sha256 } of calls) {
    const answer = sha256 === '' ? undefined : (yield* bodies.readSound(sha256))?.toString('utf8');
    if ([params, answer].some((text) => text != null && wordsIn(text, pattern).length > 0)) naming.push(id);
  }
  return naming;
}

interface ToolCall {
  readonly id: number;
  readonly params: string | null;
  readonly sha256: string;
}
