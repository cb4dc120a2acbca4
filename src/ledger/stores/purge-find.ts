import { ID_SPACES, type IdSpace } from '../../domain/id-spaces.js';
import { matchNumber, type NumberMatcher } from '../../domain/numbers/same-number.js';
import { type ResolvedLocation, resolveLocation } from '../../domain/resolve-location.js';
import type { Script, Sql } from '../database.js';
import type { PurgeRequest } from '../housekeeping.js';
import { isTextRecord, isTexts, parseStored } from '../stored-json.js';
import { ASKED_BY_OTHERS, askedForAlone, CALLS_ABOUT } from './asked-for.js';
import {
  AMONG_IDS,
  AMONG_ROWS,
  EntityIds,
  isOneCompanys,
  json,
  ONE_COMPANYS,
  type RowKey,
  rowsJson,
  type SpacedId,
} from './purge-ids.js';
import { knownMembers, ownershipNumbers } from './purge-known.js';
import { type Lists, quotedIn, textsIn } from './purge-lists.js';

export type EntityRequest = Exclude<PurgeRequest, { kind: 'before' }>;

/** One entity: its IDs, and the rows that are about it. */
export interface Entity {
  readonly ids: EntityIds;
  readonly rows: readonly RowKey[];
}

export function* findEntity(database: Sql, lists: Lists, request: EntityRequest): Script<Entity> {
  const ids = new EntityIds();
  if (request.kind === 'entity') {
    const { id, space: named } = request;
    for (const space of named === undefined ? ID_SPACES.filter(isOneCompanys) : [named]) ids.add({ space, id });
    const having = named === undefined ? [] : yield* rowsWith(database, ids);
    return yield* withOwnership(database, ids, yield* closeOver(database, ids, having));
  }
  const named = namedNumber(request);
  for (const found of yield* idsOfCandidates(database, named)) ids.add(found);
  for (const found of yield* lists.idsWith(named)) ids.add(found);
  const saying = yield* rowsSaying(database, named);
  return yield* withOwnership(database, ids, yield* closeOver(database, ids, saying), named);
}

/** A number of the ownership module ties no rows together, so it is added when they are known. */
function* withOwnership(
  database: Sql,
  ids: EntityIds,
  rows: readonly RowKey[],
  named?: NumberMatcher | undefined,
): Script<Entity> {
  for (const id of yield* ownershipNumbers(database, ids, rows, named)) ids.add({ space: 'ownership', id });
  return { ids, rows };
}

export const namedNumber = ({ countryCode, state, registrationNumber }: Extract<EntityRequest, { kind: 'number' }>) =>
  matchNumber({ countryCode, state, number: registrationNumber });

function* idsOfCandidates(database: Sql, named: NumberMatcher): Script<readonly SpacedId[]> {
  const returned = yield* database
    .prepare<[string], { space: IdSpace; id: string; number: string; state: string | null }>(
      `SELECT DISTINCT space, id, registration_number AS number, state FROM candidates
       WHERE country_code = ? AND registration_number IS NOT NULL ORDER BY space, id`,
    )
    .all(named.countryCode);
  return returned.filter(({ number, state }) => named.is(number, state ?? undefined));
}

/** Rows whose own number is the one named, whether or not anything was found for them. */
function* rowsSaying(database: Sql, named: NumberMatcher): Script<readonly RowKey[]> {
  const found: RowKey[] = [];
  const rows = database.prepare<[], RowKey & { fields: string; input_values: string }>(
    "SELECT run_id, row, fields, input_values FROM rows WHERE input_values <> '[]' OR fields <> '{}'",
  );
  yield* rows.walk(({ run_id, row, fields, input_values }) => {
    if (says(named, parseStored(fields, isTextRecord) ?? {}, input_values)) found.push({ run_id, row });
  });
  return found;
}

type Fields = Readonly<Record<string, string>>;

function says(named: NumberMatcher, fields: Fields, inputValues: string): boolean {
  const { country, state, registration_number: number } = fields;
  if (number !== undefined && country !== undefined) return isNamed(named, number, country, state);
  if (Object.keys(fields).length > 0) return false;
  // A damaged row, whose columns cannot be told.
  const cells = (parseStored(inputValues, isTexts) ?? quotedIn(inputValues)).map((cell) =>
    cell.replaceAll('"', '').trim(),
  );
  return isAmong(named, cells);
}

/** The number in one text and its country in another, with the state in a third where the country numbers by state. */
function isAmong(named: NumberMatcher, texts: readonly string[]): boolean {
  const numbers = texts.filter((text) => named.mayBeIn(text));
  if (numbers.length === 0) return false;
  const states = texts.flatMap((country) =>
    [undefined, ...texts].flatMap((state) => {
      const place = resolveLocation(country, state);
      return isPlaceOf(named, place) ? [place.ok ? place.state : undefined] : [];
    }),
  );
  return numbers.some((number) => [...new Set(states)].some((state) => named.is(number, state)));
}

