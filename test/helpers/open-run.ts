import { OpenList } from '../../src/app/portfolio/open-list.js';
import { identityOf, type StoredSettings } from '../../src/app/run/stored-settings.js';
import type { InputTable } from '../../src/input/types.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { RunRecord } from '../../src/ledger/rows/runs.js';
import type { Clock } from '../../src/util/clock.js';

/** The run of this input. Each input and pipeline is its own list, which no other file can update. */
export async function openRun(
  table: InputTable,
  settings: StoredSettings,
  ledger: Ledger,
  clock: Clock,
): Promise<RunRecord> {
  const list = await openList(table, settings, ledger, clock);
  const begun = await list.begin();
  const run = begun.run ?? (await ledger.portfolios.lastRun(begun.portfolio.id));
  if (run === undefined) throw new Error('nothing was begun');
  return run;
}

export function openList(table: InputTable, settings: StoredSettings, ledger: Ledger, clock: Clock): Promise<OpenList> {
  const [v1 = '', v2 = v1] = settings.providers;
  const portfolio = `${table.sha256} ${identityOf(settings)}`;
  return OpenList.open({ ...settings, table, portfolio }, { v1, v2 }, ledger, clock.now());
}
