/** @module-tag long */
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { exportRun } from '../../src/export/export-run.js';
import type { ExportFormat } from '../../src/export/formats/format.js';
import { ALL_PARTS, type ExportParts } from '../../src/export/write-answers.js';
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
])('two threads write the same bytes as one, in the same order, to tables %s', async (_, inParts) => {
  const started = countThreads();
  const list = { row: null, api: 'v2', operation: 'creditReportHistory', params: { page: 1 }, body: history } as const;
  await withRun({ rows, bought: [...bought, list] }, async ({ dataDir, ledger, id }) => {
    for (const sql of [
      `UPDATE calls SET run_id = '${id}'`,
      'DELETE FROM bodies WHERE sha256 IN (SELECT raw_sha256 FROM calls WHERE row IN (40, 41, 120))',
    ])
      await inLedger(dataDir, sql);
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
