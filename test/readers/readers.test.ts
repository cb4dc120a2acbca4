import { expect, test } from 'vitest';
import { PEOPLE_LEFT, peopleLeftInWords } from '../../src/domain/outcomes.js';
import {
  creditReportReader,
  creditReportRemarksTable,
  creditReportSectionsTable,
  creditReportsTable,
} from '../../src/readers/credit-report.js';
import { flatFinancialsReader, flatFinancialsTable } from '../../src/readers/flat-financials.js';
import { companiesTable, companyGlance } from '../../src/readers/parts/company-row.js';
import { filedFinancialsTable } from '../../src/readers/parts/filed-financials.js';
import { groupLinksTable } from '../../src/readers/parts/group-links.js';
import { officersTable, shareholdersTable } from '../../src/readers/parts/officers-shareholders.js';
import { sourcesTable } from '../../src/readers/parts/sources.js';
import { peopleTable } from '../../src/readers/people.js';
import { type RawAnswer, type Reader, ReaderOutput } from '../../src/readers/reader.js';
import { recordReader, registryReader } from '../../src/readers/record.js';
import { appointmentsTable, screeningReader, screeningsTable } from '../../src/readers/screening.js';
import { columnsOf, type Row, type Table } from '../../src/readers/table.js';
import { parseExact } from '../../src/util/exact-json.js';
import { removeContacts, withoutEmails } from '../../src/util/sanitize-text.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { answer, issuesOf, read } from './support.js';

const company = (answers: readonly RawAnswer[]) => read(recordReader, answers);
const full = (members: string) => company([answer('fullKyb', `{"lite":{"id":77,"name":"Acme"}${members}}`)]);

test('V1-22 an absent list differs from an empty one', () => {
  const out = full(',"officers":[],"shareholders":null');
  expect(out.rowsOf(companiesTable)[0]).toMatchObject({
    officers_returned: '0',
    shareholders_returned: null,
    group_links_returned: null,
  });
});

test('V1-17 IDs are text, also beyond 2^53', () => {
  const out = read(
    recordReader,
    [answer('fullKyb', '{"lite":{"id":9100000498006494015},"officers":[{"id":12345678901234567890}]}')],
    { id: '9100000498006494015' },
  );
  expect(out.rowsOf(officersTable)[0]?.id).toBe('12345678901234567890');
  expect(out.issues).toEqual([]);
});

test('V1-23 shares keep their digits, and an empty text is not null', () => {
  const out = full(
    ',"shareholders":[{"percentage":33.3333333333333333,"quantity":1.10,"share_type":"","name":null,"share_price":""}]',
  );
  expect(out.rowsOf(shareholdersTable)[0]).toMatchObject({
    percentage: '33.3333333333333333',
    quantity: '1.10',
    share_type: '',
    name: null,
    share_price: null,
    extra: '{"share_price":""}',
  });
});

test('V1-25 the flat and the grouped profile give equal rows, and the grouped one its sources', () => {
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
  expect(grouped.rowsOf(companiesTable)).toEqual(flat.rowsOf(companiesTable));
  expect(grouped.issues).toEqual([]);
  expect(grouped.rowsOf(sourcesTable).map(({ module, id, extra, pointer }) => [module, id, extra, pointer])).toEqual([
    ['lite.basic', '5', '{"licence":"open"}', '/basic/source'],
    ['lite.address', '5', '{"licence":"open"}', '/address/source'],
  ]);
});

test('officers grouped by provenance and flat ones give equal rows', () => {
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
  expect(grouped.rowsOf(officersTable)).toEqual(flat.rowsOf(officersTable));
  expect(grouped.rowsOf(sourcesTable)).toHaveLength(1);
  expect(both.rowsOf(officersTable)[0]).toMatchObject({
    job_title: 'Chair',
    extra: '{"appointment":{"job_title":"Other"}}',
  });
});

test("V1-26 a link's source is a text, and provenance objects of the record become sources", () => {
  const out = full(
    ',"group_structures_full":[{"source":"DK-1","target":"GB-2","temporary":false}],"provenance":{"lite":{"name":"R"},"officers":{"name":"S"}}',
  );
  expect(out.rowsOf(groupLinksTable)[0]).toMatchObject({ source: 'DK-1', target: 'GB-2', temporary: 'false' });
  expect(out.rowsOf(sourcesTable).map(({ module, name }) => [module, name])).toEqual([
    ['lite', 'R'],
    ['officers', 'S'],
  ]);
  expect(out.issues).toEqual([]);
});

