/** @module-tag long */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { inLedger } from '../helpers/ledger-place.js';
import { withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** Number of stored answers by operation. */
async function owned(cwd: string): Promise<Readonly<Record<string, number>>> {
  const rows = await inLedger<{ operation: string; times: number }>(
    join(cwd, 'data'),
    'SELECT operation, count(*) AS times FROM answers JOIN calls ON calls.id = call_id GROUP BY operation ORDER BY operation',
  );
  return Object.fromEntries(rows.map(({ operation, times }) => [operation, times]));
}

test('purge removes the requests of a company, and lists shared requests with the command that removes them', () =>
  withNights(
    1,
    async ({ sandbox: { registry }, writeCsv, night, table, kybatch, cwd }) => {
      // Both have an officer of one name without a year of birth: one search for both.
      const [gone, stays] = [registry.company(4280), registry.company(6394)];
      writeCsv('in.csv', [gone, stays].map(inputOf));
      await night();
      const shared = 'Lars Johnson';
      const screened = () =>
        table('appointments')
          .filter(({ screened_name }) => screened_name === shared)
          .map(({ v1_company_id, company_id }) => `${v1_company_id} ${company_id}`);
      const found = screened();
      expect(new Set(found.map((line) => line.split(' ')[0]))).toEqual(new Set([gone.v1Id, stays.v1Id]));

      const first = await kybatch(['erase', '--entity', `v1:${gone.v1Id}`, '--yes']);
      expect(first.code).toBe(0);
      expect(first.stdout).toMatch(
        new RegExp(`officersSearchKyb.*${gone.v1Id}.*kybatch erase.* --entity v1:${stays.v1Id}`),
      );
      await kybatch(['export', '--out', 'tables']);
      expect(new Set(table('appointments').map(({ v1_company_id }) => v1_company_id))).toEqual(new Set([stays.v1Id]));
      expect(screened()).toEqual(found.filter((line) => line.startsWith(stays.v1Id)));
      expect(table('holdings').filter(({ v1_company_id }) => v1_company_id !== stays.v1Id)).toEqual([]);

      const second = await kybatch(['erase', '--entity', `v1:${stays.v1Id}`, '--yes']);
      expect(second.codes).toContain('PURGE_PROVED');
      expect(await owned(cwd)).toEqual({});
    },
    ['stages: [screening]', 'screening: {people_at_most: 2}'],
  ));

test('purge removes the people of a company and the answers about them', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, table, kybatch, cwd }) => {
      const { registry } = sandbox;
      const companies = wholeCompanies(sandbox, 12)
        .filter((one) => registry.facts(one).website !== null && registry.v2.employees(one).length > 1)
        .slice(0, 2);
      const [gone, stays] = companies;
      writeCsv('in.csv', companies.map(inputOf));
      await night();
      const people = () => new Set(table('people').map(({ companies_id }) => companies_id));
      expect(people()).toEqual(new Set([gone?.v2Id, stays?.v2Id]));
      const before = (await owned(cwd)).enrichPerson ?? 0;
      await kybatch(['erase', '--entity', `companies:${gone?.v2Id}`, '--yes']);
      await kybatch(['export', '--out', 'tables']);
      expect(people()).toEqual(new Set([stays?.v2Id]));
      const employees = gone === undefined ? [] : registry.v2.employees(gone);
      expect((await owned(cwd)).enrichPerson).toBe(before - employees.length);
    },
    ['stages: [contacts]', 'contacts: {details: true, people_at_most: 40}'],
  ));

test('V2-22 a number of companies in two countries does not connect them', () =>
  withNights(
    1,
    async ({ sandbox: { registry }, writeCsv, night, table, kybatch }) => {
      const [french, australian] = [registry.company(6449), registry.company(13505)];
      writeCsv('in.csv', [french, australian].map(inputOf));
      await night();
      await kybatch(['review', 'export', '--force']);
      await kybatch(['erase', '--entity', `v2:${french.v2Id}`, '--yes']);
      await kybatch(['export', '--out', 'tables']);
      expect(table('rows').map(({ error_code, v2_company_id }) => [error_code, v2_company_id])).toEqual([
        ['IDENTITY_MISMATCH', australian.v2Id],
      ]);
      expect(table('shareholders')).toEqual([]);
    },
    ['stages: [ownership]'],
  ));
