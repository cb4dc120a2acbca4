import { NAME_AGREEMENT, nameSimilarity } from '../domain/names.js';
import { isObject } from './parts/body-path.js';
import { openWhole } from './parts/open-answer.js';
import { type CellsOf, extraOf, readFields } from './parts/read-fields.js';
import { type RawAnswer, ReaderOutput } from './reader.js';
import { type Cell, column, type RowOf, timestamp } from './table.js';
import { prospectProfileFields, type prospectsTable } from './tables/prospects.js';

/** A company of a page of prospecting. */
export interface Prospect {
  readonly id: string;
  readonly name: Cell;
  readonly page: number;
  readonly totals: CellsOf<typeof totalFields>;
  readonly answer: RawAnswer;
  readonly extra: Cell;
}

const itemFields = [column('id', 'id', ''), column('name', 'text', '')] as const;
const totalFields = [column('total_companies', 'integer', ''), column('total_pages', 'integer', '')] as const;
const named = [column('name', 'text', ''), ...prospectProfileFields] as const;

export interface ProspectPage {
  readonly prospects: readonly Prospect[];
  /** As this page counts them; null: it does not say. */
  readonly totalCompanies: number | null;
  readonly totalPages: number | null;
}

/** The companies of one page, in their order; one without an ID cannot be asked about, and is none. */
export function readProspectPage(answer: RawAnswer, page: number): ProspectPage {
  const opened = openWhole(answer, new ReaderOutput());
  const body = opened?.path.object(opened.body);
  if (opened === undefined || body === undefined) return { prospects: [], totalCompanies: null, totalPages: null };
  const totals = readFields(body, totalFields, opened.path).cells;
  const prospects = (opened.path.list(body.data) ?? []).filter(isObject).flatMap((item) => {
    const { cells, rest } = readFields(item, itemFields, opened.path);
    return cells.id === null ? [] : [{ id: cells.id, name: cells.name, page, totals, answer, extra: extraOf(rest) }];
  });
  return { prospects, totalCompanies: countOf(totals.total_companies), totalPages: countOf(totals.total_pages) };
}

const countOf = (cell: Cell): number | null => (cell === null ? null : Number(cell));

/** What a profile came to: an answer, or why there is none. */
export type ProfileSeen = RawAnswer | 'not_available' | 'failed' | 'not_asked';

export type ProspectRow = RowOf<typeof prospectsTable>;

export function prospectRow(prospect: Prospect, position: number, seen: ProfileSeen, isPart: boolean): ProspectRow {
  const { id, name, page, totals, answer, extra } = prospect;
  const { profile, profileName, cells } = judge(name, seen);
  const bought = typeof seen === 'string' ? undefined : seen;
  return {
    position: String(position),
    page: String(page),
    companies_id: id,
    name,
    ...cells,
    profile,
    profile_name: profileName,
    is_part: String(isPart),
    ...totals,
    fetched_at: timestamp(answer.fetchedAt),
    raw_sha256: answer.rawSha256,
    profile_fetched_at: bought === undefined ? null : timestamp(bought.fetchedAt),
    profile_raw_sha256: bought?.rawSha256 ?? null,
    extra,
  };
}

interface Judged {
  readonly profile: string;
  readonly profileName: Cell;
  readonly cells: CellsOf<typeof prospectProfileFields>;
}

/** V2-18: the same ID in another module may be another company, so its name must agree before anything of it is used. */
function judge(name: Cell, seen: ProfileSeen): Judged {
  if (typeof seen === 'string') return { profile: seen, profileName: null, cells: EMPTY };
  const opened = openWhole(seen, new ReaderOutput());
  const body = opened?.path.object(opened.body);
  if (opened === undefined || body === undefined) return { profile: 'failed', profileName: null, cells: EMPTY };
  const { name: profileName, ...cells } = readFields(body, named, opened.path).cells;
  if (!name || !profileName) return { profile: 'no_name', profileName, cells: EMPTY };
  return nameSimilarity(name, profileName) >= NAME_AGREEMENT
    ? { profile: 'agrees', profileName, cells }
    : { profile: 'other_name', profileName, cells: EMPTY };
}

const EMPTY = Object.fromEntries(prospectProfileFields.map(({ name }) => [name, null])) as CellsOf<
  typeof prospectProfileFields
>;
