import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Json, writeJson } from '../../src/sandbox/json.js';
import { createRegistry, type Registry } from '../../src/sandbox/registry/index.js';
import { isCrowded } from '../../src/sandbox/registry/layout.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { ExactNumber, parseExact } from '../../src/util/exact-json.js';
import { findPlainCompany, isPlain } from '../engine/support.js';
import { readTable } from '../export/support.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const NOW = '2026-03-02T10:00:00Z';
const DAY = 86_400_000;
const MODULES = 'record: {modules: [lite, officers, shareholders, group, financial]}';

const lineOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber,
});

/** More officers and shareholders than fit on a page of fifty, a group, and statements. */
function findCrowded({ sandbox }: Job): Company {
  const { registry } = sandbox;
  for (let index = 0; index < registry.size; index++) {
    if (!isCrowded(registry.seed, index)) continue;
    const company = registry.company(index);
    const { officers, shareholders, groupLinks, filedFinancials, noRecord } = registry.traits(company);
    const lists = [officers, shareholders, groupLinks, filedFinancials];
    if (lists.every((state) => state === 'some') && !noRecord && isPlain(sandbox, company)) return company;
  }
  throw new Error('the registry has no such company');
}

type Item = Readonly<Record<string, unknown>>;
const parsed = (body: Parameters<typeof writeJson>[0]) => parseExact(Buffer.from(writeJson(body))) as unknown;
const textOf = (value: unknown) => {
  if (value instanceof ExactNumber) return value.text;
  return value === undefined || value === null ? null : String(value);
};

interface Node extends Item {
  readonly id: unknown;
  readonly selected: boolean;
  readonly children: readonly Node[];
}

/** Links with their depth, parents first. */
const linksOf = (nodes: readonly Node[], depth = 1): readonly (string | null)[][] =>
  nodes.flatMap((node) =>
    node.children.flatMap((child) => [
      [textOf(node.id), textOf(child.id), String(depth), String(child.selected)],
      ...linksOf([child], depth + 1),
    ]),
  );

long('V1-7, V1-26, V1-27 separate modules with all pages equal the register', async () => {
  const clock = new JumpingClock(NOW);
  await withJob({ clock, pipeline: ['stages: [record]', MODULES] }, async (job) => {
    const { sandbox, writeCsv, kybatch, cwd } = job;
    const company = findCrowded(job);
    const { v1 } = sandbox.registry;
    writeCsv('in.csv', [lineOf(company)]);
    const job1 = ['in.csv', '--pipeline', './p.yaml'];
    const plan = jsonOf<{ v1_units: { at_least: number; at_most: number } }>(
      await kybatch(['plan', ...job1, '--json']),
    );
    const end = jsonOf<EndJson>(await kybatch(['run', ...job1, '--yes', '--json', '--out', 'out']));
    expect(end.outcomes).toMatchObject({ complete: 1 });
    // A search, the profile, two pages of each list, the group, the statements.
    expect(end.units_charged).toBe(8);
    expect(plan.v1_units.at_least).toBeLessThanOrEqual(8);
    expect(plan.v1_units.at_most).toBe(2 + 1 + 10 + 10 + 1 + 1);
    expect(sandbox.requests.get('fullKyb')).toBeUndefined();

    const table = (name: string) => readTable(join(cwd, 'out'), name);
    const officers = parsed(v1.officers(company, false)) as readonly Item[];
    const holders = parsed(v1.shareholders(company)) as readonly Item[];
    const group = parsed(v1.groupFull(company)) as readonly Node[];
    const filed = parsed(v1.financial(company)) as { years: string[]; groups: { list: { list: Item }[] }[] };
    expect(
      table('officers').map(({ position, id, last_name, resigned_at }) => [position, id, last_name, resigned_at]),
    ).toEqual(officers.map((item, index) => [String(index + 1), textOf(item.id), item.last_name, item.resigned_at]));
    expect(table('shareholders').map(({ position, id, name }) => [position, id, name])).toEqual(
      holders.map((item, index) => [String(index + 1), textOf(item.id), item.name]),
    );
    expect(
      table('group_links').map(({ source_id, target_id, depth, selected }) => [source_id, target_id, depth, selected]),
    ).toEqual(linksOf(group));
    const values = filed.groups.flatMap(({ list }) => list.flatMap((metric) => Object.keys(metric.list)));
    expect(table('filed_financials')).toHaveLength(values.length);
    expect(table('companies')).toMatchObject([
      {
        v1_company_id: company.v1Id,
        v2_company_id: null,
        name: company.name,
        country_name: expect.any(String),
        officers_returned: String(officers.length),
        officers_total: String(officers.length),
        shareholders_returned: String(holders.length),
        shareholders_total: String(holders.length),
        filed_periods_returned: String(filed.years.length),
        operation: 'liteKyb',
      },
    ]);
    expect(table('errors')).toEqual([]);

    const again = jsonOf<EndJson>(await kybatch(['run', ...job1, '--yes', '--json', '--no-export']));
    expect(again.this_start.units_charged).toBe(0);
  });
});

