import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { chargedAgain, chargesByOperation } from '../helpers/sandbox.js';
import { type EndJson, jsonOf } from './here.js';
import { NOBODYS_NAME, NOBODYS_NUMBER, withFallback } from './with-fallback.js';

const PIPELINE = ['--pipeline', './p.yaml', '--json'];

interface PlanJson {
  readonly v1_units: { readonly at_least: number; readonly at_most: number };
  readonly v2_calls: { readonly at_least: number; readonly at_most: number };
}

describe('the plan', { tags: 'long' }, () => {
  test('of a row with only a lead equals the cost of the run', async () => {
    await withFallback(['lookup', 'website'], async ({ leads, kybatch, runRows, sandbox, writeCsv }) => {
      const rows = [{ country: 'GB', website: leads.website }];
      writeCsv('in.csv', rows);
      const { v1_units, v2_calls } = jsonOf<PlanJson>(await kybatch(['plan', 'in.csv', ...PIPELINE]));
      // Two are asked, and each may name a number that is searched for. Here the first is enough.
      expect({ v1_units, v2_calls }).toMatchObject({ v1_units: { at_most: 2 }, v2_calls: { at_least: 1, at_most: 2 } });
      await runRows(rows);
      expect(chargesByOperation(sandbox.chargeLog)).toEqual({ companiesLookup: 1, searchKyb: 1 });
    });
  });

  test('counts every step and every search that may follow it, once', async () => {
    const all = ['lookup', 'website', 'linkedin', 'registry', 'autocomplete'];
    await withFallback(all, async ({ kybatch, leads, runRows, sandbox, writeCsv }) => {
      const row = { name: NOBODYS_NAME, country: 'GB', registration_number: NOBODYS_NUMBER, website: leads.website };
      writeCsv('in.csv', [row]);
      const { v1_units, v2_calls } = jsonOf<PlanJson>(await kybatch(['plan', 'in.csv', ...PIPELINE]));
      // No LinkedIn address: four can be asked. Two searches, four searches for named numbers, and the record.
      expect({ v1_units, v2_calls }).toMatchObject({ v1_units: { at_least: 1, at_most: 7 }, v2_calls: { at_most: 4 } });
      await runRows([row]);
      const { searchKyb = 0 } = chargesByOperation(sandbox.chargeLog);
      expect(searchKyb).toBe(3);
      const again = jsonOf<PlanJson>(await kybatch(['plan', 'in.csv', ...PIPELINE]));
      expect(again.v1_units.at_most).toBe(0);
    });
  });
});

long('a row whose named number was not searched for because of the limit continues from there', async () => {
  await withFallback(['website'], async ({ leads, kybatch, runRows, sandbox }) => {
    const row = { name: NOBODYS_NAME, country: 'GB', registration_number: NOBODYS_NUMBER, website: leads.website };
    const first = await runRows([row], ['--max-units', '2', '--export']);
    expect(first.code).toBe(4);
    expect(first.end).toMatchObject({ outcomes: { pending: 1, no_match: 0 }, parked: { budget: 1 } });
    const second = jsonOf<EndJson>(await kybatch(['resume', '--yes', '--json']));
    expect(second).toMatchObject({ outcomes: { needs_review: 1 }, this_start: { units_charged: 1 } });
    expect(chargesByOperation(sandbox.chargeLog)).toEqual({ searchKyb: 3, enrichCompanyByWebsite: 1 });
    expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
  });
});

long('V2-1 a row waits for a step that is not available today, and does not become no_match', async () => {
  await withFallback(['website'], async ({ leads, runRows, sandbox }) => {
    const access = {
      permission: 'enrich',
      permission_name: 'Enrich',
      module: 'm',
      module_name: 'M',
      app: 'a',
      app_name: 'A',
    };
    const body = JSON.stringify({ access, error_guard: 'limits.daily', message_guard: 'Come back tomorrow' });
    sandbox.script({ operation: 'enrichCompanyByWebsite' }, { reply: { status: 403, body } });
    const { end, code } = await runRows([{ country: 'GB', website: leads.website }], ['--export']);
    expect(end).toMatchObject({ outcomes: { pending: 1, no_match: 0 }, parked: { allowance: 1 } });
    expect(code).toBe(4);
  });
});

