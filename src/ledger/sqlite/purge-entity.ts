import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import { resolveLocation } from '../../domain/resolve-location.js';
import { ID_SPACES, type PurgeReport } from '../purge.js';
import type { Bodies } from './bodies.js';
import type { Connection } from './open.js';
import {
  type EntityRequest,
  findCalls,
  findEntity,
  json,
  namedNumber,
  type RowRef,
  rowKeys,
  SPACE_OF_API,
  spaced,
  spacedIds,
} from './purge-find.js';
import type { Ids } from './purge-lists.js';
import { isTelling, wordsPattern } from './purge-words.js';

/** Everything about one entity: its answers, its rows' input and evidence, and lists of candidates that name it. */
export function purgeEntity(database: Connection, bodies: Bodies, request: EntityRequest): PurgeReport {
  const entity = findEntity(database, bodies, request);
  const { ids, rows } = entity;
  const keys = entityKeys(database, request, rows);
  const gone = findCalls(database, bodies, request, entity);
  const identifiers = identifiersOf(database, request, ids, rows);
  const { answers, bodies: removed } = forgetAnswers(database, gone);
  const { candidates, beside } = forgetCandidates(database, ids, rows);
  const review = forgetReview(database, ids, rows, keys);
  blankRows(database, rows);
  redactMessages(database, beside, identifiers);
  return {
    runs: [...new Set([...rows, ...beside].map(({ run_id }) => run_id))].sort(),
    runsRemoved: [],
    rows: rows.length,
    answers,
    bodies: removed,
    candidates,
    ...review,
    identifiers,
  };
}

/** Questions are kept under a text that holds name and number; decisions outlive the rows that asked. */
function entityKeys(database: Connection, request: EntityRequest, rows: readonly RowRef[]): ReadonlySet<string> {
  const find = database
    .prepare<[string, number], string>('SELECT entity_key FROM questions WHERE run_id = ? AND row = ?')
    .pluck();
  const asked = rows.flatMap(({ run_id, row }) => find.all(run_id, row));
  if (request.kind === 'entity') return new Set(asked);
  const named = namedNumber(request);
  const decided = database.prepare<[], string>('SELECT DISTINCT entity_key FROM decisions').pluck().all();
  return new Set([...asked, ...decided.filter((key) => isKeyOf(key, named))]);
}

function isKeyOf(key: string, named: NumberMatcher): boolean {
  const [, countryCode, number = '', register] =
    /^(?:credit\|)?([A-Z]{2})\|(?:damaged-)?number:([^|@]*)(?:@([^|]*))?(?:\||$)/.exec(key) ?? [];
  return countryCode === named.countryCode && named.is(number, register);
}

/** What it was known by: as asked for, as its rows wrote it, as searches returned it. */
function identifiersOf(
  database: Connection,
  request: EntityRequest,
  ids: Ids,
  rows: readonly RowRef[],
): readonly string[] {
  const said = database
    .prepare<[string], string>(`SELECT fields FROM rows WHERE run_id || ' ' || row IN (SELECT value FROM json_each(?))`)
    .pluck()
    .all(rowKeys(rows))
    .flatMap((text) => {
      const { country, state, registration_number: number, vat_number: vat } = JSON.parse(text) as Fields;
      const place = resolveLocation(country ?? '', state);
      return [...spellings(number, place.ok ? (place.countryCode ?? '') : '', state), vat];
    });
  const returned = Object.entries(SPACE_OF_API).flatMap(([api, space]) =>
    database
      .prepare<[string, string], { number: string | null; vat: string | null }>(
        `SELECT DISTINCT registration_number AS number, vat_number AS vat FROM candidates
         WHERE api = ? AND id IN (SELECT value FROM json_each(?))`,
      )
      .all(api, json(ids[space]))
      .flatMap(({ number, vat }) => [number, vat]),
  );
  const asked =
    request.kind === 'entity'
      ? [request.id]
      : spellings(request.registrationNumber, request.countryCode, request.state);
  const all = [...asked, ...ID_SPACES.flatMap((space) => [...ids[space]]), ...said, ...returned];
  return [...new Set(all.flatMap((text) => text?.trim() || []))];
}

type Fields = Readonly<Record<string, string | undefined>>;

const spellings = (number: string | undefined, countryCode: string, state: string | undefined) =>
  number === undefined ? [] : [number, parseRegistrationNumber(number, countryCode, state).canonical];

