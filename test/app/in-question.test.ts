/** @module-tag long */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../cli/here.js';
import { DAY, decideAll, type Nights, withNights } from './nights.js';

const STRANGER = 'QQSTRANGER';

/** Answers that name another number, with a name that is easy to find in the tables. */
const MODULES = [
  { stage: 'record', operation: 'fullKyb' },
  { stage: 'profile', operation: 'liteKyb' },
  { stage: 'firmographics', operation: 'companyProfile' },
  { stage: 'insights', operation: 'insightsProfile' },
  { stage: 'ownership', operation: 'ownership' },
] as const;

const FRESH =
  'freshness: {fullKyb: 7d, liteKyb: 7d, companyProfile: 7d, insightsProfile: 7d, ownership: 7d, searchKyb: 365d, kybSearch: 365d, companiesLookup: 365d, insightsSearch: 365d, financial: 365d}';

/** The body of another company: every name, and the number. */
function another(body: string): string {
  const value = JSON.parse(body) as Record<string, unknown>;
  const strange = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const object = node as Record<string, unknown>;
    for (const [key, member] of Object.entries(object)) {
      if (key === 'registration_number') object[key] = '00000000';
      else if (/^(?:company_)?name$/.test(key) && typeof member === 'string') object[key] = STRANGER;
      else strange(member);
    }
  };
  strange(value);
  return JSON.stringify({ ...value, registration_number: '00000000' });
}

/** The tables that show the other company. `candidates` and `errors` are evidence and do not count. */
const showing = (cwd: string, folder = 'tables'): readonly string[] =>
  readdirSync(join(cwd, folder))
    .filter((file) => file.endsWith('.csv') && !['candidates.csv', 'errors.csv', 'rows.csv'].includes(file))
    .filter((file) => readFileSync(join(cwd, folder, file), 'utf8').includes(STRANGER));

