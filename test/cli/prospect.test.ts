import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { nameSimilarity } from '../../src/domain/names/similarity.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { chargedAgain } from '../helpers/sandbox.js';
import { Interrupts, type Job, type JobOptions, jsonOf, withJob } from './here.js';

const GERMANS = ['company_status: active', 'location_countries: [Deutschland]'];

interface Found {
  readonly prospects: number;
  readonly with_number: number;
  readonly profiles: Readonly<Record<string, number>>;
  readonly pages: number;
  readonly total_companies: number;
  readonly total_pages: number;
  readonly is_part: boolean;
  readonly notes: readonly string[];
  readonly owned: number;
  readonly sent: number;
  readonly filters: Readonly<Record<string, unknown>>;
}

type Row = Readonly<Record<string, string>>;

const withFilters = (lines: readonly string[], use: (job: Job) => Promise<void>, options: JobOptions = {}) =>
  withJob({ size: 200, ...options }, async (job) => {
    writeFileSync(join(job.cwd, 'f.yaml'), lines.join('\n'));
    await use(job);
  });

const rowsIn = (...path: string[]): readonly Row[] => parse(readFileSync(join(...path)), { columns: true }) as Row[];

long('matching companies are written as a list and a table, and a second time is free', () =>
  withFilters(GERMANS, async ({ cwd, kybatch, sandbox }) => {
    const ask = ['prospect', 'f.yaml', '--per-page', '5', '--yes', '--json'];
    const first = await kybatch(ask);
    const found = jsonOf<Found>(first);
    expect(first.code).toBe(0);
    expect(found.filters).toEqual({ company_status: [106], location_countries: { parents: '1_44' } });
    expect(found).toMatchObject({ is_part: false, owned: 0, notes: [] });
    expect(found.prospects).toBe(found.total_companies);

    const inputs = rowsIn(cwd, 'f.csv');
    const table = rowsIn(cwd, 'f.tables', 'prospects.csv');
    expect([inputs.length, table.length]).toEqual([found.prospects, found.prospects]);
    for (const [index, { id = '', name, country, registration_number }] of inputs.entries()) {
      const company = sandbox.registry.byV2Id(id);
      expect([name, country]).toEqual([company?.name, 'DE']);
      expect(registration_number).toBe(company?.registrationNumber ?? '');
      expect(table[index]).toMatchObject({ position: String(index + 1), companies_id: id, profile: 'agrees' });
      expect(table[index]?.page).toBe(String(Math.floor(index / 5) + 1));
    }
    const bought = sandbox.chargeLog.length;
    const again = jsonOf<Found>(await kybatch(ask));
    expect(again).toMatchObject({ sent: 0, prospects: found.prospects });
    expect(sandbox.chargeLog).toHaveLength(bought);

    // Requested again: the pages and the profiles, and no vocabulary.
    const fresh = jsonOf<Found>(await kybatch([...ask, '--pages', '1', '--rebuy']));
    expect(fresh).toMatchObject({ sent: 6, is_part: true });
    expect(sandbox.chargeLog).toHaveLength(bought + 6);

    const plan = await kybatch(['plan', 'f.csv', '--json']);
    expect(jsonOf<object>(plan)).toMatchObject({ rows: fresh.prospects, valid: fresh.prospects });
    expect(plan.code).toBe(0);
  }),
);

test('V2-20 a partial result is marked on stderr, in the JSON and in the table', () =>
  withFilters(['company_status: [106]'], async ({ cwd, kybatch }) => {
    const ended = await kybatch(['prospect', 'f.yaml', '--per-page', '2', '--no-profiles', '--yes', '--json']);
    expect(jsonOf<Found>(ended)).toMatchObject({ pages: 10, prospects: 20, is_part: true, with_number: 0 });
    expect(ended.codes).toContain('PROSPECTS_PARTIAL');
    const rows = rowsIn(cwd, 'f.tables', 'prospects.csv');
    expect(new Set(rows.map(({ is_part, profile }) => `${is_part} ${profile}`))).toEqual(new Set(['true not_asked']));
    expect(rowsIn(cwd, 'f.csv').every(({ country }) => country === '')).toBe(true);
  }));

