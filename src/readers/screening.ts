import { countPeopleLeft, PEOPLE_LEFT } from '../domain/outcomes.js';
import { type ExactJson, isObject, type JsonObject } from '../util/exact-json.js';
import { totalOf } from '../util/list-page.js';
import { eachItem, type ListRead, placeCells, type SubjectIds, unreadItems, unreadPage } from './parts/lists.js';
import { type BodyPath, openAnswer } from './parts/open-answer.js';
import { extraOf, readFields, readNested, ungroup } from './parts/read-fields.js';
import { sourcesTable, takeSources } from './parts/sources.js';
import type { Glance, RawAnswer, Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import {
  birthYearColumn,
  column,
  companyKeyColumn,
  contactColumn,
  emptyExtra,
  extraColumn,
  operationColumn,
  positionColumn,
  rawSha256,
  table,
  timestamp,
} from './table.js';

/** The name searched for, which an officer or shareholder has. */
const screenedName = column(
  'screened_name',
  'text',
  'The searched name of an officer or shareholder of the company',
  'the request',
);

/** Both IDs if the row knows both, whichever API was searched. */
const screenedCompany = [
  column('v1_company_id', 'id', 'The company, in v1’s ID space. Empty if it is not confirmed there', 'the row'),
  column('v2_company_id', 'id', 'The company, in v2’s ID space. Empty if it is not confirmed there', 'the row'),
] as const;

/** Fields of an appointment. v2 sends fewer of them. */
const appointmentFields = [
  column('id', 'id', 'The officer record'),
  column('company_id', 'id', 'The connected company, as the search has it'),
  column('company_name', 'text', 'Its name'),
  column('registration_number', 'text', 'Its number'),
  column('company_status', 'text', 'Its status, as sent'),
  column('incorporation_date', 'date', 'Its date of incorporation'),
  column('full_name', 'text', 'Name of the person found'),
  column('first_name', 'text', 'Given name'),
  column('middle_name', 'text', 'Middle name'),
  column('last_name', 'text', 'Family name'),
  column('title', 'text', 'Title'),
  column('sex', 'text', 'As sent'),
  column('nationality', 'text', 'As sent'),
  column('country_of_residence', 'text', 'As sent'),
  birthYearColumn,
  column('date_of_birth_month', 'integer', 'Month of birth'),
  column('officer_role', 'text', 'Role as the registry reports it'),
  column('appointed_at', 'date', 'Date of appointment'),
  column('resigned_at', 'date', 'Date of resignation'),
  column('work_status', 'text', 'Status of the appointment, as sent. v2 does not send it'),
  column('address_country', 'text', 'Country of the address'),
  column('address_line_1', 'text', 'Address'),
  column('address_locality', 'text', 'Town'),
  column('address_region', 'text', 'Region'),
  column('address_postal_code', 'text', 'Postal code'),
] as const;

const appointmentContacts = [
  contactColumn('email', 'E-mail. Only with --include-contacts', 'email, contact.email'),
  contactColumn('phone', 'Phone. Only with --include-contacts', 'phone, contact.phone'),
] as const;

const isSubject = column(
  'is_subject',
  'boolean',
  '`true` if the found company is the company of the row. Empty if the search names no company',
  'company_id, compared',
);

export const appointmentsTable = table({
  name: 'appointments',
  onePer: 'appointment found',
  description:
    'Appointments of people who have the name of an officer of the company. They are candidates by name. No line shows whether one is the same person.',
  source: 'officersSearchKyb, v2 kybOfficersSearch',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'screened_name', 'screened_birth_year', 'position'],
  keyAlwaysThere: false,
  columns: [
    ...screenedCompany,
    screenedName,
    column('screened_birth_year', 'integer', 'The year of birth in the search. Empty if none was known', 'the request'),
    positionColumn,
    ...appointmentFields,
    isSubject,
    operationColumn,
    rawSha256,
    ...appointmentContacts,
    extraColumn,
  ],
});

const holdingFields = [
  column('id', 'id', 'The holding'),
  column('name', 'text', 'Name of the holder found'),
  column('type', 'text', 'Person or corporate, as sent'),
  column('created', 'text', 'When the record was made, as sent: YYYY-MM-DDThh:mm:ss,mmm+0000'),
  column('status', 'text', 'Status of the holding, as sent'),
  column('percentage', 'number', 'Direct holding in percent'),
  column('quantity', 'number', 'Number of shares'),
  column('share_price', 'number', 'Price per share as stated'),
  column('share_type', 'text', 'Class of shares'),
  column('share_value', 'scalar', 'Description of the holding, formatted by the source'),
  column('currency', 'text', 'Currency code'),
  // The connected company has prefixed names, because the holder has a name and an ID too.
  column('company_id', 'id', 'The connected company', 'company.id'),
  column('company_name', 'text', 'Its name', 'company.name'),
  column('company_registration_number', 'text', 'Its number', 'company.registration_number'),
  column('company_vat_number', 'text', 'Its VAT number', 'company.vat_number'),
  column('company_zip', 'text', 'Its postal code', 'company.address.zip'),
  column('company_city', 'text', 'Its city', 'company.address.city'),
  column('company_address1', 'text', 'Its address', 'company.address.address1'),
  column('company_address2', 'text', 'Further line of its address', 'company.address.address2'),
  column('company_country_region', 'text', 'Its region, as sent', 'company.address.country_region'),
] as const;

