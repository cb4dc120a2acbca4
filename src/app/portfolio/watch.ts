// Keeps the provider's watch in step with the portfolios, and reads its changes.

import { hash } from 'node:crypto';
import { v2Operations } from '../../api/v2/operations.js';
import { loadPipeline, type Pipeline, usesWatch } from '../../config/pipeline.js';
import { type KybatchError, LedgerError, UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { WatchEvent, WatchRecord, WatchSelection } from '../../ledger/portfolio/watches.js';
import { Inbox, notificationEvent } from '../../portfolio/watch/inbox.js';
import { type Pulled, pullWatches, type Synced, syncWatches, type WatchHalt } from '../../portfolio/watch/sync.js';
import { message } from '../../util/message-parts.js';
import { processEnvironment, type Workplace, withLedger } from '../environment.js';
import { ParkedError, type StopSignals, withWatchCalls } from '../provider/direct-calls.js';
import {
  checkOperations,
  isSelectedProvider,
  type Provider,
  type ProviderOptions,
  providerNames,
  withLedgerAndProvider,
  withProvider,
} from '../provider/provider.js';
import { hasConsent, type SpendingOptions } from '../run/spending.js';
import { readSettings } from '../run/stored-settings.js';
import { findPortfolios } from './open-list.js';

export interface WatchSyncOptions extends ProviderOptions, StopSignals {
  /** The name of a portfolio or the path of its file. Default: all portfolios. */
  readonly portfolio?: string | undefined;
  /** The pipeline whose `watch.fields` are watched. Default: that of the last run. */
  readonly pipeline?: string | undefined;
  readonly limit?: number | undefined;
}

export interface WatchSyncView extends Omit<Synced, 'halt'>, WatchEnd {
  readonly portfolios: readonly string[];
  /** Null: the account's default fields. */
  readonly fields: readonly string[] | null;
  readonly members: number;
  /** Companies without a confirmed v2 match, which cannot be watched. */
  readonly without: number;
  /** Companies that the provider now watches for this ledger. */
  readonly watched: number;
}

/** Registers the confirmed companies with the provider's watch, and removes those that have left every list. */
export async function watchSync(
  options: WatchSyncOptions = {},
  environment = processEnvironment(),
): Promise<WatchSyncView> {
  const { watchAdd, watchRemove, watchList } = v2Operations;
  checkOperations([watchAdd, watchRemove, watchList], options, environment);
  const given = options.pipeline === undefined ? undefined : loadPipeline(options.pipeline, environment.cwd);
  const names = providerNames(options, environment);
  return await withLedger('existing', options, environment, async (ledger, workplace) => {
    const portfolios = await findPortfolios(options.portfolio, names, workplace);
    if (portfolios.length === 0)
      throw new UsageError(
        'NO_PORTFOLIO_YET',
        'there is no portfolio of this provider yet',
        '`kybatch run FILE` creates one.',
      );
    const fields = given === undefined ? await fieldsOf(portfolios, ledger) : given.watch.fields;
    const wish = { portfolioIds: portfolios.map(({ id }) => id), fields };
    const sync = (provider: Provider) =>
      withWatchCalls(provider, options, workplace, (asking) => syncWatches(asking, wish, options.limit ?? null));
    const { halt, ...synced } = await withProvider(options, environment, sync, { keepSandbox: true });
    const { listed, without } = await ledger.watches.members(wish.portfolioIds);
    const watched = await ledger.watches.watched(await ledger.calls.environment('v2', names.v2));
    const whose = { portfolios: portfolios.map(({ name }) => name), fields, members: listed, without, watched };
    return { ...whose, ...synced, ...endOfWatch(halt) };
  });
}

/** The fields of the last pipelines of all these portfolios. Null if none names any. */
async function fieldsOf(portfolios: readonly PortfolioRecord[], ledger: Ledger): Promise<readonly string[] | null> {
  const named = new Set<string>();
  for (const { id } of portfolios) {
    const run = await ledger.portfolios.lastRun(id);
    for (const field of run === undefined ? [] : (readSettings(run).pipeline.watch.fields ?? [])) named.add(field);
  }
  return named.size === 0 ? null : [...named];
}

export interface WatchPullOptions extends ProviderOptions, StopSignals {
  /** The name of a portfolio or the path of its file. Default: all watched companies. */
  readonly portfolio?: string | undefined;
  /** Only companies named by callbacks. */
  readonly hinted?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface WatchPullView extends Omit<Pulled, 'halt'>, WatchEnd {
  /** Companies named by callbacks but not watched. */
  readonly unknownHints: number;
}

/** Reads the watch's changes since the last time. The affected companies become due. */
export async function watchPull(
  options: WatchPullOptions = {},
  environment = processEnvironment(),
): Promise<WatchPullView> {
  checkOperations([v2Operations.watchHistory], options, environment);
  const names = providerNames(options, environment);
  return await withLedgerAndProvider('existing', options, environment, async (provider, workplace) => {
    const portfolios = await findPortfolios(options.portfolio, names, workplace);
    const portfolioIds = options.portfolio === undefined ? null : portfolios.map(({ id }) => id);
    const hinted = options.hinted === true;
    const which = { portfolioIds, hinted, notSince: environment.clock.now(), limit: options.limit };
    return await pullFrom(provider, which, options, workplace);
  });
}

/** The same with provider and ledger already open. */
async function pullFrom(
  provider: Provider,
  which: WatchSelection & { readonly limit?: number | undefined },
  stoppable: StopSignals,
  workplace: Workplace,
): Promise<WatchPullView> {
  const { watches, calls } = workplace.ledger;
  const environmentId = await calls.environment('v2', provider.names.v2);
  const unknownHints = await takeHints(environmentId, workplace);
  const companies = await watches.toRead(environmentId, which);
  const asked = companies.slice(0, which.limit ?? companies.length);
  const { halt, left, ...pulled } =
    asked.length === 0
      ? { ...NOTHING, due: await watches.markChanged() }
      : await withWatchCalls(provider, stoppable, workplace, (asking) => pullWatches(asking, asked));
  return { ...pulled, left: left + companies.length - asked.length, unknownHints, ...endOfWatch(halt) };
}

const NOTHING: Omit<Pulled, 'due'> = {
  read: 0,
  events: 0,
  left: 0,
  leftFailing: 0,
  cutShort: 0,
  troubles: [],
  halt: null,
};

/** Records the callbacks before the histories are read. Returns how many of their companies are not watched. */
async function takeHints(environmentId: number, { ledger, dataDir, clock }: Workplace): Promise<number> {
  const { watches } = ledger;
  const inbox = new Inbox(dataDir);
  const named = inbox.waiting();
  if (named.length === 0) return 0;
  const now = clock.now();
  const noted = await watches.hint(named, now);
  const watched = await watches.toRead(environmentId, { portfolioIds: null, hinted: true, notSince: 0 });
  const isWatched = new Set(watched.map(({ companyId }) => companyId));
  const read = new Map(named.map((companyId) => [companyId, inbox.told(companyId)]));
  for (const [companyId, told] of read) {
    if (!isWatched.has(companyId)) continue;
    for (const line of told.split('\n')) {
      const [event] = notificationEvent(line);
      if (event === undefined) continue;
      await watches.hear({ environmentId, companyId, events: [event], heardAt: now, rawSha256: hash('sha256', line) });
    }
  }
  // Callbacks that came meanwhile stay for the next time.
  inbox.remove(named.filter((companyId) => inbox.told(companyId) === read.get(companyId)));
  return Math.max(0, named.length - noted);
}

/** Reads the watch before the due rows are chosen. A failure is noted, and the attempt continues. Null: not asked. */
export async function pullBeforeRun(
  pipeline: Pipeline,
  portfolio: PortfolioRecord | undefined,
  options: SpendingOptions,
  workplace: Workplace,
): Promise<PulledChanges | null> {
  const { clock, onNote } = workplace;
  if (!usesWatch(pipeline) || portfolio === undefined) return null;
  const tell = (why: string) => onNote?.(message('WATCH_NOT_ASKED', `kybatch did not read the watch: ${why}`));
  if (!hasConsent(options, pipeline)) {
    // The price of this is not published, and the user has not agreed to anything yet.
    tell('that may cost something. To read it, add --yes, or: `kybatch watch pull`');
    return null;
  }
  const since = clock.now();
  let companies = 0;
  const which = { portfolioIds: [portfolio.id], hinted: false, notSince: since - pipeline.watch.everyMs };
  try {
    const pull = (provider: Provider) => pullFrom(provider, which, options, workplace);
    const view = await withProvider(options, workplace, pull, { deadlineMs: pipeline.deadlineMs, keepSandbox: true });
    companies = view.read + view.troubles.length;
    const why = pullProblems(view);
    if (why !== undefined) onNote?.(message('WATCH_READ_IN_PART', `kybatch read only a part of the watch: ${why}`));
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    tell(error instanceof Error ? error.message : String(error));
  }
  return { since, companies };
}

/** Since when changes may have been read, and for how many companies. */
export interface PulledChanges {
  readonly since: number;
  readonly companies: number;
}

/** An interrupt is reported by the attempt itself. */
function pullProblems({ stopped, troubles, left, leftFailing, cutShort }: WatchPullView): string | undefined {
  const [first] = troubles;
  const said = [
    stopped === null ? '' : `${stopped.message}; ${notAsked(left, leftFailing)}`,
    first === undefined
      ? ''
      : `the ${historiesOf(troubles.length)} (${inShort(troubles.map(({ companyId }) => companyId))}) failed, and the next attempt asks again: ${first.message}`,
    cutShort === 0
      ? ''
      : `the ${historiesOf(cutShort)} ${cutShort === 1 ? 'has' : 'have'} more pages than kybatch reads`,
  ].filter((part) => part !== '');
  return said.length === 0 ? undefined : said.join('; ');
}

/** `leftFailing`: how many of them failed before. If all did, every other company was asked about. */
const notAsked = (left: number, leftFailing: number): string =>
  left > 0 && left === leftFailing
    ? `the ${historiesOf(left)} that failed before ${left === 1 ? 'was' : 'were'} not asked for`
    : `${companies(left)} ${left === 1 ? 'was' : 'were'} not asked about`;

const historiesOf = (number: number): string => `${number === 1 ? 'history' : 'histories'} of ${companies(number)}`;
const companies = (number: number): string => `${number} ${number === 1 ? 'company' : 'companies'}`;

/** Only a few are named. `kybatch watch pull --json` names all. */
const inShort = (ids: readonly string[]): string =>
  ids.length > NAMED_AT_MOST ? `${ids.slice(0, NAMED_AT_MOST).join(', ')} …` : ids.join(', ');

const NAMED_AT_MOST = 5;

export interface WatchEnd {
  /** The cause of an early end: an allowance, a refused key, an outage. */
  readonly stopped: KybatchError | null;
  readonly interrupted: boolean;
}

function endOfWatch(halt: WatchHalt | null): WatchEnd {
  if (halt === null) return { stopped: null, interrupted: false };
  if (halt.kind === 'stopped') return { stopped: halt.error, interrupted: false };
  const interrupted = halt.reason === 'draining';
  return { stopped: interrupted ? null : new ParkedError(halt), interrupted };
}

export interface WatchListOptions extends ProviderOptions {
  readonly eventsAtMost?: number | undefined;
}

export interface WatchListView {
  readonly watches: readonly WatchRecord[];
  /** The newest first. */
  readonly events: readonly WatchEvent[];
  /** Companies named by callbacks since the last pull. */
  readonly waiting: number;
}

export function watchListed(
  options: WatchListOptions = {},
  environment = processEnvironment(),
): Promise<WatchListView> {
  return withLedger('read', options, environment, async ({ watches }, { dataDir }) => ({
    watches: (await watches.list()).filter(({ environment }) => isSelectedProvider(options, environment)),
    events: await watches.lastEvents(options.eventsAtMost ?? 20, (environment) =>
      isSelectedProvider(options, environment),
    ),
    waiting: new Inbox(dataDir).waiting().length,
  }));
}