long('V1-26 the full record with all pages of its lists has no person twice', async () => {
  const clock = new JumpingClock(NOW);
  const freshness = 'freshness: {fullKyb: 30d, officersKyb: 90d, shareholdersKyb: 90d}';
  const pipeline = ['stages: [record]', 'record: {modules: full, all_pages: true}', freshness];
  await withJob({ clock, pipeline }, async (job) => {
    const company = findCrowded(job);
    job.writeCsv('in.csv', [lineOf(company)]);
    const { v1 } = job.sandbox.registry;
    const truth = {
      officers: parsed(v1.officers(company, false)) as readonly Item[],
      shareholders: parsed(v1.shareholders(company)) as readonly Item[],
    };
    const night = () => job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--out', 'out']);
    const check = async () => {
      expect((await night()).code).toBe(0);
      for (const name of ['officers', 'shareholders'] as const)
        expect(readTable(join(job.cwd, 'out'), name).map(({ id }) => id)).toEqual(
          truth[name].map(({ id }) => textOf(id)),
        );
      expect(readTable(join(job.cwd, 'out'), 'companies')).toMatchObject([
        { officers_returned: String(truth.officers.length), shareholders_returned: String(truth.shareholders.length) },
      ]);
    };
    await check();
    // The record again, and the lists unchanged: in the next month, and after all of them became stale.
    for (const days of [35, 65]) {
      clock.set(clock.now() + days * DAY);
      await check();
    }
    const bought = (name: string) => job.sandbox.chargeLog.filter(({ operation }) => operation === name).length;
    expect([bought('fullKyb'), bought('officersKyb')]).toEqual([3, 4]);
    expect(jsonOf<{ changes: readonly Item[] }>(await job.kybatch(['changes', '--json'])).changes).toEqual([]);
  });
});

long.each([
  ['modules first', ['modules', 'record']],
  ['the record first', ['record', 'modules']],
])('V1-26 bought separately and with the record, %s, each list is shown once', async (_, order) => {
  const clock = new JumpingClock(NOW);
  await withJob({ clock }, async (job) => {
    const company = findCrowded(job);
    job.writeCsv('in.csv', [lineOf(company)]);
    writeFileSync(join(job.cwd, 'record.yaml'), 'stages: [record]');
    writeFileSync(join(job.cwd, 'modules.yaml'), ['stages: [record]', MODULES].join('\n'));
    const lines = [];
    for (const pipeline of order) {
      const run = ['run', 'in.csv', '--pipeline', `./${pipeline}.yaml`, '--yes', '--out', 'out'];
      expect((await job.kybatch(run)).code).toBe(0);
      const tables = ['officers', 'shareholders', 'group_links', 'filed_financials'];
      lines.push(tables.map((name) => readTable(join(job.cwd, 'out'), name).length));
      clock.set(clock.now() + 1000);
    }
    expect(lines[1]).toEqual(lines[0]);
  });
});