long('V2-18 a profile with another name under the same ID is reported and not used', () =>
  withFilters(GERMANS, async ({ cwd, kybatch, sandbox }) => {
    const other = (body: string) => body.replace(/"name":"(?:[^"\\]|\\.)*"/, '"name":"Zzyzx Unrelated Quarries"');
    sandbox.script('companyProfile', [{ rewrite: other }]);
    const ended = await kybatch(['prospect', 'f.yaml', '--pages', '1', '--per-page', '4', '--yes', '--json']);
    expect(jsonOf<Found>(ended).profiles).toMatchObject({ other_name: 1 });
    expect(ended.textOf('PROFILES_OTHER_NAME')).toMatch(/^ +1 /);
    const [odd] = rowsIn(cwd, 'f.tables', 'prospects.csv').filter(({ profile }) => profile === 'other_name');
    expect(odd).toMatchObject({ profile_name: 'Zzyzx Unrelated Quarries', registration_number: '', country_code: '' });
    expect(nameSimilarity(odd?.name ?? '', odd?.profile_name ?? '')).toBeLessThan(85);
  }),
);

describe('the file is checked before anything is sent', () => {
  const refused: readonly [string, readonly string[], RegExp, string?][] = [
    ['an unknown filter', ['company_staus: [106]'], /f\.yaml: company_staus: .* company_status\?/],
    ['an unknown key', ['number_of_employees: {gt: 5}'], /f\.yaml: number_of_employees\.gt: .* gte\?/],
    ['a fixed value', ['trading_activity: [imports]'], /f\.yaml: trading_activity\.0: .*"imports"/],
    ['no list', ['nace: 1.5'], /f\.yaml: nace\.0: .*1\.5/],
    ['a range the wrong way round', ['number_of_employees: {gte: 50, lte: 5}'], /f\.yaml: number_of_employees: /],
    ['a date', ['company_incorporation: {gte: 2020-13-01}'], /f\.yaml: company_incorporation\.gte: .*"2020-13-01"/],
    ['a zero that would be lost', ['sic_code_gb: [01110]'], / 1 {2}01110 .*1110/, 'YAML_INVALID'],
    ['nothing', ['# nothing'], /f\.yaml /, 'FILTER_MISSING'],
    ['no YAML', ['a: ['], /f\.yaml .* 1 /s, 'YAML_INVALID'],
  ];
  test('each is refused with the file, the key and the value', () =>
    withFilters([], async ({ cwd, kybatch, sandbox }) => {
      for (const [, lines, named, refusal = 'FILTERS_INVALID'] of refused) {
        writeFileSync(join(cwd, 'f.yaml'), lines.join('\n'));
        const { code, codes, textOf } = await kybatch(['prospect', 'f.yaml', '--yes']);
        expect([code, ...codes]).toEqual([2, refusal]);
        expect(textOf(refusal)).toMatch(named);
      }
      expect(sandbox.requests.size).toBe(0);
    }));

  test('all unknown names are refused together, and nothing is bought', () =>
    withFilters(
      [
        'company_status: [Aktive]',
        'legal_form: [ltd (gb)]',
        'location_regions: {parents: Atlantis}',
        'industry_focus: [Enregy]',
      ],
      async ({ kybatch, sandbox }) => {
        const { code, textOf } = await kybatch(['prospect', 'f.yaml', '--yes']);
        expect(code).toBe(2);
        const unknown = textOf('FILTER_NAME_UNKNOWN');
        expect(unknown).toMatch(/f\.yaml: company_status: .*"Aktive" .* company-status\. .*: "Active"/);
        expect(unknown).toMatch(/f\.yaml: location_regions\.parents: .*"Atlantis"/);
        expect(unknown).toMatch(/f\.yaml: industry_focus: .*"Enregy" .* industry-focus\. .*: "Energy"/);
        expect(sandbox.chargeLog).toEqual([]);
      },
    ));
});

