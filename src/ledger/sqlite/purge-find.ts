import { matchNumber, type NumberMatcher } from '../../domain/numbers/same-number.js';
import { resolveLocation } from '../../domain/resolve-location.js';
import { ID_SPACES, type IdSpace, type PurgeRequest } from '../purge.js';
import type { Bodies } from './bodies.js';
import type { Connection } from './open.js';
import { type Ids, idsInLists, listsNaming } from './purge-lists.js';

export type EntityRequest = Exclude<PurgeRequest, { kind: 'before' }>;

export interface RowRef {
  readonly run_id: string;
  readonly row: number;
}

export const SPACE_OF_API: Readonly<Record<string, IdSpace>> = { v1: 'v1', v2: 'v2', credit: 'source' };

export const json = (values: Iterable<string | number>) => JSON.stringify([...values]);
export const rowKeys = (rows: readonly RowRef[]) => json(rows.map(({ run_id, row }) => `${run_id} ${row}`));

/** One entity: its IDs, and the rows that are about it. */
export function findEntity(database: Connection, bodies: Bodies, request: EntityRequest) {
  const ids: Ids = { v1: new Set(), v2: new Set(), source: new Set(), report: new Set() };
  if (request.kind === 'entity') {
    for (const space of request.space === undefined ? ID_SPACES : [request.space]) ids[space].add(request.id);
    return { ids, rows: closeOver(database, ids, []) };
  }
  const named = namedNumber(request);
  for (const { space, id } of [...idsOfCandidates(database, named), ...idsInLists(database, bodies, named)])
    ids[space].add(id);
  return { ids, rows: closeOver(database, ids, rowsSaying(database, named)) };
}

export const namedNumber = ({ countryCode, state, registrationNumber }: Extract<EntityRequest, { kind: 'number' }>) =>
  matchNumber({ countryCode, state, number: registrationNumber });

function idsOfCandidates(database: Connection, named: NumberMatcher) {
  return database
    .prepare<[string], { api: string; id: string; number: string; state: string | null }>(
      `SELECT DISTINCT api, id, registration_number AS number, state FROM candidates
       WHERE country_code = ? AND registration_number IS NOT NULL`,
    )
    .all(named.countryCode)
    .filter(({ number, state }) => named.is(number, state ?? undefined))
    .map(({ api, id }) => ({ space: SPACE_OF_API[api] ?? 'v1', id }));
}

/** Rows whose own number is the one named, whether or not anything was found for them. */
function rowsSaying(database: Connection, named: NumberMatcher): readonly RowRef[] {
  const found: RowRef[] = [];
  const rows = database.prepare<[], RowRef & { fields: string; input_values: string }>(
    "SELECT run_id, row, fields, input_values FROM rows WHERE input_values <> '[]' OR fields <> '{}'",
  );
  for (const { run_id, row, fields, input_values } of rows.iterate())
    if (says(named, JSON.parse(fields) as Fields, input_values)) found.push({ run_id, row });
  return found;
}

type Fields = Readonly<Record<string, string>>;

function says(named: NumberMatcher, fields: Fields, inputValues: string): boolean {
  const { country, state, registration_number: number } = fields;
  if (number !== undefined && country !== undefined) return isNamed(named, number, country, state);
  if (Object.keys(fields).length > 0) return false;
  // A damaged row, whose columns cannot be told: the number in one cell and the country in another.
  const cells = (JSON.parse(inputValues) as string[]).map((cell) => cell.replaceAll('"', '').trim());
  return cells.some((number) => cells.some((country) => isNamed(named, number, country)));
}

function isNamed(named: NumberMatcher, number: string, country: string, state?: string): boolean {
  if (!named.mayBeIn(number)) return false;
  const place = resolveLocation(country, state);
  return place.ok && place.countryCode === named.countryCode && named.is(number, place.state ?? state);
}

const COLUMNS = {
  v1: 'v1_company_id',
  v2: 'v2_company_id',
  source: 'credit_source_id',
  report: 'credit_report_id',
} as const;

