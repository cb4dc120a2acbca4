import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { expect, test } from 'vitest';
import { parquetColumns } from '../../src/export/formats/parquet.js';
import { type TableName, tables } from '../../src/export/tables.js';
import { columnsOf } from '../../src/readers/table.js';
import { long } from '../helpers/long.js';
import { exportTo, withRun } from './support.js';

/** The contract: tables and their leading columns. */
const CONTRACT: Readonly<Record<TableName, string>> = {
  rows: 'row outcome stage record_status financials_status credit_report_status match_grade matched_on v1_company_id v2_company_id credit_source_id credit_report_id units_charged error_code error_message',
  results:
    'outcome reason matched_name matched_registration_number matched_country company_status duplicate_of match_grade legal_form incorporation_date turnover turnover_year turnover_currency credit_risk credit_risk_words credit_limit credit_limit_currency register checked_at vat_number address website industry headcount officers_returned shareholders_returned screening_hits last_change changed_since_last_time row line company_key v1_company_id',
  companies:
    'v1_company_id name registration_number vat_number incorporation_date status country_code legal_form officers_returned shareholders_returned group_links_returned fetched_at raw_sha256',
  officers:
    'v1_company_id position id first_name last_name appointed_at resigned_at work_status date_of_birth_year date_of_birth_month job_title address_country address_line_1 address_locality address_region address_postal_code',
  shareholders:
    'v1_company_id position id name percentage quantity share_price share_type share_value currency status total_value',
  group_links:
    'v1_company_id position company_id country_source country_target source target title target_title temporary',
  filed_financials:
    'v1_company_id group_id group_name group_order metric period value value_type v2_company_id operation group_position metric_position progress raw_sha256 period_progress',
  flat_financials: 'v2_company_id year indicator value value_type',
  financial_years: 'company_key year currency',
  firmographics:
    'companies_id name registration_number country_code company_website company_legal_form status address_city zip_code size founding_date linkedin industry_returned sic_returned fetched_at raw_sha256 operation',
  classifications: 'companies_id kind position id type value raw_sha256',
  digital_profiles:
    'insights_id domain nameservers ip isp_name domain_creation_date engagement_total_visits engagement_bounce_rate engagement_time_on_site global_rank country_rank stat_organic_search_percent stat_direct_percent stat_referral_percent technologies_returned',
  technologies: 'insights_id position group_id group_name id name category',
  company_structures:
    'ownership_number registration_number shareholders_returned group_links_returned fetched_at raw_sha256 operation',
  screenings: 'company_key name kind asked_at operation hits people_left_out',
  appointments:
    'v1_company_id v2_company_id screened_name screened_birth_year position id company_id company_name registration_number company_status incorporation_date full_name first_name middle_name last_name title sex nationality country_of_residence date_of_birth_year date_of_birth_month officer_role appointed_at resigned_at work_status address_country address_line_1 address_locality address_region address_postal_code is_subject operation raw_sha256',
  holdings:
    'v1_company_id v2_company_id screened_name position id name type created status percentage quantity share_price share_type share_value currency company_id company_name company_registration_number company_vat_number company_zip company_city company_address1 company_address2 company_country_region is_subject operation raw_sha256',
  people:
    'companies_id employees_company_id v1_company_id v2_company_id position employee_id name full_name first_name last_name job_title function_original_name seniority_level gender country city company_name company_id company_website company_country company_city operation raw_sha256',
  credit_reports:
    'credit_report_id credit_source_id name registration_number status expired date_created turnover ebitda age_of_business number_of_employees charges mortgages court_judgements pod common_value common_description credit_limit_value credit_limit_currency raw_sha256',
  credit_report_remarks: 'credit_report_id kind position text',
  credit_report_sections: 'credit_report_id section position field value value_type raw_sha256',
  entities: 'entity_key kind name country_code registration_number v1_company_id v2_company_id',
  relations: 'from_key to_key kind percentage current chain_ends operation fetched_at raw_sha256',
  members: 'portfolio input_id row first_seen last_seen left_at due due_reason oldest_fetched_at',
  changes:
    'changed_at portfolio row input_id v1_company_id v2_company_id table key column kind old_value new_value old_raw_sha256 new_raw_sha256 run important',
  watch_events: 'portfolio row input_id v2_company_id event_type status message date_created heard_at run raw_sha256',
  candidates: 'row api position id name registration_number vat_number country_code state match_grade decision',
  calls:
    'row stage api operation attempt started_at duration_ms http_status error_code request_id units_charged charge raw_sha256',
  allowances: 'api permission metric name used total left used_at_start reset_at observed_at contacts_from contacts_to',
  errors: 'row stage class code message request_id attempts at',
  sources: 'v1_company_id module category comment id name url',
};

