import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.js';
import { withoutDefaults } from '../../../src/api/schema.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';

type Case = readonly [rule: string, name: V2OperationName, params: Readonly<Record<string, unknown>>];

const filter = (filters: Readonly<Record<string, unknown>>) => ({ filters });
const search = { location: 'GB', name: 'Acme' };
const person = { name: 'Li' };
const dates = (date_from: string) => ({ date_from, date_to: '2024-02-29 23:59:59' });
const BANDS = ['0-10000', '1000-100000', '100000-500000', '500000-1000000', '1000000-5000000', '5000000'];

const accepted: Case[] = [
  ['V2-3', 'metrics', {}],
  ['V2-14', 'metricsContacts', dates('2024-02-29 00:00:00')],
  ['V2-5', 'kybSearch', { location: 'US-CA', registration_number: '0012' }],
  ['V2-5', 'kybSearch', { location: 'CA-ON', vat_number: '1' }],
  ['V2-5', 'kybSearch', { location: 'CN-BJ', ticker: 'X' }],
  ['V2-5', 'kybSearch', { location: '1_44', name: 'Acme' }],
  ['V2-5', 'kybSearch', search],
  ['V2-4', 'kybLite', { id: '123456789012345678901234567890' }],
  ['V2-4', 'kybLite', { id: 7 }],
  ['V2-12', 'kybOfficers', { id: '7', page: 1, per_page: 500 }],
  ['V2-10', 'kybOfficersSearch', person],
  ['V2-10', 'kybOfficersSearch', { ...person, date_of_birth_year: 1000, status: 'C', country_code: 'GB' }],
  ['V2-10', 'kybOfficersSearch', { ...person, date_of_birth_year: 9999, status: 'P' }],
  ['V2-10', 'kybOfficersSearch', { ...person, appointment_date: { gte: '2020-01-01' } }],
  ['V2-10', 'kybOfficersSearch', { ...person, resignation_date: { lte: '2020-01-01' }, company_status: [106, '108'] }],
  ['V2-12', 'kybShareholders', { id: '7', page: 2 }],
  ['V2-10', 'prospecting', {}],
  ['V2-10', 'prospecting', { page: 10, per_page: 100 }],
  ['V2-14', 'prospecting', filter({ company_status: [106, 108, 1615] })],
  ['V2-14', 'prospecting', filter({ insights_visits: BANDS, insights_ranking: { global: '0-10000', local: BANDS } })],
  ['V2-10', 'prospecting', filter({ number_of_employees: { gte: 0 }, company_incorporation: { lte: '2024-02-29' } })],
  ['V2-10', 'prospecting', filter({ trading_activity: ['import', 'export'], industry_focus: ['12'] })],
  ['V2-10', 'prospecting', filter({ nace: ['01.1', 5], isic: [1], sic_code_gb: ['62012'], sic_code_anz: [3] })],
  ['V2-10', 'prospecting', filter({ location_countries: { parents: '1_44' }, location_regions: { id: 9 } })],
  ['V2-10', 'prospecting', filter({ location_zip: ['0123'], location_type: ['Leeds'], financial_currency: ['EUR'] })],
  ['V2-10', 'prospecting', filter({ financial_turnover: { gte: 1.5, lte: 2 }, yoy_profit: { lte: -3.25 } })],
  ['V2-10', 'prospecting', filter({ foreign_parents: 'has_a_foreign_parent', ownership_accounts: 'not_consolidated' })],
  [
    'V2-10',
    'prospecting',
    filter({ foreign_parents: ['has_no_foreign_parent'], ownership_accounts: ['consolidated'] }),
  ],
  ['V2-10', 'prospecting', filter({ ownership_parents: 'has_parents' })],
  ['V2-10', 'prospecting', filter({ ownership_parents: ['has_parents', 'has_no_parents'] })],
  ['V2-10', 'prospecting', filter({ advance_companies: ['have_fax', 'have_lat_and_long'] })],
  ['V2-10', 'companiesLookup', {}],
  ['V2-10', 'companiesLookup', { per_page: 5, country_code: 'US', state: 'CA', company_status: [106] }],
  ['V2-4', 'companyProfile', { id: '7' }],
  ['V2-4', 'employeesSearch', filter({ company_id: '12345678901234567890', advance: ['have_telephone'] })],
  ['V2-4', 'employeeProfile', { id: 'E-7' }],
  ['V2-13', 'watchAdd', { id: '7' }],
  ['V2-13', 'watchAdd', { id: '7', fields: ['company_status'] }],
  ['V2-13', 'watchRemove', { id: '7' }],
  ['V2-13', 'watchList', { date: '2024-01-01', fields: ['name'], page: 1, per_page: 10 }],
  ['V2-13', 'watchHistory', { id: '7', from_date: '2024-01-01', to_date: '2024-12-31' }],
  ['V2-13', 'watchFieldsAdd', { fields: ['name'] }],
  ['V2-13', 'watchCallbackSet', { callback: 'https://example.com/secret' }],
  ['V2-10', 'enrichCompanyByRegistry', { registration_number: '1', country_code: 'GB' }],
  ['V2-10', 'enrichCompanyByRegistry', { vat_number: 'GB1', country_code: 'GB' }],
  ['V2-10', 'enrichCompanyByRegistry', { registration_number: '1', country_code: 'US', state: 'DE' }],
  ['V2-11', 'enrichPerson', { domain: 'example.com', reveal_email: true }],
  ['V2-10', 'autocomplete', { country_code: 'GB', name: 'Acme' }],
  ['V2-10', 'autocomplete', { country_code: 'GB', registration_number: '1' }],
  ['V2-10', 'autocomplete', { country_code: 'GB', vat_number: '1' }],
  ['V2-10', 'autocomplete', { country_code: 'GB', website: 'example.com' }],
  ['V2-10', 'autocomplete', { country_code: 'GB', phone_number: '+44 1' }],
  ['V2-10', 'autocomplete', { email: 'a@example.com' }],
  ['V2-4', 'financial', { id: '7', year: 2023 }],
  ['V2-1', 'insightsSearch', { name: 'Acme' }],
  ['V2-1', 'ownership', { registration_number: '1' }],
  ['V2-7', 'creditReportSearch', { country: 'GB', company: 'Acme', province: '3', post_code: '0' }],
  ['V2-6', 'creditReportGenerate', { source_id: 'GB001-X', country: 'GB', format: 'html' }],
  ['V2-6', 'creditReportStatus', { report_id: 12 }],
  ['V2-6', 'creditReportFetch', { report_id: '12' }],
  ['V2-6', 'creditReportHistory', { search: 'Acme', page: 1, per_page: 10 }],
  ['V2-5', 'nomenclature', { name: 'country', parent: '1_44' }],
  ['V2-5', 'nomenclature', { name: 'states', country: 'CA' }],
  ['V2-5', 'nomenclature', { name: 'sic', country_code: 'GB', parent: 3 }],
];