function isNamed(named: NumberMatcher, number: string, country: string, state?: string): boolean {
  if (!named.mayBeIn(number)) return false;
  const place = resolveLocation(country, state);
  return isPlaceOf(named, place) && named.is(number, (place.ok ? place.state : undefined) ?? state);
}

/** A cell that names two countries is a company's of either: nothing of it may be left behind. */
const isPlaceOf = ({ countryCode }: NumberMatcher, place: ResolvedLocation): boolean =>
  place.ok ? place.countryCode === countryCode : place.several?.includes(countryCode) === true;

const rowsWith = (database: Sql, ids: EntityIds): Script<readonly RowKey[]> =>
  database
    .prepare<[{ ids: string }], RowKey>(`SELECT DISTINCT run_id, row FROM row_ids WHERE (space, id) ${AMONG_IDS}`)
    .all({ ids: ids.json() });

/** The rows of the entity. What a row ties together is one entity, so their other IDs are its IDs, too. */
function* closeOver(database: Sql, ids: EntityIds, saying: readonly RowKey[]): Script<readonly RowKey[]> {
  const idsOf = database.prepare<[{ rows: string }], SpacedId>(
    `SELECT DISTINCT space, id FROM row_ids WHERE ${AMONG_ROWS} ORDER BY space, id`,
  );
  const rowsOf = database.prepare<[{ ids: string }], RowKey>(
    `SELECT DISTINCT run_id, row FROM row_ids WHERE (space, id) ${AMONG_IDS} AND ${ONE_COMPANYS}`,
  );
  // Rows that a person said are this company, also where they have not gone on since.
  const confirmed = database.prepare<[{ ids: string }], RowKey>(
    `SELECT questions.run_id, questions.row FROM decisions JOIN questions USING (environment_id, entity_key)
     WHERE decision = 'confirm' AND withdrawn_at IS NULL AND (decisions.space, decisions.candidate_id) ${AMONG_IDS}
       AND decisions.${ONE_COMPANYS}`,
  );
  const known = knownMembers(database);
  const rows = new Map<string, RowKey>();
  const add = function* (found: readonly RowKey[]): Script<void> {
    for (const one of found) rows.set(`${one.run_id} ${one.row}`, one);
    for (const id of yield* idsOf.all({ rows: rowsJson(found) })) ids.add(id);
    for (const id of yield* known.idsOf(found)) ids.add(id);
  };
  yield* add(saying);
  for (let before = -1; before < ids.size; ) {
    before = ids.size;
    yield* add(yield* rowsOf.all({ ids: ids.json() }));
    yield* add(yield* confirmed.all({ ids: ids.json() }));
    yield* add(yield* known.rowsOf(ids));
  }
  return [...rows.values()];
}

/** The calls whose answers go: about it, asked by its number, lists that name it, and what only its rows asked for. */
export function* findCalls(
  database: Sql,
  lists: Lists,
  request: EntityRequest,
  { ids, rows }: Entity,
): Script<ReadonlySet<number>> {
  const about = yield* database.prepare<[{ ids: string }], number>(CALLS_ABOUT).pluck().all({ ids: ids.json() });
  const naming = yield* database
    .prepare<[string], number>('SELECT id FROM calls WHERE raw_sha256 IN (SELECT unhex(value) FROM json_each(?))')
    .pluck()
    .all(json(yield* lists.naming(ids)));
  return new Set([
    ...about,
    ...(yield* askedForAlone(database, ids)),
    ...naming,
    ...(yield* lists.asking(ids)),
    ...(yield* callsOfRowsAlone(database, ids, rows)),
    ...(request.kind === 'number' ? yield* callsAskingFor(database, namedNumber(request)) : []),
  ]);
}

/** Searches for the number, whatever their parameters are called. */
function* callsAskingFor(database: Sql, named: NumberMatcher): Script<readonly number[]> {
  const found: number[] = [];
  const asked = database.prepare<[], { id: number; params: string }>(
    'SELECT id, params FROM calls WHERE subject_id IS NULL AND params IS NOT NULL',
  );
  yield* asked.walk(({ id, params }) => {
    if (isAmong(named, textsIn(params))) found.push(id);
  });
  return found;
}

function callsOfRowsAlone(database: Sql, ids: EntityIds, rows: readonly RowKey[]): Script<readonly number[]> {
  // A call by hand belongs to no row: whether it is among them is not known, which is not true.
  return database
    .prepare<[{ ids: string; rows: string }], number>(
      `SELECT id FROM calls WHERE ${AMONG_ROWS} AND NOT ${ASKED_BY_OTHERS} AND (environment_id, request_key) IN
         (SELECT environment_id, request_key FROM calls WHERE ${AMONG_ROWS}
          EXCEPT SELECT environment_id, request_key FROM calls WHERE raw_sha256 IS NOT NULL AND (${AMONG_ROWS}) IS NOT TRUE)`,
    )
    .pluck()
    .all({ ids: ids.json(), rows: rowsJson(rows) });
}
