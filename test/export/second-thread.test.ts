/** @module-tag long */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { exportTo, withRun } from './support.js';

/** Threads can only run compiled files: `test/helpers/build.ts` keeps them up to date. */
const built = pathToFileURL(join(import.meta.dirname, '../../build/export/export-run.js')).href;

test('two threads write the same bytes as one, in the same order', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => String(1_000 + index));
  const rows = ids.map((id) => ({ values: ['Acme'], ids: { v2: id } }));
  const bought = ids.map((id, index) => ({
    row: index + 1,
    api: 'v2' as const,
    operation: 'financial',
    params: { id },
    body: index === 150 ? '{"2024":7}' : `{"2024":{"B":-${index}.10,"A":"=${index}","C":null}}`,
  }));
  await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
    const { exportRun } = (await import(built)) as typeof import('../../src/export/export-run.js');
    const options = { formats: ['csv', 'parquet'] as const };
    const one = await exportTo(join(dataDir, 'one'), ledger, id, options);
    const two = await exportTo(join(dataDir, 'two'), ledger, id, options, exportRun);
    expect(two.tables.flat_financials).toBe(199 * 3);
    expect(two.unexpected_shapes).toBe(1);
    expect(two.files.map(({ path, sha256 }) => [path, sha256])).toEqual(
      one.files.map(({ path, sha256 }) => [path, sha256]),
    );
  });
});