long('V1-27 a tree becomes links, twenty thousand levels deep', () => {
  const depth = 20_000;
  const tree = `${'{"id":1,"registration_number":"GB-1","children":['.repeat(depth)}{"id":2,"selected":true,"children":[]}${']}'.repeat(depth)}`;
  const out = company([answer('groupFullKyb', `{"data":[${tree}]}`)]);
  expect(out.rowsOf(groupLinksTable)).toHaveLength(depth);
  expect(out.rowsOf(companiesTable)[0]?.group_links_returned).toBe(String(depth));
  expect(out.rowsOf(groupLinksTable).at(-1)).toMatchObject({
    source: 'GB-1',
    target: null,
    target_id: '2',
    depth: String(depth),
  });
});

test('V1-27 a company that is alone in its tree has a row and is counted', () => {
  const out = company([
    answer('groupFullKyb', '{"data":[{"id":2,"name":"Top","selected":true,"children":[],"note":1}]}'),
  ]);
  expect(out.rowsOf(groupLinksTable)).toMatchObject([
    { depth: '0', source_id: null, target_id: '2', target: null, target_title: 'Top', selected: 'true' },
  ]);
  expect(out.rowsOf(groupLinksTable)[0]?.extra).toBe('{"note":1,"children":[]}');
  expect(out.rowsOf(companiesTable)[0]).toMatchObject({ group_links_returned: '1', extra: null });
});

test('V1-27 a link of a tree has the IDs of its ends, its depth, and which end is the requested company', () => {
  const leaf = '{"id":4,"registration_number":"GB-4","selected":false,"children":[]}';
  const middle = `{"id":3,"registration_number":"GB-3","selected":true,"children":[${leaf}]}`;
  const out = company([answer('groupFullKyb', `{"data":[{"id":2,"name":"Top","children":[${middle}]}]}`)]);
  expect(out.rowsOf(groupLinksTable)).toMatchObject([
    {
      source_id: '2',
      source: null,
      company_id: null,
      target_id: '3',
      target: 'GB-3',
      depth: '1',
      source_selected: null,
      selected: 'true',
    },
    {
      source_id: '3',
      target_id: '4',
      depth: '2',
      source_selected: 'true',
      selected: 'false',
      extra: '{"children":[]}',
    },
  ]);
  expect(out.rowsOf(companiesTable)[0]?.extra).toBeNull();
});

test('V1-28 birth dates stay partial, and an invalid date is kept in extra', () => {
  const gathered = full(
    ',"officers":[{"date_of_birth_year":1970,"date_of_birth_month":null,"appointed_at":"1998-00-00"}]',
  );
  expect(gathered.rowsOf(officersTable)[0]).toMatchObject({
    date_of_birth_year: '1970',
    date_of_birth_month: null,
    appointed_at: null,
    extra: '{"appointed_at":"1998-00-00"}',
  });
  expect(issuesOf(gathered)).toEqual(['/officers/0/appointed_at: "1998-00-00"']);
});

test('V1-29 unknown fields of any name pass through to extra, digit for digit', () => {
  const out = company([answer('fullKyb', '{"lite":{"id":77,"capital":250000.00,"__proto__":{"a":1}},"news":[1.10]}')]);
  expect(out.rowsOf(companiesTable)[0]?.extra).toBe('{"capital":250000.00,"__proto__":{"a":1},"news":[1.10]}');
});

test('an unexpected shape is noted with its place, and the rest is exported', async () => {
  const gathered = full(
    ',"officers":"none","shareholders":[7,{"name":"H","percentage":{"a":1}},null],"financial":{"years":["2024"],"groups":[{"id":"1","list":[{"name":"M","list":{"2024":[1]}}]}]}',
  );
  expect(issuesOf(gathered)).toEqual([
    '/officers: "none"',
    '/shareholders/0: 7',
    expect.stringMatching(/^\/shareholders\/1\/percentage: .* 1 /),
    '/shareholders/2: null',
    '/financial/groups/0/list/0/list/2024: [1]',
  ]);
  await expectGolden(
    'unexpected-shapes',
    gathered.issues.map(({ pointer, expected, seen }) => [pointer, `${expected}, ${seen}`]),
  );
  expect(gathered.rowsOf(shareholdersTable)).toHaveLength(1);
  expect(gathered.rowsOf(companiesTable)[0]).toMatchObject({
    name: 'Acme',
    officers_returned: null,
    extra:
      '{"officers":"none","financial":{"groups":[{"id":"1","list":[{"name":"M","list":{"2024":[1]}}]}]},"shareholders":[7,null]}',
  });
});