/** The rows of the entity. What a row ties together is one entity, so their other IDs are its IDs, too. */
function closeOver(database: Connection, ids: Ids, saying: readonly RowRef[]): readonly RowRef[] {
  type Row = RowRef & Readonly<Record<(typeof COLUMNS)[IdSpace], string | null>>;
  const select = `SELECT run_id, row, v1_company_id, v2_company_id, credit_source_id, credit_report_id FROM rows WHERE`;
  const fixed = database.prepare<[string], Row>(`${select} run_id || ' ' || row IN (SELECT value FROM json_each(?))`);
  const rows = new Map<string, Row>();
  const add = (found: readonly Row[]) => {
    for (const row of found) {
      rows.set(`${row.run_id} ${row.row}`, row);
      for (const space of ID_SPACES) {
        const id = row[COLUMNS[space]];
        if (id !== null) ids[space].add(id);
      }
    }
  };
  add(fixed.all(rowKeys(saying)));
  for (let before = -1; before < size(ids); ) {
    before = size(ids);
    for (const space of ID_SPACES)
      add(
        database
          .prepare<[string], Row>(`${select} ${COLUMNS[space]} IN (SELECT value FROM json_each(?))`)
          .all(json(ids[space])),
      );
    add(fixed.all(rowKeys(rowsConfirmed(database, ids))));
  }
  return [...rows.values()];
}

const size = (ids: Ids) => ID_SPACES.reduce((sum, space) => sum + ids[space].size, 0);

/** Rows that a person said are this company, also where they have not gone on since. */
function rowsConfirmed(database: Connection, ids: Ids): readonly RowRef[] {
  return database
    .prepare<[string], RowRef>(
      `SELECT questions.run_id AS run_id, questions.row AS row FROM decisions JOIN questions USING (environment_id, entity_key)
       WHERE decision = 'confirm' AND withdrawn_at IS NULL AND ${spaced('decisions')} IN (SELECT value FROM json_each(?))`,
    )
    .all(spacedIds(ids));
}

/** An ID together with its space, so that the same digits in another space are another company. */
export const spaced = (table: 'decisions' | 'questions') =>
  `(CASE ${table}.about WHEN 'v2' THEN 'v2' WHEN 'credit' THEN 'source' ELSE 'v1' END || ':' || ${table}.candidate_id)`;
export const spacedIds = (ids: Ids) =>
  json(ID_SPACES.flatMap((space) => [...ids[space]].map((id) => `${space}:${id}`)));

/** The calls whose answers go: about it, asked by its number, lists that name it, and what only its rows asked for. */
export function findCalls(
  database: Connection,
  bodies: Bodies,
  request: EntityRequest,
  { ids, rows }: { readonly ids: Ids; readonly rows: readonly RowRef[] },
): ReadonlySet<number> {
  const naming = database
    .prepare<[string], number>('SELECT id FROM calls WHERE raw_sha256 IN (SELECT unhex(value) FROM json_each(?))')
    .pluck()
    .all(json(listsNaming(database, bodies, ids)));
  return new Set([
    ...callsAbout(database, ids),
    ...naming,
    ...callsOfRowsAlone(database, rows),
    ...(request.kind === 'number' ? callsAskingFor(database, namedNumber(request)) : []),
  ]);
}

/** Questions that named it by its ID. */
function callsAbout(database: Connection, ids: Ids): readonly number[] {
  const find = (param: string, api: string, space: IdSpace) =>
    database
      .prepare<[string, string], number>(
        `SELECT calls.id FROM calls JOIN environments ON environments.id = environment_id
         WHERE api = ? AND CAST(json_extract(params, '$.${param}') AS TEXT) IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
      .all(api, json(ids[space]));
  return [
    ...find('id', 'v1', 'v1'),
    ...find('id', 'v2', 'v2'),
    ...find('source_id', 'v2', 'source'),
    ...find('report_id', 'v2', 'report'),
  ];
}

function callsAskingFor(database: Connection, named: NumberMatcher): readonly number[] {
  return database
    .prepare<[], { id: number; number: string; place: string }>(
      `SELECT id, params ->> 'registration_number' AS number, coalesce(params ->> 'location', params ->> 'country') AS place
       FROM calls WHERE number IS NOT NULL AND place IS NOT NULL`,
    )
    .all()
    .filter(({ number, place }) => isNamed(named, number, place))
    .map(({ id }) => id);
}

function callsOfRowsAlone(database: Connection, rows: readonly RowRef[]): readonly number[] {
  const mine = `coalesce(run_id || ' ' || row, '') IN (SELECT value FROM json_each(@rows))`;
  return database
    .prepare<[{ rows: string }], number>(
      `SELECT id FROM calls WHERE ${mine} AND (environment_id, request_key) NOT IN
         (SELECT environment_id, request_key FROM calls WHERE raw_sha256 IS NOT NULL AND NOT ${mine})`,
    )
    .pluck()
    .all({ rows: rowKeys(rows) });
}
