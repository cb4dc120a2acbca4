import { ID_SPACES, type IdSpace, type PurgeReport, type PurgeRequest } from '../purge.js';
import type { Bodies } from './bodies.js';
import type { Connection } from './open.js';

type EntityRequest = Exclude<PurgeRequest, { kind: 'before' }>;
type Ids = Readonly<Record<IdSpace, Set<string>>>;

interface RowRef {
  readonly run_id: string;
  readonly row: number;
}

/** Everything about one entity: its answers, its rows' input and evidence, and lists of candidates that name it. */
export function purgeEntity(database: Connection, bodies: Bodies, request: EntityRequest): PurgeReport {
  const ids = firstIds(database, request);
  const rows = closeOver(database, ids);
  const keys = entityKeys(database, rows);
  const shas = [
    ...ownBodies(database, ids),
    ...listsNaming(database, bodies, ids),
    ...bodiesOfRowsAlone(database, rows),
  ];
  const answers = forgetBodies(database, new Set(shas));
  const { candidates, runs } = forgetCandidates(database, ids, rows);
  const decisions = forgetDecisions(database, ids, keys);
  blankRows(database, rows);
  return {
    runs: [...new Set([...rows.map((row) => row.run_id), ...runs])].sort(),
    runsRemoved: [],
    rows: rows.length,
    answers: answers.answers,
    bodies: answers.bodies,
    candidates,
    decisions,
  };
}

function firstIds(database: Connection, request: EntityRequest): Ids {
  const ids: Ids = { v1: new Set(), v2: new Set(), source: new Set(), report: new Set() };
  if (request.kind === 'entity') {
    for (const space of request.space === undefined ? ID_SPACES : [request.space]) ids[space].add(request.id);
    return ids;
  }
  const found = database
    .prepare<[string, string], { api: string; id: string }>(
      'SELECT DISTINCT api, id FROM candidates WHERE country_code = ? AND registration_number = ?',
    )
    .all(request.countryCode, request.registrationNumber);
  for (const { api, id } of found) ids[SPACE_OF_API[api] ?? 'v1'].add(id);
  return ids;
}

const SPACE_OF_API: Readonly<Record<string, IdSpace>> = { v1: 'v1', v2: 'v2', credit: 'source' };

const COLUMNS = {
  v1: 'v1_company_id',
  v2: 'v2_company_id',
  source: 'credit_source_id',
  report: 'credit_report_id',
} as const;

/** The rows of the entity. What a row ties together is one entity, so their other IDs are its IDs, too. */
function closeOver(database: Connection, ids: Ids): readonly RowRef[] {
  type Row = RowRef & Readonly<Record<(typeof COLUMNS)[IdSpace], string | null>>;
  for (;;) {
    const rows = ID_SPACES.flatMap((space) =>
      database
        .prepare<[string], Row>(
          `SELECT run_id, row, v1_company_id, v2_company_id, credit_source_id, credit_report_id FROM rows
           WHERE ${COLUMNS[space]} IN (SELECT value FROM json_each(?))`,
        )
        .all(json(ids[space])),
    );
    const before = size(ids);
    for (const row of rows)
      for (const space of ID_SPACES) {
        const id = row[COLUMNS[space]];
        if (id !== null) ids[space].add(id);
      }
    if (size(ids) === before) return [...new Map(rows.map((row) => [`${row.run_id} ${row.row}`, row])).values()];
  }
}

const size = (ids: Ids) => ID_SPACES.reduce((sum, space) => sum + ids[space].size, 0);
const json = (values: Iterable<string>) => JSON.stringify([...values]);

/** Questions are kept under a text that holds name and number. */
function entityKeys(database: Connection, rows: readonly RowRef[]): ReadonlySet<string> {
  const find = database
    .prepare<[string, number], string>('SELECT entity_key FROM questions WHERE run_id = ? AND row = ?')
    .pluck();
  return new Set(rows.flatMap(({ run_id, row }) => find.all(run_id, row)));
}

