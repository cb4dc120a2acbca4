import type { ExactJson } from '../../util/exact-json.js';
import type { Cell } from '../table.js';
import { type companies, furtherProfileFields, profileFields } from '../tables/companies.js';
import { filedFinancials } from './financials.js';
import { groupLinks, groupTree } from './group-links.js';
import { type ListOf, officers, shareholders } from './people.js';
import { extraOf, type Members, readFields, ungroup } from './read-fields.js';
import { type Answer, Gathered, isObject, type JsonObject, Place } from './reading.js';
import { takeSources } from './sources.js';

type ProfileCell = (typeof allProfileFields)[number]['name'];
const allProfileFields = [...profileFields, ...furtherProfileFields] as const;

/** What one answer adds to the company's line. */
interface Piece {
  readonly cells: Partial<Record<ProfileCell, Cell>>;
  readonly rest: Members;
  readonly counts: Partial<Record<'officers' | 'shareholders' | 'group_links' | 'filed_periods', number | null>>;
}

const NOTHING: Piece = { cells: {}, rest: [], counts: {} };

/** Every answer that v1 gave about one company → its line and its lists. The full record comes before the others. */
export function company(answers: readonly Answer[], gathered: Gathered = new Gathered()): Gathered {
  const ordered = [...answers].sort((a, b) => ORDER.indexOf(a.operation) - ORDER.indexOf(b.operation));
  const pieces = ordered.map((answer) => ({ answer, piece: readAnswer(answer, new Place(answer, gathered)) }));
  const main = pieces[0]?.answer;
  if (main === undefined) return gathered;
  const cells = Object.fromEntries(
    allProfileFields.map(({ name }) => [name, pieces.map(({ piece }) => piece.cells[name]).find(isThere) ?? null]),
  ) as Record<ProfileCell, Cell>;
  const count = (name: keyof Piece['counts']): Cell => {
    const found = pieces.map(({ piece }) => piece.counts[name]).filter(isThere);
    return found.length === 0 ? null : String(found[0]);
  };
  const line = {
    v1_company_id: main.id,
    ...cells,
    officers_returned: count('officers'),
    shareholders_returned: count('shareholders'),
    group_links_returned: count('group_links'),
    filed_periods_returned: count('filed_periods'),
    fetched_at: main.fetchedAt,
    raw_sha256: main.rawSha256,
    operation: main.operation,
    extra: extraOf(pieces.flatMap(({ piece }) => piece.rest)),
  } satisfies Record<(typeof companies)['columns'][number]['name'], Cell>;
  gathered.rows.companies.push(line);
  return gathered;
}

const isThere = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

const ORDER = ['fullKyb', 'liteKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'];

function readAnswer(answer: Answer, place: Place): Piece {
  const object = place.object(answer.body);
  if (object === undefined) {
    if (answer.body === null) place.unexpected('an object', answer.body);
    return NOTHING;
  }
  const of: ListOf = { v1: answer.id, v2: null, offset: offsetOf(answer) };
  switch (answer.operation) {
    case 'fullKyb':
      return fullRecord(object, of, place);
    case 'liteKyb':
      return lite(object, answer.id, place);
    case 'officersKyb':
      return envelope(object, 'officers', answer, place, (data, at) => ({ officers: officers(data, of, at) }));
    case 'shareholdersKyb':
      return envelope(object, 'shareholders', answer, place, (data, at) => ({
        shareholders: shareholders(data, of, at),
      }));
    case 'groupFullKyb':
    case 'groupLiteKyb':
      return envelope(object, 'group_structures', answer, place, (data, at) => ({
        group_links: groupTree(data, answer.id, at),
      }));
    case 'financialKyb': {
      const { periods, rest } = filed(object, of, place);
      return { cells: {}, rest, counts: { filed_periods: periods } };
    }
    default:
      throw new TypeError(`no table is made from ${answer.operation}`);
  }
}

/** The lists carry no envelope, so whether they are complete is unknown (V1-26). */
function fullRecord(object: JsonObject, of: ListOf, place: Place): Piece {
  const id = of.v1 ?? '';
  const rest = takeSources(object, 'record', id, place);
  const profile = lite(place.at('lite').object(rest.lite) ?? {}, id, place.at('lite'));
  const financial = place.at('financial').object(rest.financial);
  const counts = {
    officers: officers(rest.officers, of, place.at('officers')),
    shareholders: shareholders(rest.shareholders, of, place.at('shareholders')),
    group_links: groupLinks(rest.group_structures_full, id, place.at('group_structures_full')),
  };
  const statements = financial && filed(financial, of, place.at('financial'));
  const others = Object.entries(rest).filter(([key, value]) => MODULES[key]?.(value) !== true);
  return {
    cells: profile.cells,
    rest: [...profile.rest, ...others, ...(statements?.rest ?? [])],
    counts: { ...counts, filed_periods: statements?.periods ?? null },
  };
}

const isList = (value: ExactJson) => value === null || Array.isArray(value);
const isRecord = (value: ExactJson) => value === null || isObject(value);
/** What was read where it stands. In another form it is kept in `extra`. */
const MODULES: Readonly<Record<string, (value: ExactJson) => boolean>> = {
  lite: isRecord,
  officers: isList,
  shareholders: isList,
  group_structures_full: isList,
  financial: isRecord,
};

function filed(financial: JsonObject, of: ListOf, place: Place): { periods: number | null; rest: Members } {
  const statements = takeSources(financial, 'financial', of.v1 ?? '', place);
  const others = Object.entries(statements).filter(([key]) => !STATEMENTS.includes(key));
  const rest: Members = others.length === 0 ? [] : [['financial', Object.fromEntries(others)]];
  return { periods: filedFinancials(statements, of, place), rest };
}

/** The ID and the name are the company's own, said again. */
const STATEMENTS = ['id', 'name', 'years', 'groups'];

/** Flat, or grouped with provenance (V1-25). The ID is the one that was asked for; another one is an issue. */
function lite(object: JsonObject, id: string, place: Place): Piece {
  let flat = takeSources(object, 'lite', id, place);
  for (const group of PROFILE_GROUPS) {
    const inner = flat[group];
    if (isObject(inner)) flat = { ...flat, [group]: takeSources(inner, `lite.${group}`, id, place.at(group)) };
  }
  flat = ungroup(flat, PROFILE_GROUPS);
  const own = flat.id;
  if (own !== undefined && own !== null && String(own) !== id) place.at('id').unexpected(`the ID ${id}`, own);
  const { cells, rest } = readFields(flat, allProfileFields, place, ['id']);
  return { cells, rest, counts: {} };
}

const PROFILE_GROUPS = ['basic', 'address', 'contact'];

function envelope(
  object: JsonObject,
  module: string,
  answer: Answer,
  place: Place,
  read: (data: ExactJson | undefined, at: Place) => Piece['counts'],
): Piece {
  const rest = takeSources(object, module, answer.id, place);
  const counts = read(rest.data, place.at('data'));
  return { cells: {}, rest: Object.entries(rest).filter(([key]) => !ENVELOPE.includes(key)), counts };
}

/** The totals of the envelope describe the list, not the company. */
const ENVELOPE = ['data', 'total_pages', 'total_results'];

export function offsetOf({ params }: Pick<Answer, 'params'>): number {
  const page = Number(params.page ?? 1);
  const perPage = Number(params.per_page ?? 10);
  return Number.isInteger(page) && Number.isInteger(perPage) && page > 1 ? (page - 1) * perPage : 0;
}
