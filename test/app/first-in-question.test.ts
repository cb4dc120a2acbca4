/** @module-tag long */
import { expect, test } from 'vitest';
import { DAY, decideAll, withNights } from './nights.js';

const another = (body: string) => body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');

test.each([
  { operation: 'fullKyb', table: 'companies', pipeline: ['stages: [record]', 'freshness: {fullKyb: 7d}'] },
  {
    operation: 'kybLite',
    table: 'companies',
    pipeline: ['stages: [profile]', 'profile: {from: v2}', 'freshness: {kybLite: 7d}'],
  },
  {
    operation: 'companyProfile',
    table: 'firmographics',
    pipeline: ['stages: [firmographics]', 'freshness: {companyProfile: 7d}'],
  },
])('an answer to $operation that needs review from the beginning is in no table until it is accepted', (of) =>
  withNights(
    2,
    async ({ night, sandbox, table, kybatch, cwd, clock }) => {
      sandbox.script(
        ({ operation, path }) => operation === of.operation && !path.includes('/kyb/0/'),
        Array(4).fill({ rewrite: another }),
      );
      await night();
      const shown = () => table(of.table).map(({ registration_number }) => registration_number);
      expect(table('rows').map(({ outcome }) => outcome)).toEqual(['needs_review', 'needs_review']);
      expect(shown()).toEqual([]);
      clock.advance(8 * DAY);
      await night();
      expect(shown()).not.toContain('00000000');
      await decideAll({ kybatch, cwd }, 'confirm');
      await night();
      expect(shown()).toEqual(['00000000', '00000000']);
    },
    of.pipeline,
  ),
);
