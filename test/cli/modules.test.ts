import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { decideAll } from '../app/nights.js';
import { findPlainCompany, present, wholeCompanies } from '../engine/support.js';
import { readTable } from '../export/support.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { chargesByOperation } from '../helpers/sandbox.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--out', 'out'];
const ALL = ['stages: [record, firmographics, insights]'];

type Line = Readonly<Record<string, string | null>>;
const linesOf = ({ cwd }: Job, table: string): readonly Line[] => readTable(join(cwd, 'out'), table);

const input = (company: Company) => ({
  name: company.name,
  country: company.countryCode,
  registration_number: company.registrationNumber,
  ...(company.countryCode === 'US' ? { state: company.state } : {}),
});

const unknownToV2 = (sandbox: Sandbox): Company =>
  findPlainCompany(sandbox, (one) => sandbox.registry.hasRecord(one) && !sandbox.registry.inV2(one));

/** The registry's value, as the provider would send it. */
const sent = (value: unknown): Readonly<Record<string, unknown>> => JSON.parse(JSON.stringify(value)) as never;
const cell = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

describe('a portfolio of twenty', { tags: 'long' }, () => {
  test('each table holds the data of the registry, and unknown companies are not available', () =>
    withJob({ pipeline: ALL }, async (job) => {
      const { sandbox, kybatch, writeCsv } = job;
      const { registry } = sandbox;
      const known = wholeCompanies(sandbox, 19);
      const companies = [...known, unknownToV2(sandbox)];
      writeCsv('in.csv', companies.map(input));
      const planned = jsonOf<{ v2_calls: { at_least: number; at_most: number } }>(
        await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']),
      ).v2_calls;
      const end = jsonOf<EndJson>(await kybatch(RUN));
      expect(end.outcomes).toMatchObject({ complete: 20 });

      const byOperation = chargesByOperation(sandbox.chargeLog);
      expect(byOperation).toMatchObject({ companyProfile: 19, insightsProfile: 19 });
      const spent = sandbox.chargeLog.filter(({ api }) => api === 'v2').length;
      expect(spent).toBeGreaterThanOrEqual(planned.at_least);
      expect(spent).toBeLessThanOrEqual(planned.at_most);

      // Contacts are returned only on request. A request for them is free.
      const text = ['firmographics', 'digital_profiles'].map((name) =>
        readFileSync(join(job.cwd, 'out', `${name}.csv`)),
      );
      expect(text.join('')).not.toMatch(/company_phone|hostmaster|5550/);
      expect((await kybatch(['export', '--out', 'out', '--include-contacts'])).code).toBe(0);
      expect(sandbox.chargeLog.filter(({ api }) => api === 'v2')).toHaveLength(spent);

      const rows = linesOf(job, 'rows');
      const statuses = rows.map((row) => `${row.firmographics_status} ${row.insights_status}`);
      expect(statuses).toEqual([...known.map(() => 'done done'), 'not_available not_available']);
      expect(
        linesOf(job, 'errors')
          .filter(({ row }) => row === '20')
          .map(({ code }) => code),
      ).toEqual(['NO_CANDIDATES', 'NO_CANDIDATES']);

      const firmographics = new Map(linesOf(job, 'firmographics').map((line) => [line.companies_id, line]));
      const classes = linesOf(job, 'classifications');
      const digital = new Map(linesOf(job, 'digital_profiles').map((line) => [line.insights_id, line]));
      const technologies = linesOf(job, 'technologies');
      expect([firmographics.size, digital.size]).toEqual([19, 19]);
      for (const [index, company] of known.entries()) {
        const row = present(rows[index]);
        expect(row).toMatchObject({ companies_id: company.v2Id, insights_id: company.v2Id });
        const { id: _, industry, sic, company_phone, ...profile } = sent(registry.v2.profile(company));
        const line = present(firmographics.get(company.v2Id));
        for (const [name, value] of Object.entries(profile)) expect(line[name], name).toBe(cell(value));
        expect(line).toMatchObject({ v1_company_id: company.v1Id, company_phone: JSON.stringify(company_phone) });
        const own = (kind: string) =>
          classes
            .filter((one) => one.companies_id === company.v2Id && one.kind === kind)
            .map(({ id, type, value }) => ({ id: Number(id), type, value }));
        expect([own('industry'), own('sic')]).toEqual([industry, sic]);
        expect(line.sic_returned).toBe(String((sic as object[]).length));

        const { technologies: groups, nameservers, ...site } = sent(registry.v2.insights(company));
        const web = present(digital.get(company.v2Id));
        const extra = JSON.parse(web.extra ?? '{}') as Record<string, unknown>;
        for (const [name, value] of Object.entries(site))
          expect(name in web ? web[name] : extra[name], name).toEqual(name in web ? cell(value) : value);
        expect(web.nameservers).toBe(JSON.stringify(nameservers));
        const theirs = (groups as { id: number; name: string; list: { id: number }[] }[]).flatMap((group) =>
          group.list.map((one) => `${group.id} ${group.name} ${one.id}`),
        );
        const told = technologies.filter((one) => one.insights_id === company.v2Id);
        expect(told.map((one) => `${one.group_id} ${one.group_name} ${one.id}`)).toEqual(theirs);
        expect(web.technologies_returned).toBe(String(theirs.length));
      }
    }));
});

