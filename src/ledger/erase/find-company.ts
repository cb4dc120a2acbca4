// Finds everything in the ledger about one company: IDs, rows, calls and lists that name it.

import { matchNumber, type NumberMatcher } from '../../domain/numbers/compare.js';
import { type ResolvedLocation, resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES, type IdSpace } from '../../domain/provider.js';
import { type ExactJson, ExactNumber, parseExact } from '../../util/exact-json.js';
import type { Bodies } from '../answers/bodies.js';
import { ASKED_BY_OTHERS, askedForAlone, CALLS_ABOUT } from '../answers/snapshot-sql.js';
import type { Script, Sql } from '../db/database.js';
import { isTextRecord, isTexts, parseStored } from '../db/stored-json.js';
import { STILL_KNOWN } from '../portfolio/members.js';
import type { EraseRequest, ItemIds, NamedIds } from './housekeeping.js';
import {
  AMONG_IDS,
  AMONG_ROWS,
  EntityIds,
  identifiesOneCompany,
  json,
  ONE_COMPANYS,
  type RowKey,
  rowsJson,
  type SpacedId,
} from './identifiers.js';

export type EntityRequest = Exclude<EraseRequest, { kind: 'before' }>;

export interface Entity {
  readonly ids: EntityIds;
  readonly rows: readonly RowKey[];
}

export function* findEntity(database: Sql, lists: Lists, request: EntityRequest): Script<Entity> {
  const ids = new EntityIds();
  if (request.kind === 'entity') {
    const { id, space: named } = request;
    for (const space of named === undefined ? ID_SPACES.filter(identifiesOneCompany) : [named]) ids.add({ space, id });
    const having = named === undefined ? [] : yield* rowsWith(database, ids);
    return yield* withOwnership(database, ids, yield* closeOver(database, ids, having));
  }
  const named = namedNumber(request);
  for (const found of yield* idsOfCandidates(database, named)) ids.add(found);
  for (const found of yield* lists.idsWith(named)) ids.add(found);
  const saying = yield* rowsSaying(database, named);
  return yield* withOwnership(database, ids, yield* closeOver(database, ids, saying), named);
}

/** A number of the ownership module does not connect rows, so it is added after they are known. */
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
  return returned.filter(({ number, state }) => named.matches(number, state ?? undefined));
}

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

type Fields = Readonly<Record<string, string | undefined>>;

function says(named: NumberMatcher, fields: Fields, inputValues: string): boolean {
  const { country, state, registration_number: number } = fields;
  if (number !== undefined && country !== undefined) return isNamed(named, number, country, state);
  if (Object.keys(fields).length > 0) return false;
  // A damaged row: its columns are unknown.
  const cells = (parseStored(inputValues, isTexts) ?? quotedIn(inputValues)).map((cell) =>
    cell.replaceAll('"', '').trim(),
  );
  return isAmong(named, cells);
}

/** The number in one text and its country in another, with the state in a third if the country numbers by state. */
function isAmong(named: NumberMatcher, texts: readonly string[]): boolean {
  const numbers = texts.filter((text) => named.mayBeIn(text));
  if (numbers.length === 0) return false;
  const states = texts.flatMap((country) =>
    [undefined, ...texts].flatMap((state) => {
      const place = resolveLocation(country, state);
      return isPlaceOf(named, place) ? [place.ok ? place.state : undefined] : [];
    }),
  );
  return numbers.some((number) => [...new Set(states)].some((state) => named.matches(number, state)));
}

function isNamed(named: NumberMatcher, number: string, country: string, state?: string): boolean {
  if (!named.mayBeIn(number)) return false;
  const place = resolveLocation(country, state);
  return isPlaceOf(named, place) && named.matches(number, (place.ok ? place.state : undefined) ?? state);
}

/** A cell that names two countries counts for both, so that nothing is left behind. */
const isPlaceOf = ({ countryCode }: NumberMatcher, place: ResolvedLocation): boolean =>
  place.ok ? place.countryCode === countryCode : place.several?.includes(countryCode) === true;

const rowsWith = (database: Sql, ids: EntityIds): Script<readonly RowKey[]> =>
  database
    .prepare<[{ ids: string }], RowKey>(`SELECT DISTINCT run_id, row FROM row_ids WHERE (space, id) ${AMONG_IDS}`)
    .all({ ids: ids.json() });