long(
  'if record and list disagree, each change of the shown list is reported, also if the record is unchanged',
  async () => {
    const clock = new JumpingClock(NOW);
    const plain = createRegistry({ seed: 1, size: 200_000 });
    let night = 0;
    const officers = () => [{ id: night, last_name: `Night ${night}` }];
    const registry: Registry = Object.create(plain, { v1: { value: { ...plain.v1, officers } } });
    const freshness = 'freshness: {fullKyb: 20d, officersKyb: 30d, shareholdersKyb: 300d}';
    const pipeline = ['stages: [record]', 'record: {modules: full, all_pages: true}', freshness];
    await withJob({ clock, registry, pipeline }, async ({ sandbox, writeCsv, kybatch, cwd }) => {
      const company = findPlainCompany(
        sandbox,
        (one) => plain.hasRecord(one) && plain.traits(one).officers === 'some' && !plain.traits(one).identityMismatch,
      );
      writeCsv('in.csv', [lineOf(company)]);
      const shown: (readonly (string | null | undefined)[])[] = [];
      // Everything, the record alone, the list alone, the record alone.
      for (night = 1; night <= 4; night++) {
        expect(
          (await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--out', 'out', '--export'])).code,
        ).toBe(0);
        shown.push(readTable(join(cwd, 'out'), 'officers').map(({ id }) => id));
        clock.set(clock.now() + (night === 1 ? 25 : 10) * DAY);
      }
      const ids = new Set(shown[0]);
      const { changes } = jsonOf<{ changes: readonly (Item & { key: Item })[] }>(await kybatch(['changes', '--json']));
      for (const { kind, key } of changes.filter(({ table, column }) => table === 'officers' && column === null)) {
        if (kind === 'added') ids.add(String(key.id));
        else ids.delete(String(key.id));
      }
      expect(new Set(shown.map(String)).size).toBeGreaterThan(1);
      expect([...ids].sort()).toEqual([...(shown.at(-1) ?? [])].sort());
    });
  },
);

long('a person who moves to the next page of a list is no change', async () => {
  const clock = new JumpingClock(NOW);
  const plain = createRegistry({ seed: 1, size: 200_000 });
  let newcomers: Json[] = [];
  let renamed = -1;
  const shareholders = (company: Company) =>
    [...newcomers, ...plain.v1.shareholders(company)].map((item, index) =>
      index === renamed ? { ...(item as object), name: 'Renamed' } : item,
    );
  const registry: Registry = Object.create(plain, { v1: { value: { ...plain.v1, shareholders } } });
  await withJob(
    { clock, registry, pipeline: ['stages: [record]', 'record: {modules: [shareholders]}'] },
    async (job) => {
      const company = findCrowded(job);
      job.writeCsv('in.csv', [lineOf(company)]);
      const night = (...more: string[]) =>
        job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export', ...more]);
      const changes = async () =>
        jsonOf<{ changes: readonly Item[] }>(await job.kybatch(['changes', '--json'])).changes.map(
          ({ table, column, kind, new_value }) => [table, column, kind, new_value],
        );
      await night();
      newcomers = [{ id: 7, name: 'New Holder' }];
      plain.change(company, 'company_fax', null);
      clock.set(clock.now() + 100 * DAY);
      // The first page alone does not show which people have left.
      expect((await night('--max-units', '1')).code).toBe(4);
      expect(await changes()).toEqual([]);
      expect((await night()).code).toBe(0);
      expect(await changes()).toEqual([
        ['shareholders', null, 'added', null],
        ['shareholders', 'name', 'added', 'New Holder'],
      ]);
      // Each value is in the named answer: both are on the first page, and the second page is compared last.
      clock.set(clock.now() + 100 * DAY);
      renamed = 5;
      plain.change(company, 'company_fax', '1');
      expect((await night()).code).toBe(0);
      const said = jsonOf<{ changes: readonly Item[] }>(await job.kybatch(['changes', '--json'])).changes;
      expect(said.at(-1)).toMatchObject({ column: 'name', kind: 'changed', new_value: 'Renamed' });
      for (const { old_value, new_value, old_raw_sha256, new_raw_sha256 } of said.filter(
        ({ column }) => column === 'name',
      )) {
        const raw = async (sha256: unknown) => (await job.kybatch(['changes', '--raw', String(sha256)])).stdout;
        expect(old_raw_sha256).not.toBe(new_raw_sha256);
        if (old_value !== null) expect(await raw(old_raw_sha256)).toContain(JSON.stringify(old_value));
        expect(await raw(new_raw_sha256)).toContain(JSON.stringify(new_value));
      }
    },
  );
});

long('if a new reading of a list stops between pages, the earlier list is shown until it is complete', async () => {
  const clock = new JumpingClock(NOW);
  const plain = createRegistry({ seed: 1, size: 200_000 });
  let night = 1;
  const officers = () =>
    Array.from({ length: 120 - night }, (_, index) => ({ id: index, last_name: `Night ${night}` }));
  const registry: Registry = Object.create(plain, { v1: { value: { ...plain.v1, officers } } });
  const pipeline = [
    'stages: [record]',
    'record: {modules: [officers]}',
    'freshness: {officersKyb: 5d, searchKyb: 365d}',
  ];
  await withJob({ clock, registry, pipeline }, async ({ sandbox, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', [lineOf(findPlainCompany(sandbox, (one) => plain.hasRecord(one)))]);
    const shown = async (days: number, ...more: string[]) => {
      clock.set(clock.now() + days * DAY);
      const out = `out-${night}`;
      await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--out', out, '--export', ...more]);
      const lines = readTable(join(cwd, out), 'officers').map(({ last_name }) => last_name);
      const [company] = readTable(join(cwd, out), 'companies');
      return [lines.length, new Set(lines), company?.officers_returned, company?.officers_total];
    };
    const first = [119, new Set(['Night 1']), '119', '119'];
    expect(await shown(0)).toEqual(first);
    night = 2;
    expect(await shown(7, '--max-units', '1')).toEqual(first);
    // Replaced pages that are still shown are not pruned.
    expect((await kybatch(['prune', '--older-than', '1d', '--yes'])).code).toBe(0);
    expect(await shown(1, '--max-units', '1')).toEqual(first);
    expect(await shown(1)).toEqual([118, new Set(['Night 2']), '118', '118']);
  });
});

long(
  'V1-10 a key without a scope buys the modules that do not need it, and is refused at once for others',
  async () => {
    await withJob({ pipeline: ['stages: [record]', 'record: {modules: [lite, officers, financial]}'] }, async (job) => {
      const { sandbox, env, rows, writeCsv, kybatch } = job;
      writeCsv('in.csv', rows.slice(0, 2));
      const run = (scopes: Parameters<typeof sandbox.keys.v1Scopes>[0]) =>
        kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export'], {
          env: { ...env, KYBATCH_V1_API_KEY: sandbox.keys.v1Scopes(scopes) },
        });
      const refused = await run(['company:read']);
      expect(refused.code).toBe(5);
      expect(refused.textOf('INSUFFICIENT_SCOPE')).toMatch(/ financialKyb .* financials:read .* record\b/);
      expect(sandbox.chargeLog).toEqual([]);
      expect((await run(['company:read', 'financials:read'])).code).toBe(0);
    });
  },
);

