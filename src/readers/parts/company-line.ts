import type { RawAnswer, ReaderOutput } from '../reader.js';
import { type Cell, timestamp } from '../table.js';
import { companiesTable, furtherProfileFields, profileFields } from '../tables/companies.js';
import { type BodyPath, idOf, type JsonObject, memberOf } from './body-path.js';
import type { SubjectIds } from './lists.js';
import { extraOf, type Members, nested, readFields, ungroup } from './read-fields.js';
import { takeGroupSources } from './sources.js';
import { type ListName, type ListsRead, standingLists } from './standing-lists.js';

type ProfileCell = (typeof allProfileFields)[number]['name'];
const allProfileFields = [...profileFields, ...furtherProfileFields] as const;

/** What the answers of one operation add to the company's line. */
export interface Piece extends ListsRead {
  readonly cells?: Partial<Record<ProfileCell, Cell>>;
  readonly rest: Members;
  /** The reporting periods, as a list in JSON. */
  readonly years?: Cell;
  readonly totals?: Partial<Record<'officers' | 'shareholders', Cell>>;
}

/** What one answer adds to it. */
export type OwnPiece = Omit<Piece, 'operation' | 'rawSha256s' | 'asOf'>;

export const originIn = ({ operation, rawSha256, fetchedAt }: RawAnswer) => ({
  operation,
  rawSha256s: [rawSha256],
  asOf: fetchedAt,
});

/**
 * The company's line. What came first stands; where others say something else, that is in `extra`. Lists are counted as they
 * are shown.
 */
export function addCompany(pieces: readonly Piece[], { v1, v2 }: SubjectIds, out: ReaderOutput): void {
  const [main] = pieces;
  if (main === undefined) return;
  const cells = Object.fromEntries(
    allProfileFields.map(({ name }) => [name, pieces.map((piece) => piece.cells?.[name]).find(isThere) ?? null]),
  ) as Record<ProfileCell, Cell>;
  const standing = standingLists(pieces, out);
  const count = (name: ListName): Cell => {
    const came = standing[name]?.counts?.[name];
    return isThere(came) ? String(came) : null;
  };
  const total = (name: keyof NonNullable<Piece['totals']>): Cell => {
    const telling = standing[name] === undefined ? pieces : [standing[name]];
    return telling.map((piece) => piece.totals?.[name]).find(isThere) ?? null;
  };
  if (Object.values(cells).some(isThere)) out.noteCame(companiesTable);
  out.add(companiesTable, {
    v1_company_id: v1,
    ...cells,
    officers_returned: count('officers'),
    shareholders_returned: count('shareholders'),
    group_links_returned: count('group_links'),
    filed_periods_returned: count('filed_periods'),
    fetched_at: timestamp(main.asOf),
    raw_sha256: main.rawSha256s[0] ?? null,
    operation: main.operation,
    v2_company_id: v2,
    officers_total: total('officers'),
    shareholders_total: total('shareholders'),
    filed_periods: standing.filed_periods?.years ?? null,
    extra: extraOf(pieces.flatMap((piece) => [...piece.rest, ...nested(piece.operation, besides(piece, cells))])),
  });
}

/** What an answer says otherwise than the one that the line shows. */
const besides = ({ cells = {} }: Piece, shown: Readonly<Record<ProfileCell, Cell>>): Members =>
  allProfileFields.flatMap(({ name }) => {
    const said = cells[name];
    return isThere(said) && said !== shown[name] ? [[name, said] as const] : [];
  });

const isThere = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

/** Flat, or grouped with provenance (V1-25). The ID is the one that was asked for; another one is an issue. */
export function readProfile(object: JsonObject, { v1, v2 }: SubjectIds, path: BodyPath): OwnPiece {
  const id = v1 ?? v2 ?? '';
  const grouped = v1 === null ? object : takeGroupSources(object, PROFILE_GROUPS, 'lite', v1, path);
  const flat = ungroup(grouped, PROFILE_GROUPS);
  const own = memberOf(flat, 'id');
  const isOwn = own === undefined || own === null || idOf(own) === id;
  if (!isOwn) path.at('id').unexpected(`the ID ${id}`, own);
  return readFields(flat, allProfileFields, path, isOwn ? ['id'] : []);
}

const PROFILE_GROUPS = ['basic', 'address', 'contact'];
