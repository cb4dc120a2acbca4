import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;
const PIPELINE = ['stages: [record, financials]', 'watch: {fields: [name, company_status], refresh: [record]}'];

interface SyncJson {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly watched: number;
  readonly left: number;
  readonly members: number;
  readonly members_without_v2_company: number;
  readonly stopped: { readonly code: string } | null;
  readonly troubles: readonly { readonly v2_company_id: string | null }[];
}

const RUN = ['run', 'a.csv', '--pipeline', './p.yaml', '--yes', '--json'];
const SYNC = ['watch', 'sync', 'a.csv', '--json'];

/** A portfolio that was run once, and its v2 companies. */
async function withPortfolio(
  rows: number,
  options: Parameters<typeof withJob>[0],
  use: (
    job: Job & { readonly clock: JumpingClock; readonly ids: readonly string[]; readonly run: string },
  ) => Promise<void>,
) {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock, pipeline: PIPELINE, ...options }, async (job) => {
    job.writeCsv('a.csv', job.rows.slice(0, rows));
    const { run } = jsonOf<EndJson>(await job.kybatch(RUN));
    const ids = tableOf(job, run, 'rows').flatMap(({ v2_company_id: id }) => id || []);
    await use({ ...job, clock, ids, run });
  });
}

const tableOf = ({ cwd }: Pick<Job, 'cwd'>, run: string, table: string) =>
  parse(readFileSync(join(cwd, 'data', 'exports', run, `${table}.csv`)), { columns: true }) as Record<string, string>[];

test('V2-13 sync registers the confirmed companies once, and removes those that have left', () =>
  withPortfolio(6, {}, async ({ kybatch, sandbox, writeCsv, rows, ids }) => {
    const asked = (operation: string) => sandbox.requests.get(operation) ?? 0;
    const first = await kybatch(SYNC);
    expect(jsonOf<SyncJson>(first)).toMatchObject({ added: ids.length, removed: 0, watched: ids.length, members: 6 });
    expect(first.code).toBe(0);
    const again = jsonOf<SyncJson>(await kybatch(SYNC));
    expect(again).toMatchObject({ added: 0, removed: 0, changed: 0, watched: ids.length });
    expect(asked('watchAdd')).toBe(ids.length);
    writeCsv('a.csv', rows.slice(1, 6));
    await kybatch(RUN);
    expect(jsonOf<SyncJson>(await kybatch(SYNC))).toMatchObject({ added: 0, removed: 1, watched: ids.length - 1 });
    expect(asked('watchRemove')).toBe(1);
  }));