describe('before anything is spent', () => {
  test('without v2 the refusal names the key of the pipeline', async () => {
    await withFallback(['lookup', 'website'], async ({ env, kybatch, sandbox, writeCsv, rows }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const { KYBATCH_V2_BASE_URL: _, KYBATCH_V2_API_KEY: __, ...v1Alone } = env;
      const refused = await kybatch(['run', 'in.csv', ...PIPELINE, '--yes'], { env: v1Alone });
      expect(refused).toMatchObject({ code: 2, codes: ['FALLBACK_NOT_CONFIGURED'] });
      expect(refused.stderr).toMatch(/search\.fallback: \[lookup, website\].*companiesLookup, enrichCompanyByWebsite/);
      expect(sandbox.chargeLog).toEqual([]);
    });
  });

  test('V2-15 a missing route is named', async () => {
    await withFallback(['website'], async ({ cwd, env, kybatch, sandbox, writeCsv, rows }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const routes = readFileSync(env.KYBATCH_V2_ROUTES ?? '', 'utf8');
      const path = join(cwd, 'routes.yaml');
      writeFileSync(path, routes.replace(/^"?enrichCompanyByWebsite.*\n/m, ''));
      const refused = await kybatch(['run', 'in.csv', ...PIPELINE, '--yes'], {
        env: { ...env, KYBATCH_V2_ROUTES: path },
      });
      expect(refused).toMatchObject({ code: 2, codes: ['ROUTE_MISSING'] });
      expect(refused.stderr).toContain('enrichCompanyByWebsite');
      expect(sandbox.chargeLog).toEqual([]);
    });
  });

  long('a row with only a lead that no step follows is invalid, and the message names the step', async () => {
    await withFallback(['website'], async ({ leads, kybatch, writeCsv }) => {
      writeCsv('in.csv', [
        { name: '', country: 'GB', email: leads.email, website: '' },
        { name: '', country: 'GB', email: '', website: 'n/a' },
      ]);
      const planned = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
      const [first, second] = jsonOf<{ invalid_rows: { row: number; message: string }[] }>(planned).invalid_rows;
      expect(first).toMatchObject({ row: 1, message: expect.stringMatching(/search\.fallback: \[autocomplete\]/) });
      expect(second).toMatchObject({ row: 2, message: expect.stringMatching(/^(?!.*search\.fallback).* website /) });
    });
  });
});

long('a decision about the company of a website is remembered in every spelling', async () => {
  await withFallback(['website'], async ({ company, cwd, leads, kybatch, runRows, sandbox, writeCsv }) => {
    await runRows([{ country: 'GB', website: leads.website }]);
    await kybatch(['review', 'export', '--out', 'review.csv']);
    const [header = '', line = ''] = readFileSync(join(cwd, 'review.csv'), 'utf8').split(/\r?\n/);
    expect(line).toContain(` ${company.registrationNumber}`);
    const cells = line.split(',');
    const at = header.replace('\uFEFF', '').split(',').indexOf('decision');
    writeFileSync(
      join(cwd, 'review.csv'),
      [header, [...cells.slice(0, at), 'confirm', ...cells.slice(at + 1)].join(',')].join('\n'),
    );
    expect((await kybatch(['review', 'apply', 'review.csv', '--by', 'ada'])).code).toBe(0);
    writeCsv('in.csv', [{ country: 'GB', website: leads.website }]);
    const gone = jsonOf<EndJson>(await kybatch(['run', 'in.csv', ...PIPELINE, '--yes']));
    expect(gone).toMatchObject({ outcomes: { complete: 1 }, this_start: { units_charged: 1 } });
    writeCsv('other.csv', [{ country: 'GB', website: leads.website.replace(/^https?:\/\/www\./, '') }]);
    const other = jsonOf<EndJson>(await kybatch(['run', 'other.csv', ...PIPELINE, '--yes']));
    expect(other).toMatchObject({ outcomes: { complete: 1 }, this_start: { units_charged: 0 } });
    expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
  });
});
