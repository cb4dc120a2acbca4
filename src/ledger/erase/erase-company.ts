// Erases one company from the ledger.

import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES } from '../../domain/provider.js';
import { Bodies } from '../answers/bodies.js';
import { forgetAskedFor } from '../answers/snapshot-sql.js';
import { forgetVerdicts } from '../answers/visible-answer.js';
import type { Script, Sql } from '../db/database.js';
import { isTextRecord, parseStored } from '../db/stored-json.js';
import { clearUnknownCharges } from '../money/intent-state.js';
import { restoreQuestions } from '../review/decisions.js';
import { type Entity, type EntityRequest, findCalls, findEntity, type Lists, namedNumber } from './find-company.js';
import type { ListedLine, PurgeReport } from './housekeeping.js';
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

/** Deletes its answers, its rows' input and evidence, and candidate lists that name it. */
export function* purgeEntity(database: Sql, lists: Lists, request: EntityRequest, now: number): Script<PurgeReport> {
  const entity = yield* findEntity(database, lists, request);
  const { rows } = entity;
  const keys = yield* entityKeys(database, request, rows);
  const identifiers = yield* identifiersOf(database, request, entity);
  const found = yield* findCalls(database, lists, request, entity);
  const gone = new Set([...found, ...(yield* toolCallsNaming(database, identifiers))]);
  const { answers, bodies } = yield* forgetAnswers(database, gone);
  const changes = yield* forgetChanges(database, entity, gone);
  const { candidates, beside } = yield* forgetCandidates(database, entity);
  const review = yield* forgetReview(database, entity, keys);
  const stillListed = yield* forgetMembers(database, rows, now);
  yield* blankRows(database, rows);
  yield* forgetCompanies(database, entity);
  yield* forgetAskedFor(database, entity.ids);
  yield* forgetVerdicts(database, entity.ids);
  yield* forgetWatches(database, entity);
  yield* redactMessages(database, beside, identifiers);
  return {
    runs: [...new Set([...rows, ...beside].map(({ run_id }) => run_id))].sort(),
    runsRemoved: [],
    rows: rows.length,
    answers,
    bodies,
    candidates,
    ...review,
    changes,
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
  const fields = yield* database
    .prepare<[{ rows: string }], string>(`SELECT fields FROM rows WHERE ${AMONG_ROWS} ORDER BY run_id, row`)
    .pluck()
    .all({ rows: rowsJson(rows) });
  const said = fields.flatMap((text) => {
    const {
      country,
      state,
      registration_number: number,
      vat_number: vat,
    }: Fields = parseStored(text, isTextRecord) ?? {};
    const place = resolveLocation(country ?? '', state);
    return [...spellings(number, place.ok ? (place.countryCode ?? '') : '', state), vat];
  });
  const candidates = yield* database
    .prepare<[{ ids: string }], { number: string | null; vat: string | null }>(
      `SELECT DISTINCT registration_number AS number, vat_number AS vat FROM candidates WHERE (space, id) ${AMONG_IDS}
       ORDER BY 1 NULLS FIRST, 2 NULLS FIRST`,
    )
    .all({ ids: ids.json() });
  const returned = candidates.flatMap(({ number, vat }) => [number, vat]);
  const asked =
    request.kind === 'entity'
      ? [request.id]
      : spellings(request.registrationNumber, request.countryCode, request.state);
  const all = [...asked, ...ids.texts(), ...said, ...returned];
  return [...new Set(all.flatMap((text) => text?.trim() || []))];
}

type Fields = Readonly<Record<string, string | undefined>>;

const spellings = (number: string | undefined, countryCode: string, state: string | undefined) =>
  number === undefined ? [] : [number, parseRegistrationNumber(number, countryCode, state).canonical];

/**
 * The calls stay, without answers and without names. Bytes that also answer others (such as `[]`) are kept for them.
 */
function* forgetAnswers(
  database: Sql,
  calls: ReadonlySet<number>,
): Script<{ readonly answers: number; readonly bodies: number }> {
  const list = json(calls);
  const listed = 'SELECT CAST(value AS BIGINT) FROM json_each(?)';
  // Reuses have no parameters, and uses of a list have no subject.
  const alike = yield* database
    .prepare<[string], number>(
      `SELECT id FROM calls WHERE (environment_id, request_key, raw_sha256) IN
         (SELECT environment_id, request_key, raw_sha256 FROM calls WHERE id IN (${listed}))`,
    )
    .pluck()
    .all(list);
  const gone = json(new Set([...calls, ...alike]));
  const digests = yield* database
    .prepare<[string], string>(
      `SELECT DISTINCT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL AND id IN (${listed})`,
    )
    .pluck()
    .all(gone);
  yield* clearUnknownCharges(database, listed, gone);
  const answers = yield* database.prepare(`DELETE FROM answers WHERE call_id IN (${listed})`).change(gone);
  yield* database
    .prepare(
      `UPDATE calls SET raw_sha256 = NULL, params = NULL, subject_space = NULL, subject_id = NULL WHERE id IN (${listed})`,
    )
    .run(gone);
  const bodies = yield* database
    .prepare(
      `DELETE FROM bodies WHERE sha256 IN (SELECT unhex(value) FROM json_each(?)
         EXCEPT SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL)`,
    )
    .change(json(digests));
  return { answers, bodies };
}

const forgetChanges = (database: Sql, { ids }: Entity, calls: ReadonlySet<number>): Script<number> =>
  database
    .prepare(
      `DELETE FROM changes WHERE (subject_space, subject_id) ${AMONG_IDS}
         OR call_id IN (SELECT CAST(value AS BIGINT) FROM json_each(@calls))`,
    )
    .change({ ids: ids.json(), calls: json(calls) });

/** `beside`: rows of other companies that had it as a candidate. */
function* forgetCandidates(database: Sql, { ids, rows }: Entity) {
  const own = yield* database.prepare(`DELETE FROM candidates WHERE ${AMONG_ROWS}`).change({ rows: rowsJson(rows) });
  const beside = yield* database
    .prepare<[{ ids: string }], RowKey>(`DELETE FROM candidates WHERE (space, id) ${AMONG_IDS} RETURNING run_id, row`)
    .all({ ids: ids.json() });
  return { candidates: own + beside.length, beside };
}

function* forgetReview(database: Sql, { ids, rows }: Entity, keys: ReadonlySet<string>) {
  const named = { ids: ids.json(), keys: json(keys) };
  const about = `((space, candidate_id) ${AMONG_IDS} OR entity_key IN (SELECT value FROM json_each(@keys)))`;
  const questions = yield* database
    .prepare(`DELETE FROM questions WHERE ${about} OR ${AMONG_ROWS}`)
    .change({ ...named, rows: rowsJson(rows) });
  const decisionsIn = (table: 'decisions' | 'held_decisions'): Script<number> =>
    database
      .prepare(
        `DELETE FROM ${table} WHERE ${about}
           OR EXISTS (SELECT 1 FROM json_each(shown) AS seen WHERE (${table}.space, seen.value) ${AMONG_IDS})`,
      )
      .change(named);
  const decided = yield* decisionsIn('decisions');
  const held = yield* decisionsIn('held_decisions');
  yield* restoreQuestions(database);
  return { questions, decisions: decided + held };
}

/** The rows stay, so that the run adds up, but without input and requests. An unfinished row cannot continue. */
function* blankRows(database: Sql, rows: readonly RowKey[]): Script<void> {
  const statements = [
    `UPDATE rows SET input_values = '[]', input_kinds = NULL, fields = '{}', match_grade = NULL, matched_on = NULL, hold = NULL, hold_reason = NULL,
       next_at = NULL, outcome = CASE WHEN outcome IN ('complete', 'no_match') THEN outcome ELSE 'invalid' END,
       error_code = 'PURGED', error_message = 'what this row said was removed'`,
    'DELETE FROM row_ids',
    'DELETE FROM errors',
  ].map((sql) => database.prepare(`${sql} WHERE ${AMONG_ROWS}`));
  // A call with a company ID is about that company, and others may use its answer.
  const params = database.prepare(`UPDATE calls SET params = NULL WHERE ${AMONG_ROWS} AND subject_id IS NULL`);
  for (const statement of [...statements, params]) yield* statement.run({ rows: rowsJson(rows) });
}

const forgetCompanies = (database: Sql, { ids }: Entity): Script<void> =>
  database.prepare(`DELETE FROM member_companies WHERE (space, id) ${AMONG_IDS}`).run({ ids: ids.json() });

function* forgetWatches(database: Sql, { ids }: Entity): Script<void> {
  for (const table of ['watches', 'watch_events'])
    yield* database.prepare(`DELETE FROM ${table} WHERE ('v2', company_id) ${AMONG_IDS}`).run({ ids: ids.json() });
}

/** A text that may name the company, and the key of its record. */
interface Message {
  readonly table: string;
  readonly column: string;
  readonly key: readonly string[];
  readonly where: string;
}

const OF_ROWS: readonly Message[] = [
  { table: 'rows', column: 'error_message', key: ['run_id', 'row'], where: AMONG_ROWS },
  { table: 'questions', column: 'message', key: ['run_id', 'row', 'space', 'stage'], where: AMONG_ROWS },
  { table: 'errors', column: 'message', key: ['id'], where: AMONG_ROWS },
  { table: 'candidates', column: 'evidence', key: ['run_id', 'row', 'space', 'position'], where: AMONG_ROWS },
];

/** Texts outside of rows: why an attempt stopped, and notes about lost calls. */
const OF_NO_ROW: readonly Message[] = [
  { table: 'errors', column: 'message', key: ['id'], where: 'row IS NULL' },
  { table: 'starts', column: 'ending', key: ['id'], where: 'ending IS NOT NULL' },
  { table: 'calls', column: 'reconciled', key: ['id'], where: 'reconciled IS NOT NULL' },
];

/** Rows that had it as a candidate stay. Its identifiers are removed from their messages. */
function* redactMessages(database: Sql, rows: readonly RowKey[], identifiers: readonly string[]): Script<void> {
  const telling = identifiers.filter(isDistinctive);
  if (telling.length === 0) return;
  const pattern = wordsPattern(telling);
  for (const message of OF_ROWS) yield* redact(database, message, pattern, { rows: rowsJson(rows) });
  for (const message of OF_NO_ROW) yield* redact(database, message, pattern);
}

/** There may be many, so only matching texts are kept in memory. */
function* redact(
  database: Sql,
  { table, column, key, where }: Message,
  pattern: RegExp,
  ...given: readonly { readonly rows: string }[]
): Script<void> {
  const naming: [string, ...unknown[]][] = [];
  yield* database
    .prepare<unknown[], [string | null, ...unknown[]]>(
      `SELECT ${[column, ...key].join(', ')} FROM ${table} WHERE ${where} ORDER BY ${key.join(', ')}`,
    )
    .raw()
    .walk(
      ([text, ...of]) => {
        const without = text?.replace(pattern, '(removed)');
        if (without !== undefined && without !== text) naming.push([without, ...of]);
      },
      ...given,
    );
  const save = database.prepare(
    `UPDATE ${table} SET ${column} = ? WHERE ${key.map((name) => `${name} = ?`).join(' AND ')}`,
  );
  for (const values of naming) yield* save.run(...values);
}

/**
 * The members leave their list without being reported as missing. A line that is still in the next file comes back as
 * new. Returns the lines that were in the list.
 */
function* forgetMembers(database: Sql, rows: readonly RowKey[], now: number): Script<readonly ListedLine[]> {
  const given = { rows: rowsJson(rows) };
  const listed = yield* linesOf(database, given);
  yield* database
    .prepare(`UPDATE portfolios SET input_key = NULL WHERE id IN (SELECT portfolio_id ${STANDING})`)
    .run(given);
  yield* database
    .prepare(
      `UPDATE members SET known_by = 'removed:' || id, company = NULL, says = unhex(''), cells = unhex(''),
         last_seen = CASE WHEN left_at IS NULL THEN (SELECT seen_at FROM portfolios WHERE portfolios.id = portfolio_id) ELSE last_seen END,
         left_at = coalesce(left_at, @now)
       WHERE id IN (SELECT id ${STANDING})`,
    )
    .run({ ...given, now });
  return listed;
}

const STANDING = `FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS})`;

function* linesOf(database: Sql, given: { readonly rows: string }): Script<readonly ListedLine[]> {
  const lines = yield* database
    .prepare<[{ readonly rows: string }], { portfolio: string; row: number; line: number; fields: string }>(
      `SELECT portfolios.name AS portfolio, members.row, members.line, fields FROM members JOIN portfolios ON portfolios.id = portfolio_id
         JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE members.id IN (SELECT id ${STANDING}) AND left_at IS NULL ORDER BY portfolios.name, members.row`,
    )
    .all(given);
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
  /** Empty if it has no answer. */
  readonly sha256: string;
}
