import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import readSheet from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { stateOfStatus } from '../../src/export/company-at-a-glance.js';
import { reasonOf } from '../../src/export/reasons.js';
import { resultsFor } from '../../src/export/results-table.js';
import { long } from '../helpers/long.js';
import { exportTo, NOW, type RunFixture, readTable, settleAgain, withRun } from './support.js';
import { ASKED, LEHMERT, ROW } from './with-reason.js';

const STRUCK_OFF = { ...ROW, status: 'Struck off' };

const profile = (more: string) =>
  `{"lite":{"id":77,"name":"Acme Holdings Ltd","registration_number":"00445790","country_code":"GB","status":"Struck off","jurisdiction":"Companies House","legal_form":"Ltd","incorporation_date":"1947-11-27"}${more}}`;

const filed = (values: readonly string[]) =>
  `,"financial":{"years":["2023-12-31"],"groups":[{"id":"1","name":"Summary","order":1,"list":[${values
    .map((value) => `{"name":"Turnover","list":{"2023-12-31":${value}}}`)
    .join(',')}]}]}`;

const acme: RunFixture = {
  columns: ['Customer', 'name', 'outcome'],
  rows: [
    { values: ['007', 'Acme', '=1+1'], ids: { v1: '77', v2: '9', credit: 'c', report: '5' } },
    { values: ['008', 'ACME LTD', '', 'behind', 'it'], ids: { v1: '77' } },
    {
      values: ['009', 'Nobody', ''],
      fields: { country: 'DE' },
      state: { outcome: 'no_match', errorCode: 'NO_CANDIDATE_WITH_NUMBER', matchGrade: null, stages: {} },
    },
    { values: ['010', '', ''], state: { outcome: 'invalid', errorCode: 'NO_COUNTRY', errorMessage: 'x', stages: {} } },
    {
      values: ['011', 'Late', ''],
      ids: { v1: '78' },
      state: { outcome: 'pending', hold: 'waiting', holdReason: 'credit-report' },
    },
  ],
  bought: [
    { row: 1, api: 'v1', operation: 'fullKyb', params: { id: '77' }, body: profile(filed(['1'])) },
    {
      row: 1,
      api: 'v2',
      operation: 'financial',
      params: { id: '9' },
      body: '{"2022":{"Turnover":1},"2024":{"Currency":"GBP","Turnover":123456.70,"World-Turnover":9},"2025":{"Turnover":null}}',
    },
    {
      row: 1,
      api: 'v2',
      operation: 'creditReportFetch',
      params: { report_id: '5' },
      body: '{"summary":{"overall_credit_risk":{"commonValue":"B","commonDescription":"Low risk","creditLimit":{"value":"250000","currency":"GBP"}}}}',
    },
  ],
};

const withResults = (use: (folder: string, run: Parameters<Parameters<typeof withRun>[1]>[0]) => Promise<void>) =>
  withRun(acme, async (run) => use(join(run.dataDir, 'exports', run.id), run));

long('one row per input row: its own columns unchanged, then the findings in words', async () => {
  await withResults(async (folder, { ledger, id }) => {
    const summary = await exportTo(folder, ledger, id, { formats: ['csv', 'xlsx'] });
    const [first, second, third, fourth, fifth] = readTable(folder, 'results');
    expect(first).toEqual({
      Customer: '007',
      ...{ company_key: 'v1-77', vat_number: null, address: null, website: null, industry: null, headcount: null },
      ...{ officers_returned: null, shareholders_returned: null, screening_hits: null, last_change: null },
      changed_since_last_time: null,
      name: 'Acme',
      outcome: "'=1+1",
      outcome_2: 'complete',
      reason: reasonOf(STRUCK_OFF),
      matched_name: 'Acme Holdings Ltd',
      matched_registration_number: '00445790',
      matched_country: 'GB',
      company_status: 'Struck off',
      duplicate_of: null,
      match_grade: 'AAAAA',
      register: 'Companies House',
      legal_form: 'Ltd',
      incorporation_date: '1947-11-27',
      turnover: '123456.70',
      turnover_year: '2024',
      turnover_currency: 'GBP',
      credit_risk: 'B',
      credit_risk_words: 'Low risk',
      credit_limit: '250000',
      credit_limit_currency: 'GBP',
      checked_at: new Date(NOW).toISOString(),
      row: '1',
      line: '2',
      v1_company_id: '77',
      v2_company_id: '9',
      credit_source_id: 'c',
      credit_report_id: '5',
      extra: null,
    });
    // This company by its v1 ID. v2 was not asked about it, so its figures are the filed ones.
    expect(second).toMatchObject({ duplicate_of: '1', turnover: '1', turnover_year: '2023', turnover_currency: null });
    expect(second?.extra).toBe('{"surplus_cells":["behind","it"]}');
    expect(third).toMatchObject({
      reason: reasonOf({ ...ROW, outcome: 'no_match', code: 'NO_CANDIDATE_WITH_NUMBER', country: 'DE' }),
      matched_name: null,
      duplicate_of: null,
    });
    expect(fourth).toMatchObject({
      reason: reasonOf({ ...ROW, code: 'NO_COUNTRY', outcome: 'invalid' }),
      checked_at: null,
    });
    const waiting = reasonOf({ ...ROW, outcome: 'pending', hold: 'waiting', holdReason: 'credit-report' });
    expect(fifth).toMatchObject({ reason: waiting, duplicate_of: null });
    expect(summary.tables.results).toBe(5);
    expect(summary.files.filter(({ format }) => format === 'xlsx').map(({ path, rows }) => [path, rows])).toEqual([
      ['results.xlsx', 5],
    ]);
  });
});