test('the tables of the contract, in its order', () => {
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(CONTRACT));
});

test.each(tables)(
  '$name has the columns of the contract first, each once, with its key and `extra` at the end',
  (declared) => {
    const columns = declared.columns.map((column) => column.name);
    const fixed = CONTRACT[declared.name as TableName].split(' ');
    expect(columns.slice(0, fixed.length)).toEqual(fixed);
    expect(new Set(columns).size).toBe(columns.length);
    expect(columns).toEqual(expect.arrayContaining([...declared.key]));
    expect(columns.at(-1)).toBe('extra');
  },
);

test('every table about a company has its key', () => {
  const without = tables.filter(({ columns }) => !columns.some(({ name }) => name === 'company_key'));
  expect(without.map(({ name }) => name)).toEqual(['entities', 'relations', 'calls', 'allowances', 'errors']);
});

test('V1-24 no table and no column speaks of beneficial owners', () => {
  const names = tables.flatMap(({ name, columns }) => [name, ...columns.map((column) => column.name)]);
  // The provider's own name of a module, which lists direct holders.
  const others = names.filter((name) => !/^ownership_(?:status|number)$/.test(name));
  expect(others.filter((name) => /owner|(?:^|_)ubo(?:_|$)|beneficial|controller/i.test(name))).toEqual([]);
});

long('header, Parquet schema and data package follow from the declaration', async () => {
  await withRun(
    { columns: ['Name', 'name', ''], rows: [{ values: ['a', 'b', 'c'] }] },
    async ({ dataDir, ledger, id }) => {
      const folder = join(dataDir, 'out');
      await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'], includeContacts: true });
      const inputs = ['input_Name', 'input_name_2', 'input_column_3'];
      const description = JSON.parse(readFileSync(join(folder, 'datapackage.json'), 'utf8')) as {
        resources: { name: string; schema: { fields: { name: string }[] } }[];
      };
      const fieldsOf = (resource: string) =>
        description.resources.find(({ name }) => name === resource)?.schema.fields.map(({ name }) => name);
      for (const declared of tables) {
        const { name } = declared;
        const columns = columnsOf(declared, true);
        // The columns of further modules come after the input's own.
        const further = (names: readonly string[]) =>
          name === 'rows'
            ? names.toSpliced(names.indexOf('error_message') + 1, 0, ...inputs)
            : name === 'results'
              ? ['Name', 'name_2', 'column_3', ...names]
              : names;
        const expected = further(columns.map((column) => column.name));
        const [header] = readFileSync(join(folder, `${name}.csv`), 'utf8').split('\r\n');
        expect(header).toBe(expected.join(','));
        expect(fieldsOf(name)).toEqual(expected);
        const inParquet = further(parquetColumns(columns).map((column) => column.name));
        const metadata = await parquetMetadataAsync(await asyncBufferFromFile(join(folder, `${name}.parquet`)));
        expect(metadata.schema.slice(1).map((element) => element.name)).toEqual(inParquet);
        expect(fieldsOf(`${name}-parquet`)).toEqual(inParquet);
      }
    },
  );
});
