import { column, table } from '../table.js';
import { isSubject, screenedCompany, screenedName } from './appointments.js';
import { extra, operation, position, rawSha256 } from './columns.js';

export const holdingFields = [
  column('id', 'id', 'The holding'),
  column('name', 'text', 'Name of the holder found'),
  column('type', 'text', 'Person or corporate, as sent'),
  column('created', 'text', 'When the record was made, as sent: YYYY-MM-DDThh:mm:ss,mmm+0000'),
  column('status', 'text', 'Status of the holding; an open set'),
  column('percentage', 'number', 'Direct holding in percent'),
  column('quantity', 'number', 'Number of shares'),
  column('share_price', 'number', 'Price per share as stated'),
  column('share_type', 'text', 'Class of shares'),
  column('share_value', 'scalar', 'Description of the holding, formatted by the source'),
  column('currency', 'text', 'Currency code'),
] as const;

/** The connected company, whose members have names of their own here: the holder has a name and an ID, too. */
export const heldCompanyFields = [
  column('company_id', 'id', 'The connected company', 'company.id'),
  column('company_name', 'text', 'Its name', 'company.name'),
  column('company_registration_number', 'text', 'Its number', 'company.registration_number'),
  column('company_vat_number', 'text', 'Its VAT number', 'company.vat_number'),
] as const;

export const heldAddressFields = [
  column('company_zip', 'text', 'Its postal code', 'company.address.zip'),
  column('company_city', 'text', 'Its city', 'company.address.city'),
  column('company_address1', 'text', 'Its address', 'company.address.address1'),
  column('company_address2', 'text', 'Further line of its address', 'company.address.address2'),
  column('company_country_region', 'text', 'Its region, as sent', 'company.address.country_region'),
] as const;

export const holdingsTable = table({
  name: 'holdings',
  onePer: 'holding found',
  description:
    'Shareholdings of holders who have the name of a shareholder of the company. Candidates by name, not identified persons or companies: whether one is the same holder is not said by any line.',
  source: 'shareholdersSearchKyb /data',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'screened_name', 'position'],
  keyAlwaysThere: false,
  columns: [
    ...screenedCompany,
    screenedName,
    position,
    ...holdingFields,
    ...heldCompanyFields,
    ...heldAddressFields,
    isSubject,
    operation,
    rawSha256,
    extra,
  ],
});