const holdingsTable = table({
  name: 'holdings',
  onePer: 'holding found',
  description:
    'Shareholdings of holders who have the name of a shareholder of the company. They are candidates by name. No line shows whether one is the same holder.',
  source: 'shareholdersSearchKyb /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'screened_name', 'position'],
  keyAlwaysThere: false,
  columns: [
    ...screenedCompany,
    screenedName,
    positionColumn,
    ...holdingFields,
    isSubject,
    operationColumn,
    rawSha256,
    extraColumn,
  ],
});

export const screeningsTable = table({
  name: 'screenings',
  onePer: 'searched person or holder',
  description:
    'Which names of officers and shareholders were searched for, and how many lines were found. The lines are in `appointments` and `holdings`. A hit has the same name and may be another person.',
  source: 'officersSearchKyb, shareholdersSearchKyb, v2 kybOfficersSearch',
  key: ['company_key', 'operation', 'name', 'birth_year'],
  keyAlwaysThere: false,
  columns: [
    companyKeyColumn,
    column('name', 'text', 'The searched name', 'the request'),
    column('kind', 'text', 'officer or shareholder: the list that has the name', 'the operation'),
    column('asked_at', 'timestamp', 'When the search was answered, its first page', 'the call'),
    operationColumn,
    column('hits', 'integer', 'Lines found, on the pages that were bought. 0: none. Empty: no list was returned'),
    column(
      'people_left_out',
      'integer',
      'People of the same list who were not searched for, according to the newest screening. See `errors`, PEOPLE_LEFT',
      'the row',
    ),
    column('birth_year', 'integer', 'The year of birth in the search. Empty if none was known', 'the request'),
    column('hits_elsewhere', 'integer', 'Hits that are not in the company of the row itself'),
    ...screenedCompany,
    column('raw_sha256', 'text', 'SHA-256 of the raw body of the first page', 'the call'),
    emptyExtra,
  ],
});

/** The results of v1's name searches for a company: candidates, never proof of the same person. */
export const screeningReader = {
  name: 'screening',
  space: 'v1',
  operations: [],
  asked: ['officersSearchKyb', 'shareholdersSearchKyb'],
  tables: [screeningsTable, appointmentsTable, holdingsTable, sourcesTable],
  glance: screeningGlance,
  read: (subject, out) => readSearches(subject, { v1: subject.id, v2: subject.ids.v2 ?? null }, out),
} as const satisfies Reader;

/** The same for v2, which only searches officers. */
export const v2ScreeningReader = {
  name: 'screening-v2',
  space: 'v2',
  operations: [],
  asked: ['kybOfficersSearch'],
  tables: [screeningsTable, appointmentsTable, sourcesTable],
  glance: screeningGlance,
  read: (subject, out) => readSearches(subject, { v1: subject.ids.v1 ?? null, v2: subject.id }, out),
} as const satisfies Reader;

function readSearches(subject: SubjectAnswers, ids: Pick<Screened, 'v1' | 'v2'>, out: ReaderOutput): void {
  const { id } = subject;
  // Pages of one search follow each other.
  const searches = new Map<string, Search>();
  for (const answer of subject.answers) {
    const opened = openAnswer(answer, out);
    if (opened === undefined) continue;
    const { body, path } = opened;
    const asked = askedBy(answer);
    const key = JSON.stringify([answer.operation, asked]);
    const search = searches.get(key) ?? { ...asked, answer, items: 0, hits: null, elsewhere: 0, total: 0 };
    const found = answer.operation === 'shareholdersSearchKyb' ? holdingsTable : appointmentsTable;
    const before = out.rows.get(found.name)?.length ?? 0;
    const of = { ...ids, ...asked, own: id, offset: search.items };
    const { count, left } = readSearch(answer.operation, body, of, path);
    const lines = (out.rows.get(found.name) ?? []).slice(before);
    searches.set(key, {
      ...search,
      items: search.items + (count ?? 0),
      total: Math.max(search.total, (isObject(body) && totalOf(body)) || 0),
      hits: count === null ? search.hits : (search.hits ?? 0) + lines.length,
      elsewhere: search.elsewhere + lines.filter((line) => line.is_subject !== 'true').length,
    });
    // Unread parts become an issue with the whole value.
    for (const [name, value] of left) path.at(name).left('a line of its own', value);
  }
  for (const search of searches.values()) addScreening(search, subject, ids, out);
}

