/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { writeJson } from '../../src/sandbox/json.js';
import { createRegistry, type Registry } from '../../src/sandbox/registry/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { readTable } from '../export/support.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { type EndJson, type Job, type JobOptions, jsonOf, rowsCounted, type Said, withJob } from './here.js';

const DAY = 86_400_000;
const V2 = ['stages: [profile, registry, financials, credit-report]', 'profile: {from: v2}'];
const V1 = ['stages: [record, profile]', 'record: {modules: [lite, officers]}'];

interface Account extends Job {
  readonly clock: JumpingClock;
  readonly companies: readonly Company[];
  readonly cli: (...args: readonly string[]) => Promise<Said>;
  readonly run: (...more: readonly string[]) => Promise<EndJson & { readonly code: number | null }>;
}

/** An account with one of the two APIs, and three companies. */
async function withAccount(api: 'V1' | 'V2', options: JobOptions, use: (account: Account) => Promise<void>) {
  const clock = new JumpingClock('2026-03-02T10:00:00Z');
  await withJob({ clock, ...options }, async (job) => {
    const env = Object.fromEntries(Object.entries(job.env).filter(([name]) => name.startsWith(`KYBATCH_${api}_`)));
    const companies = wholeCompanies(job.sandbox, 3);
    job.writeCsv(
      'in.csv',
      companies.map(({ name, countryCode, registrationNumber }) => ({
        name,
        country: countryCode,
        registration_number: registrationNumber,
      })),
    );
    const cli = (...args: readonly string[]) => job.kybatch(args, { env });
    const run = async (...more: readonly string[]) => {
      const end = await cli('run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--out', 'out', ...more);
      return { ...jsonOf<EndJson>(end), code: end.code };
    };
    await use({ ...job, clock, companies, cli, run });
    const other = api === 'V1' ? 'v2' : 'v1';
    expect(job.sandbox.requestLog.filter((request) => request.api === other)).toEqual([]);
  });
}

const tableIn = ({ cwd }: Job, name: string) => readTable(join(cwd, 'out'), name);

test('an account with v2 alone: plan, run, resume, tables, nights, changes, purge', async () => {
  await withAccount('V2', { pipeline: V2 }, async (account) => {
    const { cli, run, clock, companies, sandbox } = account;
    const doctor = await cli('doctor', '--pipeline', './p.yaml');
    // A server has its own clock, which differs from that of this test.
    expect(doctor.code).toBe(isOnPostgres ? 2 : 0);
    expect(doctor.textOf('API_NOT_CONFIGURED')).toContain(' v1 ');

    const planned = await cli('plan', 'in.csv', '--pipeline', './p.yaml');
    expect(planned.textOf('COST')).toMatch(/ 3 credit [\s\S]* \d+ v2 /);
    expect(planned.stdout).not.toContain('v1');
    for (const code of ['ALLOWANCE', 'ALLOWANCE_UNKNOWN', 'DAYS']) expect(planned.codes).not.toContain(code);
    const bounds = jsonOf<{ v1_units: object; v2_calls: { at_least: number; at_most: number } }>(
      await cli('plan', 'in.csv', '--pipeline', './p.yaml', '--json'),
    );
    expect(bounds.v1_units).toEqual({ at_least: 0, likely: 0, at_most: 0 });

    // The limit of reports stops it, and it continues from there.
    expect(await run('--max-reports', '1')).toMatchObject({ code: 4, outcomes: { complete: 1, pending: 2 } });
    const status = { rows: 3, outcomes: { complete: 1, pending: 2 } };
    expect(jsonOf<object>(await cli('status', '--json'))).toMatchObject(status);
    expect(rowsCounted(await cli('status'))).toEqual([1, 2, 3]);
    expect((await cli('resume', '--yes', '--no-export')).code).toBe(0);
    const calls = sandbox.chargeLog.length;
    expect(calls).toBeGreaterThanOrEqual(bounds.v2_calls.at_least);
    expect(calls).toBeLessThanOrEqual(bounds.v2_calls.at_most + 3);
    expect(await run()).toMatchObject({ code: 0, outcomes: { complete: 3 }, units_charged: 0 });
    expect(sandbox.chargeLog).toHaveLength(calls);

    const byId = (name: string) =>
      tableIn(account, name).sort((a, b) => Number(a.v2_company_id) - Number(b.v2_company_id));
    const inOrder = [...companies].sort((a, b) => Number(a.v2Id) - Number(b.v2Id));
    expect(
      byId('rows').map((row) => [row.v1_company_id, row.v2_company_id, row.matched_on, row.registry_status]),
    ).toEqual(inOrder.map(({ v2Id }) => [null, v2Id, 'registration_number', 'done']));
    expect(byId('companies')).toMatchObject(
      inOrder.map((company) => ({
        v1_company_id: null,
        v2_company_id: company.v2Id,
        registration_number: company.registrationNumber,
        officers_total: String(sandbox.registry.v2.officers(company).length),
        officers_returned: String(sandbox.registry.v2.officers(company).length),
      })),
    );
    const officers = tableIn(account, 'officers');
    // V2-9: the list does not distinguish current from former officers.
    expect(officers.every(({ resigned_at, work_status }) => resigned_at === null && work_status === null)).toBe(true);
    const people = inOrder.flatMap(
      (one) => JSON.parse(writeJson(sandbox.registry.v2.officers(one))) as { last_name: string }[],
    );
    expect(officers.map(({ last_name }) => last_name).sort()).toEqual(people.map(({ last_name }) => last_name).sort());
    expect(tableIn(account, 'flat_financials').length).toBeGreaterThan(0);

    const [first] = companies;
    if (first === undefined) throw new Error('three companies');
    sandbox.registry.change(first, 'company_website', 'https://moved.example');
    clock.set(clock.now() + 100 * DAY);
    expect(await run()).toMatchObject({ code: 0, outcomes: { complete: 3 } });
    const changed = await cli('changes', '--json');
    expect(changed.stdout).toContain('https://moved.example');
    expect((await cli('usage')).code).toBe(0);
    expect((await cli('portfolios')).stdout).toMatch(/ 3 +complete/);

    expect((await cli('erase', '--entity', `v2:${first.v2Id}`, '--yes')).code).toBe(0);
    expect((await cli('export', '--out', 'out')).code).toBe(0);
    expect(tableIn(account, 'companies').map((row) => row.v2_company_id)).not.toContain(first.v2Id);
  });
});

