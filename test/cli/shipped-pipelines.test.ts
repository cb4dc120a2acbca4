/** @module-tag long */
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readTable } from '../export/support.js';
import { withFolder } from '../helpers/cli.js';
import { here } from './here.js';

const INPUT = resolve(import.meta.dirname, '../../fixtures/portfolio.csv');

const FILLED: readonly [string, readonly string[]][] = [
  [
    'onboarding',
    ['companies', 'officers', 'shareholders', 'group_links', 'filed_financials', 'appointments', 'holdings'],
  ],
  ['sales', ['firmographics', 'classifications', 'digital_profiles', 'technologies', 'people']],
];

test.each(FILLED)(
  '%s fills its tables from the shipped portfolio, and every row is accounted for',
  (pipeline, tables) =>
    withFolder(async (cwd) => {
      const args = ['run', INPUT, '--sandbox', '--pipeline', pipeline, '--yes', '--out', 'out'];
      const run = await here(args, { cwd });
      expect([run.code, run.textOf('ROWS_COUNTED')]).toEqual([3, expect.stringMatching(/ 42 +\w+$/)]);
      const empty = tables.filter((table) => readTable(join(cwd, 'out'), table).length === 0);
      expect(empty).toEqual([]);
      const rows = readTable(join(cwd, 'out'), 'rows');
      expect(rows).toHaveLength(42);
      expect(rows.filter(({ outcome }) => outcome === 'complete').length).toBeGreaterThan(15);
      const again = await here(args, { cwd });
      expect(again.codes).toContain('NOTHING_DUE');
    }),
);