const refused: (readonly [...Case, where: string])[] = [
  ['V2-14', 'metricsContacts', dates('2023-02-29 00:00:00'), 'date_from'],
  ['V2-14', 'metricsContacts', dates('2024-01-01T00:00:00'), 'date_from'],
  ['V2-14', 'metricsContacts', dates('2024-01-01 24:00:00'), 'date_from'],
  ['V2-14', 'metricsContacts', dates('2024-01-01'), 'date_from'],
  ['V2-14', 'metricsContacts', { date_from: '2024-01-01 00:00:00' }, 'date_to'],
  ['V2-5', 'kybSearch', { ...search, location: 'GB-SCT' }, 'location'],
  ['V2-5', 'kybSearch', { ...search, location: 'gb' }, 'location'],
  ['V2-5', 'kybSearch', { ...search, location: '44' }, 'location'],
  ['V2-5', 'kybSearch', { ...search, location: 'UK' }, 'location'],
  ['V2-5', 'kybSearch', { name: 'Acme' }, 'location'],
  ['V2-5', 'kybSearch', { location: 'GB' }, ''],
  ['V2-5', 'kybSearch', { location: 'GB', name: '' }, 'name'],
  ['V2-4', 'kybLite', { id: 'a7' }, 'id'],
  ['V2-4', 'kybLite', { id: 2 ** 53 }, 'id'],
  ['V2-4', 'kybLite', {}, 'id'],
  ['V2-12', 'kybOfficers', { id: '7', page: 0 }, 'page'],
  ['V2-12', 'kybOfficers', { id: '7', per_page: 0 }, 'per_page'],
  ['V2-10', 'kybOfficersSearch', { name: 'L' }, 'name'],
  ['V2-10', 'kybOfficersSearch', { ...person, date_of_birth_year: 999 }, 'date_of_birth_year'],
  ['V2-10', 'kybOfficersSearch', { ...person, date_of_birth_year: 10000 }, 'date_of_birth_year'],
  ['V2-10', 'kybOfficersSearch', { ...person, status: 'X' }, 'status'],
  ['V2-10', 'kybOfficersSearch', { ...person, appointment_date: {} }, 'appointment_date'],
  ['V2-10', 'kybOfficersSearch', { ...person, appointment_date: { gte: '2023-02-29' } }, 'appointment_date.gte'],
  ['V2-10', 'kybOfficersSearch', { ...person, country_code: 'gb' }, 'country_code'],
  ['V2-10', 'prospecting', { page: 11 }, 'page'],
  ['V2-10', 'prospecting', { page: 0 }, 'page'],
  ['V2-10', 'prospecting', filter({ surprise: 1 }), 'filters'],
  ['V2-14', 'prospecting', filter({ company_status: ['106'] }), 'filters.company_status.0'],
  ['V2-14', 'prospecting', filter({ insights_visits: ['0-1000'] }), 'filters.insights_visits.0'],
  ['V2-14', 'prospecting', filter({ insights_ranking: '0-10000' }), 'filters.insights_ranking'],
  ['V2-10', 'prospecting', filter({ trading_activity: ['imports'] }), 'filters.trading_activity.0'],
  ['V2-10', 'prospecting', filter({ number_of_employees: { gte: 1.5 } }), 'filters.number_of_employees.gte'],
  ['V2-10', 'prospecting', filter({ yoy_profit: { gte: 2, lte: 1.5 } }), 'filters.yoy_profit'],
  ['V2-10', 'prospecting', filter({ financial_profit: {} }), 'filters.financial_profit'],
  ['V2-10', 'prospecting', filter({ financial_profit: { gt: 1 } }), 'filters.financial_profit'],
  ['V2-10', 'prospecting', filter({ location_countries: {} }), 'filters.location_countries'],
  ['V2-10', 'prospecting', filter({ foreign_parents: 'yes' }), 'filters.foreign_parents'],
  ['V2-10', 'prospecting', filter({ ownership_accounts: 'both' }), 'filters.ownership_accounts'],
  ['V2-10', 'prospecting', filter({ ownership_parents: [] }), 'filters.ownership_parents'],
  ['V2-10', 'prospecting', filter({ advance_companies: ['have_hope'] }), 'filters.advance_companies.0'],
  ['V2-10', 'companiesLookup', { per_page: 6 }, 'per_page'],
  ['V2-10', 'companiesLookup', { state: 'California' }, 'state'],
  ['V2-4', 'employeesSearch', filter({ company_id: 'x' }), 'filters.company_id'],
  ['V2-10', 'employeesSearch', filter({ advance: ['have_fax'] }), 'filters.advance.0'],
  ['V2-13', 'watchHistory', { page: 1 }, 'id'],
  ['V2-13', 'watchRemove', { id: '7', fields: ['name'] }, ''],
  ['V2-13', 'watchFieldsAdd', {}, 'fields'],
  ['V2-4', 'employeeProfile', { id: '..' }, 'id'],
  ['V2-13', 'watchFieldsRemove', { fields: [] }, 'fields'],
  ['V2-13', 'watchCallbackSet', { callback: 'ftp://example.com' }, 'callback'],
  ['V2-13', 'watchList', { date: '01/02/2024' }, 'date'],
  ['V2-10', 'enrichCompanyByWebsite', {}, 'url'],
  ['V2-10', 'enrichCompanyByLinkedin', {}, 'linkedin'],
  ['V2-10', 'enrichCompanyByRegistry', { registration_number: '1', country_code: 'US' }, 'state'],
  ['V2-10', 'enrichCompanyByRegistry', { registration_number: '1' }, 'country_code'],
  ['V2-10', 'enrichCompanyByRegistry', { country_code: 'GB' }, ''],
  ['V2-11', 'enrichPerson', { reveal_email: true }, ''],
  ['V2-11', 'enrichPersonByEmail', { email: 'a@b.c', reveal_email: true }, ''],
  ['V2-10', 'autocomplete', { country_code: 'GB' }, 'country_code'],
  ['V2-10', 'autocomplete', { country_code: 'GB', email: 'a@example.com', url: 'x' }, 'country_code'],
  ['V2-4', 'financial', { id: '7', year: 2023.5 }, 'year'],
  ['V2-1', 'insightsSearch', {}, ''],
  ['V2-1', 'ownership', {}, ''],
  ['V2-7', 'creditReportSearch', { company: 'Acme' }, 'country'],
  ['V2-7', 'creditReportSearch', { country: 'GB', name: 'Acme' }, ''],
  ['V2-6', 'creditReportGenerate', { source_id: 'X', country: 'GB', format: 'pdf' }, 'format'],
  ['V2-6', 'creditReportGenerate', { country: 'GB' }, 'source_id'],
  ['V2-6', 'creditReportCombined', { source_id: 'X' }, 'country'],
  ['V2-6', 'creditReportStatus', {}, 'report_id'],
  ['V2-5', 'nomenclature', { name: 'colour' }, 'name'],
  ['V2-5', 'nomenclature', { name: 'sic' }, 'country_code'],
  ['V2-5', 'nomenclature', { name: 'sic', country_code: '../x' }, 'country_code'],
  ['V2-5', 'nomenclature', { name: 'nace', country_code: 'GB' }, 'country_code'],
  ['V2-5', 'nomenclature', { name: 'states' }, 'country'],
  ['V2-5', 'nomenclature', { name: 'states', country: 'GB' }, 'country'],
  ['V2-5', 'nomenclature', { name: 'currency', parent: '1' }, 'parent'],
  ['V2-5', 'nomenclature', { name: 'states', country: 'US', parent: '1' }, 'parent'],
];