describe('accounts and IDs', () => {
  long('V2-1 a used up permission stops only its module, and stored answers are not bought again', () =>
    withJob({ pipeline: ALL, v2Limits: { digital_insights: { daily: 0 } } }, async (job) => {
      const { sandbox, kybatch, writeCsv } = job;
      writeCsv('in.csv', wholeCompanies(sandbox, 2).map(input));
      const first = await kybatch(RUN);
      expect(first.code).toBe(4);
      expect(jsonOf<EndJson>(first).outcomes).toMatchObject({ pending: 2 });
      await kybatch(['export', '--out', 'out']);
      expect(linesOf(job, 'rows').map((row) => `${row.firmographics_status} ${row.insights_status}`)).toEqual([
        'done parked',
        'done parked',
      ]);
      const before = sandbox.chargeLog.length;
      await kybatch(RUN);
      expect(sandbox.chargeLog).toHaveLength(before);
    }),
  );

  long('firmographics alone need neither v1 nor the KYB of v2', () =>
    withJob({ pipeline: ['stages: [firmographics, insights]'] }, async (job) => {
      const { sandbox, kybatch, writeCsv, env } = job;
      const [company] = wholeCompanies(sandbox, 1);
      writeCsv('in.csv', [input(present(company)), input(unknownToV2(sandbox))]);
      const { KYBATCH_V1_API_KEY: _, KYBATCH_V1_BASE_URL: __, ...v2Only } = env;
      const end = jsonOf<EndJson>(await kybatch(RUN, { env: v2Only }));
      expect(end.outcomes).toMatchObject({ complete: 1, no_match: 1 });
      expect(Object.keys(chargesByOperation(sandbox.chargeLog)).sort()).toEqual([
        'companiesLookup',
        'companyProfile',
        'insightsProfile',
        'insightsSearch',
      ]);
    }),
  );

  long('V2-18 IDs declared as shared spare the lookup', () =>
    withJob({ pipeline: ['stages: [financials, firmographics]', 'ids_shared: [v2, companies]'] }, async (job) => {
      const { sandbox, kybatch, writeCsv } = job;
      writeCsv('in.csv', wholeCompanies(sandbox, 2).map(input));
      expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 2 });
      const charged = chargesByOperation(sandbox.chargeLog);
      expect(charged).toMatchObject({ companyProfile: 2 });
      expect(charged).not.toHaveProperty('companiesLookup');
    }),
  );

  test('V2-22 a hit of another country with the same number is not taken', () =>
    withJob({ pipeline: ['stages: [record, insights]'] }, async (job) => {
      const { sandbox, kybatch, writeCsv } = job;
      const [company] = wholeCompanies(sandbox, 1);
      writeCsv('in.csv', [input(present(company))]);
      const moved = (body: string) => body.replaceAll(/"country_code":\s*"[A-Z]{2}"/g, '"country_code":"ZZ"');
      sandbox.script(({ operation }) => operation === 'insightsSearch', [{ rewrite: moved }, { rewrite: moved }]);
      expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 1 });
      expect(linesOf(job, 'rows')[0]).toMatchObject({ insights_status: 'not_available', insights_id: null });
      const [same, ...others] = linesOf(job, 'candidates').filter(({ api }) => api === 'insights');
      expect(same).toMatchObject({ registration_number: company?.registrationNumber, country_code: 'ZZ' });
      expect([same, ...others].every((candidate) => candidate?.decision === 'rejected')).toBe(true);
      expect(chargesByOperation(sandbox.chargeLog)).not.toHaveProperty('insightsProfile');
    }));
});