/** All IDs of a row belong to one company, so rows and IDs are collected until no new ones appear. */
function* closeOver(database: Sql, ids: EntityIds, saying: readonly RowKey[]): Script<readonly RowKey[]> {
  const idsOf = database.prepare<[{ rows: string }], SpacedId>(
    `SELECT DISTINCT space, id FROM row_ids WHERE ${AMONG_ROWS} ORDER BY space, id`,
  );
  const rowsOf = database.prepare<[{ ids: string }], RowKey>(
    `SELECT DISTINCT run_id, row FROM row_ids WHERE (space, id) ${AMONG_IDS} AND ${ONE_COMPANYS}`,
  );
  // Rows that a person confirmed as this company, including rows that have not continued since.
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

/**
 * The calls whose answers are deleted: about it, requested by its number, lists that name it, and requests of its rows
 * only.
 */
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

/** Searches for the number, whatever the name of the parameter. */
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
  // A call outside a run has no row, so the comparison is NULL, which is not TRUE.
  return database
    .prepare<[{ ids: string; rows: string }], number>(
      `SELECT id FROM calls WHERE ${AMONG_ROWS} AND NOT ${ASKED_BY_OTHERS} AND (environment_id, request_key) IN
         (SELECT environment_id, request_key FROM calls WHERE ${AMONG_ROWS}
          EXCEPT SELECT environment_id, request_key FROM calls WHERE raw_sha256 IS NOT NULL AND (${AMONG_ROWS}) IS NOT TRUE)`,
    )
    .pluck()
    .all({ ids: ids.json(), rows: rowsJson(rows) });
}

/** The members that use these rows or have them in progress. */
const MEMBERS = `(SELECT member_id FROM rows WHERE ${AMONG_ROWS} AND member_id IS NOT NULL
  UNION SELECT id FROM members WHERE (run_id, run_row) IN (SELECT run_id, row FROM rows WHERE ${AMONG_ROWS}))`;

/** Earlier matches of members: a failed row may not have found all its IDs again. */
function knownMembers(database: Sql) {
  const ids = database.prepare<[{ rows: string }], SpacedId>(
    `SELECT DISTINCT space, id FROM member_companies AS known WHERE member_id IN ${MEMBERS} AND ${STILL_KNOWN} AND ${ONE_COMPANYS}
     ORDER BY space, id`,
  );
  const rows = database.prepare<[{ ids: string }], RowKey>(
    `SELECT DISTINCT members.run_id, run_row AS row FROM member_companies AS known JOIN members ON members.id = member_id
     WHERE (space, known.id) ${AMONG_IDS} AND ${STILL_KNOWN} AND ${ONE_COMPANYS} AND run_row IS NOT NULL`,
  );
  return {
    idsOf: (found: readonly RowKey[]): Script<readonly SpacedId[]> => ids.all({ rows: rowsJson(found) }),
    rowsOf: (entity: EntityIds): Script<readonly RowKey[]> => rows.all({ ids: entity.json() }),
  };
}

/**
 * The numbers under which the ownership module was asked about the company: those of its members, rows and candidates.
 * Numbers that another company's row or member also has are left out.
 */
function* ownershipNumbers(
  database: Sql,
  ids: EntityIds,
  rows: readonly RowKey[],
  named: NumberMatcher | undefined,
): Script<readonly string[]> {
  const given = { ids: ids.json(), rows: rowsJson(rows) };
  const known = yield* database
    .prepare<[{ rows: string }], string>(
      `SELECT DISTINCT id FROM member_companies WHERE space = 'ownership' AND member_id IN ${MEMBERS}`,
    )
    .pluck()
    .all(given);
  const { said, returned } = yield* saidAndReturned(database, given);
  const own = new Set<string | null | undefined>([
    ...known,
    ...said.map(({ registration_number: number }) => number?.trim()),
    ...returned.map(({ number }) => number),
  ]);
  const isOthers = database.prepare<[{ rows: string; id: string }], unknown>(OF_OTHERS);
  const asked = yield* database.prepare<[], string>(ASKED).pluck().all();
  const found: string[] = [];
  for (const id of asked.filter((one) => own.has(one) || named?.matches(one)))
    if ((yield* isOthers.get({ rows: given.rows, id })) === undefined) found.push(id);
  return found;
}

const ASKED = `SELECT subject_id FROM calls WHERE subject_space = 'ownership'
  UNION SELECT subject_id FROM changes WHERE subject_space = 'ownership'
  UNION SELECT id FROM member_companies WHERE space = 'ownership' ORDER BY 1`;

const OF_OTHERS = `SELECT 1 FROM row_ids WHERE space = 'ownership' AND id = @id AND NOT ${AMONG_ROWS}
  UNION SELECT 1 FROM candidates WHERE space = 'ownership' AND id = @id AND NOT ${AMONG_ROWS}
  UNION SELECT 1 FROM member_companies AS known WHERE space = 'ownership' AND id = @id AND ${STILL_KNOWN} AND member_id NOT IN ${MEMBERS}`;

/** What its rows say, and the numbers that searches returned for it. */
export function* saidAndReturned(database: Sql, given: { readonly ids: string; readonly rows: string }) {
  const fields = yield* database
    .prepare<[object], string>(`SELECT fields FROM rows WHERE ${AMONG_ROWS} ORDER BY run_id, row`)
    .pluck()
    .all(given);
  const returned = yield* database
    .prepare<[object], { number: string | null; vat: string | null }>(
      `SELECT DISTINCT registration_number AS number, vat_number AS vat FROM candidates WHERE (space, id) ${AMONG_IDS}
       ORDER BY 1 NULLS FIRST, 2 NULLS FIRST`,
    )
    .all(given);
  return { said: fields.map((text): Fields => parseStored(text, isTextRecord) ?? {}), returned };
}

