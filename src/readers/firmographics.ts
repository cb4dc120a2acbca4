import type { JsonObject } from '../util/exact-json.js';
import { addressAt, glanceAt } from './parts/glance.js';
import { countCell, eachItem, type ListRead, unreadMembers } from './parts/lists.js';
import { type BodyPath, eachRecord, memberOf, recordCells } from './parts/open-answer.js';
import { extraOf, ownId, readFields } from './parts/read-fields.js';
import type { Glance, Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import {
  column,
  contactColumn,
  extraColumn,
  operationColumn,
  positionColumn,
  rawSha256,
  sameCompanyIn,
  table,
} from './table.js';

const companiesId = column('companies_id', 'id', 'The company, in the ID space of the companies module', 'the request');

/** The profile's fields with one value, without its ID. */
const firmographicFields = [
  column('name', 'text', 'Name of the company'),
  column('registration_number', 'text', 'Local number. Leading zeros are kept'),
  column('country_code', 'text', 'ISO alpha-2'),
  column('company_website', 'text', 'Website of the company'),
  column('company_legal_form', 'text', 'Legal form'),
  column('status', 'text', 'Status as the module reports it'),
  column('address_city', 'text', 'City'),
  column('zip_code', 'text', 'Postal code'),
  column('size', 'text', 'Headcount band, as sent'),
  column('founding_date', 'text', 'Founding date, as sent'),
  column('linkedin', 'text', 'The company’s page on a professional network'),
] as const;

export const firmographicContacts = [
  contactColumn(
    'company_phone',
    'Phone numbers of the company, a JSON list. Only with --include-contacts',
    'company_phone',
    'json',
  ),
] as const;

export const firmographicsTable = table({
  name: 'firmographics',
  onePer: 'company',
  description:
    'The profile of each company in the companies module: size, seat, founding, web. Its industries are in `classifications`. `changes` compares the classes, not their number.',
  source: 'v2 companyProfile',
  key: ['companies_id'],
  keyAlwaysThere: true,
  knownBy: { columns: [['companies_id']], single: true, besides: ['industry_returned', 'sic_returned'] },
  columns: [
    companiesId,
    ...firmographicFields,
    column(
      'industry_returned',
      'integer',
      'Industries in the profile. Empty: no list was returned. 0: the list was empty',
      '/industry',
    ),
    column('sic_returned', 'integer', 'SIC classes in the profile, empty or 0 as with industries', '/sic'),
    column('fetched_at', 'timestamp', 'When the profile was bought', 'the call'),
    rawSha256,
    operationColumn,
    ...sameCompanyIn,
    ...firmographicContacts,
    extraColumn,
  ],
});

const classificationFields = [
  column('id', 'id', 'The class, in the vocabulary that the type names'),
  column('type', 'text', 'Kind of vocabulary, as sent'),
  column('value', 'text', 'The class in words'),
] as const;

export const classificationsTable = table({
  name: 'classifications',
  onePer: 'list item',
  description: 'What a company does: the industries and SIC classes of its profile.',
  source: 'v2 companyProfile /industry, /sic',
  key: ['companies_id', 'kind', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['id'], ['type', 'value']], within: 'kind' },
  columns: [
    companiesId,
    column('kind', 'text', 'industry or sic: which list of the profile', 'name of the list'),
    positionColumn,
    ...classificationFields,
    rawSha256,
    extraColumn,
  ],
});

/** Reads a profile of the companies module into its row and one row for each class. */
export const firmographicsReader = {
  name: 'firmographics',
  space: 'companies',
  operations: ['companyProfile'],
  tables: [firmographicsTable, classificationsTable],
  glance: (out) => ({
    ...glanceAt(out, firmographicsTable, ['name', 'registration_number', 'country_code', 'status', 'fetched_at'], {
      legal_form: 'company_legal_form',
      incorporation_date: 'founding_date',
      website: 'company_website',
      headcount: 'size',
    }),
    ...addressAt(out, firmographicsTable, ['address_city']),
    ...industryOf(out),
  }),
  read: (subject, out) => eachRecord(subject, out, 'profile', (profile, path) => readProfile(profile, path, subject)),
} as const satisfies Reader;

/** The industries in words, in the order of the profile. */
function industryOf(out: ReaderOutput): Glance {
  const named = out
    .rowsOf(classificationsTable)
    .flatMap(({ kind, value }) => (kind === 'industry' && value ? [value] : []));
  return named.length === 0 ? {} : { industry: [...new Set(named)].join('; ') };
}

const fields = [...firmographicFields, ...firmographicContacts] as const;

function readProfile(profile: JsonObject, path: BodyPath, { id, ids }: SubjectAnswers): void {
  const { out } = path;
  const lists = {
    industry: readClasses('industry', profile, id, path),
    sic: readClasses('sic', profile, id, path),
  };
  const { cells, rest } = readFields(profile, fields, path, [...ownId(profile, 'id', id, path), ...Object.keys(lists)]);
  if (Object.values(cells).some((cell) => cell !== null)) out.noteCame(firmographicsTable);
  out.add(firmographicsTable, {
    companies_id: id,
    ...cells,
    industry_returned: countCell(lists.industry),
    sic_returned: countCell(lists.sic),
    ...recordCells(path, { ids }),
    extra: extraOf([
      ...rest,
      ...unreadMembers(profile, 'industry', lists.industry),
      ...unreadMembers(profile, 'sic', lists.sic),
    ]),
  });
}

function readClasses(kind: string, profile: JsonObject, id: string, path: BodyPath): ListRead {
  const read = eachItem(memberOf(profile, kind), path.at(kind), (item, position, at) => {
    const { cells, rest } = readFields(item, classificationFields, at);
    path.out.add(classificationsTable, {
      companies_id: id,
      kind,
      position,
      ...cells,
      raw_sha256: path.origin.rawSha256,
      extra: extraOf(rest),
    });
  });
  if (read.count !== null) path.out.noteCame(classificationsTable, kind);
  return read;
}