long('the profile of v1 adds fields that the full record lacks, and contacts stay out', async () => {
  await withJob({ pipeline: ['stages: [record, profile]', 'provenance: true'] }, async (job) => {
    const { sandbox, writeCsv, kybatch, cwd } = job;
    const company = findPlainCompany(sandbox, (one) => sandbox.registry.facts(one).website !== null);
    writeCsv('in.csv', [lineOf(company)]);
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--out', 'out'];
    expect(jsonOf<EndJson>(await kybatch(run)).units_charged).toBe(3);
    const facts = sandbox.registry.facts(company);
    expect(readTable(join(cwd, 'out'), 'companies')).toMatchObject([
      { v1_company_id: company.v1Id, operation: 'fullKyb', address_street: facts.street, website: facts.website },
    ]);
    expect(readTable(join(cwd, 'out'), 'rows')).toMatchObject([{ profile_status: 'done' }]);
    const sources = readTable(join(cwd, 'out'), 'sources').map(({ operation, module }) => `${operation} ${module}`);
    expect(sources).toEqual(expect.arrayContaining(['liteKyb lite.basic', 'liteKyb lite.address']));
    expect(Object.keys(readTable(join(cwd, 'out'), 'companies')[0] ?? {})).not.toContain('email');
  });
});

long('while a new profile is in review, the tables show the previous one', async () => {
  const clock = new JumpingClock(NOW);
  const plain = createRegistry({ seed: 1, size: 200_000 });
  let night = 0;
  const v1: Registry['v1'] = {
    ...plain.v1,
    lite: (company, provenance) =>
      plain.v1.lite(night === 3 ? { ...company, registrationNumber: '99999999' } : company, provenance),
    officers: () => [{ id: night, last_name: `Night ${night}` }],
  };
  const registry: Registry = Object.create(plain, { v1: { value: v1 } });
  const pipeline = ['stages: [record]', 'record: {modules: [lite, officers]}'];
  await withJob({ clock, registry, pipeline }, async ({ sandbox, writeCsv, kybatch, cwd }) => {
    const company = findPlainCompany(sandbox, (one) => plain.hasRecord(one) && !plain.traits(one).identityMismatch);
    writeCsv('in.csv', [lineOf(company)]);
    const codes: (number | null)[] = [];
    for (night = 1; night <= 3; night++) {
      plain.change(company, 'company_fax', String(night));
      const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--out', `out-${night}`]);
      codes.push(end.code);
      clock.set(clock.now() + 100 * DAY);
    }
    expect(codes).toEqual([0, 0, 3]);
    const shown = join(cwd, 'out-3');
    expect(readTable(shown, 'rows')).toMatchObject([{ outcome: 'needs_review', error_code: 'IDENTITY_MISMATCH' }]);
    expect(readTable(shown, 'companies')).toMatchObject([{ registration_number: company.registrationNumber }]);
    expect(readTable(shown, 'officers')).toMatchObject([{ last_name: 'Night 2' }]);
  });
});