describe.each(MODULES)('an answer of $operation that is in review', ({ stage, operation }) => {
  const stages = stage === 'record' ? 'record' : `record, ${stage}`;
  const shown = (name: string, use: (nights: Nights) => Promise<void>) =>
    test(name, () => withNights(1, use, [`stages: [${stages}]`, FRESH]));
  /** Without the check of the key, which names no company. */
  const real = ({ operation: asked, path }: { readonly operation: string | undefined; readonly path: string }) =>
    asked === operation && !path.includes('/kyb/0/');

  shown(
    'is in the tables of no list, whichever bought it',
    async ({ night, clock, sandbox, kybatch, cwd, rows, writeCsv }) => {
      writeCsv('b.csv', rows.slice(0, 1));
      await night();
      clock.advance(8 * DAY);
      sandbox.script(real, [{ rewrite: another }]);
      const b = ['run', 'b.csv', '--pipeline', './p.yaml', '--yes', '--export', '--out', 'of-b'];
      expect((await kybatch(b)).code).toBe(3);
      await night();
      expect([...showing(cwd), ...showing(cwd, 'of-b')]).toEqual([]);
      expect(jsonOf(await kybatch(['changes', '--json']))).toMatchObject({ changes: [] });
    },
  );

  shown('is not shown by the next one in question, and changes lead from what was accepted', async (nights) => {
    const { night, clock, sandbox, kybatch, cwd } = nights;
    for (let again = 0; again < 3; again++) {
      clock.advance(8 * DAY);
      sandbox.script(real, [{ rewrite: another }]);
      expect(await night()).toMatchObject({ code: 3 });
      expect(showing(cwd)).toEqual([]);
    }
    await decideAll({ kybatch, cwd }, 'confirm');
    await night();
    expect(showing(cwd)).not.toEqual([]);
    expect(jsonOf(await kybatch(['changes', '--json']))).toMatchObject({ changes: [] });
  });

  shown('is gone as soon as the word for it is withdrawn', async ({ night, sandbox, kybatch, cwd }) => {
    sandbox.script(real, [{ rewrite: another }]);
    await night();
    await decideAll({ kybatch, cwd }, 'confirm');
    await night();
    expect(showing(cwd)).not.toEqual([]);
    expect((await kybatch(['review', 'withdraw', '1'])).code).toBe(0);
    expect((await kybatch(['export', '--out', 'after'])).code).toBe(0);
    expect(showing(cwd, 'after')).toEqual([]);
    await night();
    expect(showing(cwd)).toEqual([]);
  });

  shown('is not shown because the stage is gone, or everything is asked for anew', async (nights) => {
    const { night, sandbox, cwd } = nights;
    sandbox.script(real, [{ rewrite: another }]);
    await night();
    sandbox.script(real, [{ rewrite: another }]);
    await night('--rebuy');
    expect(showing(cwd)).toEqual([]);
    if (stage === 'record') return;
    writeFileSync(join(cwd, 'p.yaml'), `stages: [record, financials]\n${FRESH}\n`);
    await night();
    expect(showing(cwd)).toEqual([]);
  });

  shown('was compared by nobody where it was bought by hand, and waits for the stage', async (nights) => {
    const { night, clock, sandbox, kybatch, cwd, table } = nights;
    await night();
    const [row = {}] = table('rows');
    const id = { fullKyb: row.v1_company_id, liteKyb: row.v1_company_id, companyProfile: row.companies_id }[
      operation as string
    ];
    const params =
      operation === 'ownership'
        ? { registration_number: row.registration_number ?? row.input_registration_number }
        : { id: id ?? row.insights_id };
    clock.advance(DAY);
    sandbox.script(real, [{ rewrite: another }]);
    const api = /Kyb$/.test(operation) ? 'v1' : 'v2';
    const bought = await kybatch(['call', api, operation, '--params', JSON.stringify(params), '--rebuy']);
    expect(bought.stdout).toContain(STRANGER);
    await kybatch(['export', '--out', 'after']);
    expect(showing(cwd, 'after')).toEqual([]);
    clock.advance(6 * DAY + 1);
    expect(await night()).toMatchObject({ code: 3 });
    expect(showing(cwd)).toEqual([]);
  });
});

test('V2-4 a new report that names another company leaves the previous report visible', () =>
  withNights(
    1,
    async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      await night();
      const reports = () => table('credit_reports').map(({ raw_sha256 }) => raw_sha256);
      const [before] = table('credit_reports');
      expect(before?.credit_report_id).toMatch(/\d/);
      clock.advance(40 * DAY);
      sandbox.script('creditReportGenerate', [{ rewrite: another }]);
      expect(await night()).toMatchObject({ code: 3 });
      expect(reports()).toEqual([before?.raw_sha256]);
      expect(table('rows')).toMatchObject([{ credit_report_id: before?.credit_report_id }]);
      await decideAll({ kybatch, cwd }, 'none_of_these');
      await night();
      expect(reports()).toEqual([before?.raw_sha256]);
    },
    [
      'stages: [record, credit-report]',
      'freshness: {creditReportGenerate: 30d, fullKyb: 365d, creditReportSearch: 365d}',
    ],
  ));

test('the people of the visible profile stay while a newer profile is in review', () =>
  withNights(
    12,
    async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      await night();
      const people = () => table('people').map(({ name }) => name);
      const before = people();
      expect(before).not.toEqual([]);
      clock.advance(8 * DAY);
      sandbox.script('companyProfile', Array(12).fill({ rewrite: another }));
      expect(await night()).toMatchObject({ code: 3 });
      expect(people()).toEqual(before);
      await decideAll({ kybatch, cwd }, 'none_of_these');
      await night();
      expect(showing(cwd)).toEqual([]);
    },
    ['stages: [record, firmographics, contacts]', FRESH],
  ));