/** The calls stay without their answers. Bytes that answer somebody else, too (`[]`), stay with them. */
function forgetAnswers(database: Connection, calls: ReadonlySet<number>): { answers: number; bodies: number } {
  const list = json(calls);
  const listed = 'SELECT value FROM json_each(?)';
  // Uses of an owned answer have no parameters of their own.
  const alike = database
    .prepare<[string], number>(
      `SELECT id FROM calls WHERE (environment_id, request_key, raw_sha256) IN
         (SELECT environment_id, request_key, raw_sha256 FROM calls WHERE id IN (${listed}))`,
    )
    .pluck()
    .all(list);
  const gone = json(new Set([...calls, ...alike]));
  const digests = json(
    database
      .prepare<[string], string>(
        `SELECT DISTINCT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL AND id IN (${listed})`,
      )
      .pluck()
      .all(gone),
  );
  const run = (sql: string, parameter: string) => database.prepare(sql).run(parameter).changes;
  const answers = run(`DELETE FROM answers WHERE call_id IN (${listed})`, gone);
  run(`UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE id IN (${listed})`, gone);
  const bodies = run(
    `DELETE FROM bodies WHERE sha256 IN (SELECT unhex(value) FROM json_each(?))
       AND sha256 NOT IN (SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL)`,
    digests,
  );
  return { answers, bodies };
}

/** `beside`: rows of other companies that had it as a candidate. */
function forgetCandidates(database: Connection, ids: Ids, rows: readonly RowRef[]) {
  const ofRow = database.prepare('DELETE FROM candidates WHERE run_id = ? AND row = ?');
  let candidates = 0;
  for (const { run_id, row } of rows) candidates += ofRow.run(run_id, row).changes;
  const elsewhere = database.prepare<[string, string], RowRef>(
    'DELETE FROM candidates WHERE api = ? AND id IN (SELECT value FROM json_each(?)) RETURNING run_id, row',
  );
  const beside = Object.entries(SPACE_OF_API).flatMap(([api, space]) => elsewhere.all(api, json(ids[space])));
  return { candidates: candidates + beside.length, beside };
}

function forgetReview(database: Connection, ids: Ids, rows: readonly RowRef[], keys: ReadonlySet<string>) {
  const named = { ids: spacedIds(ids), keys: json(keys), rows: rowKeys(rows) };
  const about = (table: 'decisions' | 'questions') =>
    `(${spaced(table)} IN (SELECT value FROM json_each(@ids)) OR entity_key IN (SELECT value FROM json_each(@keys)))`;
  const questions = database
    .prepare(
      `DELETE FROM questions WHERE ${about('questions')} OR run_id || ' ' || row IN (SELECT value FROM json_each(@rows))`,
    )
    .run(named).changes;
  const shown = `CASE about WHEN 'v2' THEN 'v2' WHEN 'credit' THEN 'source' ELSE 'v1' END || ':' || seen.value`;
  const decisions = database
    .prepare(
      `DELETE FROM decisions WHERE ${about('decisions')}
         OR EXISTS (SELECT 1 FROM json_each(shown) AS seen WHERE ${shown} IN (SELECT value FROM json_each(@ids)))`,
    )
    .run({ ids: named.ids, keys: named.keys }).changes;
  return { questions, decisions };
}

/**
 * The rows stay, so that the run still adds up; what they said, and what was asked for them, is gone. One that was not
 * settled cannot go on.
 */
function blankRows(database: Connection, rows: readonly RowRef[]): void {
  const blank = database.prepare(
    `UPDATE rows SET input_values = '[]', fields = '{}', v1_company_id = NULL, v2_company_id = NULL, credit_source_id = NULL,
       credit_report_id = NULL, match_grade = NULL, matched_on = NULL, hold = NULL, hold_reason = NULL, next_at = NULL,
       outcome = CASE WHEN outcome IN ('complete', 'no_match') THEN outcome ELSE 'invalid' END,
       error_code = 'PURGED', error_message = 'what this row said was removed'
     WHERE run_id = ? AND row = ?`,
  );
  const errors = database.prepare('DELETE FROM errors WHERE run_id = ? AND row = ?');
  // Others may own the answer to a question that named a company by its ID: it stays what it was about.
  const params = database.prepare(
    `UPDATE calls SET params = NULL WHERE run_id = ? AND row = ?
       AND (coalesce(params ->> 'id', params ->> 'source_id', params ->> 'report_id') IS NULL OR NOT EXISTS (SELECT 1 FROM answers
         WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND call_id = calls.id))`,
  );
  for (const { run_id, row } of rows) {
    blank.run(run_id, row);
    errors.run(run_id, row);
    params.run(run_id, row);
  }
}

/** Rows that had it as a candidate stay; where their messages name it, that word goes. */
function redactMessages(database: Connection, rows: readonly RowRef[], identifiers: readonly string[]): void {
  const telling = identifiers.filter(isTelling);
  if (telling.length === 0) return;
  const pattern = wordsPattern(telling);
  database.function('without_words', (text) => (typeof text === 'string' ? text.replace(pattern, '(removed)') : text));
  const updates = [
    'UPDATE rows SET error_message = without_words(error_message)',
    'UPDATE questions SET message = without_words(message)',
    'UPDATE errors SET message = without_words(message)',
    'UPDATE candidates SET evidence = without_words(evidence)',
  ].map((sql) => database.prepare(`${sql} WHERE run_id || ' ' || row IN (SELECT value FROM json_each(?))`));
  for (const update of updates) update.run(rowKeys(rows));
}
