import { countryProblem } from '../domain/enquiry.js';
import type { InputRow, InputTable } from '../input/types.js';
import type { NewRow, RunStore } from '../ledger/runs.js';
import { outsideText } from '../util/outside-text.js';

const BATCH = 1000;

/**
 * Takes the rows of an input into the ledger, in batches: memory does not grow with the file. A process that died
 * half-way is repeated from the top; what is there already stays as it is.
 */
export async function takeIn(runId: string, table: InputTable, limit: number | null, runs: RunStore): Promise<void> {
  let batch: NewRow[] = [];
  let count = 0;
  for await (const row of table.rows()) {
    if (limit !== null && count === limit) break;
    count += 1;
    batch.push(toNewRow(row));
    if (batch.length === BATCH) {
      await runs.addRows(runId, batch);
      batch = [];
    }
  }
  if (batch.length > 0) await runs.addRows(runId, batch);
  await runs.open(runId, count);
}

/** Numbers are read when a row sets out; a country that nobody knows is told before anything is spent. */
function toNewRow({ row, line, values, fields, problem }: InputRow): NewRow {
  if (problem !== undefined) return { row, line, values, fields: {}, problem: told(problem) };
  const country = countryProblem(fields);
  const taken = { row, line, values, fields: { ...fields } as Record<string, string> };
  return country === undefined ? taken : { ...taken, problem: told(country) };
}

const told = ({ code, message }: NonNullable<NewRow['problem']>) => ({ code, message: outsideText(message) });