long('purge removes the answers of the modules about a company', () =>
  withJob({ pipeline: ['stages: [firmographics, insights]'] }, async (job) => {
    const { sandbox, kybatch, writeCsv } = job;
    const [gone, stays] = wholeCompanies(sandbox, 2);
    writeCsv(
      'in.csv',
      [gone, stays].map((company) => input(present(company))),
    );
    const { run } = jsonOf<EndJson>(await kybatch(RUN));
    expect((await kybatch(['erase', '--entity', `companies:${gone?.v2Id}`, '--yes'])).code).toBe(0);
    await kybatch(['export', run, '--out', 'out']);
    expect(linesOf(job, 'firmographics').map((line) => line.companies_id)).toEqual([stays?.v2Id]);
    expect(linesOf(job, 'digital_profiles').map((line) => line.insights_id)).toEqual([stays?.v2Id]);
    expect(linesOf(job, 'classifications').some((line) => line.companies_id === gone?.v2Id)).toBe(false);
  }),
);

const aProfile = ({ operation }: { readonly operation: string | undefined }) => operation === 'companyProfile';

long('a profile of another company needs review, and after a refusal the row continues without it', () =>
  withJob({ pipeline: ALL }, async (job) => {
    const { sandbox, kybatch, writeCsv } = job;
    const [company] = wholeCompanies(sandbox, 1);
    writeCsv('in.csv', [input(present(company))]);
    const other = (body: string) => body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"X1"');
    sandbox.script(aProfile, [{ rewrite: other }]);
    expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ needs_review: 1 });
    await decideAll(job, 'none_of_these');
    expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 1 });
    expect(linesOf(job, 'rows')[0]).toMatchObject({
      firmographics_status: 'not_available',
      insights_status: 'done',
      companies_id: null,
    });
    expect(linesOf(job, 'firmographics')).toEqual([]);
    expect(chargesByOperation(sandbox.chargeLog)).toMatchObject({ companyProfile: 1 });
  }),
);

long('a difference in a later profile is a change, except traffic figures', () => {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  const pipeline = ['stages: [firmographics, insights]', 'freshness: {companyProfile: 7d, insightsProfile: 7d}'];
  return withJob({ clock, pipeline }, async ({ sandbox, kybatch, writeCsv }) => {
    const { registry } = sandbox;
    const [company] = wholeCompanies(sandbox, 1);
    writeCsv('in.csv', [input(present(company))]);
    await kybatch(RUN);
    clock.advance(8 * DAY);
    registry.change(present(company), 'company_website', 'https://new.example');
    const otherSic = (body: string) => body.replace(/"sic":\s*\[.*?\]/, '"sic":null').replace(/"nace"/, '"isic"');
    sandbox.script(aProfile, [{ rewrite: otherSic }]);
    const traffic = (body: string) =>
      body
        .replace(/"engagement_total_visits":\s*\d+/, '"engagement_total_visits":1')
        .replace(/"technologies":\s*\[/, '"technologies":[{"id":9,"name":"New","list":[{"id":99,"name":"Chat"}]},');
    sandbox.script(({ operation }) => operation === 'insightsProfile', [{ rewrite: traffic }]);
    await kybatch(RUN);
    const { changes } = jsonOf<{ changes: readonly Line[] }>(await kybatch(['changes', '--all', '--json']));
    const told = changes.map(({ table, kind, column }) => `${table} ${kind} ${column ?? ''}`).sort();
    expect(told.filter((one) => !one.startsWith('technologies'))).toEqual([
      'classifications changed type',
      'firmographics changed company_website',
    ]);
    expect(new Set(told.filter((one) => one.startsWith('technologies')).map((one) => one.split(' ')[1]))).toEqual(
      new Set(['added']),
    );
  });
});