long('the workbook shows these results to another reader, with an explanation', async () => {
  await withResults(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id, { formats: ['xlsx'] });
    const sheets = (await readSheet(join(folder, 'results.xlsx'))) as unknown as readonly {
      readonly sheet: string;
      readonly data: readonly (readonly unknown[])[];
    }[];
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Summary', 'Results', 'Columns']);
    expect(sheets[0]?.data).toEqual(expect.arrayContaining([['units', expect.any(Number), null]]));
    const [header = [], first = []] = sheets[1]?.data ?? [];
    const cells = Object.fromEntries(header.map((name, index) => [String(name), first[index]]));
    expect(cells).toMatchObject({
      Customer: '007',
      outcome: '=1+1',
      outcome_2: 'complete',
      matched_registration_number: '00445790',
      incorporation_date: new Date('1947-11-27T00:00:00Z'),
      turnover: 123456.7,
      turnover_year: 2024,
      credit_limit: 250000,
      checked_at: new Date(NOW),
      row: 1,
      v1_company_id: '77',
    });
    expect(cells).not.toHaveProperty('extra');
    const explained = sheets[2]?.data.map(([name]) => name) ?? [];
    expect(explained).toEqual(expect.arrayContaining(['Customer', 'outcome_2', 'needs_review', 'match_grade F']));
  });
});

test('the columns for programs are the last ones of the workbook, and hidden', () =>
  withResults(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id, { formats: ['xlsx'] });
    const zip = await openPromise(join(folder, 'results.xlsx'));
    const parts = new Map<string, string>();
    for await (const entry of zip.eachEntry())
      parts.set(entry.fileName, await textOf(await zip.openReadStreamPromise(entry)));
    const [, relation = ''] =
      /<sheet name="Results"[^>]* r:id="([^"]+)"/.exec(parts.get('xl/workbook.xml') ?? '') ?? [];
    const relations = parts.get('xl/_rels/workbook.xml.rels') ?? '';
    const [found = ''] =
      relations.match(/<Relationship [^>]*>/g)?.filter((one) => one.includes(`Id="${relation}"`)) ?? [];
    const sheet = parts.get(`xl/${/Target="([^"]+)"/.exec(found)?.[1]}`) ?? '';
    const hidden = [...sheet.matchAll(/<col [^>]*>/g)].map(([col]) => col.includes('hidden="1"'));
    const headers = [...(/<row r="1".*?<\/row>/.exec(sheet)?.[0] ?? '').matchAll(/<t[^>]*>([^<]*)</g)].map(
      ([, text]) => text,
    );
    expect(hidden).toHaveLength(headers.length);
    expect(headers.filter((_, at) => hidden[at])).toEqual(headers.slice(-7));
    expect(headers.slice(-8)).toEqual(
      'changed_since_last_time row line company_key v1_company_id v2_company_id credit_source_id credit_report_id'.split(
        ' ',
      ),
    );
  }));

long('fields that the documents do not name fill no column: they may mean something else', async () => {
  const record = '{"lite":{"id":77,"name":"Acme Holdings Ltd","country_code":"GB","register_court":"Court of Kiel"}}';
  const report = `{"summary":{},"company_profile":{"legal_form":"Ltd","vat_number":["GB123"],"website":"acme.example","status":"Active",
    "address":{"street":"1 High Street","city":"Leeds","post_code":"LS1 1AA"}}}`;
  const bought = [
    { row: 1, api: 'v1' as const, operation: 'fullKyb', params: { id: '77' }, body: record },
    { row: 1, api: 'v2' as const, operation: 'creditReportFetch', params: { report_id: '5' }, body: report },
  ];
  await withRun({ ...acme, rows: acme.rows.slice(0, 1), bought }, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'results')[0]).toMatchObject({
      register: null,
      legal_form: null,
      vat_number: null,
      website: null,
      company_status: null,
      address: null,
    });
  });
});

long('statements with several turnovers give none', async () => {
  const bought = [
    { row: 1, api: 'v1' as const, operation: 'fullKyb', params: { id: '77' }, body: profile(filed(['1', '2'])) },
  ];
  await withRun({ ...acme, rows: acme.rows.slice(0, 1), bought }, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    const [line] = readTable(folder, 'results');
    const reason = reasonOf({ ...STRUCK_OFF, filedTurnovers: ['1', '2'] });
    expect(line).toMatchObject({ turnover: null, turnover_year: null, reason });
  });
});

