import type { RowOutcome } from '../../domain/outcomes.js';
import { MAX_EXAMINED_ROWS, maximumCost, type PlannedRow, planRun } from '../../engine/plan.js';
import { type Amounts, maximumCostOfRows } from '../../engine/row-cost.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Due, DueDecision, DueReason, MemberState, PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { processEnvironment, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { environmentsOf } from '../run/spending.js';
import { readSettings } from '../run/stored-settings.js';
import { dueDecider, pipelinesBefore, rowsToProcess } from './open-list.js';

/** A portfolio, and how up to date it is. */
export interface PortfolioView {
  readonly name: string;
  /** The newest file, and when it was last read. */
  readonly input: string;
  readonly seenAt: number;
  /** When an attempt on it last succeeded. Null: never. */
  readonly lastSuccessAt: number | null;
  readonly providers: string;
  /** The number of companies, and by outcome. */
  readonly members: number;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** The age of its oldest answer. Null: there is none. */
  readonly oldestFetchedAt: number | null;
  /** The rows due now by the pipeline of the last run, and their maximum cost. */
  readonly due: Readonly<Partial<Record<DueReason, number>>>;
  readonly costs: Amounts;
  /** When something is due next, if nothing is due now. Null: never without a change. */
  readonly nextDueAt: number | null;
  readonly lastRun: { readonly id: string; readonly state: string; readonly finishedAt: number | null } | null;
}

/** The portfolios of a data directory, the last used one first. */
export function portfolios(
  options: ProviderOptions = {},
  around = processEnvironment(),
): Promise<readonly PortfolioView[]> {
  return withLedger('read', options, around, async (ledger) => {
    const views: PortfolioView[] = [];
    for (const portfolio of await ledger.portfolios.all())
      if (isSelectedProvider(options, portfolio.providers))
        views.push(await viewOf(portfolio, ledger, around.clock.now()));
    return views;
  });
}

async function viewOf(portfolio: PortfolioRecord, ledger: Ledger, now: number): Promise<PortfolioView> {
  const { id, name, inputPath, seenAt, lastSuccessAt, providers } = portfolio;
  const last = await ledger.portfolios.lastRun(id);
  const outcomes = await ledger.portfolios.outcomes(id);
  const tally: DueTally = {
    due: {},
    beyond: 0,
    oldestAt: Number.POSITIVE_INFINITY,
    nextAt: Number.POSITIVE_INFINITY,
  };
  const before = await pipelinesBefore(portfolio, ledger);
  const rows = dueRows(id, last === undefined ? () => NOTHING : dueDecider(last, now, before), tally, ledger);
  const costs = await costOf(rows, last, tally, ledger, now);
  return {
    name,
    input: inputPath,
    seenAt,
    lastSuccessAt,
    providers,
    outcomes,
    members: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    lastRun: last === undefined ? null : { id: last.id, state: last.state, finishedAt: last.finishedAt },
    due: tally.due,
    costs,
    oldestFetchedAt: timeOf(tally.oldestAt),
    nextDueAt: timeOf(tally.nextAt),
  };
}

/** Counted while the companies are listed. */
interface DueTally {
  readonly due: Partial<Record<DueReason, number>>;
  /** Of these, the ones that are not examined one by one. */
  beyond: number;
  oldestAt: number;
  nextAt: number;
}

async function* dueRows(
  portfolioId: number,
  judge: (standing: MemberState) => DueDecision,
  tally: DueTally,
  ledger: Ledger,
): AsyncGenerator<PlannedRow> {
  let told = 0;
  for await (const batch of ledger.portfolios.standings(portfolioId)) {
    const examined: { readonly standing: MemberState; readonly due: Due }[] = [];
    for (const standing of batch) {
      for (const fetchedAt of Object.values(standing.fetched)) tally.oldestAt = Math.min(tally.oldestAt, fetchedAt);
      const judged = judge(standing);
      if (judged.due === null) {
        tally.nextAt = Math.min(tally.nextAt, judged.nextAt ?? tally.nextAt);
        continue;
      }
      const { due } = judged;
      tally.due[due.reason] = (tally.due[due.reason] ?? 0) + 1;
      if (told < MAX_EXAMINED_ROWS) examined.push({ standing, due });
      else tally.beyond += 1;
      told += 1;
    }
    const recordOf = await rowsToProcess(examined, ledger);
    for (const member of examined) {
      const record = recordOf(member);
      if (record === undefined) tally.beyond += 1;
      else yield { row: record.row, line: 0, fields: record.fields, problem: null, record: async () => record };
    }
  }
}

/** Counted as an attempt would: by the real stages, with stored answers. */
async function costOf(
  rows: AsyncIterable<PlannedRow>,
  last: RunRecord | undefined,
  tally: DueTally,
  ledger: Ledger,
  now: number,
): Promise<Amounts> {
  if (last === undefined) {
    for await (const _ of rows);
    return { units: 0, reports: 0 };
  }
  const { pipeline, providers } = readSettings(last);
  const [v1 = '', v2 = v1] = providers;
  const environments = await environmentsOf({ v1, v2 }, ledger);
  const { units, reports } = maximumCost(await planRun({ rows, pipeline, fresh: false, now, ledger, environments }));
  const further = maximumCostOfRows(tally.beyond, pipeline);
  return { units: units + further.units, reports: reports + further.reports };
}

const NOTHING: DueDecision = { due: null, nextAt: null };

const timeOf = (at: number): number | null => (Number.isFinite(at) ? at : null);
