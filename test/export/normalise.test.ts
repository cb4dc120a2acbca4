import { expect, test } from 'vitest';
import { company } from '../../src/export/normalise/company.js';
import { removeContacts } from '../../src/export/normalise/contacts.js';
import { creditReport } from '../../src/export/normalise/credit-report.js';
import { flatFinancials } from '../../src/export/normalise/financials.js';
import type { Answer, Gathered } from '../../src/export/normalise/reading.js';
import { v2Company } from '../../src/export/normalise/v2-company.js';
import { parseExact } from '../../src/util/exact-json.js';

const answer = (operation: string, body: string, params: Answer['params'] = {}): Answer => ({
  operation,
  id: '77',
  params,
  body: parseExact(body),
  rawSha256: 'sha',
  fetchedAt: '2026-01-31T12:00:00.000Z',
});
const full = (members: string) => company([answer('fullKyb', `{"lite":{"id":77,"name":"Acme"}${members}}`)]);
const seen = ({ issues }: Gathered) =>
  issues.map(({ pointer, expected, seen: saw }) => `${pointer}: ${expected}, ${saw}`);

test('V1-22 a list that did not come is not a list that came empty', () => {
  const { rows } = full(',"officers":[],"shareholders":null');
  expect(rows.companies[0]).toMatchObject({
    officers_returned: '0',
    shareholders_returned: null,
    group_links_returned: null,
  });
});

test('V1-17 IDs are text, beyond 2^53 too', () => {
  const { rows, issues } = company([
    {
      ...answer('fullKyb', '{"lite":{"id":9100000498006494015},"officers":[{"id":12345678901234567890}]}'),
      id: '9100000498006494015',
    },
  ]);
  expect(rows.officers[0]?.id).toBe('12345678901234567890');
  expect(issues).toEqual([]);
});

test('V1-23 shares keep their digits, and an empty text is not null', () => {
  const { rows } = full(
    ',"shareholders":[{"percentage":33.3333333333333333,"quantity":1.10,"share_type":"","name":null,"share_price":""}]',
  );
  expect(rows.shareholders[0]).toMatchObject({
    percentage: '33.3333333333333333',
    quantity: '1.10',
    share_type: '',
    name: null,
    share_price: null,
    extra: '{"share_price":""}',
  });
});

test('V1-25 the flat and the grouped profile give the same line, and the grouped one its sources', () => {
  const flat = company([
    answer(
      'liteKyb',
      '{"id":77,"name":"Acme","status":"Active","ticker":"ACM","country_code":"GB","zip_code":"AB1","website":"acme.example"}',
    ),
  ]);
  const source = '{"category":"Enriched","id":5,"name":"Register","licence":"open"}';
  const grouped = company([
    answer(
      'liteKyb',
      `{"id":77,"basic":{"name":"Acme","status":"Active","ticker":"ACM","source":${source}},"address":{"country_code":"GB","zip_code":"AB1","source":${source}},"contact":{"website":"acme.example"}}`,
    ),
  ]);
  expect(grouped.rows.companies).toEqual(flat.rows.companies);
  expect(grouped.issues).toEqual([]);
  expect(grouped.rows.sources.map(({ module, id, extra, pointer }) => [module, id, extra, pointer])).toEqual([
    ['lite.basic', '5', '{"licence":"open"}', '/basic/source'],
    ['lite.address', '5', '{"licence":"open"}', '/address/source'],
  ]);
});

test('officers grouped by provenance give the same line as flat ones', () => {
  const person = '"first_name":"Ada","date_of_birth_year":1970';
  const flat = company([
    answer('officersKyb', `{"data":[{"id":1,${person},"job_title":"Chair"}],"total_pages":1,"total_results":1}`),
  ]);
  const grouped = company([
    answer(
      'officersKyb',
      `{"data":[{"id":1,"officer":{${person}},"appointment":{"job_title":"Chair"}}],"source":{"name":"R"}}`,
    ),
  ]);
  const both = company([
    answer(
      'officersKyb',
      `{"data":[{"id":1,${person},"job_title":"Chair","officer":{${person}},"appointment":{"job_title":"Other"}}]}`,
    ),
  ]);
  expect(grouped.rows.officers).toEqual(flat.rows.officers);
  expect(grouped.rows.sources).toHaveLength(1);
  expect(both.rows.officers[0]).toMatchObject({ job_title: 'Chair', extra: '{"appointment":{"job_title":"Other"}}' });
});

