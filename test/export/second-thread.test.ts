/** @module-tag long */
import { readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { growingBeside } from '../../src/export/atomic-folder.js';
import { exportRun } from '../../src/export/export-run.js';
import type { ExportFormat } from '../../src/export/formats/format.js';
import { type OpenPartOfRun, PartHelper } from '../../src/export/part-writer.js';
import type { PartRules } from '../../src/export/parts.js';
import { ALL_PARTS, type ExportParts } from '../../src/export/write-answers.js';
import { READERS_VERSION } from '../../src/readers/list.js';
import { inLedger } from '../helpers/ledger-place.js';
import { type Bought, exportTo, fullRecord, withRun } from './support.js';

const ids = Array.from({ length: 200 }, (_, index) => String(1_000 + index));
const rows = ids.map((id) => ({ values: ['Acme'], ids: { v1: id, v2: id, report: id } }));
const bought = ids.flatMap((id, index): readonly Bought[] => [
  {
    row: index + 1,
    api: 'v2',
    operation: 'financial',
    params: { id },
    body: index === 150 ? '{"2024":7}' : `{"2024":{"B":-${index}.10,"A":"=${index}","C":null}}`,
  },
  {
    row: index + 1,
    api: 'v1',
    operation: 'fullKyb',
    params: { id },
    body: fullRecord(
      `"officers":[{"id":1,"first_name":"A${index}","last_name":"B"}],"shareholders":[{"id":2,"name":"C","percentage":${index}.10}]${index === 20 ? ',"officers_full":7' : ''}`,
    ),
  },
]);
const history = `{"data":[${ids.map((id) => `{"id":${id},"price":${id}.10}`).join()}]}`;

const BROKEN = 'DELETE FROM bodies WHERE sha256 IN (SELECT raw_sha256 FROM calls WHERE row IN (40, 41, 120))';

/** Counts the threads that are started. */
function countThreads(): () => number {
  const { Worker } = threads;
  let started = 0;
  threads.Worker = class extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      started += 1;
    }
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    threads.Worker = Worker;
    syncBuiltinESMExports();
  });
  return () => started;
}

test.each<[string, ExportParts['inParts']]>([
  ['in one file', undefined],
  ['in parts', { size: 7, folders: [], readersVersion: 1 }],
])('two threads write equal bytes to one, in its order, to tables %s', async (_, inParts) => {
  const started = countThreads();
  const list = { row: null, api: 'v2', operation: 'creditReportHistory', params: { page: 1 }, body: history } as const;
  await withRun({ rows, bought: [...bought, list] }, async ({ dataDir, ledger, id }) => {
    for (const sql of [`UPDATE calls SET run_id = '${id}'`, BROKEN]) await inLedger(dataDir, sql);
    const formats: readonly ExportFormat[] = ['csv', 'parquet', 'xlsx', 'ftm'];
    const write = (name: string, count?: 1) =>
      exportTo(join(dataDir, name), ledger, id, { formats }, (snapshot, options) =>
        exportRun(snapshot, options, { ...ALL_PARTS, ...(inParts && { inParts }), ...(count && { threads: count }) }),
      );
    const one = await write('one', 1);
    expect(started()).toBe(0);
    const two = await write('two');
    expect(started()).toBe(1);
    expect(two.answers_not_exported).toBeGreaterThan(2);
    expect(two.unexpected_shapes).toBeGreaterThan(1);
    expect(two).toEqual(one);
  });
});

test('workers on other machines share the parts, and no process waits for a dead worker', async () => {
  await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
    await inLedger(dataDir, BROKEN);
    const [out, other] = [join(dataDir, 'shared', 'tables'), join(dataDir, 'alone')];
    const rules = { size: 7, folders: [], readersVersion: READERS_VERSION };
    const open: OpenPartOfRun = (run, only) => ledger.reading.snapshot(run, { only });
    const helpers = [1, 2].map(() => new PartHelper(out, '0.0.0', open));
    const older = new PartHelper(out, '0.0.1', open);
    let written = 0;
    let rounds = 0;
    // Between two parts of this process, each worker does its offered jobs, and at last only takes them.
    const between = async () => {
      rounds += 1;
      if (rounds === 12) for (const folder of growingBeside(out)) takeJobs(folder);
      for (const helper of rounds < 12 ? helpers : []) written += await helper.help();
      if (rounds < 12) expect(await older.help()).toBe(0);
    };
    const write = (folder: string, inParts: PartRules, step: () => Promise<void>) =>
      exportTo(folder, ledger, id, { formats: ['csv', 'parquet', 'xlsx'] }, (snapshot, options) =>
        exportRun(
          {
            ...snapshot,
            async *subjectHeads(...asked) {
              let place = 0;
              for await (const head of snapshot.subjectHeads(...asked)) {
                if (place++ % 10 === 0) await step();
                yield head;
              }
            },
          },
          options,
          { ...ALL_PARTS, inParts, threads: 1 },
        ),
      );
    const shared = await write(out, { ...rules, sharedRun: id }, between);
    for (const helper of [...helpers, older]) helper.close();
    expect(written).toBeGreaterThan(5);
    expect(written).toBeLessThan(shared.parts?.written ?? 0);
    expect(await write(other, rules, async () => {})).toEqual(shared);
    expect(readdirSync(out)).toEqual(readdirSync(other));
  });
});

/** Takes jobs as a worker that then dies. */
function takeJobs(folder: string): void {
  const jobs = join(folder, '.scratch', 'jobs');
  for (const name of readdirSync(jobs)) rmSync(join(jobs, name));
}