/** A search for one name, over all its pages. */
interface Search extends Pick<Screened, 'name' | 'birthYear'> {
  /** Its first page. */
  readonly answer: RawAnswer;
  /** On its pages so far. */
  readonly items: number;
  /** Null if no list was returned. */
  readonly hits: number | null;
  readonly elsewhere: number;
  /** Hits by the count of the list. 0: not stated. */
  readonly total: number;
}

function addScreening(
  { name, birthYear, answer, items, total, hits, elsewhere }: Search,
  { companyKey = null, notes = [] }: SubjectAnswers,
  ids: Pick<Screened, 'v1' | 'v2'>,
  out: ReaderOutput,
): void {
  const kind = answer.operation === 'shareholdersSearchKyb' ? 'shareholder' : 'officer';
  const left = notes
    .filter(({ code }) => code === PEOPLE_LEFT)
    .map(({ message }) => countPeopleLeft(message, `${kind}s`));
  const leftOut = Math.max(0, ...left);
  if (leftOut > 0) out.noteMore(screeningsTable);
  if (items < total) out.noteMore(holdingsTable);
  out.add(screeningsTable, {
    company_key: companyKey,
    name,
    kind,
    asked_at: timestamp(answer.fetchedAt),
    operation: answer.operation,
    hits: hits === null ? null : String(hits),
    people_left_out: String(leftOut),
    birth_year: birthYear,
    hits_elsewhere: hits === null ? null : String(elsewhere),
    v1_company_id: ids.v1,
    v2_company_id: ids.v2,
    raw_sha256: answer.rawSha256,
    extra: null,
  });
}

/** Empty if no search was answered with a list. */
function screeningGlance(out: ReaderOutput): Glance {
  const counts = out
    .rowsOf(screeningsTable)
    .flatMap(({ hits_elsewhere: hits }) => (hits === null ? [] : [Number(hits)]));
  return counts.length === 0 ? {} : { screening_hits: String(counts.reduce((sum, hits) => sum + hits, 0)) };
}

function askedBy({ params }: RawAnswer): Pick<Screened, 'name' | 'birthYear'> {
  const { name, date_of_birth_year: year } = params;
  return { name: typeof name === 'string' ? name : null, birthYear: year === undefined ? null : String(year) };
}

function readSearch(operation: string, body: ExactJson, of: Screened, path: BodyPath) {
  if (operation === 'shareholdersSearchKyb') return unreadPage(body, (rows) => readHoldings(rows, of, path.at('data')));
  const { count, odd } = readAppointments(body, of, path);
  return { count, left: unreadItems('data', odd) };
}

/** The company, the name searched for, and the ID that the connected company is compared with. */
interface Screened extends SubjectIds {
  readonly own: string;
  readonly name: string | null;
  readonly birthYear: string | null;
  readonly offset: number;
}

const GROUPS = ['company', 'officer', 'appointment', 'address', 'contact'];
const fields = [...appointmentFields, ...appointmentContacts] as const;

/** The answer of an officer search: a list without an envelope. */
function readAppointments(list: ExactJson | undefined, of: Screened, path: BodyPath): ListRead {
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const own = takeSources(item, 'appointments', of, at, GROUPS);
    const { cells, rest } = readFields(ungroup(own, GROUPS), fields, at);
    path.out.add(appointmentsTable, {
      ...placeCells(of, position, path),
      screened_name: of.name,
      screened_birth_year: of.birthYear,
      ...cells,
      is_subject: isOwn(cells.company_id, of),
      extra: extraOf(rest),
    });
  };
  return eachItem(list, path, use, { offset: of.offset, table: appointmentsTable });
}

const isOwn = (id: string | null, { own }: Screened): string | null => (id === null ? null : String(id === own));

/** A page of a shareholder search. */
function readHoldings(list: ExactJson | undefined, of: Screened, path: BodyPath): ListRead {
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const { cells, rest } = readNested(takeSources(item, 'holdings', of, at, ['company']), holdingFields, at);
    path.out.add(holdingsTable, {
      ...placeCells(of, position, path),
      screened_name: of.name,
      ...cells,
      is_subject: isOwn(cells.company_id, of),
      extra: extraOf(rest),
    });
  };
  return eachItem(list, path, use, { offset: of.offset, table: holdingsTable });
}
