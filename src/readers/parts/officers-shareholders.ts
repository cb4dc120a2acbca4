import type { ExactJson, JsonObject } from '../../util/exact-json.js';
import {
  birthYearColumn,
  column,
  contactColumn,
  extraColumn,
  joinCells,
  operationColumn,
  positionColumn,
  rawSha256,
  table,
  v1CompanyId,
  v2CompanyId,
} from '../table.js';
import { eachItem, type ListOf, type ListRead, placeCells } from './lists.js';
import { type BodyPath, idOf, memberOf } from './open-answer.js';
import { extraOf, readFields, ungroup } from './read-fields.js';
import { takeSources } from './sources.js';

/** The groups of an officer with provenance. Their structure is not published, so fields are found by name. */
const OFFICER_GROUPS = ['officer', 'appointment', 'address', 'contact'];

const officerFields = [
  column('id', 'id', 'The officer record'),
  column('first_name', 'text', 'Given name'),
  column('last_name', 'text', 'Family name'),
  column('appointed_at', 'date', 'Date of appointment'),
  column('resigned_at', 'date', 'Date of resignation. v2 does not send it'),
  column('work_status', 'text', 'Status of the appointment, as sent. v2 does not send it'),
  birthYearColumn,
  column('date_of_birth_month', 'integer', 'Month of birth'),
  column('job_title', 'text', 'Role as the registry reports it'),
  column('address_country', 'text', 'Country of the address'),
  column('address_line_1', 'text', 'Address'),
  column('address_locality', 'text', 'Town'),
  column('address_region', 'text', 'Region'),
  column('address_postal_code', 'text', 'Postal code'),
] as const;

const officerContacts = [
  contactColumn('email', 'E-mail. Only with --include-contacts', 'contact.email'),
  contactColumn('phone', 'Phone. Only with --include-contacts', 'contact.phone'),
] as const;

const officerColumns = [...officerFields, ...officerContacts] as const;

export function readOfficers(list: ExactJson | undefined, of: ListOf, path: BodyPath): ListRead {
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const flat = ungroup(takeSources(item, 'officers', of, at, OFFICER_GROUPS), OFFICER_GROUPS);
    const { cells, rest } = readFields(flat, officerColumns, at);
    path.out.add(officersTable, joinCells(cells, placeCells(of, position, path), { extra: extraOf(rest) }));
  };
  return eachItem(list, path, use, { offset: of.offset, table: officersTable });
}

/** v2 repeats the company's own ID in every item. */
const repeatsId = (item: JsonObject, of: ListOf): readonly string[] =>
  of.v2 !== null && idOf(memberOf(item, 'company_id')) === of.v2 ? ['company_id'] : [];

export function readShareholders(list: ExactJson | undefined, of: ListOf, path: BodyPath): ListRead {
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const object = takeSources(item, 'shareholders', of, at);
    const { cells, rest } = readFields(object, shareholderFields, at, repeatsId(object, of));
    path.out.add(shareholdersTable, joinCells(cells, placeCells(of, position, path), { extra: extraOf(rest) }));
  };
  return eachItem(list, path, use, { offset: of.offset, table: shareholdersTable });
}

export const officersTable = table({
  name: 'officers',
  onePer: 'list item',
  description:
    'Officers, current and former, as the registry lists them. v1 and v2 are two sources, and `operation` names the source. If the record and the single list were bought from v1, one of them is shown.',
  source: 'fullKyb /officers, officersKyb /data, v2 kybOfficers /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  knownBy: { columns: [['id'], ['first_name', 'last_name', 'appointed_at']], origin: 'operation' },
  columns: [
    v1CompanyId,
    positionColumn,
    ...officerFields,
    v2CompanyId,
    operationColumn,
    ...officerContacts,
    rawSha256,
    extraColumn,
  ],
});

const shareholderFields = [
  column('id', 'id', 'The shareholding record'),
  column('name', 'text', 'Published name of the direct holder, a person or a company'),
  column('percentage', 'number', 'Direct holding in percent'),
  column('quantity', 'number', 'Number of shares'),
  column('share_price', 'number', 'Price per share as stated'),
  column('share_type', 'text', 'Class of shares'),
  column('share_value', 'scalar', 'Description of the holding, formatted by the source'),
  column('currency', 'text', 'Currency code'),
  column('status', 'text', 'Status of the holding'),
  column('total_value', 'number', 'Total as reported or calculated'),
] as const;

export const shareholdersTable = table({
  name: 'shareholders',
  onePer: 'list item',
  description:
    'Direct shareholders, not the owners behind them. An empty list does not prove that there are none. Record, registry of v2 and ownership module are separate sources, and `operation` names the source. If the record and the single list were bought from v1, one of them is shown.',
  source: 'fullKyb /shareholders, shareholdersKyb /data, v2 kybShareholders /data, v2 ownership /shareholders',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  knownBy: { columns: [['id'], ['name', 'share_type']], origin: 'operation' },
  columns: [v1CompanyId, positionColumn, ...shareholderFields, v2CompanyId, operationColumn, rawSha256, extraColumn],
});