/** Answers to a question that named it by its ID. */
function ownBodies(database: Connection, ids: Ids): readonly string[] {
  const find = (param: string, api: string, space: IdSpace) =>
    database
      .prepare<[string, string], string>(
        `SELECT DISTINCT lower(hex(raw_sha256)) FROM calls JOIN environments ON environments.id = environment_id
         WHERE raw_sha256 IS NOT NULL AND api = ? AND CAST(json_extract(params, '$.${param}') AS TEXT) IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
      .all(api, json(ids[space]));
  return [
    ...find('id', 'v1', 'v1'),
    ...find('id', 'v2', 'v2'),
    ...find('source_id', 'v2', 'source'),
    ...find('report_id', 'v2', 'report'),
  ].filter((sha) => isWorthRemoving(database, sha));
}

/** `true`, `{}` and `[]` are the same bytes for everybody. */
const isWorthRemoving = (database: Connection, sha256: string) =>
  (database.prepare<[string], number>('SELECT size FROM bodies WHERE sha256 = unhex(?)').pluck().get(sha256) ?? 0) > 8;

/** Searches and histories of anybody that name it among others. Re-asking is the price of its being gone. */
function listsNaming(database: Connection, bodies: Bodies, ids: Ids): readonly string[] {
  const all = ID_SPACES.flatMap((space) => [...ids[space]]);
  if (all.length === 0) return [];
  const pattern = new RegExp(`(?<![\\w.-])(?:${all.map(escapePattern).join('|')})(?![\\w.-])`);
  return database
    .prepare<[], string>(
      `SELECT DISTINCT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL
         AND operation IN ('searchKyb', 'kybSearch', 'creditReportSearch', 'creditReportHistory')`,
    )
    .pluck()
    .all()
    .filter((sha) => pattern.test(bodies.read(sha)?.toString('utf8') ?? ''));
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What only these rows asked for. */
function bodiesOfRowsAlone(database: Connection, rows: readonly RowRef[]): readonly string[] {
  const mine = json(rows.map(({ run_id, row }) => `${run_id} ${row}`));
  return database
    .prepare<[string, string], string>(
      `SELECT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL AND run_id || ' ' || row IN (SELECT value FROM json_each(?))
       EXCEPT SELECT lower(hex(raw_sha256)) FROM calls WHERE raw_sha256 IS NOT NULL
         AND coalesce(run_id || ' ' || row, '') NOT IN (SELECT value FROM json_each(?))`,
    )
    .pluck()
    .all(mine, mine);
}

function forgetBodies(database: Connection, shas: ReadonlySet<string>): { answers: number; bodies: number } {
  const list = json(shas);
  const run = (sql: string) => database.prepare(sql).run(list).changes;
  const answers = run(`DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 IN (${LISTED}))`);
  run(`UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 IN (${LISTED})`);
  return { answers, bodies: run(`DELETE FROM bodies WHERE sha256 IN (${LISTED})`) };
}

/** Digests from a JSON list. */
const LISTED = 'SELECT unhex(value) FROM json_each(?)';

function forgetCandidates(database: Connection, ids: Ids, rows: readonly RowRef[]) {
  const ofRow = database.prepare('DELETE FROM candidates WHERE run_id = ? AND row = ?');
  let candidates = 0;
  for (const { run_id, row } of rows) candidates += ofRow.run(run_id, row).changes;
  const elsewhere = database
    .prepare<[string, string], string>(
      'DELETE FROM candidates WHERE api = ? AND id IN (SELECT value FROM json_each(?)) RETURNING run_id',
    )
    .pluck();
  const runs = Object.entries(SPACE_OF_API).flatMap(([api, space]) => elsewhere.all(api, json(ids[space])));
  return { candidates: candidates + runs.length, runs };
}

function forgetDecisions(database: Connection, ids: Ids, keys: ReadonlySet<string>): number {
  const all = json(ID_SPACES.flatMap((space) => [...ids[space]]));
  database
    .prepare(
      'DELETE FROM questions WHERE candidate_id IN (SELECT value FROM json_each(?)) OR entity_key IN (SELECT value FROM json_each(?))',
    )
    .run(all, json(keys));
  return database
    .prepare(
      `DELETE FROM decisions WHERE candidate_id IN (SELECT value FROM json_each(@ids))
         OR entity_key IN (SELECT value FROM json_each(@keys))
         OR EXISTS (SELECT 1 FROM json_each(@ids) AS gone WHERE instr(shown, '"' || gone.value || '"') > 0)`,
    )
    .run({ ids: all, keys: json(keys) }).changes;
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
  const questions = database.prepare('DELETE FROM questions WHERE run_id = ? AND row = ?');
  // Others may own the answer to a question that named a company by its ID: it stays what it was about.
  const params = database.prepare(
    `UPDATE calls SET params = NULL WHERE run_id = ? AND row = ?
       AND (coalesce(params ->> 'id', params ->> 'source_id', params ->> 'report_id') IS NULL OR NOT EXISTS (SELECT 1 FROM answers
         WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND call_id = calls.id))`,
  );
  for (const { run_id, row } of rows) {
    blank.run(run_id, row);
    errors.run(run_id, row);
    questions.run(run_id, row);
    params.run(run_id, row);
  }
}
