import { randomBytes } from 'node:crypto';
import { takeIn } from '../engine/take-in.js';
import type { InputTable } from '../input/types.js';
import type { RunRecord, RunStore } from '../ledger/runs.js';
import type { Clock } from '../util/clock.js';
import { identityOf, readSettings, type StoredSettings, storeSettings } from './stored-settings.js';

/**
 * The newest run of this input that was started in the same way. One that has begun afresh goes on so, whoever takes it
 * up; where its input was not even read nothing has begun, and the next start is what it is asked to be.
 */
export async function findRunOf(
  inputSha256: string,
  settings: StoredSettings,
  runs: RunStore,
): Promise<RunRecord | undefined> {
  const identity = identityOf(settings);
  return (await runs.ofInput(inputSha256)).find((run) => {
    const before = readSettings(run);
    return identityOf(before) === identity && (run.state !== 'reading' || before.fresh === settings.fresh);
  });
}

/** The run of this input and pipeline that goes on, or a new one with its rows taken in. */
export async function openRun(
  table: InputTable,
  settings: StoredSettings,
  runs: RunStore,
  clock: Clock,
): Promise<RunRecord> {
  const latest = settings.fresh ? undefined : await findRunOf(table.sha256, settings, runs);
  if (latest !== undefined && latest.state !== 'reading') return latest;
  const id = latest?.id ?? newRunId(clock.now());
  if (latest === undefined) {
    await runs.create({
      id,
      inputPath: table.path,
      inputSha256: table.sha256,
      pipelineName: settings.pipeline.name,
      pipelineSha256: identityOf(settings),
      settings: storeSettings(settings),
      columns: table.columns,
      createdAt: clock.now(),
    });
  }
  await takeIn(id, table, settings.limit, runs);
  const run = await runs.find(id);
  if (run === undefined) throw new Error(`run ${id} vanished`);
  return run;
}

/** Readable, sortable, and not to be guessed from another. */
function newRunId(now: number): string {
  return `${new Date(now).toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;
}