describe('money', () => {
  test('without a terminal it needs --yes, and on one it shows the filters and asks', () =>
    withFilters(GERMANS, async ({ cwd, kybatch, sandbox }) => {
      const alone = await kybatch(['prospect', 'f.yaml']);
      expect(alone).toMatchObject({ code: 2, codes: ['NOT_CONFIRMED'] });
      let asked = '';
      const answers = (question: string) => {
        asked = question;
        return 'n';
      };
      const declined = await kybatch(['prospect', 'f.yaml', '--pages', '2', '--per-page', '3'], { answers });
      expect(declined.code).toBe(130);
      expect(asked).toMatch(/ 2 .* 6 .* companyProfile\b/);
      expect(declined.textOf('PROSPECT_PLANNED')).toMatch(/location_countries +\{"parents":"1_44"\} +\(44 .*Germany\)/);
      expect(sandbox.chargeLog).toEqual([]);
      expect(existsSync(join(cwd, 'f.csv'))).toBe(false);
    }));

  long('at a daily limit it exits with 4 and writes nothing, and the printed command continues', () =>
    withFilters(
      GERMANS,
      async ({ cwd, kybatch, sandbox }) => {
        const parked = await kybatch(['prospect', 'f.yaml', '--per-page', '4', '--pages', '2', '--yes']);
        expect(parked.code).toBe(4);
        expect(parked.textOf('ALLOWANCE')).toContain(': kybatch prospect f.yaml --pages 2 --per-page 4 --yes');
        expect(existsSync(join(cwd, 'f.csv'))).toBe(false);
        const charged = sandbox.chargeLog.length;
        expect((await kybatch(['prospect', 'f.yaml', '--per-page', '4', '--pages', '2', '--yes'])).code).toBe(4);
        expect(sandbox.chargeLog).toHaveLength(charged);
      },
      { v2Limits: { companies: { daily: 3 } } },
    ),
  );

  long('an interrupt drains and exits with 130, and the printed command buys nothing twice', () =>
    withFilters(GERMANS, async ({ cwd, kybatch, sandbox }) => {
      const interrupts = new Interrupts();
      const onCode = (code: string) => {
        if (code === 'PAGE_READ') interrupts.send('SIGINT');
      };
      const ask = ['prospect', 'f.yaml', '--per-page', '4', '--pages', '2', '--yes'];
      const stopped = await kybatch(ask, { interrupts, onCode });
      expect(stopped.code).toBe(130);
      expect(stopped.codes).toContain('PROSPECT_STOPPED');
      expect(stopped.stderr).toContain(': kybatch prospect f.yaml --pages 2 --per-page 4 --yes');
      expect(existsSync(join(cwd, 'f.csv'))).toBe(false);
      expect((await kybatch(ask)).code).toBe(0);
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    }),
  );
});

long('a result that changes while it is read is reported, and only a lost page is requested again', () =>
  withFilters(GERMANS, async ({ kybatch, sandbox }) => {
    const grown = (body: string) =>
      body.replace(/"total_companies":(\d+)/, (_, count) => `"total_companies":${Number(count) + 1}`);
    sandbox.script('prospecting', ['none', { rewrite: grown }]);
    const ask = ['prospect', 'f.yaml', '--per-page', '4', '--pages', '3', '--no-profiles', '--yes', '--json'];
    const found = await kybatch(ask);
    expect(jsonOf<Found>(found).notes[0]).toMatch(/^prospecting .*\b13\b.*\b14\b/);
    expect(found.codes).toContain('PROSPECT_NOTE');
    expect(sandbox.requests.get('prospecting')).toBe(3);
  }),
);

