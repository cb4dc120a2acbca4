import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { type EndJson, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { sheetColumns } from '../helpers/review-sheet.js';

export const DAY = 86_400_000;
export const NIGHTLY = [
  'stages: [record]',
  'freshness: {fullKyb: 7d, searchKyb: 365d, kybSearch: 365d, financial: 30d}',
];
export const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--export', '--out', 'tables'];

export type Line = Readonly<Record<string, string>>;

export interface Nights extends Job {
  readonly clock: JumpingClock;
  /** One run, and the units that the provider charged for it. */
  night(...flags: string[]): Promise<{
    readonly end: EndJson & NightJson;
    readonly units: number;
    readonly code: number | null;
    readonly stderr: string;
    readonly codes: readonly string[];
  }>;
  table(name: string): readonly Line[];
  fetched(): readonly string[];
}

interface NightJson {
  readonly due: number;
  readonly to_do: number;
  readonly portfolio: string;
}

/** A portfolio of the first rows of a list, and its nightly runs. */
export async function withNights(
  rows: number,
  use: (nights: Nights) => Promise<void>,
  pipeline = NIGHTLY,
): Promise<void> {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  await withJob({ clock, pipeline }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, rows));
    const table = (name: string) =>
      parse(readFileSync(join(job.cwd, 'tables', `${name}.csv`)), { columns: true }) as Line[];
    await use({
      ...job,
      clock,
      table,
      fetched: () => table('companies').map(({ fetched_at = '' }) => fetched_at.slice(0, 10)),
      night: async (...flags) => {
        const before = job.sandbox.chargeLog.length;
        const finished = await job.kybatch([...RUN, ...flags]);
        const units = job.sandbox.chargeLog.length - before;
        const { code, stderr, codes } = finished;
        return { end: jsonOf(finished), units, code, stderr, codes };
      },
    });
  });
}

/** Answers the questions through a spreadsheet. Questions outside `which` stay blank. */
export async function decideAll(
  { kybatch, cwd }: Pick<Job, 'kybatch' | 'cwd'>,
  decision: string,
  which: (line: Line) => boolean = () => true,
): Promise<string> {
  await kybatch(['review', 'export', '--force']);
  const sheet = join(cwd, 'review.csv');
  const lines = parse(readFileSync(sheet), { columns: sheetColumns, bom: true }) as Line[];
  const decided = lines.map((line) => (which(line) ? { ...line, decision, note: 'checked' } : line));
  writeFileSync(sheet, stringify(decided, { header: true }));
  return (await kybatch(['review', 'apply', 'review.csv'])).stdout;
}