test('filed statements: every period of every metric, with the provider’s additions', () => {
  const out = full(
    ',"financial":{"id":77,"name":"Acme","years":["2024","2023"],"unit":"GBP","groups":[{"id":9000,"name":"Summary","order":1,"note":"n","list":[{"name":"Turnover","list":{"2024":"1.50","2023":null},"progress":[-4.70]}]}]}',
  );
  expect(out.issues).toEqual([]);
  expect(out.rowsOf(filedFinancialsTable)).toMatchObject([
    { group_id: '9000', period: '2023', value: null, value_type: 'null', progress: '[-4.70]', period_progress: null },
    {
      group_id: '9000',
      period: '2024',
      value: '1.50',
      group_order: '1',
      metric_position: '1',
      period_progress: '-4.70',
    },
  ]);
  expect(out.rowsOf(companiesTable)[0]).toMatchObject({
    filed_periods_returned: '2',
    extra: '{"financial":{"id":77,"name":"Acme","unit":"GBP"}}',
  });
});

test('V2-2 V2-8 flat financials: an empty object gives no row, empty years are noted, unknown indicators pass', () => {
  expect(read(flatFinancialsReader, [answer('financial', '{}')]).rowsOf(flatFinancialsTable)).toEqual([]);
  const out = read(flatFinancialsReader, [
    answer('financial', '{"2024":{"Zeta":1.10,"Alpha":"52 weeks"},"2023":null,"2022":{},"x":7}'),
  ]);
  expect(
    out
      .rowsOf(flatFinancialsTable)
      .map(({ year, indicator, value, value_type }) => [year, indicator, value, value_type]),
  ).toEqual([
    ['2024', 'Alpha', '52 weeks', 'string'],
    ['2024', 'Zeta', '1.10', 'number'],
  ]);
  expect(out.issues.map(({ pointer, seen }) => [pointer, seen])).toEqual([
    ['/2022', '{}'],
    ['/2023', 'null'],
    ['/x', '7'],
  ]);
});

test.each(['0', '20244', 'n/a', '1e9', '1e3', '9999', ''])(
  'V2-8 %j is no year: it has no line of figures, and its values stay in the issue',
  (odd) => {
    const flat = `{"2024":{"Turnover":1},"${odd}":{"Turnover":2}}`;
    const out = read(flatFinancialsReader, [answer('financial', flat)]);
    expect(out.rowsOf(flatFinancialsTable).map(({ year }) => year)).toEqual(['2024']);
    expect(out.issues).toMatchObject([{ pointer: `/${odd.replace('/', '~1')}`, seen: '{"Turnover":2}' }]);
    const filed = `{"years":["2024-12-31"],"groups":[{"list":[{"name":"Turnover","list":{"2024-12-31":1,"${odd}":2}}]}]}`;
    const statements = read(registryReader, [answer('kybFinancial', filed)]);
    const periods = statements.rowsOf(filedFinancialsTable).map(({ period }) => period);
    expect(periods).toEqual(['2024-12-31']);
    expect(companyGlance(statements)).toMatchObject({ turnover: '1', turnover_year: '2024' });
  },
);

test.each([0, 20244, 1e9])('%j is no year of birth', (year) => {
  const out = full(`,"officers":[{"id":1,"date_of_birth_year":${year}}]`);
  expect(out.rowsOf(officersTable)).toMatchObject([
    { date_of_birth_year: null, extra: `{"date_of_birth_year":${year}}` },
  ]);
  expect(out.issues).toMatchObject([{ pointer: '/officers/0/date_of_birth_year' }]);
});