test('V1-26 a link’s source is a text; provenance objects of the record become sources', () => {
  const { rows, issues } = full(
    ',"group_structures_full":[{"source":"DK-1","target":"GB-2","temporary":false}],"provenance":{"lite":{"name":"R"},"officers":{"name":"S"}}',
  );
  expect(rows.group_links[0]).toMatchObject({ source: 'DK-1', target: 'GB-2', temporary: 'false' });
  expect(rows.sources.map(({ module, name }) => [module, name])).toEqual([
    ['lite', 'R'],
    ['officers', 'S'],
  ]);
  expect(issues).toEqual([]);
});

test('V1-27 a tree becomes links, twenty thousand levels deep', () => {
  const depth = 20_000;
  const tree = `${'{"id":1,"registration_number":"GB-1","children":['.repeat(depth)}{"id":2,"selected":true,"children":[]}${']}'.repeat(depth)}`;
  const { rows } = company([answer('groupFullKyb', `{"data":[${tree}]}`)]);
  expect(rows.group_links).toHaveLength(depth);
  expect(rows.companies[0]?.group_links_returned).toBe(String(depth));
  expect(rows.group_links.at(-1)).toMatchObject({ source: 'GB-1', target: '2' });
});

test('V1-28 births stay partial, and a date that is none is kept in extra', () => {
  const gathered = full(
    ',"officers":[{"date_of_birth_year":1970,"date_of_birth_month":null,"appointed_at":"1998-00-00"}]',
  );
  expect(gathered.rows.officers[0]).toMatchObject({
    date_of_birth_year: '1970',
    date_of_birth_month: null,
    appointed_at: null,
    extra: '{"appointed_at":"1998-00-00"}',
  });
  expect(seen(gathered)).toEqual(['/officers/0/appointed_at: a date, "1998-00-00"']);
});

test('V1-29 unknown fields pass through to extra, digit for digit, whatever their names', () => {
  const { rows } = company([
    answer('fullKyb', '{"lite":{"id":77,"capital":250000.00,"__proto__":{"a":1}},"news":[1.10]}'),
  ]);
  expect(rows.companies[0]?.extra).toBe('{"capital":250000.00,"__proto__":{"a":1},"news":[1.10]}');
});

test('an unexpected shape is noted with its place, and the rest is exported', () => {
  const gathered = full(
    ',"officers":"none","shareholders":[7,{"name":"H","percentage":{"a":1}},null],"financial":{"years":["2024"],"groups":[{"id":"1","list":[{"name":"M","list":{"2024":[1]}}]}]}',
  );
  expect(seen(gathered)).toEqual([
    '/officers: a list, "none"',
    '/shareholders/0: an object, 7',
    '/shareholders/1/percentage: a number, an object with 1 member(s)',
    '/shareholders/2: an object, null',
    '/financial/groups/0/list/0/list/2024: a number, text, true, false or null, a list of 1',
  ]);
  expect(gathered.rows.shareholders).toHaveLength(1);
  expect(gathered.rows.companies[0]).toMatchObject({
    name: 'Acme',
    officers_returned: null,
    extra: '{"officers":"none"}',
  });
});

test('filed statements: every period of every metric, with what the provider adds', () => {
  const { rows, issues } = full(
    ',"financial":{"id":77,"name":"Acme","years":["2024","2023"],"unit":"GBP","groups":[{"id":9000,"name":"Summary","order":1,"note":"n","list":[{"name":"Turnover","list":{"2024":"1.50","2023":null},"progress":[-4.70]}]}]}',
  );
  expect(issues).toEqual([]);
  expect(rows.filed_financials).toMatchObject([
    { group_id: '9000', period: '2023', value: null, value_type: 'null', progress: '[-4.70]', extra: '{"note":"n"}' },
    { group_id: '9000', period: '2024', value: '1.50', value_type: 'string', group_order: '1', metric_position: '1' },
  ]);
  expect(rows.companies[0]).toMatchObject({ filed_periods_returned: '2', extra: '{"financial":{"unit":"GBP"}}' });
});

test('V2-2 V2-8 flat financials: an empty object says nothing; unknown indicators pass', () => {
  expect(flatFinancials(answer('financial', '{}')).rows.flat_financials).toEqual([]);
  const { rows, issues } = flatFinancials(
    answer('financial', '{"2024":{"Zeta":1.10,"Alpha":"52 weeks"},"2023":null,"x":7}'),
  );
  expect(
    rows.flat_financials.map(({ year, indicator, value, value_type }) => [year, indicator, value, value_type]),
  ).toEqual([
    ['2024', 'Alpha', '52 weeks', 'string'],
    ['2024', 'Zeta', '1.10', 'number'],
  ]);
  expect(issues.map(({ pointer }) => pointer)).toEqual(['/x']);
});

