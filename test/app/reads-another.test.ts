/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { chargesByOperation } from '../helpers/sandbox.js';
import { DAY, decideAll, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

const FRESH = 'freshness: {fullKyb: 7d, companyProfile: 7d, searchKyb: 365d, companiesLookup: 365d, kybSearch: 365d}';

test('a new person in a refreshed record is screened, and the others cost nothing', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, clock, table }) => {
      const [company] = wholeCompanies(sandbox, 20).filter(
        ({ v1Id }) => sandbox.registry.byV1Id(v1Id) !== undefined,
      ) as [Company];
      writeCsv('in.csv', [inputOf(company)]);
      await night();
      await sandbox.changeCompany(company.v2Id, 'shareholder_name', 'Brand New Holder');
      clock.advance(8 * DAY);
      const before = sandbox.chargeLog.length;
      const { code, end } = await night();
      expect(code).toBe(0);
      expect(table('shareholders').map(({ name }) => name)).toContain('Brand New Holder');
      expect(chargesByOperation(sandbox.chargeLog.slice(before))).toEqual({ fullKyb: 1, shareholdersSearchKyb: 1 });
      const screened = new Set(table('holdings').map(({ screened_name }) => screened_name));
      const holders = new Set(table('shareholders').map(({ name }) => name));
      expect([...screened].filter((name) => !holders.has(name))).toEqual([]);
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
      clock.advance(7 * DAY);
      expect(await night()).toMatchObject({ units: 1, code: 0 });
    },
    ['stages: [record, screening]', FRESH],
  ));

test('people are asked for when the profile with their domain is accepted', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, kybatch, cwd, table }) => {
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      const another = (body: string) =>
        body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');
      sandbox.script('companyProfile', [{ rewrite: another }]);
      expect((await night()).code).toBe(3);
      expect(table('rows')).toMatchObject([{ contacts_status: 'not_available' }]);
      await decideAll({ kybatch, cwd }, 'confirm');
      expect((await night()).code).toBe(0);
      expect(sandbox.requests.get('enrichEmployeesSearch')).toBe(1);
    },
    ['stages: [record, firmographics, contacts]', FRESH],
  ));

test('a stage that returns to the pipeline with other options is run again', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, cwd }) => {
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      const told = (...lines: string[]) => writeFileSync(join(cwd, 'p.yaml'), [...lines, FRESH].join('\n'));
      await night();
      told('stages: [registry, financials]', 'registry: {modules: [lite]}');
      await night();
      told('stages: [record, registry]', 'record: {modules: [lite, officers]}', 'registry: {modules: [lite]}');
      const before = sandbox.chargeLog.length;
      await night();
      expect(chargesByOperation(sandbox.chargeLog.slice(before))).toEqual({ officersKyb: 1 });
      told('stages: [registry, financials]', 'registry: {modules: [lite]}');
      const { end } = await night();
      told('stages: [record, registry]', 'record: {modules: [lite, officers]}', 'registry: {modules: [lite]}');
      expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
    },
    ['stages: [record]', 'record: {modules: [lite]}', FRESH],
  ));