test("V2-9 v2 officers and shareholders share the tables under v2's ID, and current or former stays unknown", () => {
  const officer = read(registryReader, [
    answer('kybOfficers', '{"data":[{"id":"5","first_name":"Ada"}],"total_results":9,"total_pages":1}', {
      params: { page: 3, per_page: 2 },
    }),
  ]);
  expect(officer.rowsOf(officersTable)[0]).toMatchObject({
    v1_company_id: null,
    v2_company_id: '77',
    position: '5',
    work_status: null,
  });
  const holder = read(registryReader, [
    answer('kybShareholders', '{"data":[{"id":"5","name":"H","company_id":"77"}]}', { ids: { v1: '1' } }),
  ]);
  expect(holder.rowsOf(shareholdersTable)[0]).toMatchObject({ v1_company_id: '1', v2_company_id: '77', extra: null });
  expect(officer.issues.concat(holder.issues)).toEqual([]);
});

test.each([
  ['rising years', '["2022","2023","2024"]', '[1,2.50]', [null, '1', '2.50']],
  ['falling years', '["2024","2023","2022"]', '[1,2.50]', [null, '2.50', '1']],
  ['as many comparisons as years', '["2022","2023","2024"]', '[1,2,3]', [null, null, null]],
  ['years in no order', '["2022","2024","2023"]', '[1,2]', [null, null, null]],
  ['a year that is not listed', '["2023","2024"]', '[1,2]', [null, null, null]],
])('a comparison belongs to the later of two neighbours: %s', (_, years, progress, expected) => {
  const metric = `{"name":"M","list":{"2022":1,"2023":2,"2024":3},"progress":${progress}}`;
  const out = full(`,"financial":{"years":${years},"groups":[{"id":1,"list":[${metric}]}]}`);
  expect(out.rowsOf(filedFinancialsTable).map(({ period_progress: compared }) => compared)).toEqual(expected);
});

test('V2-7 every value of a section has a line under its own name', () => {
  const body =
    '{"summary":{},"score_history":[{"date":"2025-03-01","value":89},{"date":null}],"other":{"names":["a"],"none":{}},"trend":1.0}';
  const out = read(creditReportReader, [answer('creditReportFetch', body)]);
  const lines = out.rowsOf(creditReportSectionsTable);
  expect(lines.map(({ section, position, field, value }) => [section, position, field, value])).toEqual([
    ['score_history', '1', 'date', '2025-03-01'],
    ['score_history', '1', 'value', '89'],
    ['score_history', '2', 'date', null],
    ['other', null, 'names/1', 'a'],
    ['trend', null, null, '1.0'],
  ]);
});

