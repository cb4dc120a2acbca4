import type { InputFields } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowRecord, RunRecord } from '../ledger/runs.js';
import { laidRow } from '../portfolio/lay-out.js';
import { type ListOptions, portfolioName, providersKey } from './portfolio.js';
import type { ProviderNames } from './provider.js';
import { readSettings } from './stored-settings.js';

/** A ledger from before there were portfolios has runs of this file: what they have confirmed and bought is where its list stands. */
export async function adoptRuns(
  options: ListOptions,
  names: ProviderNames,
  ledger: Ledger,
  now: number,
): Promise<void> {
  const { portfolios, runs } = ledger;
  const name = portfolioName(options);
  const providers = providersKey(names);
  if (options.portfolio !== undefined || (await portfolios.find(name, providers)) !== undefined) return;
  const mine = (await runs.all()).filter((run) => isOf(run, name, providers));
  const [newest, ...older] = mine;
  if (newest === undefined) return;
  for (let first = 1; first <= newest.rowCount; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, newest.rowCount - first + 1) }, (_, index) => first + index);
    const rows = await runs.rowsAt(newest.id, numbers);
    await portfolios.lay(rows.map(asLaid), first === 1);
  }
  await portfolios.adopt({ name, providers, now, run: newest, older: older.map(({ id }) => id) });
}

const BATCH = 1000;

function isOf(run: RunRecord, path: string, providers: string): boolean {
  if (run.portfolioId !== null || run.state === 'reading' || run.inputPath !== path) return false;
  const [v1 = '', v2 = v1] = readSettings(run).providers;
  return providersKey({ v1, v2 }) === providers;
}

function asLaid({ row, line, values, fields, outcome, errorCode, errorMessage }: RowRecord) {
  const problem = { code: errorCode ?? '', message: errorMessage ?? '' };
  const input = { row, line, values, fields: fields as InputFields };
  return laidRow(input, outcome === 'invalid' ? problem : undefined);
}