long('a purged company leaves the stored pages, and its page is requested again', () =>
  withFilters(GERMANS, async ({ cwd, kybatch }) => {
    const ask = ['prospect', 'f.yaml', '--per-page', '3', '--pages', '2', '--yes', '--json'];
    await kybatch(ask);
    const [first] = rowsIn(cwd, 'f.csv');
    expect((await kybatch(['erase', '--entity', `companies:${first?.id}`, '--yes'])).code).toBe(0);
    // Its page and its profile, and the next page, which would be older than the first.
    expect(jsonOf<Found>(await kybatch(ask))).toMatchObject({ sent: 3, prospects: 6 });
  }),
);

test.each([
  ['a key that is refused', 5, (sandbox: Job['sandbox']) => sandbox.revoke(sandbox.keys.v2)],
  ['a provider that is down', 6, (sandbox: Job['sandbox']) => sandbox.script('prospecting', Array(40).fill(503))],
])('%s ends it with %d, and nothing is written', (_, code, spoil) =>
  withFilters(['company_status: [106]'], async ({ cwd, kybatch, sandbox }) => {
    spoil(sandbox);
    const ended = await kybatch(['prospect', 'f.yaml', '--yes'], { clock: new JumpingClock(Date.now()) });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(': kybatch prospect f.yaml --yes');
    expect(existsSync(join(cwd, 'f.csv'))).toBe(false);
  }),
);

describe('files', () => {
  test('a foreign or edited file is not overwritten without --force', () =>
    withFilters(GERMANS, async ({ cwd, kybatch }) => {
      const ask = ['prospect', 'f.yaml', '--pages', '1', '--per-page', '2', '--no-profiles', '--yes'];
      writeFileSync(join(cwd, 'f.csv'), 'id,name\n1,Mine\n');
      const foreign = await kybatch(ask);
      expect(foreign).toMatchObject({ code: 2, codes: ['OUT_NOT_OURS'] });
      expect((await kybatch([...ask, '--force'])).code).toBe(0);
      expect((await kybatch(ask)).code).toBe(0);
      writeFileSync(join(cwd, 'f.csv'), `${readFileSync(join(cwd, 'f.csv'), 'utf8')}9,Added by hand,DE,,,,\r\n`);
      const changed = await kybatch(ask);
      expect(changed).toMatchObject({ code: 2, codes: ['OUT_EDITED'] });
      const itself = await kybatch([...ask, '--out', 'f.yaml']);
      expect(itself).toMatchObject({ code: 2, codes: ['OUT_IS_INPUT'] });
    }));

  long('formulas are defused, and Parquet is written on request', () =>
    withFilters(GERMANS, async ({ cwd, kybatch, sandbox }) => {
      const evil = (body: string) => body.replace(/"name":"/, '"name":"=cmd|calc!A1 ');
      sandbox.script('prospecting', [{ rewrite: evil }]);
      const ask = ['--pages', '1', '--per-page', '2', '--no-profiles', '--yes', '--format', 'csv,parquet'];
      expect((await kybatch(['prospect', 'f.yaml', '--out', 'in/people.csv', ...ask])).code).toBe(0);
      expect(rowsIn(cwd, 'in', 'people.csv')[0]?.name).toMatch(/^'=cmd/);
      expect(existsSync(join(cwd, 'in', 'people.tables', 'prospects.parquet'))).toBe(true);
    }),
  );

  long('if no company fits, that is reported and nothing is written', () =>
    withFilters(['location_type: [Atlantis]'], async ({ cwd, kybatch }) => {
      const ended = await kybatch(['prospect', 'f.yaml', '--yes']);
      expect(ended).toMatchObject({ code: 0, codes: expect.arrayContaining(['NO_PROSPECTS']) });
      expect(existsSync(join(cwd, 'f.csv'))).toBe(false);
    }),
  );
});
