/** @module-tag long */
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readTable } from '../export/support.js';
import { withFolder } from '../helpers/cli.js';
import { type EndJson, here, jsonOf } from './here.js';

const INPUT = resolve(import.meta.dirname, '../../fixtures/portfolio.csv');

const FILLED: readonly [string, readonly string[]][] = [
  [
    'onboarding',
    ['companies', 'officers', 'shareholders', 'group_links', 'filed_financials', 'appointments', 'holdings'],
  ],
  ['sales', ['firmographics', 'classifications', 'digital_profiles', 'technologies', 'people']],
];

test.each(FILLED)('%s fills its tables from the shipped portfolio, and every row has an outcome', (pipeline, tables) =>
  withFolder(async (cwd) => {
    const args = ['run', INPUT, '--sandbox', '--pipeline', pipeline, '--yes', '--out', 'out', '--json'];
    const run = await here(args, { cwd });
    expect(run.code).toBe(3);
    const { pending, ...ends } = jsonOf<EndJson>(run).outcomes;
    expect(pending ?? 0).toBe(0);
    expect(Object.values(ends).reduce((sum, rows) => sum + rows, 0)).toBe(42);
    const empty = tables.filter((table) => readTable(join(cwd, 'out'), table).length === 0);
    expect(empty).toEqual([]);
    const rows = readTable(join(cwd, 'out'), 'rows');
    expect(rows).toHaveLength(42);
    expect(rows.filter(({ outcome }) => outcome === 'complete').length).toBeGreaterThan(15);
    const again = await here(args, { cwd });
    expect(again.codes).toContain('NOTHING_DUE');
  }),
);