long.each([
  ['statements that give one turnover twice give it', '', ['301', '"301.00"'], '301', ['301']],
  [
    'flat figures without a turnover leave it to the statements',
    '{"2024":{"Currency":"GBP","UK-Turnover":5}}',
    ['7'],
    '7',
    ['7'],
  ],
  [
    'flat figures with one come before the statements, also before different ones',
    '{"2024":{"Currency":"GBP","Turnover":5}}',
    ['7', '8'],
    '5',
    null,
  ],
])('%s, and the row says so', async (_, flat, values, turnover, filedTurnovers) => {
  const record = {
    row: 1,
    api: 'v1' as const,
    operation: 'fullKyb',
    params: { id: '77' },
    body: profile(filed(values)),
  };
  const figures = { row: 1, api: 'v2' as const, operation: 'financial', params: { id: '9' }, body: flat };
  const bought = flat === '' ? [record] : [record, figures];
  await withRun({ ...acme, rows: acme.rows.slice(0, 1), bought }, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    const [line] = readTable(folder, 'results');
    const reason = reasonOf({ ...STRUCK_OFF, filedTurnovers });
    expect(line).toMatchObject({ turnover, turnover_currency: turnover === '5' ? 'GBP' : null, reason });
  });
});

long('without a record the company has the name of its search', async () => {
  await withRun({ ...acme, bought: [] }, async ({ dataDir, ledger, id }) => {
    const seen = {
      id: '77',
      name: 'Acme as searched',
      registrationNumber: '00445790',
      vatNumber: null,
      countryCode: 'GB',
      state: 'Leeds',
      jurisdiction: null,
      matchGrade: 'AAZAZ',
      decision: 'confirmed',
      evidence: 'x',
    };
    await settleAgain(ledger, id, 1, { candidates: [{ space: 'v1', seen: [seen] }] });
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'results')[0]).toMatchObject({
      matched_name: 'Acme as searched',
      register: 'Leeds',
      company_status: null,
    });
    expect(readTable(folder, 'rows')[0]).toMatchObject({
      matched_name: 'Acme as searched',
      matched_registration_number: '00445790',
      line: '2',
    });
  });
});

long("the reason names the person who chose another company's credit report, and that company", async () => {
  await withRun({ ...acme, rows: acme.rows.slice(0, 1) }, async ({ dataDir, ledger, id }) => {
    const topic = { space: 'credit', stage: null, entityKey: 'credit|k' } as const;
    const environmentId = await ledger.calls.environment('v2', 'test');
    const question = { ...topic, environmentId, candidateId: null, code: 'REVIEWED', message: 'x', askedAt: NOW };
    const seen = {
      id: 'c',
      name: 'Lehmert Elektrobau Supply AG',
      registrationNumber: 'HRA 1567',
      vatNumber: null,
      countryCode: 'DE',
      state: null,
      jurisdiction: null,
      matchGrade: 'BFZAZ',
      decision: 'confirmed',
      evidence: 'x',
    };
    const candidates = [{ space: 'credit' as const, seen: [seen] }];
    await settleAgain(ledger, id, 1, { candidates, questions: [{ ...question, answered: true }] });
    const said = { decision: 'confirm', candidateId: 'c', decidedBy: 'Erika', decidedAt: NOW, note: null } as const;
    await ledger.review.record({ ...topic, ...said, environmentId, shown: ['c'], summary: 'x' });
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    const questions = [{ ...ASKED, ...LEHMERT, decidedBy: 'Erika' }];
    const reason = reasonOf({ ...STRUCK_OFF, ids: { v1: '77', credit: 'c' }, questions });
    expect(readTable(folder, 'results')[0]).toMatchObject({ reason });
  });
});

long('calls show the request, and errors why a row is invalid', async () => {
  await withResults(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'calls').map(({ asked }) => asked)).toEqual(['id 77', 'id 9', 'report_id 5']);
    expect(readTable(folder, 'errors')).toMatchObject([{ row: '4', line: '5', class: 'invalid', code: 'NO_COUNTRY' }]);
  });
});

test('a results file used as input keeps its columns, and those of kybatch get other names', () => {
  const once = resultsFor(['Name']);
  const again = resultsFor([...once.inputs, ...once.table.columns].map(({ name }) => name));
  expect(again.names.outcome).toBe('outcome_2');
  expect(again.inputs.map(({ name }) => name)).toContain('outcome');
  const names = [...again.inputs, ...again.table.columns].map(({ name }) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  ['Dissolved', 'dissolved'],
  ['STRUCK-OFF', 'struck off'],
  ['Gelöscht', 'struck off'],
  ['Active, proposal to strike off', undefined],
  ['No insolvency proceedings', undefined],
  ['In liquidation', 'in liquidation'],
  ['Insolvency  proceedings', 'insolvent'],
  ['en redressement judiciaire', 'insolvent'],
  ['Dormant', 'dormant'],
  ['Active', undefined],
])('%s means that the company is %s', (status, state) => expect(stateOfStatus(status)).toBe(state));
