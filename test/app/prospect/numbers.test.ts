/** @module-tag long */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readParams } from '../../../src/cli/commands/call.js';
import { requestNumber, stringifyExact } from '../../../src/util/exact-json.js';
import { startCli } from '../../helpers/cli.js';
import { json, withServer } from '../../helpers/http-server.js';

const NUMBERS = ['12345678901234567890', '0.12345678901234567891', '-9007199254740993', '1e400', '5', '1.5', '-0.25'];

test.each(NUMBERS)('V1-23 %s is sent with all its digits', (text) => {
  expect(stringifyExact(requestNumber(text))).toBe(text);
  expect(stringifyExact(readParams(`{"a":[{"b":${text}}]}`, '/'))).toBe(`{"a":[{"b":${text}}]}`);
});

test('a number that JavaScript holds exactly is a number, in any spelling', () => {
  expect(['1.10', '1e3', '100', '0.0', '11e-1'].map(requestNumber)).toEqual([1.1, 1000, 100, 0, 1.1]);
});

const FILTERS = {
  financial_turnover: '{"gte":12345678901234567890,"lte":12345678901234567891}',
  yoy_profit: '{"gte":0.12345678901234567891}',
  company_status: '[12345678901234567893]',
  nace: '[12345678901234567894]',
  location_countries: '{"id":12345678901234567895}',
};
const body = `{${Object.entries(FILTERS).map(([name, value]) => `"${name}":${value}`)}}`;

test('V1-23 filters of a file and parameters of the command line keep their digits on the wire', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kybatch-numbers-'));
  const empty = { total_companies: 0, total_pages: 0, data: [] };
  try {
    await withServer(
      (request, response) => json(response, 200, request.url?.includes('metrics') ? [] : empty),
      async ({ origin, requests }) => {
        const env = { KYBATCH_V2_BASE_URL: `${origin}/v2`, KYBATCH_V2_API_KEY: 'a-key-for-nobody' };
        const sentBy = async (...args: readonly string[]) => {
          requests.length = 0;
          const { code, stderr } = await startCli(args, { cwd, env }).finished;
          expect([code, stderr]).toEqual([0, expect.anything()]);
          return requests.filter(({ url }) => url.endsWith('/prospecting')).map((one) => one.body);
        };
        writeFileSync(
          join(cwd, 'f.yaml'),
          Object.entries(FILTERS)
            .map(([key, value]) => `${key}: ${value}\n`)
            .join(''),
        );
        const [prospected = ''] = await sentBy('prospect', 'f.yaml', '--yes', '--no-profiles', '--pages', '1');
        for (const [name, value] of Object.entries(FILTERS)) expect(prospected).toContain(`"${name}":${value}`);
        const [called] = await sentBy('call', 'v2', 'prospecting', '--params', `{"filters":${body},"page":2}`);
        for (const [name, value] of Object.entries(FILTERS)) expect(called).toContain(`"${name}":${value}`);
      },
    );
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