test('V2-7 a credit report: strings stay strings, remarks have kinds, other sections are kept', () => {
  const body =
    '{"summary":{"turnover":-1.50,"number_of_employees":"12","overall_credit_risk":{"pod":0.5880,"creditLimit":{"value":"10000.0","currency":"EUR"}},"what_we_like_about_this_company":["a","b"],"cautions":["=c"]},"directors":[1.0]}';
  const out = read(creditReportReader, [
    answer('creditReportGenerate', '{"id":77,"source_id":"S","status":"processing","expired":false,"url":"u"}'),
    answer('creditReportFetch', body),
  ]);
  expect(out.issues).toEqual([]);
  expect(out.rowsOf(creditReportsTable)[0]).toMatchObject({
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
  expect(out.rowsOf(creditReportRemarksTable).map(({ kind, position, text }) => [kind, position, text])).toEqual([
    ['caution', '1', '=c'],
    ['positive', '1', 'a'],
    ['positive', '2', 'b'],
  ]);
});

test('a report of another user comes from the history, without its contacts', () => {
  const page = answer('creditReportHistory', '{"data":[7,{"id":77,"status":"finish","expired":1,"email":"a@b"}]}', {
    row: 9,
  });
  const [listed] = creditReportReader.lists.items(page);
  const out = read(creditReportReader, [answer('creditReportGenerate', '{"id":76,"status":"processing"}')], {
    includeContacts: false,
    row: 4,
    ...(listed === undefined ? {} : { listed }),
  });
  expect(out.rowsOf(creditReportsTable)).toMatchObject([{ status: 'finish', format: null, extra: '{"expired":1}' }]);
  expect(out.issues).toMatchObject([{ pointer: '/data/1/expired', origin: { row: 4, rawSha256: 'sha' } }]);
});

test.each([
  ['later', 2_000, 'true'],
  ['earlier', 500, 'false'],
])('V2-6 the later statement decides whether a report has expired: the history is the %s', (_, fetchedAt, expired) => {
  const generated = '{"id":77,"source_id":"S","status":"finish","expired":false}';
  const other = '{"id":76,"source_id":"S","status":"finish","expired":false,"name":"another"}';
  const page = answer('creditReportHistory', '{"data":[{"id":77,"status":"finish","expired":true}]}', { fetchedAt });
  const [listed] = creditReportReader.lists.items(page);
  const out = read(
    creditReportReader,
    [
      answer('creditReportGenerate', other, { fetchedAt: 900 }),
      answer('creditReportGenerate', generated, { fetchedAt: 1_000 }),
    ],
    listed === undefined ? {} : { listed },
  );
  expect(out.rowsOf(creditReportsTable)).toMatchObject([{ credit_source_id: 'S', name: null, expired }]);
});

test.each(['__proto__', 'constructor', '__defineGetter__', 'hasOwnProperty', 'toString', 'valueOf'])(
  'a member named %s is ordinary data everywhere',
  (name) => {
    const member = `"${name}":{"a":1.10}`;
    const extra = `{${member}}`;
    const figure = `"${name}":1.10`;
    const ofFiled = `"groups":[{"list":[{${member},"list":{${figure}}}]}]`;
    const bodies: readonly [Reader, string, string, object][] = [
      [
        recordReader,
        'fullKyb',
        `{"lite":{"id":77,${member}},"officers":[{${member}}],"financial":{${member}}}`,
        { companies: [{ extra: `{${member},"financial":{${member}}}` }], officers: [{ extra }] },
      ],
      [recordReader, 'fullKyb', `{"lite":{"id":77},${member}}`, { companies: [{ extra }] }],
      [recordReader, 'liteKyb', `{${member},"basic":{${member}}}`, { companies: [{ extra }] }],
      [
        recordReader,
        'officersKyb',
        `{${member},"data":[{${member},"appointment":{${member}}}]}`,
        { companies: [{ extra: `{"officersKyb":${extra}}` }], officers: [{ extra }] },
      ],
      [
        recordReader,
        'groupFullKyb',
        `{${member},"data":[{"children":[{${member}}]}]}`,
        { companies: [{ extra: `{"groupFullKyb":${extra}}` }], group_links: [{ extra }] },
      ],
      [
        registryReader,
        'kybFinancial',
        `{${member},${ofFiled}}`,
        {
          companies: [{ extra: `{"kybFinancial":{${member},${ofFiled}}}` }],
          issues: [`/groups/0/list/0/list/${name}`],
        },
      ],
      [
        registryReader,
        'kybFinancial',
        `{"groups":[{${member},"list":[{"list":{"2024":1}}]}]}`,
        { companies: [{ extra: null }], filed_financials: [{ period: '2024', value: '1', extra }] },
      ],
      [
        flatFinancialsReader,
        'financial',
        `{${member},"2024":{${figure}}}`,
        {
          flat_financials: [{ year: '2024', indicator: name, value: '1.10', extra: null }],
          financial_years: [{ year: '2024', extra: `{${figure}}` }],
          issues: [`/${name}`],
        },
      ],
      [
        creditReportReader,
        'creditReportFetch',
        `{${member},"summary":{${member},"overall_credit_risk":{${member}}}}`,
        {
          credit_reports: [{ extra: `{"summary":{${member},"overall_credit_risk":{${member}}},${member}}` }],
          credit_report_sections: [{ value: '1.10', extra: null }],
        },
      ],
      [creditReportReader, 'creditReportGenerate', `{"id":77,${member}}`, { credit_reports: [{ extra }] }],
    ];
    for (const [reader, operation, body, told] of bodies) {
      const out = read(reader, [answer(operation, body)], { includeContacts: false });
      const issues = out.issues.map(({ pointer }) => pointer);
      expect({ ...openCells(out), issues }, `${operation} ${body}`).toEqual({ issues: [], ...told });
    }
  },
);

/** By table: the cells in which a member of any name may be found. */
function openCells({ rows }: ReaderOutput): Record<string, object[]> {
  const names = ['year', 'indicator', 'period', 'value', 'extra'];
  const open = (row: Row) => Object.fromEntries(names.filter((name) => name in row).map((name) => [name, row[name]]));
  return Object.fromEntries([...rows].map(([table, lines]) => [table, lines.map(open)]));
}

test('a row of a table that the reader does not declare is refused', () => {
  const stray: Reader = { ...flatFinancialsReader, tables: [officersTable] };
  expect(() => read(stray, [answer('financial', '{"2024":{"a":1}}')])).toThrow(/ flat-financials .* flat_financials$/);
});

test('contacts are removed everywhere', () => {
  const body = parseExact(
    '{"officers":[{"email":"a","contact":{"phone":"1","company_phone":"2"},"telephone_number":"3","name":"n"}],"microphone":1}',
  );
  removeContacts(body);
  expect(JSON.stringify(body)).toBe('{"officers":[{"contact":{},"name":"n"}],"microphone":"1"}');
});

test('e-mail addresses and phone numbers are hidden under any name, also in texts without a column', () => {
  const hidden =
    '"emailAddress":"a","E-Mail":"a","mail":"a","tel":"a","cell":"a","direct_dial":"a","phoneNumber":"a","linkedin_contact":"a","contacts":[{"value":"a"}],"contact":{"other":{"b":"a"},"website":"w"}';
  const body = parseExact(`{${hidden},"hotel":"h"}`);
  removeContacts(body);
  expect(JSON.stringify(body)).toBe('{"contact":{"website":"w"},"hotel":"h"}');
  const officers = ',"officers":[{"id":1,"note":"write to ann.lee@acme.example, or not"},"ann@acme.example"]';
  const record = answer('fullKyb', `{"lite":{"id":77}${officers}}`);
  const out = read(recordReader, [record], { includeContacts: false });
  expect(out.rowsOf(officersTable)[0]?.extra).toBe('{"note":"write to (removed), or not"}');
  expect(JSON.stringify([[...out.rows], out.issues])).not.toContain('@acme');
});

test.each([
  ...['handy', 'Handynummer', 'gsm', 'GSM-Nr', 'portable', 'movil', 'móvil', 'celular', 'cellulare', 'natel', 'mobil'],
  ...['whatsapp', 'WhatsApp Number', 'viber', 'wechat', 'telefon', 'Telefonnummer', 'teléfono', 'téléphone', 'telefax'],
  ...['rufnummer', 'durchwahl', 'landline', 'work_phone', 'homePhone', 'phone_no', 'tel_nr', 'fax_nr', 'msisdn'],
  ...['courriel', 'correo', 'correo_electronico', 'mailto', 'director_handy'],
])('a contact under the name %s is removed, as text and as number', (name) => {
  const body = parseExact(`{"people":[{"${name}":493011100091,"n":1},{"${name}":"0049301110008"}]}`);
  removeContacts(body);
  expect(JSON.stringify(body)).toBe('{"people":[{"n":"1"},{}]}');
});

test.each([
  'number',
  'id',
  'registration_number',
  'hotel',
  'portability',
  'mobility',
  'handyman',
  'smsc',
  'correction',
])('the name %s is not a contact', (name) => {
  const body = parseExact(`{"${name}":493011100091}`);
  removeContacts(body);
  expect(body).toHaveProperty(name);
});

test('an e-mail address in any text about a person is not shown without contacts', () => {
  const people = [officersTable, appointmentsTable, peopleTable].map((table) => {
    const out = new ReaderOutput(false);
    const asSent = Object.fromEntries(table.columns.map(({ name }) => [name, `write to ann.lee@acme.example`]));
    out.add<Table>(table, asSent);
    const shown = out.rowsOf<Table>(table)[0] ?? {};
    return columnsOf(table, false).flatMap(({ name, type }) =>
      type.startsWith('text') && shown[name] !== 'write to (removed)' ? [name] : [],
    );
  });
  const companies = people.map((names) => names.filter((name) => name.startsWith('company_')));
  expect(people).toEqual(companies);
  const officer = '{"lite":{"id":77},"officers":[{"id":1,"job_title":"Director, ann.lee@acme.example"}]}';
  const titles = [true, false].map(
    (includeContacts) =>
      read(recordReader, [answer('fullKyb', officer)], { includeContacts }).rowsOf(officersTable)[0]?.job_title,
  );
  expect(titles).toEqual(['Director, ann.lee@acme.example', 'Director, (removed)']);
});

test.each([
  ['plain', '{"2020":{"kontakt":"ann.lee@acme.example","T":1.10}}'],
  ['with an escape', '{"2020":{"kontakt":"ann.lee\\u0040acme.example","T":1.10}}'],
])('an e-mail address among values of unknown names is not shown without contacts: %s', (_, body) => {
  const shown = (includeContacts: boolean) =>
    read(flatFinancialsReader, [answer('financial', body)], { includeContacts })
      .rowsOf(flatFinancialsTable)
      .map(({ value }) => value)
      .sort();
  expect(shown(true)).toEqual(['1.10', 'ann.lee@acme.example']);
  expect(shown(false)).toEqual(['(removed)', '1.10']);
});

test.each([
  'ann.lee＠acme.example',
  'ann.lee﹫acme.example',
  'ann.lee%40acme.example',
  '\\"ann lee\\"@acme.example',
  'ann.lee@[192.0.2.1]',
  'ann.lee@acme.xn--p1ai',
])('also in another spelling, as a value or as a name: %s', (address) => {
  const body = `{"2020":{"kontakt":"${address}","${address}":1.10},"${address}":{"T":2}}`;
  const out = read(flatFinancialsReader, [answer('financial', body)], { includeContacts: false });
  expect(JSON.stringify([...out.rows])).not.toMatch(/ann|acme|192/);
});

test.each(['M@ss Ltd', 'https://x.example/%40ann', '5 kg @ 10', '{"a":"b","c":"@d.example"}'])(
  'a text that is no e-mail address stays: %s',
  (text) => expect(withoutEmails(text)).toBe(text),
);

test('V1-29 every documented field has a column, and facts about the statements as a whole are in extra', () => {
  const all = (names: string, value = '"x"') =>
    names
      .split(' ')
      .map((name) => `"${name}":${value}`)
      .join(',');
  const officer = `${all('id first_name last_name work_status job_title address_country address_line_1 address_locality address_region address_postal_code email phone')},${all('appointed_at resigned_at', '"2020-02-29"')},${all('date_of_birth_year', '1970')},${all('date_of_birth_month', '7')}`;
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
  const rows = [...gathered.rows.values()].flat() as { extra?: string | null }[];
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.flatMap(({ extra }) => extra ?? [])).toEqual(['{"financial":{"id":77,"name":"x"}}']);
  expect(gathered.rowsOf(companiesTable)[0]).toMatchObject({ officers_total: '1', shareholders_total: '1' });
  expect(gathered.issues).toEqual([]);
});

test('names that every object has are ordinary fields everywhere', () => {
  const odd = '"__proto__":{"a":1.10},"constructor":"c","__defineGetter__":[1],"toString":2';
  const out = company([answer('fullKyb', `{"lite":{"id":77,${odd}},"officers":[{"first_name":"Ada",${odd}}],${odd}}`)]);
  expect(out.issues).toEqual([]);
  expect(out.rowsOf(companiesTable)[0]?.extra).toBe(`{${odd}}`);
  expect(out.rowsOf(officersTable)[0]).toMatchObject({ first_name: 'Ada', extra: `{${odd}}` });
});

test('of a million unexpected places a thousand are named and the rest is counted', () => {
  const out = company([answer('fullKyb', `{"officers":[${'7,'.repeat(89_999)}7]}`)]);
  expect(out.issues).toHaveLength(1001);
  expect(out.issues.at(-1)).toMatchObject({ seen: '89000 more' });
});

test.each([
  [flatFinancialsReader, 'financial', (odd: string) => `{"2024":{"a":1,"b":${odd}}}`, 'flat_financials', '/2024/b'],
  [
    registryReader,
    'kybFinancial',
    (odd: string) => `{"groups":[{"list":[{"list":{"2023":1,"2024":${odd}}}]}]}`,
    'filed_financials',
    '/groups/0/list/0/list/2024',
  ],
] as const)('V1-29 a figure that is a list or an object has no row, and its issue holds all of it: %#', (...row) => {
  const [reader, operation, bodyWith, table, pointer] = row;
  for (const odd of ['{"a":1.10}', '[1.10,2]']) {
    const out = read(reader, [answer(operation, bodyWith(odd))]);
    expect(out.rows.get(table)).toMatchObject([{ value: '1', value_type: 'number' }]);
    expect(out.issues).toMatchObject([{ pointer, seen: odd }]);
  }
});

test.each([
  ['{}', null, null],
  ['{"shareholders":null}', null, '{"shareholders":null}'],
  ['{"shareholders":[]}', '0', null],
  ['{"financial":{"years":[],"groups":null}}', null, '{"financial":{"groups":null}}'],
])('V1-22 absent, null and empty are distinguished: %s', (body, shareholders_returned, extra) => {
  const { rows } = read(recordReader, [answer('fullKyb', body)]);
  expect(rows.get('companies')).toMatchObject([{ shareholders_returned, extra }]);
});

test.each([
  ['{}', null, null],
  ['{"data":null}', null, '{"kybShareholders":{"data":null}}'],
  ['{"data":[]}', '0', null],
])('V1-22 an absent, null or empty list of v2 is distinguished: %s', (body, returned, extra) => {
  const out = read(registryReader, [answer('kybShareholders', body)]);
  expect(out.issues).toEqual([]);
  expect(out.rowsOf(companiesTable)).toMatchObject([
    { v1_company_id: null, v2_company_id: '77', shareholders_returned: returned, officers_returned: null, extra },
  ]);
});

test("values of the history that differ from the report's record are kept", () => {
  const page = '{"data":[{"id":77,"source_id":"T","status":"finish","name":"Acme","pages":4}]}';
  const [listed] = creditReportReader.lists.items(answer('creditReportHistory', page));
  const generated = answer('creditReportGenerate', '{"id":77,"source_id":"S","status":"processing","name":"Acme"}');
  const out = read(creditReportReader, [generated], { ids: { credit: 'R' }, ...(listed && { listed }) });
  expect(out.rowsOf(creditReportsTable)).toMatchObject([
    {
      credit_source_id: 'R',
      extra: '{"source_id":"S","creditReportHistory":{"source_id":"T","status":"finish","pages":4}}',
    },
  ]);
  expect(issuesOf(out)).toEqual(['/source_id: "S"']);
});

test('V1-25 a source in a group of an officer, an appointment or a holding reaches `sources`', () => {
  const groups = (names: readonly string[]) => names.map((name) => `"${name}":{"source":{"name":"${name}"}}`).join();
  const item = `{"id":1,${groups(['officer', 'appointment', 'address', 'contact'])}}`;
  const modules = (out: ReturnType<typeof read>) => out.rowsOf(sourcesTable).map(({ module, name }) => [module, name]);
  const officers = ['officer', 'appointment', 'address', 'contact'].map((name) => [`officers.${name}`, name]);
  for (const out of [company([answer('officersKyb', `{"data":[${item}]}`)]), full(`,"officers":[${item}]`)]) {
    expect(modules(out)).toEqual(officers);
    expect(JSON.stringify(out.rowsOf(officersTable)[0])).not.toContain('source');
  }
  const found = read(screeningReader, [
    answer('officersSearchKyb', `[{"id":1,${groups(['company', 'officer'])}}]`),
    answer('shareholdersSearchKyb', `{"data":[{"id":1,"company":{"id":2,"source":{"name":"company"}}}]}`),
  ]);
  expect(modules(found)).toEqual([
    ['appointments.company', 'company'],
    ['appointments.officer', 'officer'],
    ['holdings.company', 'company'],
  ]);
});

test('a search without a hit has a line, and one without a list has no count', () => {
  const search = (name: string, body: string) => answer('officersSearchKyb', body, { params: { name } });
  const message = peopleLeftInWords({
    lookedFor: 3,
    list: 'officers',
    reasons: ['4 more are listed', 'x counts 5 more'],
  });
  const out = read(
    screeningReader,
    [search('Ann', '[]'), search('Bob', '{}'), search('Cy', '[{"company_id":77},{"company_id":78}]')],
    { companyKey: 'GB-00045590', notes: [{ code: PEOPLE_LEFT, message }] },
  );
  expect(
    out
      .rowsOf(screeningsTable)
      .map(({ company_key, name, hits, hits_elsewhere, people_left_out }) =>
        [company_key, name, hits, hits_elsewhere, people_left_out].join(' '),
      ),
  ).toEqual(['GB-00045590 Ann 0 0 9', 'GB-00045590 Bob   9', 'GB-00045590 Cy 2 1 9']);
  expect(screeningReader.glance(out)).toEqual({ screening_hits: '1' });
});

test('V1-22 the periods of filed statements keep their order, also without a value', () => {
  const years = '["2024-12-31","2022-12-31","2023-12-31"]';
  const body = `{"years":${years},"groups":[{"id":"g","list":[{"name":"T","list":{"2023-12-31":1}}]}]}`;
  for (const out of [company([answer('financialKyb', body)]), full(`,"financial":${body}`)])
    expect(out.rowsOf(companiesTable)[0]).toMatchObject({
      filed_periods: years,
      filed_periods_returned: '3',
      extra: null,
    });
});
