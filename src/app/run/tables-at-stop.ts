// Decides at the end of an attempt whether tables are written, and writes them.

import { PROVIDER_UNAVAILABLE } from '../../calls/outage.js';
import type { Pipeline } from '../../config/pipeline.js';
import { KybatchError } from '../../domain/errors.js';
import type { Prices } from '../../domain/prices.js';
import type { RunEnd } from '../../engine/run.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import type { Workplace } from '../environment.js';
import { type ExportView, type TableOptions, writeTables } from './export.js';
import { withKeptFormats } from './progress.js';
import { newestTables } from './run-end.js';
import type { SpendingOptions } from './spending.js';

interface StoppedAttempt {
  readonly run: RunRecord;
  readonly pipeline: Pick<Pipeline, 'tables'>;
  readonly prices: Prices | null;
  readonly options: SpendingOptions;
}

interface AttemptTables {
  readonly tables: ExportView | null;
  readonly tablesBefore: string | null;
  /** They cannot be written, such as to a full disk. What the attempt spent is reported all the same. */
  readonly failed?: KybatchError;
}

/** Written at every stop, whatever the reason. A second interrupt also cancels the writing. */
export async function tablesAtEnd(
  attempt: StoppedAttempt,
  end: RunEnd,
  broughtAnything: boolean,
  listener: NonNullable<SpendingOptions['listen']>,
  workplace: Workplace,
): Promise<AttemptTables> {
  const { run, options } = attempt;
  const none = { tables: null, tablesBefore: null };
  const isAborted = () => options.abort?.aborted === true;
  if (isAborted() || !mustBeWritten(attempt, end)) return none;
  const current = broughtAnything || isAskedFor(options) ? undefined : await currentTables(run, workplace);
  if (current !== undefined) return { tables: null, tablesBefore: current };
  listener({ kind: 'writing_tables' });
  try {
    const writing = { ...options, signal: options.abort };
    return { ...none, tables: await writeTables(run.id, writing, workplace, attempt.prices) };
  } catch (error) {
    if (isAborted()) return none;
    if (!(error instanceof KybatchError)) throw error;
    return { ...none, failed: error };
  }
}

const mustBeWritten = ({ options, pipeline }: StoppedAttempt, end: RunEnd): boolean =>
  options.export ?? (pipeline.tables === 'at_every_stop' || end.finished || (isAllDone(end) && !end.interrupted));

/** Tables hold the whole list. An attempt without news does not write a million rows again. */
async function currentTables(run: RunRecord, { dataDir, ledger, clock }: Workplace): Promise<string | undefined> {
  const { reading, portfolios } = ledger;
  const written = newestTables(run.id, dataDir);
  const at = written === undefined ? Number.NaN : Date.parse(written.at);
  if (!(at <= clock.now())) return undefined;
  const { settledSince, lastAnswerAt } = await reading.activity(run.id, at);
  if (settledSince > 0 || (lastAnswerAt ?? 0) >= at) return undefined;
  const isBehind = run.portfolioId !== null && (await portfolios.boughtElsewhere(run.portfolioId, at));
  return isBehind ? undefined : written?.folder;
}

/**
 * Companies whose answers always fail must not keep the tables of all others from being written, night after night.
 * This also holds if such failures look like an outage that began when all others were done.
 */
function isAllDone({ finished, stopped, allTried, progress }: RunEnd): boolean {
  const { in_doubt = 0, unanswered = 0, ask_provider = 0 } = progress.parkedReasons;
  if (stopped !== undefined) return stopped.code === PROVIDER_UNAVAILABLE && allTried;
  return finished || progress.byOutcome.pending === in_doubt + unanswered + ask_provider;
}

export async function tablesWhere(
  isOther: () => Promise<boolean>,
  run: RunRecord,
  options: SpendingOptions,
  workplace: Workplace,
): Promise<ExportView | null> {
  const wanted = isAskedFor(options) || (options.export !== false && (await isOther()));
  if (!wanted) return null;
  return await writeTables(run.id, await withKeptFormats(options, run.id, workplace.ledger), workplace);
}

/** True if answers came after the last success: from a killed attempt, another list or a manual call. */
export async function areTablesOutdated(
  { id, lastSuccessAt }: PortfolioRecord,
  { finishedAt }: RunRecord,
  { portfolios }: Ledger,
): Promise<boolean> {
  if (lastSuccessAt === null || (finishedAt !== null && finishedAt > lastSuccessAt)) return true;
  return await portfolios.boughtElsewhere(id, lastSuccessAt);
}

/** If the options name a place or a format, the tables are always written. */
const isAskedFor = ({
  out,
  formats,
  includeContacts,
  export: asked,
}: TableOptions & { readonly export?: boolean | undefined }): boolean =>
  out !== undefined || formats !== undefined || includeContacts !== undefined || asked === true;
