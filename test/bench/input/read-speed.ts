import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse';
import { readSheet } from 'read-excel-file/node';
import { readInput } from '../../../src/input/read-input.js';
import { withFolder } from '../../helpers/cli.js';
import { interleaved, median } from '../measure.js';
import { type Row, ratio, whole } from '../table.js';
import { writeBigWorkbook } from './big-workbook.js';

/** Ratios come from one run on one machine: each side in turn, three times. */
const REPETITIONS = 3;
const WORKBOOK_ROWS = 50_000;
const [SMALL_MB, LARGE_MB] = [30, 300];
/** Share of the speed of the library alone, which neither checks nor maps anything. */
const LEAST_OF_CSV_PARSE = 0.5;
const LEAST_OF_READ_EXCEL_FILE = 0.7;
/** For 270 MB more of a file. It allows for garbage, but not for memory that grows with the file. */
const MOST_MORE_MB = 64;

/** The speed of reading files, beside the plain libraries, and its memory. */
export async function readSpeed(): Promise<{ rows: Row[]; missed: string[] }> {
  return await withFolder(async (folder) => {
    const [small, large, book] = [join(folder, 'small.csv'), join(folder, 'large.csv'), join(folder, 'book.xlsx')];
    await writeBigCsv(small, SMALL_MB);
    await writeBigCsv(large, LARGE_MB);
    await writeBigWorkbook(book, WORKBOOK_ROWS);
    const csv = await pace(
      small,
      () => readOurs(small),
      () => readWithCsvParse(small),
    );
    const xlsx = await pace(
      book,
      () => readOurs(book),
      () => readWithReadExcelFile(book),
    );
    const peaks = { small: peakMegabytes(small), large: peakMegabytes(large) };
    const rows = [
      { reading: 'CSV, of csv-parse alone', measured: ratio(csv), wanted: `at least ${LEAST_OF_CSV_PARSE}` },
      {
        reading: 'xlsx, of read-excel-file alone',
        measured: ratio(xlsx),
        wanted: `at least ${LEAST_OF_READ_EXCEL_FILE}`,
      },
      {
        reading: `memory for ${SMALL_MB} MB and for ${LARGE_MB} MB of CSV`,
        measured: `${whole(peaks.small)} and ${whole(peaks.large)} MB`,
        wanted: `at most ${MOST_MORE_MB} MB more`,
      },
    ];
    const missed = [
      csv < LEAST_OF_CSV_PARSE,
      xlsx < LEAST_OF_READ_EXCEL_FILE,
      peaks.large - peaks.small > MOST_MORE_MB,
    ].flatMap((miss, index) => (miss ? [`${rows[index]?.reading}: ${rows[index]?.measured}`] : []));
    return { rows, missed };
  });
}

/** How much faster kybatch is: 2 is twice as fast. */
async function pace(path: string, ours: () => Promise<number>, other: () => Promise<number>): Promise<number> {
  const [our = [], others = []] = await interleaved(
    [() => seconds(path, ours), () => seconds(path, other)],
    REPETITIONS,
  );
  return median(others) / median(our);
}

async function seconds(path: string, read: () => Promise<number>): Promise<number> {
  const started = performance.now();
  if ((await read()) < 1_000) throw new Error(`${path} was not read`);
  return (performance.now() - started) / 1_000;
}

/** As a run reads it: columns found, rows checked. */
export async function readOurs(path: string): Promise<number> {
  const table = await readInput(path);
  let rows = 0;
  for await (const row of table.rows()) if (row.problem === undefined) rows++;
  return rows;
}

async function readWithCsvParse(path: string): Promise<number> {
  let rows = 0;
  for await (const _ of createReadStream(path).pipe(parse())) rows++;
  return rows;
}

const readWithReadExcelFile = async (path: string): Promise<number> => (await readSheet(path)).length;

/** Runs in its own process, for a clean measurement. */
function peakMegabytes(path: string): number {
  const script = join(import.meta.dirname, 'peak-memory.ts');
  const out = execFileSync(process.execPath, ['--import', 'tsx', script, path], { encoding: 'utf8' });
  return Number(out);
}

async function writeBigCsv(path: string, megabytes: number): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 });
  file.write('Customer No,Company name,Country,Registration number,VAT number,City,Segment\n');
  for (let row = 0; row % 10_000 !== 0 || row === 0 || file.bytesWritten < megabytes * 1e6; row += 1_000) {
    const block = Array.from({ length: 1_000 }, (_, index) => csvLine(row + index)).join('');
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  if (statSync(path).size < megabytes * 1e6) throw new Error(`${path} is too small`);
}

/** One name in ten needs quotes. */
function csvLine(row: number): string {
  const name = row % 10 === 0 ? `"Müller, Söhne & Partner ${row} GmbH"` : `Harrow Trading ${row} Limited`;
  return `C-${row},${name},GB,${String(row).padStart(8, '0')},GB${100_000_000 + row},Leeds,key account\n`;
}