const paramsOf = (name: V2OperationName) => (v2Operations[name] as Operation).params;

describe('parameters', () => {
  test.each(accepted)('%s %s accepts %j', (_, name, params) => {
    expect(paramsOf(name).safeParse(params).error).toBeUndefined();
  });

  test.each(refused)('%s %s refuses %j', (_, name, params, where) => {
    const places = paramsOf(name)
      .safeParse(params)
      .error?.issues.map((issue) => issue.path.join('.'));
    expect(places).toContain(where);
  });

  test('a first page is left out of the request only if the document names it as default', () => {
    const params = { name: 'Acme', page: 1 };
    expect(withoutDefaults(paramsOf('companiesLookup'), params)).toEqual({ name: 'Acme' });
    expect(withoutDefaults(paramsOf('kybOfficersSearch'), params)).toEqual(params);
    const shown = { email: 'a@b.example', reveal_phone: true };
    expect(withoutDefaults(paramsOf('enrichPersonByEmail'), shown)).toEqual(shown);
  });

  test('V2-5 each of the fifteen vocabularies is accepted', () => {
    const { name } = v2Operations.nomenclature.params.shape;
    expect(name.options.toSorted()).toEqual(
      `activity-type company-status company-type country currency department industry-focus isic legal-form nace region
      seniority sic states technology`.split(/\s+/),
    );
  });

  test('V2-10 every filter of the prospecting table is known', () => {
    const filters = `company_status number_of_employees company_incorporation company_type legal_form activity_type
      trading_activity industry_focus website_keywords url nace isic sic_code_gb sic_code_us sic_code_de sic_code_fr
      sic_code_it sic_code_nl sic_code_be sic_code_dk sic_code_ie sic_code_lu sic_code_no sic_code_se sic_code_sg
      sic_code_ca sic_code_mx sic_code_anz location_countries location_regions location_zip location_type
      financial_currency financial_turnover financial_profit financial_liabilities financial_directors
      financial_employee_profit financial_exports yoy_turnover yoy_ebitda yoy_profit yoy_staff yoy_liabilities
      yoy_exports ownership_parents foreign_parents ownership_accounts insights_visits insights_technologies insights_ranking
      advance_companies`.split(/\s+/);
    expect(Object.keys(v2Operations.prospecting.params.shape.filters.unwrap().shape)).toEqual(filters);
  });
});