test('V2-9 v2 officers and shareholders: the same tables under v2’s ID; current or former stays unknown', () => {
  const officer = v2Company(
    answer('kybOfficers', '{"data":[{"id":"5","first_name":"Ada"}],"total_results":9,"total_pages":1}', {
      page: 3,
      per_page: 2,
    }),
    null,
  );
  expect(officer.rows.officers[0]).toMatchObject({
    v1_company_id: null,
    v2_company_id: '77',
    position: '5',
    work_status: null,
  });
  const holder = v2Company(answer('kybShareholders', '{"data":[{"id":"5","name":"H","company_id":"77"}]}'), '1');
  expect(holder.rows.shareholders[0]).toMatchObject({ v1_company_id: '1', v2_company_id: '77', extra: null });
  expect(officer.issues.concat(holder.issues)).toEqual([]);
});

test('V2-7 a credit report: strings stay strings, remarks have kinds, other sections are kept', () => {
  const record = {
    object: parseExact('{"id":7,"source_id":"S","status":"processing","expired":false,"url":"u"}') as never,
    answer: { operation: 'creditReportGenerate', rawSha256: 'g' },
    pointer: '',
  };
  const body = parseExact(
    '{"summary":{"turnover":-1.50,"number_of_employees":"12","overall_credit_risk":{"pod":0.5880,"creditLimit":{"value":"10000.0","currency":"EUR"}},"what_we_like_about_this_company":["a","b"],"cautions":["=c"]},"directors":[1.0]}',
  );
  const { rows, issues } = creditReport({
    id: '7',
    sourceId: null,
    record,
    fetched: { ...answer('creditReportFetch', 'null'), body },
  });
  expect(issues).toEqual([]);
  expect(rows.credit_reports[0]).toMatchObject({
    credit_source_id: 'S',
    status: 'finish',
    recorded_status: 'processing',
    expired: 'false',
    turnover: '-1.50',
    number_of_employees: '12',
    pod: '0.5880',
    credit_limit_value: '10000.0',
    extra: '{"directors":[1.0],"url":"u"}',
  });
  expect(rows.credit_report_remarks.map(({ kind, position, text }) => [kind, position, text])).toEqual([
    ['caution', '1', '=c'],
    ['positive', '1', 'a'],
    ['positive', '2', 'b'],
  ]);
});

test('contacts are taken out wherever they stand', () => {
  const body = parseExact(
    '{"officers":[{"email":"a","contact":{"phone":"1","company_phone":"2"},"telephone_number":"3","name":"n"}],"microphone":1}',
  );
  removeContacts(body);
  expect(JSON.stringify(body)).toBe('{"officers":[{"contact":{},"name":"n"}],"microphone":"1"}');
});

test('V1-29 every field that the document shows has a column or is named as ignored', () => {
  const all = (names: string, value = '"x"') =>
    names
      .split(' ')
      .map((name) => `"${name}":${value}`)
      .join(',');
  const officer = `${all('id first_name last_name work_status job_title address_country address_line_1 address_locality address_region address_postal_code email phone')},${all('appointed_at resigned_at', '"2020-02-29"')},${all('date_of_birth_year date_of_birth_month', '7')}`;
  const holding = `${all('id name share_type share_value currency status')},${all('percentage quantity share_price total_value', '1.0')}`;
  const metric = '{"name":"M","list":{"2024":1},"progress":[1]}';
  const filed = `"years":["2024"],"groups":[{"id":"1","name":"G","order":1,"list":[${metric}]}]`;
  const gathered = company([
    answer(
      'fullKyb',
      `{"lite":{"id":77,${all('name registration_number vat_number status country_code legal_form')},"incorporation_date":"2020-01-01"},"officers":[{${officer}}],"shareholders":[{${holding}}],"group_structures_full":[{${all('company_id country_source country_target source target title target_title')},"temporary":true}],"financial":{"id":77,"name":"x",${filed}}}`,
    ),
    answer(
      'liteKyb',
      `{"id":77,${all('name registration_number vat_number status legal_form ticker country_code country_name country_region address_street address_location address_city zip_code jurisdiction website linkedin')},"incorporation_date":null}`,
    ),
    answer(
      'officersKyb',
      `{"data":[{${officer}}],"total_pages":1,"total_results":1,"source":{${all('category comment id name url')}}}`,
    ),
    answer('shareholdersKyb', `{"data":[{${holding}}],"total_pages":1,"total_results":1}`),
    answer('financialKyb', `{${filed}}`),
  ]);
  const rows = Object.values(gathered.rows).flat() as { extra?: string | null }[];
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter(({ extra }) => extra != null)).toEqual([]);
  expect(gathered.issues).toEqual([]);
});
