/**
 * The cost of comparing answers with earlier ones, beside an export of these companies: `npm run bench:changes
 * [record|flat] [companies …]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportRun } from '../../src/export/export-run.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { deriveChanges } from '../../src/portfolio/changes/derive.js';
import { type MadeRun, makeRun, RUN } from './export/make-run.js';
import { formatTable } from './table.js';

const CASES: readonly Pick<MadeRun, 'kind' | 'again'>[] = [
  { kind: 'record', again: (body) => body.replace('"Active"', '"Dissolved"') },
  { kind: 'flat', again: (body) => body.replace(/:(-?\d+)/, ':$11') },
];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

async function measure(made: MadeRun) {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  try {
    await makeRun(folder, made);
    const ledger = await openLedger({ dataDir: folder, now: 1, access: 'write' });
    const compareMs = await timed(() => deriveChanges(ledger.changes, 1));
    const snapshot = await ledger.reading.snapshot(RUN);
    if (snapshot === undefined) throw new Error('the run is gone');
    const options = { folder: join(folder, 'out'), formats: ['csv'] as const, csv: { delimiter: ',', bom: false } };
    const more = { includeContacts: false, partitionByCountry: false, now: 1, version: 'bench' };
    const exportMs = await timed(() => exportRun(snapshot, { ...options, ...more }));
    await snapshot.close();
    await ledger.close();
    return {
      answers: made.kind,
      companies: String(made.companies),
      'compare ms': compareMs.toFixed(0),
      'export (CSV) ms': exportMs.toFixed(0),
      'RSS MB': (process.memoryUsage().rss / 2 ** 20).toFixed(0),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const words = process.argv.slice(2);
const given = words.map(Number).filter((size) => size > 0);
const sizes = given.length > 0 ? given : [5_000, 20_000];
const cases = CASES.filter(({ kind }) => words.includes(kind));
const rows = [];
for (const companies of sizes)
  for (const made of cases.length > 0 ? cases : CASES) rows.push(await measure({ ...made, companies }));
console.log(`Node ${process.version}, ${process.arch}, ${new Date().toISOString().slice(0, 10)}\n`);
console.log(formatTable(rows));
