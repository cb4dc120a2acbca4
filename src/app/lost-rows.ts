import { pipelineArgument } from '../config/find-pipeline.js';
import type { LoadedPipeline } from '../config/pipeline.js';
import { countryProblem } from '../domain/enquiry.js';
import { UsageError } from '../domain/errors.js';
import type { InputTable } from '../input/types.js';
import type { RunRecord, RunStore } from '../ledger/runs.js';
import { readSettings, type StoredSettings } from './stored-settings.js';

/** Refuses an input that has lost too many of its rows since its last run. */
export async function mustHaveKeptRows(table: InputTable, settings: StoredSettings, runs: RunStore): Promise<void> {
  const refusal = await rowsLost(table, settings, runs);
  if (refusal !== undefined) throw refusal;
}

/**
 * A feed that broke off must not pass for a list that has shrunk: beyond the share that the pipeline allows, an input is
 * refused. It is measured against the last run of the same input, by rows that can be worked on: a column that moved takes
 * them all.
 */
export async function rowsLost(
  table: InputTable,
  settings: StoredSettings,
  runs: RunStore,
): Promise<UsageError | undefined> {
  const { pipeline, limit } = settings;
  const allowed = pipeline.guards.rowsLost;
  if (allowed === null) return undefined;
  const last = (await runs.all()).find((run) => isOfSameInput(run, table, settings));
  if (last === undefined) return undefined;
  const before = last.rowCount - (await runs.progress(last.id)).byOutcome.invalid;
  const now = await usableRows(table, limit);
  if ((before - now) * 100 <= allowed * before) return undefined;
  const share = Math.floor(((before - now) / before) * 100);
  const usable = `${now} usable ${now === 1 ? 'row' : 'rows'}`;
  return new UsageError(
    `${table.path} has ${usable}; the last run of it, ${last.id}, had ${before}: ${share}% are lost, more than the ${allowed}% of guards.rows_lost`,
    `Nothing was spent or written. Send the file again if it was cut. If the list has really shrunk, ${withoutGuard(pipeline)} for one run: that run is the measure from then on.`,
    'ROWS_LOST',
  );
}

/** A pipeline that was shipped is not edited: the next update would undo it, for everybody who uses it. */
const withoutGuard = (pipeline: LoadedPipeline): string =>
  pipelineArgument(pipeline) === pipeline.name
    ? `copy ${pipeline.file} into ./pipelines, where --pipeline ${pipeline.name} finds it first, and set guards.rows_lost to null there`
    : `set guards.rows_lost of ${pipeline.file} to null`;

function isOfSameInput(run: RunRecord, { path }: InputTable, { limit, providers }: StoredSettings): boolean {
  if (run.inputPath !== path || run.state === 'reading') return false;
  const before = readSettings(run);
  return before.limit === limit && before.providers.join() === providers.join();
}

async function usableRows(table: InputTable, limit: number | null): Promise<number> {
  let rows = 0;
  let usable = 0;
  for await (const { fields, problem } of table.rows()) {
    if (limit !== null && rows === limit) break;
    rows += 1;
    if (problem === undefined && countryProblem(fields) === undefined) usable += 1;
  }
  return usable;
}
