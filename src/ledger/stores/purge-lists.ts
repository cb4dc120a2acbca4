import type { NumberMatcher } from '../../domain/numbers/same-number.js';
import { type ExactJson, ExactNumber, parseExact } from '../../util/exact-json.js';
import type { Script, Sql } from '../database.js';
import type { ItemIds, NamedIds } from '../housekeeping.js';
import { parseStored } from '../stored-json.js';
import type { Bodies } from './bodies.js';
import { type EntityIds, json, type SpacedId } from './purge-ids.js';

/** Answers that are about nobody in particular and name companies: searches, histories, whatever lists there are. */
export class Lists {
  readonly #database: Sql;
  readonly #bodies: Bodies;
  readonly #itemIds: ItemIds;

  constructor(database: Sql, bodies: Bodies, itemIds: ItemIds) {
    this.#database = database;
    this.#bodies = bodies;
    this.#itemIds = itemIds;
  }

  /** The bodies, of anybody, that name it among others. Re-asking is the price of its being gone. */
  *naming(ids: EntityIds): Script<ReadonlySet<string>> {
    const texts = ids.texts();
    if (texts.length === 0) return new Set();
    const found = new Set<string>();
    // An ID is the whole value of its member: read as a pattern, a short one would be found in every list.
    const isWorthReading = (body: Buffer) => texts.some((id) => body.includes(id));
    yield* this.#eachItem(isWorthReading, ({ sha256, operation, item }) => {
      if (this.#idsOf(operation, item).some((id) => ids.has(id))) found.add(sha256);
    });
    return found;
  }

  /** The calls, with or without an answer, whose parameters name it. */
  *asking(ids: EntityIds): Script<readonly number[]> {
    const asked = this.#database.prepare<[string], { id: number; params: string }>(
      'SELECT id, params FROM calls WHERE subject_id IS NULL AND params IS NOT NULL AND operation = ?',
    );
    const found: number[] = [];
    for (const [operation, { params: paths }] of Object.entries(this.#itemIds)) {
      if (Object.keys(paths).length === 0) continue;
      yield* asked.walk(({ id, params }) => {
        if (namedIn(parsed(Buffer.from(params)), paths).some((one) => ids.has(one))) found.push(id);
      }, operation);
    }
    return found;
  }

  /** The IDs under which a number was returned. */
  *idsWith(named: NumberMatcher): Script<readonly SpacedId[]> {
    const found: SpacedId[] = [];
    const isWorthReading = (body: Buffer) => named.mayBeIn(body.toString('utf8'));
    yield* this.#eachItem(isWorthReading, ({ operation, params, item }) => {
      const number = textOf(item.registration_number);
      if (number === undefined || !named.is(number, textOf(item.state))) return;
      // Report hits name no country, only the search does.
      const country = textOf(item.country_code);
      const countries = country === undefined ? textsIn(params ?? '[]') : [country];
      if (countries.includes(named.countryCode)) found.push(...this.#idsOf(operation, item));
    });
    return found;
  }

  *#eachItem(isWorthReading: (body: Buffer) => boolean, visit: (item: ListItem) => void): Script<void> {
    const lists = yield* this.#database
      .prepare<[string], Omit<ListItem, 'item'>>(
        `SELECT DISTINCT lower(hex(raw_sha256)) AS sha256, operation, params FROM calls
         WHERE raw_sha256 IS NOT NULL AND subject_id IS NULL AND operation IN (SELECT value FROM json_each(?))
         ORDER BY sha256`,
      )
      .all(json(Object.keys(this.#itemIds)));
    for (const list of lists) {
      const body = yield* this.#bodies.readSound(list.sha256);
      if (body === undefined || !isWorthReading(body)) continue;
      for (const item of itemsOf(body)) visit({ ...list, item });
    }
  }

  #idsOf(operation: string, item: ListItem['item']): readonly SpacedId[] {
    return namedIn(item, this.#itemIds[operation]?.items ?? {});
  }
}

/** What stands at paths, as an ID of each space that it may be of. */
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
  /** JSON; null where the answer is not owned. */
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
    // Not JSON, so no list. What it says as text is looked for afterwards.
    return null;
  }
}

const isObject = (value: ExactJson): value is { [key: string]: ExactJson } =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber);

const textOf = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' || value instanceof ExactNumber ? String(value) : undefined;

/** Every text in the parameters of a request, at whatever depth. */
export function textsIn(params: string): readonly string[] {
  const asked = parseStored(params, isAnything);
  return asked === undefined ? quotedIn(params) : textsBelow(asked);
}

/** What stands in quotes, where the text is damaged: it may name a company all the same. */
export const quotedIn = (text: string): readonly string[] => text.split('"');

const isAnything = (value: unknown): value is unknown => value !== undefined;

function textsBelow(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsBelow) : [];
}
