import { countryProblem } from '../domain/enquiry.js';
import { UsageError } from '../domain/errors.js';
import type { InputTable } from '../input/types.js';
import type { RunRecord, RunStore } from '../ledger/runs.js';
import { readSettings, type StoredSettings } from './stored-settings.js';

/**
 * A feed that broke off must not pass for a list that has shrunk: beyond the share that the pipeline allows, an input is
 * refused. It is measured against the last run of the same input, by rows that can be worked on: a column that moved takes
 * them all.
 */
export async function mustHaveKeptRows(table: InputTable, settings: StoredSettings, runs: RunStore): Promise<void> {
  const { rowsLost } = settings.pipeline.guards;
  if (rowsLost === null) return;
  const last = (await runs.all()).find((run) => isOfSameInput(run, table, settings));
  if (last === undefined) return;
  const before = last.rowCount - (await runs.progress(last.id)).byOutcome.invalid;
  const now = await usableRows(table, settings.limit);
  if ((before - now) * 100 <= rowsLost * before) return;
  const share = Math.floor(((before - now) / before) * 100);
  throw new UsageError(
    `${table.path} has ${now} usable rows; the last run of it, ${last.id}, had ${before}: ${share}% are lost, more than the ${rowsLost}% of guards.rows_lost`,
    `Nothing was spent or written. Send the file again if it was cut. If the list has really shrunk, set guards.rows_lost of ${settings.pipeline.file} to null for one run: that run is the measure from then on.`,
    'ROWS_LOST',
  );
}

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
