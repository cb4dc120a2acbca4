import { NAME_AGREEMENT, nameSimilarity } from '../domain/names/similarity.js';
import { isObject } from '../util/exact-json.js';
import { firmographicContacts } from './firmographics.js';
import { idOf, memberOf, openAnswer } from './parts/open-answer.js';
import { type CellsOf, extraOf, type Members, nested, readFields } from './parts/read-fields.js';
import { type RawAnswer, ReaderOutput } from './reader.js';
import { type Cell, column, extraColumn, positionColumn, type RowOf, rawSha256, table, timestamp } from './table.js';

export interface Prospect {
  readonly id: string;
  readonly name: Cell;
  readonly page: number;
  readonly totals: CellsOf<typeof totalFields>;
  readonly answer: RawAnswer;
  readonly rest: Members;
}

const itemFields = [column('id', 'id', ''), column('name', 'text', '')] as const;
const totalFields = [column('total_companies', 'integer', ''), column('total_pages', 'integer', '')] as const;

const prospectProfileFields = [
  column('registration_number', 'text', 'Registration number, as sent', 'companyProfile'),
  column('country_code', 'text', 'ISO alpha-2', 'companyProfile'),
  column('status', 'text', 'Status', 'companyProfile'),
  column('company_website', 'text', 'Website', 'companyProfile'),
  column('company_legal_form', 'text', 'Legal form', 'companyProfile'),
  column('address_city', 'text', 'City', 'companyProfile'),
  column('zip_code', 'text', 'Postal code', 'companyProfile'),
  column('size', 'text', 'Band of employees', 'companyProfile'),
  column('founding_date', 'text', 'Founded, as sent', 'companyProfile'),
  column('linkedin', 'text', 'LinkedIn address', 'companyProfile'),
] as const;

/** Columns added after the table was published come last. */
const furtherProspectFields = [
  column('industry', 'json', 'Industries, each with id, type and value', 'companyProfile'),
  column('sic', 'json', 'SIC classes, a JSON list', 'companyProfile'),
  ...firmographicContacts,
] as const;

const profileFields = [...prospectProfileFields, ...furtherProspectFields] as const;
const named = [column('name', 'text', ''), ...profileFields] as const;

export interface ProspectPage {
  readonly prospects: readonly Prospect[];
  readonly unnamed: number;
  /** The totals of this page. Null: not stated. */
  readonly totalCompanies: number | null;
  readonly totalPages: number | null;
}

/** The companies of one page, in order. One without an ID cannot be asked about, so it is left out. */
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

/** The profile of a prospect, or why there is none. */
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

/** V2-18: the same ID in another module may be another company, so the name must agree before the profile is used. */
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

export const prospectsTable = table({
  name: 'prospects',
  onePer: 'company that the filters found',
  description:
    'The companies that `kybatch prospect` found, in the order of the provider. The columns of the profile are filled if `profile` is `agrees`, which means that the names agree.',
  source: 'v2 prospecting, v2 companyProfile',
  key: ['position'],
  keyAlwaysThere: true,
  columns: [
    { ...positionColumn, description: 'Place among all results, from 1', from: 'order of the pages' },
    column('page', 'integer', 'The page that lists it', 'the request'),
    column('companies_id', 'id', 'ID that prospecting gives it', '`id` of prospecting'),
    column('name', 'text', 'Name', 'prospecting'),
    ...prospectProfileFields,
    column(
      'profile',
      'text',
      'agrees, other_name (the profile has another name and is not used), no_name, not_available, failed or not_asked',
      'the comparison',
    ),
    column('profile_name', 'text', 'The name in the profile', '`name` of companyProfile'),
    column('is_part', 'boolean', 'Whether there are more companies than requested', '`total_pages`'),
    column('total_companies', 'integer', 'How many the provider counts, on this page', 'prospecting'),
    column('total_pages', 'integer', 'In how many pages, on this page', 'prospecting'),
    column('fetched_at', 'timestamp', 'When the page was fetched', 'the call'),
    rawSha256,
    column('profile_fetched_at', 'timestamp', 'When the profile was fetched', 'the call'),
    column('profile_raw_sha256', 'text', 'SHA-256 of the raw body of the profile', 'the call'),
    ...furtherProspectFields,
    {
      ...extraColumn,
      description: 'Other returned fields, those of its page in `page` and of its profile in `companyProfile`',
    },
  ],
});
