import { ID_SPACES } from '../../domain/id-spaces.js';
import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import { resolveLocation } from '../../domain/resolve-location.js';
import type { PurgeReport } from '../housekeeping.js';
import { isTextRecord, parseStored } from '../stored-json.js';
import { forgetAskedFor } from './asked-for.js';
import type { Connection } from './driver.js';
import { askedAnew } from './held-decisions.js';
import { endDoubts } from './in-doubt.js';
import { type Entity, type EntityRequest, findCalls, findEntity, namedNumber } from './purge-find.js';
import { AMONG_IDS, AMONG_ROWS, json, type RowKey, rowsJson } from './purge-ids.js';
import type { Lists } from './purge-lists.js';
import { forgetMembers } from './purge-members.js';
import { toolCallsNaming } from './purge-tools.js';
import { isTelling, wordsPattern } from './purge-words.js';
import { forgetVerdicts } from './verdicts.js';

/** Everything about one entity: its answers, its rows' input and evidence, and lists of candidates that name it. */
export function purgeEntity(database: Connection, lists: Lists, request: EntityRequest, now: number): PurgeReport {
  const entity = findEntity(database, lists, request);
  const { rows } = entity;
  const keys = entityKeys(database, request, rows);
  const identifiers = identifiersOf(database, request, entity);
  const gone = new Set([...findCalls(database, lists, request, entity), ...toolCallsNaming(database, identifiers)]);
  const { answers, bodies } = forgetAnswers(database, gone);
  const changes = forgetChanges(database, entity, gone);
  const { candidates, beside } = forgetCandidates(database, entity);
  const review = forgetReview(database, entity, keys);
  const stillListed = forgetMembers(database, rows, now);
  blankRows(database, rows);
  forgetCompanies(database, entity);
  forgetAskedFor(database, entity.ids);
  forgetVerdicts(database, entity.ids);
  forgetWatches(database, entity);
  redactMessages(database, beside, identifiers);
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

/** Questions are kept under a text that holds name and number; decisions outlive the rows that asked. */
function entityKeys(database: Connection, request: EntityRequest, rows: readonly RowKey[]): ReadonlySet<string> {
  const asked = database
    .prepare<[{ rows: string }], string>(`SELECT entity_key FROM questions WHERE ${AMONG_ROWS}`)
    .pluck()
    .all({ rows: rowsJson(rows) });
  if (request.kind === 'entity') return new Set(asked);
  const named = namedNumber(request);
  const decided = database
    .prepare<[], string>('SELECT entity_key FROM decisions UNION SELECT entity_key FROM held_decisions')
    .pluck()
    .all();
  return new Set([...asked, ...decided.filter((key) => isKeyOf(key, named))]);
}

/** The space that is asked about, the country, the number and its register, as `questionKey` puts them. */
const KEY = new RegExp(
  `^(?:(?:${ID_SPACES.join('|')})\\|)?([A-Z]{2})\\|(?:damaged-)?number:([^|@]*)(?:@([^|]*))?(?:\\||$)`,
);

function isKeyOf(key: string, named: NumberMatcher): boolean {
  const [, countryCode, number = '', register] = KEY.exec(key) ?? [];
  return countryCode === named.countryCode && named.is(number, register);
}

/** What it was known by: as asked for, as its rows wrote it, as searches returned it. */
function identifiersOf(database: Connection, request: EntityRequest, { ids, rows }: Entity): readonly string[] {
  const said = database
    .prepare<[{ rows: string }], string>(`SELECT fields FROM rows WHERE ${AMONG_ROWS}`)
    .pluck()
    .all({ rows: rowsJson(rows) })
    .flatMap((text) => {
      const {
        country,
        state,
        registration_number: number,
        vat_number: vat,
      }: Fields = parseStored(text, isTextRecord) ?? {};
      const place = resolveLocation(country ?? '', state);
      return [...spellings(number, place.ok ? (place.countryCode ?? '') : '', state), vat];
    });
  const returned = database
    .prepare<[{ ids: string }], { number: string | null; vat: string | null }>(
      `SELECT DISTINCT registration_number AS number, vat_number AS vat FROM candidates WHERE (space, id) ${AMONG_IDS}`,
    )
    .all({ ids: ids.json() })
    .flatMap(({ number, vat }) => [number, vat]);
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

/** The calls stay without their answers, and name nobody. Bytes that answer somebody else, too (`[]`), stay with them. */
function forgetAnswers(database: Connection, calls: ReadonlySet<number>): { answers: number; bodies: number } {
  const list = json(calls);
  const listed = 'SELECT value FROM json_each(?)';
  // Uses of an owned answer have no parameters of their own, and those of a list no subject.
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
  endDoubts(database, listed, gone);
  const answers = run(`DELETE FROM answers WHERE call_id IN (${listed})`, gone);
  run(
    `UPDATE calls SET raw_sha256 = NULL, params = NULL, subject_space = NULL, subject_id = NULL WHERE id IN (${listed})`,
    gone,
  );
  const bodies = run(
    `DELETE FROM bodies WHERE sha256 IN (SELECT unhex(value) FROM json_each(?))
       AND sha256 NOT IN (SELECT raw_sha256 FROM calls WHERE raw_sha256 IS NOT NULL)`,
    digests,
  );
  return { answers, bodies };
}

/** What was said about it before and since. */
const forgetChanges = (database: Connection, { ids }: Entity, calls: ReadonlySet<number>): number =>
  database
    .prepare(
      `DELETE FROM changes WHERE (subject_space, subject_id) ${AMONG_IDS} OR call_id IN (SELECT value FROM json_each(@calls))`,
    )
    .run({ ids: ids.json(), calls: json(calls) }).changes;

/** `beside`: rows of other companies that had it as a candidate. */
function forgetCandidates(database: Connection, { ids, rows }: Entity) {
  const { changes } = database.prepare(`DELETE FROM candidates WHERE ${AMONG_ROWS}`).run({ rows: rowsJson(rows) });
  const beside = database
    .prepare<[{ ids: string }], RowKey>(`DELETE FROM candidates WHERE (space, id) ${AMONG_IDS} RETURNING run_id, row`)
    .all({ ids: ids.json() });
  return { candidates: changes + beside.length, beside };
}

function forgetReview(database: Connection, { ids, rows }: Entity, keys: ReadonlySet<string>) {
  const named = { ids: ids.json(), keys: json(keys) };
  const about = `((space, candidate_id) ${AMONG_IDS} OR entity_key IN (SELECT value FROM json_each(@keys)))`;
  const questions = database
    .prepare(`DELETE FROM questions WHERE ${about} OR ${AMONG_ROWS}`)
    .run({ ...named, rows: rowsJson(rows) }).changes;
  const decisionsIn = (table: 'decisions' | 'held_decisions') =>
    database
      .prepare(
        `DELETE FROM ${table} WHERE ${about}
           OR EXISTS (SELECT 1 FROM json_each(shown) AS seen WHERE (${table}.space, seen.value) ${AMONG_IDS})`,
      )
      .run(named).changes;
  const decisions = decisionsIn('decisions') + decisionsIn('held_decisions');
  askedAnew(database);
  return { questions, decisions };
}

/**
 * The rows stay, so that the run still adds up; what they said, and what was asked for them, is gone. One that was not
 * settled cannot go on.
 */
function blankRows(database: Connection, rows: readonly RowKey[]): void {
  const statements = [
    `UPDATE rows SET input_values = '[]', input_kinds = NULL, fields = '{}', match_grade = NULL, matched_on = NULL, hold = NULL, hold_reason = NULL,
       next_at = NULL, outcome = CASE WHEN outcome IN ('complete', 'no_match') THEN outcome ELSE 'invalid' END,
       error_code = 'PURGED', error_message = 'what this row said was removed'`,
    'DELETE FROM row_ids',
    'DELETE FROM errors',
  ].map((sql) => database.prepare(`${sql} WHERE ${AMONG_ROWS}`));
  // What named a company by its ID is about that company, and others may own the answer.
  const params = database.prepare(`UPDATE calls SET params = NULL WHERE ${AMONG_ROWS} AND subject_id IS NULL`);
  for (const statement of [...statements, params]) statement.run({ rows: rowsJson(rows) });
}

/** That members are known to be it. */
const forgetCompanies = (database: Connection, { ids }: Entity): void =>
  void database.prepare(`DELETE FROM member_companies WHERE (space, id) ${AMONG_IDS}`).run({ ids: ids.json() });

/** That it was watched, and what was heard of it. */
function forgetWatches(database: Connection, { ids }: Entity): void {
  for (const table of ['watches', 'watch_events'])
    database.prepare(`DELETE FROM ${table} WHERE ('v2', company_id) ${AMONG_IDS}`).run({ ids: ids.json() });
}

/** Rows that had it as a candidate stay; where their messages name it, that word goes. */
function redactMessages(database: Connection, rows: readonly RowKey[], identifiers: readonly string[]): void {
  const telling = identifiers.filter(isTelling);
  if (telling.length === 0) return;
  const pattern = wordsPattern(telling);
  database.function('without_words', (text) => (typeof text === 'string' ? text.replace(pattern, '(removed)') : text));
  const updates = [
    'UPDATE rows SET error_message = without_words(error_message)',
    'UPDATE questions SET message = without_words(message)',
    'UPDATE errors SET message = without_words(message)',
    'UPDATE candidates SET evidence = without_words(evidence)',
  ].map((sql) => database.prepare(`${sql} WHERE ${AMONG_ROWS}`));
  for (const update of updates) update.run({ rows: rowsJson(rows) });
  // What belongs to no row: why a start stopped, and what a person wrote about a lost call.
  database.exec('UPDATE errors SET message = without_words(message) WHERE row IS NULL');
  database.exec('UPDATE starts SET ending = without_words(ending) WHERE ending IS NOT NULL');
  database.exec('UPDATE calls SET reconciled = without_words(reconciled) WHERE reconciled IS NOT NULL');
}