test('an account with v2 alone: a profile that names another number is a question, asked once', async () => {
  const plain = createRegistry({ seed: 1, size: 200_000 });
  let odd: Company | undefined;
  const lite = (company: Company) =>
    company.v2Id === odd?.v2Id ? plain.v2.lite({ ...company, registrationNumber: '99999999' }) : plain.v2.lite(company);
  const registry: Registry = { ...plain, v2: { ...plain.v2, lite } };
  await withAccount('V2', { registry, pipeline: ['stages: [registry, financials]'] }, async (account) => {
    const { companies, cli, run, cwd } = account;
    odd = companies[1];
    expect(await run()).toMatchObject({ code: 3, outcomes: { complete: 2, needs_review: 1 } });
    expect(tableIn(account, 'rows')[1]).toMatchObject({
      error_code: 'IDENTITY_MISMATCH',
      financials_status: 'pending',
    });
    expect((await cli('review', 'export', '--out', 'review.csv')).code).toBe(0);
    const sheet = join(cwd, 'review.csv');
    const text = readFileSync(sheet, 'utf8');
    const lines = parse(text, { columns: true, bom: true }) as unknown as Record<string, string>[];
    expect(lines).toMatchObject([{ decision: '' }]);
    expect(text).toContain('99999999');
    writeFileSync(sheet, stringify([{ ...lines[0], decision: 'none_of_these' }], { header: true }));
    expect((await cli('review', 'apply', 'review.csv')).code).toBe(0);
    expect(await run()).toMatchObject({ code: 0, outcomes: { complete: 2, no_match: 1 } });
    expect(tableIn(account, 'companies').map((row) => row.v2_company_id)).not.toContain(odd?.v2Id);
  });
});

test('an account with v1 alone', async () => {
  await withAccount('V1', { pipeline: V1 }, async (account) => {
    const { cli, run, companies } = account;
    expect((await cli('doctor', '--pipeline', './p.yaml')).code).toBe(isOnPostgres ? 2 : 0);
    expect((await cli('plan', 'in.csv', '--pipeline', './p.yaml')).textOf('COST')).toMatch(/ \d+ units/);
    // A search, the profile and a page of officers each. The profile is not bought twice.
    expect(await run()).toMatchObject({ code: 0, outcomes: { complete: 3 }, units_charged: 9 });
    expect(tableIn(account, 'companies').map((row) => [row.v1_company_id, row.v2_company_id])).toEqual(
      companies.map(({ v1Id }) => [v1Id, null]).sort(),
    );
    expect((await cli('status')).code).toBe(0);
    expect((await cli('usage')).code).toBe(0);
    const refused = await cli('run', 'in.csv', '--pipeline', 'analyst', '--yes');
    expect(refused).toMatchObject({ code: 2, codes: ['API_NOT_CONFIGURED'] });
  });
});
