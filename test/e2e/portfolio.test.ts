/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { type EndJson, jsonOf, withJob } from '../cli/here.js';
import { openLedgerIn } from '../helpers/ledger-place.js';

const FIXTURES = resolve(import.meta.dirname, '../../fixtures');
const PIPELINE = resolve(import.meta.dirname, '../../pipelines/analyst.yaml');

test('fixtures/portfolio.csv: every row ends as in fixtures/portfolio.expected.csv', async () => {
  // The registry of the embedded sandbox: seed 1, its own size.
  await withJob({ seed: 1, size: undefined }, async ({ cwd, kybatch, sandbox }) => {
    const impatient = '\nreport: {first_poll: 1ms, poll_at_most: 5ms}\n';
    writeFileSync(join(cwd, 'analyst.yaml'), readFileSync(PIPELINE, 'utf8') + impatient);
    const input = join(FIXTURES, 'portfolio.csv');
    const end = await kybatch(['run', input, '--pipeline', './analyst.yaml', '--yes', '--json']);
    expect(end.code).toBe(3);
    const expected = parse(readFileSync(join(FIXTURES, 'portfolio.expected.csv')), {
      columns: true,
    }) as Record<'row' | 'id' | 'outcome' | 'error_code', string>[];
    const { run, rows, outcomes, units_charged } = jsonOf<EndJson>(end);
    expect(rows).toBe(expected.length);
    expect(outcomes).toMatchObject({ complete: 26, no_match: 2, needs_review: 12, invalid: 2, pending: 0 });
    expect(units_charged).toBe(sandbox.chargeLog.filter(({ api }) => api === 'v1').length);
    const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'read' });
    try {
      for (const { row, outcome, error_code } of expected) {
        const found = await ledger.runs.row(run, Number(row));
        expect({ row, outcome: found?.outcome, error_code: found?.errorCode ?? '' }).toEqual({
          row,
          outcome,
          error_code,
        });
      }
    } finally {
      await ledger.close();
    }
  });
});
