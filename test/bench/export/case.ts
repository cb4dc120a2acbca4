import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'csv-stringify/sync';
import type { Row } from '../../../src/readers/table.js';
import { RUN } from './make-run.js';
import type { Measured } from './measured.js';

/** One case in one process, on compiled files: its time and its peak memory. */
const [what = '', dataDir = '', built = ''] = process.argv.slice(2);
const load = async <T>(file: string) => (await import(pathToFileURL(join(built, file)).href)) as T;
const { openDuck } = await load<typeof import('../../../src/export/formats/duckdb.js')>('export/formats/duckdb.js');
const { exportRun } = await load<typeof import('../../../src/export/export-run.js')>('export/export-run.js');
const { ParquetFile } =
  await load<typeof import('../../../src/export/formats/parquet.js')>('export/formats/parquet.js');
const { ALL_PARTS, withListed } =
  await load<typeof import('../../../src/export/write-answers.js')>('export/write-answers.js');
const { flatFinancialsReader, flatFinancialsTable } =
  await load<typeof import('../../../src/readers/flat-financials.js')>('readers/flat-financials.js');
const { readSubject } = await load<typeof import('../../../src/readers/reader.js')>('readers/reader.js');
const { openLedger } = await load<typeof import('../../../src/ledger/open-ledger.js')>('ledger/open-ledger.js');

const out = mkdtempSync(join(dataDir, 'case-'));
try {
  const { seconds, cpuSeconds, rows } = await cases();
  const measured: Measured = { seconds, cpuSeconds, rows, peakMb: process.resourceUsage().maxRSS / 1024 };
  process.stdout.write(JSON.stringify(measured));
} finally {
  rmSync(out, { recursive: true, force: true });
}

async function cases(): Promise<Omit<Measured, 'peakMb'>> {
  switch (what) {
    case 'csv':
    case 'parquet':
    case 'xlsx':
      return await exportIt([what]);
    case 'usual':
      return await exportIt(['csv', 'xlsx']);
    case 'single':
    case 'whole':
    case 'night':
      return await exportNight(what);
    case 'csv-stringify':
      return await withRows((rows, count) => {
        const arrays = rows.map((batch) =>
          batch.map((row) => flatFinancialsTable.columns.map(({ name }) => row[name] ?? null)),
        );
        const descriptor = openSync(join(out, 'alone.csv'), 'w');
        const taken = timed(() => {
          for (let i = 0, done = 0; done < count; i++) {
            const batch = arrays[i % arrays.length] ?? [];
            writeSync(descriptor, stringify(batch));
            done += batch.length;
          }
        });
        closeSync(descriptor);
        return taken;
      });
    case 'duckdb-rows':
      return await withRows(async (rows, count) => {
        const duck = await openDuck({ scratch: out, threads: 2 });
        const stop = stopwatch();
        const file = new ParquetFile(join(out, 'alone.parquet'), 'alone', flatFinancialsTable.columns, {
          duck,
          scratch: out,
          byCountry: false,
          compression: 'zstd',
        });
        for (let i = 0, done = 0; done < count; i++) {
          const batch = rows[i % rows.length] ?? [];
          file.write(batch, null);
          done += batch.length;
        }
        await file.finish();
        return stop();
      });
    case 'duckdb-table': {
      const { rows } = await exportIt(['parquet']);
      const duck = await openDuck({ scratch: out, threads: 2, memory: '4GB' });
      await duck.run(`CREATE TEMP TABLE alone AS FROM '${join(out, 'export', 'flat_financials.parquet')}'`);
      const stop = stopwatch();
      await duck.run(`COPY alone TO '${join(out, 'alone.parquet')}' (FORMAT parquet, COMPRESSION zstd)`);
      return { ...stop(), rows };
    }
    default:
      throw new Error(`no case ${what}`);
  }
}

async function exportIt(formats: readonly ('csv' | 'parquet' | 'xlsx')[]) {
  const ledger = await openLedger({ dataDir, now: Date.now(), access: 'read' });
  const stop = stopwatch();
  const snapshot = await ledger.reading.snapshot(RUN);
  if (snapshot === undefined) throw new Error('no run');
  const { tables } = await exportRun(snapshot, {
    folder: join(out, 'export'),
    formats,
    csv: { delimiter: ',', bom: false },
    includeContacts: false,
    partitionByCountry: false,
    now: 1,
    version: 'bench',
  });
  await snapshot.close();
  const taken = stop();
  await ledger.close();
  return { ...taken, rows: tables.flat_financials + tables.officers + tables.shareholders };
}

/** Exports the newest run: in single files, in parts, or in parts beside those of the previous export. */
async function exportNight(which: 'single' | 'whole' | 'night') {
  const ledger = await openLedger({ dataDir, now: Date.now(), access: 'read' });
  const stop = stopwatch();
  const [run] = await ledger.runs.all();
  const snapshot = await ledger.reading.snapshot(run?.id ?? '');
  if (snapshot === undefined) throw new Error('no run');
  const folders = which === 'night' ? [join(dataDir, 'whole')] : [];
  const { tables } = await exportRun(
    snapshot,
    {
      folder: join(dataDir, which),
      formats: ['csv', 'xlsx'],
      csv: { delimiter: ',', bom: false },
      includeContacts: false,
      partitionByCountry: false,
      now: 1,
      version: 'bench',
    },
    { ...ALL_PARTS, inParts: which === 'single' ? undefined : { size: 500, folders, readersVersion: 1 } },
  );
  await snapshot.close();
  const taken = stop();
  await ledger.close();
  return { ...taken, rows: tables.flat_financials + tables.officers + tables.shareholders };
}

/** The rows of the first companies, written again and again. All rows would not fit in memory. */
async function withRows(write: (rows: readonly (readonly Row[])[], count: number) => Taken | Promise<Taken>) {
  const ledger = await openLedger({ dataDir, now: Date.now(), access: 'read' });
  const snapshot = await ledger.reading.snapshot(RUN);
  if (snapshot === undefined) throw new Error('no run');
  const batches: (readonly Row[])[] = [];
  for await (const subject of withListed(flatFinancialsReader, snapshot)) {
    batches.push(readSubject(flatFinancialsReader, subject, false).rowsOf(flatFinancialsTable));
    if (batches.length >= 64) break;
  }
  const count = snapshot.run.rowCount * (batches[0]?.length ?? 0);
  return { ...(await write(batches, count)), rows: count };
}

type Taken = Pick<Measured, 'seconds' | 'cpuSeconds'>;

function timed(work: () => void): Taken {
  const stop = stopwatch();
  work();
  return stop();
}

function stopwatch(): () => Taken {
  const started = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { seconds: (performance.now() - started) / 1_000, cpuSeconds: (user + system) / 1e6 };
  };
}