test('X-7 a report that another row asks about stays visible for the company that it belongs to', () =>
  withNights(
    1,
    async ({ night, clock, sandbox, table, kybatch, cwd, rows, writeCsv }) => {
      await night();
      const [own] = table('credit_reports');
      const shown = () => table('rows').map(({ credit_report_id }) => credit_report_id);
      expect(own?.credit_report_id).toMatch(/\d/);
      clock.advance(DAY);
      writeCsv('in.csv', rows.slice(0, 2));
      const sameId = (body: string) => body.replace(/"id":\s*"?[^",]+"?/, `"id":${own?.credit_report_id}`);
      sandbox.script('creditReportGenerate', [{ rewrite: sameId }]);
      expect(await night()).toMatchObject({ code: 3 });
      expect(table('credit_reports')).toMatchObject([{ credit_report_id: own?.credit_report_id }]);
      expect(shown()).toEqual([own?.credit_report_id, '']);
      // The answer to generating is accepted, then each place of the report that names the other company.
      while ((await night()).code === 3) await decideAll({ kybatch, cwd }, 'confirm');
      expect(shown()).toEqual([own?.credit_report_id, own?.credit_report_id]);
      const { decisions } = jsonOf<{ decisions: { id: number }[] }>(await kybatch(['review', 'decisions', '--json']));
      for (const { id } of decisions) await kybatch(['review', 'withdraw', String(id)]);
      await kybatch(['export', '--out', 'tables']);
      expect(shown()).toEqual([own?.credit_report_id, '']);
    },
    ['stages: [record, credit-report]', 'freshness: {creditReportGenerate: 30d, fullKyb: 365d}'],
  ));

test('a report disappears when its acceptance is withdrawn, even if another one is in review since', () =>
  withNights(
    1,
    async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      const reports = () => table('credit_reports').map(({ credit_report_id }) => credit_report_id);
      sandbox.script('creditReportGenerate', [{ rewrite: another }]);
      await night();
      expect(reports()).toEqual([]);
      await decideAll({ kybatch, cwd }, 'confirm');
      await night();
      expect(reports()).toHaveLength(1);
      clock.advance(40 * DAY);
      const third = (body: string) => another(body).replaceAll('00000000', '88888888');
      sandbox.script('creditReportGenerate', [{ rewrite: third }]);
      await night();
      expect(reports()).toHaveLength(1);
      await kybatch(['review', 'withdraw', '1']);
      await kybatch(['export', '--out', 'tables']);
      expect(reports()).toEqual([]);
      expect(table('rows')).toMatchObject([{ credit_report_id: '' }]);
    },
    [
      'stages: [record, credit-report]',
      'freshness: {creditReportGenerate: 30d, fullKyb: 365d, creditReportSearch: 365d}',
    ],
  ));

test('changes by an answer with a withdrawn acceptance disappear, and good answers are compared with the visible ones', () =>
  withNights(
    1,
    async ({ night, clock, sandbox, kybatch, cwd }) => {
      type Told = {
        readonly changes: readonly { readonly old_value: string | null; readonly new_value: string | null }[];
      };
      const told = async () => (JSON.parse((await kybatch(['changes', '--json'])).stdout) as Told).changes;
      const strange = async () =>
        (await told()).filter((change) => [change.old_value, change.new_value].includes(STRANGER)).length;
      const renamed = (body: string) => body.replace(/"name":\s*"[^"]*"/, '"name":"A Good New Name"');
      await night();
      clock.advance(8 * DAY);
      sandbox.script('companyProfile', [{ rewrite: another }]);
      await night();
      await decideAll({ kybatch, cwd }, 'confirm');
      await night();
      expect(await strange()).toBeGreaterThan(0);
      clock.advance(8 * DAY);
      sandbox.script('companyProfile', [{ rewrite: renamed }]);
      await night();
      await kybatch(['review', 'withdraw', '1']);
      await night();
      expect(await strange()).toBe(0);
      expect((await told()).map(({ new_value }) => new_value)).toContain('A Good New Name');
      expect(showing(cwd)).toEqual([]);
    },
    ['stages: [record, firmographics]', FRESH],
  ));
