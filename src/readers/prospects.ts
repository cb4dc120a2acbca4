import { NAME_AGREEMENT, nameSimilarity } from '../domain/names.js';
import { idOf, isObject, memberOf } from './parts/body-path.js';
import { openAnswer } from './parts/open-answer.js';
import { type CellsOf, extraOf, type Members, nested, readFields } from './parts/read-fields.js';
import { type RawAnswer, ReaderOutput } from './reader.js';
import { type Cell, column, type RowOf, timestamp } from './table.js';
import { furtherProspectFields, prospectProfileFields, prospectsTable } from './tables/prospects.js';

/** A company of a page of prospecting. */
export interface Prospect {
  readonly id: string;
  readonly name: Cell;
  readonly page: number;
  readonly totals: CellsOf<typeof totalFields>;
  readonly answer: RawAnswer;
  /** What else was said of it, and of its page. */
  readonly rest: Members;
}

const itemFields = [column('id', 'id', ''), column('name', 'text', '')] as const;
const totalFields = [column('total_companies', 'integer', ''), column('total_pages', 'integer', '')] as const;
const profileFields = [...prospectProfileFields, ...furtherProspectFields] as const;
const named = [column('name', 'text', ''), ...profileFields] as const;

export interface ProspectPage {
  readonly prospects: readonly Prospect[];
  /** Items without an ID. */
  readonly unnamed: number;
  /** As this page counts them; null: it does not say. */
  readonly totalCompanies: number | null;
  readonly totalPages: number | null;
}

/** The companies of one page, in their order; one without an ID cannot be asked about, and is none. */
export function readProspectPage(answer: RawAnswer, page: number, includeContacts = false): ProspectPage {
  const opened = openAnswer(answer, new ReaderOutput(includeContacts));
  const body = opened?.path.object(opened.body);
  if (opened === undefined || body === undefined)
    return { prospects: [], unnamed: 0, totalCompanies: null, totalPages: null };
  const { cells: totals, rest: ofPage } = readFields(body, totalFields, opened.path, ['data']);
  const items = opened.path.list(body.data) ?? [];
  const prospects = items.filter(isObject).flatMap((item) => {
    const { cells, rest } = readFields(item, itemFields, opened.path);
    const further = [...rest, ...nested('page', ofPage)];
    return cells.id === null ? [] : [{ id: cells.id, name: cells.name, page, totals, answer, rest: further }];
  });
  const unnamed = items.length - prospects.length;
  return {
    prospects,
    unnamed,
    totalCompanies: countOf(totals.total_companies),
    totalPages: countOf(totals.total_pages),
  };
}

const countOf = (cell: Cell): number | null => (cell === null ? null : Number(cell));

/** What a profile came to: an answer, or why there is none. */
export type ProfileSeen = RawAnswer | 'not_available' | 'failed' | 'not_asked';

export type ProspectRow = RowOf<typeof prospectsTable>;

export function prospectRow(
  prospect: Prospect,
  position: number,
  seen: ProfileSeen,
  { isPart, includeContacts = false }: { readonly isPart: boolean; readonly includeContacts?: boolean },
): ProspectRow {
  const { id, name, page, totals, answer } = prospect;
  const { profile, profileName, cells, rest } = judge(prospect, seen, includeContacts);
  const bought = typeof seen === 'string' ? undefined : seen;
  const row: ProspectRow = {
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
    extra: extraOf([...prospect.rest, ...nested('companyProfile', rest)]),
  };
  const out = new ReaderOutput(includeContacts);
  out.add(prospectsTable, row);
  return out.rowsOf(prospectsTable)[0] ?? row;
}

interface Judged {
  readonly profile: string;
  readonly profileName: Cell;
  readonly cells: CellsOf<typeof profileFields>;
  readonly rest: Members;
}

/** V2-18: the same ID in another module may be another company, so its name must agree before anything of it is used. */
function judge({ id, name }: Prospect, seen: ProfileSeen, includeContacts: boolean): Judged {
  const none = (profile: string, profileName: Cell = null) => ({ profile, profileName, cells: EMPTY, rest: [] });
  if (typeof seen === 'string') return none(seen);
  const opened = openAnswer(seen, new ReaderOutput(includeContacts));
  const body = opened?.path.object(opened.body);
  if (opened === undefined || body === undefined) return none('failed');
  const own = idOf(memberOf(body, 'id')) === id ? ['id'] : [];
  const {
    cells: { name: profileName, ...cells },
    rest,
  } = readFields(body, named, opened.path, own);
  if (!name || !profileName) return none('no_name', profileName);
  return nameSimilarity(name, profileName) >= NAME_AGREEMENT
    ? { profile: 'agrees', profileName, cells, rest }
    : none('other_name', profileName);
}

const EMPTY = Object.fromEntries(profileFields.map(({ name }) => [name, null])) as CellsOf<typeof profileFields>;