/** Answers without a subject that name companies, such as searches and histories. */
export class Lists {
  constructor(
    private readonly database: Sql,
    private readonly bodies: Bodies,
    private readonly itemIds: ItemIds,
  ) {}

  /** The lists of all requests that name it. They can be requested again. */
  *naming(ids: EntityIds): Script<ReadonlySet<string>> {
    const texts = ids.texts();
    if (texts.length === 0) return new Set();
    const found = new Set<string>();
    // The ID is compared with the whole value: as a pattern a short ID would match every list.
    const isWorthReading = (body: Buffer) => texts.some((id) => body.includes(id));
    yield* this.#eachItem(isWorthReading, ({ sha256, operation, item }) => {
      if (this.#idsOf(operation, item).some((id) => ids.has(id))) found.add(sha256);
    });
    return found;
  }

  /** Calls whose parameters name it, with or without an answer. */
  *asking(ids: EntityIds): Script<readonly number[]> {
    const asked = this.database.prepare<[string], { id: number; params: string }>(
      'SELECT id, params FROM calls WHERE subject_id IS NULL AND params IS NOT NULL AND operation = ?',
    );
    const found: number[] = [];
    for (const [operation, { params: paths }] of Object.entries(this.itemIds)) {
      if (Object.keys(paths).length === 0) continue;
      yield* asked.walk(({ id, params }) => {
        if (namedIn(parsed(Buffer.from(params)), paths).some((one) => ids.has(one))) found.push(id);
      }, operation);
    }
    return found;
  }

  /** The IDs that searches returned with a number. */
  *idsWith(named: NumberMatcher): Script<readonly SpacedId[]> {
    const found: SpacedId[] = [];
    const isWorthReading = (body: Buffer) => named.mayBeIn(body.toString('utf8'));
    yield* this.#eachItem(isWorthReading, ({ operation, params, item }) => {
      const number = textOf(item.registration_number);
      if (number === undefined || !named.matches(number, textOf(item.state))) return;
      // Report hits have no country. The search has it.
      const country = textOf(item.country_code);
      const countries = country === undefined ? textsIn(params ?? '[]') : [country];
      if (countries.includes(named.countryCode)) found.push(...this.#idsOf(operation, item));
    });
    return found;
  }

  *#eachItem(isWorthReading: (body: Buffer) => boolean, visit: (item: ListItem) => void): Script<void> {
    const lists = yield* this.database
      .prepare<[string], Omit<ListItem, 'item'>>(
        `SELECT DISTINCT lower(hex(raw_sha256)) AS sha256, operation, params FROM calls
         WHERE raw_sha256 IS NOT NULL AND subject_id IS NULL AND operation IN (SELECT value FROM json_each(?))
         ORDER BY sha256`,
      )
      .all(json(Object.keys(this.itemIds)));
    for (const list of lists) {
      const body = yield* this.bodies.readSound(list.sha256);
      if (body === undefined || !isWorthReading(body)) continue;
      for (const item of itemsOf(body)) visit({ ...list, item });
    }
  }

  #idsOf(operation: string, item: ListItem['item']): readonly SpacedId[] {
    return namedIn(item, this.itemIds[operation]?.items ?? {});
  }
}

/** The values at these paths, as IDs of each possible space. */
function namedIn(value: ExactJson, paths: NamedIds['items']): readonly SpacedId[] {
  return Object.entries(paths).flatMap(([path, spaces]) => {
    const id = textOf(
      path.split('.').reduce<ExactJson>((found, member) => (isObject(found) ? (found[member] ?? null) : null), value),
    );
    return id === undefined ? [] : spaces.map((space) => ({ space, id }));
  });
}

interface ListItem {
  readonly sha256: string;
  readonly operation: string;
  /** JSON. Null if the answer is not stored. */
  readonly params: string | null;
  readonly item: Readonly<Record<string, ExactJson>>;
}

/** A list, an object around lists, or the one item itself. */
function itemsOf(body: Buffer): readonly Readonly<Record<string, ExactJson>>[] {
  const answer = parsed(body);
  if (Array.isArray(answer)) return answer.filter(isObject);
  if (!isObject(answer)) return [];
  return answer.id === undefined
    ? [answer, ...Object.values(answer).filter(Array.isArray).flat().filter(isObject)]
    : [answer];
}

function parsed(body: Buffer): ExactJson {
  try {
    return parseExact(body);
  } catch {
    // Not JSON, so no list. Its text is searched later.
    return null;
  }
}

const isObject = (value: ExactJson): value is { [key: string]: ExactJson } =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber);

const textOf = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' || value instanceof ExactNumber ? String(value) : undefined;

/** Every text in the parameters, at any depth. */
function textsIn(params: string): readonly string[] {
  const asked = parseStored(params, isAnything);
  return asked === undefined ? quotedIn(params) : textsBelow(asked);
}

/** The quoted parts of a damaged text, which may still name a company. */
const quotedIn = (text: string): readonly string[] => text.split('"');

const isAnything = (value: unknown): value is unknown => value !== undefined;

function textsBelow(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsBelow) : [];
}