test('V1-22 a list that is null is paid for once, marked as not returned, and is no outage', async () => {
  const clock = new JumpingClock(NOW);
  await withJob({ clock, pipeline: ['stages: [record]', MODULES] }, async (job) => {
    const { kybatch, sandbox, writeCsv, cwd } = job;
    const company = findCrowded(job);
    writeCsv('in.csv', [lineOf(company)]);
    const lists = ['officersKyb', 'shareholdersKyb', 'groupFullKyb'];
    for (const operation of lists)
      sandbox.script((seen) => seen.operation === operation && seen.path.includes(`/${company.v1Id}/`), {
        rewrite: '{"data":null,"total_results":0,"total_pages":0}',
      });
    const job1 = ['in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    const end = jsonOf<EndJson>(await kybatch(['run', ...job1, '--out', 'out']));
    expect(end.outcomes).toMatchObject({ complete: 1 });
    // A search, the profile, each list once, the statements.
    expect(end.units_charged).toBe(6);
    const table = (name: string) => readTable(join(cwd, 'out'), name);
    expect(table('errors').map(({ code, message }) => [code, message?.split(':')[0]])).toEqual(
      lists.map((operation) => ['NOTHING_RETURNED', operation]),
    );
    expect(table('companies')).toMatchObject([
      { officers_returned: null, shareholders_returned: null, group_links_returned: null },
    ]);
    const again = jsonOf<EndJson>(await kybatch(['run', ...job1, '--no-export']));
    expect(again.this_start.units_charged).toBe(0);
  });
});
