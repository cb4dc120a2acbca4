// `status --check`: reports portfolios that need attention.

import { existsSync } from 'node:fs';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import type { GuardName } from '../../domain/outcomes.js';
import { aheadInWords } from '../../ledger/clock-ahead.js';
import type { Ledger, LedgerPlace } from '../../ledger/ledger.js';
import type { OutageNote } from '../../ledger/money/calls.js';
import type { Drift } from '../../ledger/money/usage.js';
import { hasLedger, mustLookSound } from '../../ledger/open-ledger.js';
import type { PortfolioRecord, RefusedAttempt } from '../../ledger/portfolio/portfolios.js';
import type { AttemptActivity } from '../../ledger/queries.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { checkDataDir, checkSpace } from '../admin/doctor-ledger.js';
import {
  type AppEnvironment,
  ledgerOf,
  pathIn,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { type ProviderOptions, providerNames } from '../provider/provider.js';
import { withReviewSheets } from '../review/questions.js';
import { diskNeedOfUpdate, shortage } from '../run/disk-estimate.js';
import { checkOlderCopy, findLostLedger, type GuardFinding } from '../run/guards.js';
import { type ContinueStep, continuesRows } from '../run/next-step.js';
import { type AttemptOptions, isOnSandbox, offeredOptions, stateOfRun } from '../run/progress.js';
import { nextSteps, readEnding, type StopView } from '../run/run-end.js';
import { type PriceAboveLimit, restIfBarred } from '../run/spending.js';
import { jobOf, rereadStep } from '../run/stored-settings.js';
import { currentPortfolios, type OpenCharges, openCharges, recentDrift, unknownCharges } from './figures.js';

export interface CheckOptions extends ProviderOptions {
  readonly maxAgeMs: number;
  /** The portfolio to check. Default: all. */
  readonly portfolio?: string | undefined;
  /** Units that the provider may count beyond ours before it is reported. Default: none. */
  readonly maxDrift?: number | undefined;
  /** Rows that somebody else looks after: they are no trouble. */
  readonly ignore?: readonly IgnoredTrouble[] | undefined;
}

export type IgnoredTrouble = 'needs_review' | 'invalid' | 'failed';

export interface CheckView {
  readonly at: number;
  /** No success is too old and nothing needs a person. */
  readonly well: boolean;
  readonly lists: readonly CheckedPortfolio[];
  /** Troubles outside the lists: a missing or damaged ledger, an unknown list, unknown charges, dates in the future. */
  readonly troubles: readonly Trouble[];
}

export interface CheckedPortfolio {
  readonly name: string;
  readonly lastSuccessAt: number | null;
  readonly troubles: readonly Trouble[];
  /** Rows that the next run continues with. */
  readonly toDo: number;
  /** Companies that left the file when it was last read. That may be wanted. */
  readonly left: number;
  /** The next step if something is wrong. Null: waiting is enough. */
  readonly next: ContinueStep | null;
  /** The step after `doctor`, when nothing has to be corrected any more. Otherwise null. */
  readonly afterDoctor: ContinueStep | null;
  readonly sandbox: boolean;
  /** The limits of its last attempt, which the next one is offered again. */
  readonly given: AttemptOptions;
}

export type Trouble =
  /** `no_list`: no portfolio of that name. `no_lists`: no portfolio at all. */
  | { readonly kind: 'no_list' | 'no_lists' | 'never' | 'too_old' }
  /** Its last run finished, but its tables are not written. */
  | { readonly kind: 'tables'; readonly finishedAt: number | null }
  | (RefusedAttempt & { readonly kind: 'refused' })
  /** `count`: rows to do. */
  | { readonly kind: 'stopped'; readonly stop: StopView; readonly count: number }
  | { readonly kind: 'interrupted' | 'died'; readonly count: number }
  /** Rows that only wait: for the allowance, for the limit of the next attempt, for a lost answer. `continues`: the next run moves them. */
  | (Waiting & { readonly until: number | null; readonly continues: boolean })
  /** Rows whose next call cost more last time than the limit of the last attempt. A higher limit is for a person. */
  | { readonly kind: 'unit_price'; readonly count: number; readonly price: PriceAboveLimit }
  | { readonly kind: 'outage'; readonly outage: OutageNote }
  | { readonly kind: 'invalid' | 'failed' | 'needs_review' | 'scope' | 'ask_provider'; readonly count: number }
  | (OpenCharges & { readonly kind: 'in_doubt' })
  /** `count`: units that the provider counts and the ledger does not. */
  | (Drift & { readonly kind: 'drift'; readonly count: number })
  | { readonly kind: 'clock'; readonly message: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly hint: string | undefined };

interface Waiting {
  readonly kind: 'allowance' | 'budget' | 'unanswered' | 'waiting';
  readonly count: number;
}

/** Checks the portfolios. A fault of the ledger is a result too, not an error. */
export async function checkPortfolios(options: CheckOptions, environment = processEnvironment()): Promise<CheckView> {
  const at = environment.clock.now();
  try {
    const place = ledgerOf(options, environment);
    if (!(await hasLedger(place))) return viewOf(at, [], await troublesWithoutLedger(place, options, environment));
    await mustLookSound(place);
    const { lists, troubles } = await withLedger('read', options, environment, (_, workplace) =>
      look(options, workplace),
    );
    return viewOf(at, lists, [...troubles, ...placeTroubles(place, environment)]);
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    const { code, message, hint } = error;
    return viewOf(at, [], [{ kind: 'error', code, message, hint }]);
  }
}

/** No attempt can work in a place that is read-only or full, nor record its end there. */
function placeTroubles(place: LedgerPlace, environment: AppEnvironment): readonly Trouble[] {
  // With a ledger on a server, a monitor may run where no attempt ever does.
  if (place.ledgerUrl !== undefined && !existsSync(place.dataDir)) return [];
  const findings = [checkDataDir(place), ...checkSpace(place.dataDir, environment)];
  return findings.flatMap(({ code, detail }) =>
    code === undefined ? [] : [{ kind: 'error', code, message: detail, hint: undefined }],
  );
}

async function look(options: CheckOptions, workplace: Workplace): Promise<CheckView> {
  const { ledger } = workplace;
  const { portfolio, sandbox } = options;
  const at = workplace.clock.now();
  // A list without a name has the path of its file.
  const names = portfolio === undefined ? undefined : [portfolio.trim(), pathIn(workplace, portfolio)];
  const known = (await currentPortfolios(ledger, { sandbox })).filter(({ name }) => names?.includes(name) ?? true);
  if (known.length === 0) return viewOf(at, [], [noneOf(options)]);
  const unknown = await unknownCharges(ledger, at);
  const lists: CheckedPortfolio[] = [];
  for (const list of known) lists.push(await lookAtList(list, options, workplace));
  const ofKnown = (await ledger.runs.all()).filter(({ portfolioId }) => known.some(({ id }) => id === portfolioId));
  const runs = new Set(ofKnown.map(({ id }) => id));
  const isEveryList = names === undefined && sandbox !== true;
  const ofLists = unknown.filter(({ runId }) => isEveryList || (runId !== null && runs.has(runId)));
  const open = openCharges(ofLists);
  return viewOf(at, lists, [
    ...(open.count + open.paidInVain === 0 ? [] : [{ kind: 'in_doubt' as const, ...open }]),
    ...(await recentDrift(known, ledger, at)).flatMap((drift): readonly Trouble[] =>
      drift.units > (options.maxDrift ?? 0) ? [{ kind: 'drift', count: drift.units, ...drift }] : [],
    ),
    ...(await clockTroubles(ledger, at)),
    ...(await newLedgerTroubles(known, workplace)),
    ...(await diskTroubles(known, workplace)),
  ]);
}

async function clockTroubles({ reading }: Ledger, at: number): Promise<readonly Trouble[]> {
  const ahead = await reading.clockAhead();
  return ahead === undefined ? [] : [{ kind: 'clock', message: aheadInWords(ahead, at) }];
}

/** Logs and exports without a ledger are no first day: it was deleted, or the wrong place is configured. */
async function troublesWithoutLedger(
  place: LedgerPlace,
  options: CheckOptions,
  environment: AppEnvironment,
): Promise<readonly Trouble[]> {
  const found = await findLostLedger(place, providerNames(options, environment), environment);
  const troubles = [...found.map(guardTrouble), ...placeTroubles(place, environment)];
  // The first attempt may have been refused for the place.
  return troubles.length > 0 ? troubles : [noneOf(options)];
}

const guardTrouble = ({ guard, message, hint }: GuardFinding) => ({
  kind: 'error' as const,
  code: guard.toUpperCase(),
  message,
  hint,
});

/** An older copy of the ledger was restored, so the next run without a terminal is refused. */
async function newLedgerTroubles(lists: readonly PortfolioRecord[], workplace: Workplace): Promise<readonly Trouble[]> {
  const troubles = (await checkOlderCopy(lists, workplace)).map(guardTrouble);
  // The refusal of the last attempt has already reported it.
  return troubles.filter(({ code }) => !lists.some(({ refused }) => refused?.code === code));
}

/** Room for fewer than three nights. On a full disk that is the trouble, not the nights to come. */
async function diskTroubles(lists: readonly PortfolioRecord[], workplace: Workplace): Promise<readonly Trouble[]> {
  if (checkSpace(workplace.dataDir, workplace).some(({ code }) => code !== undefined)) return [];
  const short = shortage(await diskNeedOfUpdate(lists, workplace));
  return short === null ? [] : [{ kind: 'error', ...short, hint: undefined }];
}

const noneOf = ({ portfolio }: CheckOptions): Trouble => ({ kind: portfolio === undefined ? 'no_lists' : 'no_list' });

const viewOf = (at: number, lists: readonly CheckedPortfolio[], troubles: readonly Trouble[]): CheckView => ({
  at,
  well: troubles.length === 0 && lists.every((list) => list.troubles.length === 0),
  lists,
  troubles,
});

async function lookAtList(
  list: PortfolioRecord,
  { maxAgeMs, ignore = [] }: CheckOptions,
  workplace: Workplace,
): Promise<CheckedPortfolio> {
  const { ledger } = workplace;
  const at = workplace.clock.now();
  const { name, lastSuccessAt } = list;
  const run = await ledger.portfolios.lastRun(list.id);
  const age = ageOf(lastSuccessAt, maxAgeMs, at);
  const refusal = refusalOf(list);
  // Its runs were pruned. The answers of its companies are unchanged.
  if (run === undefined)
    return {
      name,
      lastSuccessAt,
      troubles: [...age, ...refusal],
      toDo: 0,
      left: 0,
      next: null,
      afterDoctor: null,
      sandbox: false,
      given: {},
    };
  const {
    progress,
    whole,
    toDo: open,
    attempt: work,
    isAtWork: atWork,
    lacksTables,
  } = await stateOfRun(run, ledger, at);
  // A first run that is still young has not had the time to finish.
  const isFirst = atWork && lastSuccessAt === null && at - run.createdAt <= maxAgeMs;
  const tables: readonly Trouble[] = lacksTables ? [{ kind: 'tables', finishedAt: run.finishedAt }] : [];
  // The first trouble is the one that the command is for.
  const ofAttempts = lacksTables ? [...refusal, ...tables] : [...(isFirst ? [] : age), ...refusal];
  const count = (
    kind: 'invalid' | 'failed' | 'needs_review' | 'scope' | 'ask_provider',
    number: number,
  ): readonly Trouble[] => (number === 0 || ignore.some((other) => other === kind) ? [] : [{ kind, count: number }]);
  const ofWork = [
    ...(work === undefined ? [] : troublesOfWork(work, atWork, run, open, progress)),
    ...count('scope', atWork ? 0 : (progress.parkedReasons.scope ?? 0)),
  ];
  const isStopped = ofWork.some(({ kind }) => kind !== 'scope');
  const waits = atWork || isStopped || run.state !== 'open' ? [] : waitsOf(progress);
  const until = waits.length === 0 ? null : (await ledger.reading.activity(run.id, at)).parkedUntil;
  const ranLately = work?.endedAt != null && Math.abs(at - work.endedAt) <= maxAgeMs;
  // Before the allowance is renewed, another attempt would end at once.
  const onlyWaits =
    ofWork.length === 0 &&
    waits.some(({ kind }) => kind === 'allowance') &&
    list.refused === null &&
    (ranLately || (until ?? 0) > at);
  const given = await offeredOptions(run, ledger);
  const barred = atWork ? null : await restIfBarred(run, progress, given, workplace);
  const limitsBar = barred !== null;
  const price = barred?.priceAboveLimit ?? null;
  const dear: readonly Trouble[] =
    price === null ? [] : [{ kind: 'unit_price', price, count: progress.parkedReasons.budget ?? 0 }];
  const continues = list.refused === null && !limitsBar;
  const troubles = [
    ...ofAttempts,
    // Waiting rows are no trouble by themselves: they explain why a list is not well.
    ...(ofAttempts.length + ofWork.length === 0
      ? []
      : waits
          .filter(({ kind }) => kind !== 'budget' || dear.length === 0)
          .map((waiting) => ({ ...waiting, until, continues }))),
    ...dear,
    ...ofWork,
    ...count('ask_provider', atWork ? 0 : (progress.parkedReasons.ask_provider ?? 0)),
    ...count('failed', whole.outcomes.failed),
    ...count('needs_review', whole.outcomes.needs_review),
    ...count('invalid', whole.outcomes.invalid),
  ];
  // A running process admits no second one.
  const steps =
    troubles.length === 0 || atWork
      ? []
      : lacksTables
        ? [rereadStep(run)]
        : await nextSteps(run, progress, whole, ledger);
  const isBarred = onlyWaits || limitsBar;
  const mayHelp = steps.filter((step) => !continuesRows(step) || !isBarred);
  const [first] = ofWork.length + ofAttempts.length > 0 ? mayHelp : peopleFirst(mayHelp);
  const again = ofAttempts.length > 0 && !atWork && (!isBarred || list.refused !== null) ? rereadStep(run) : null;
  const stop = ofWork.find((trouble) => trouble.kind === 'stopped')?.stop ?? null;
  // A refused file or key stops the whole list, so it comes first.
  const afterRefusal = atWork ? null : stepAfterRefusal(list.refused ?? stop, run);
  // An overdue list whose run is finished needs its next run, although review questions may be open.
  const isOverdue = age.length > 0 && lastSuccessAt !== null && run.state === 'finished' && again !== null;
  const wanted = first === undefined || list.refused !== null || isOverdue ? [] : [first];
  const [onward = again] = await withReviewSheets(wanted, ledger, workplace);
  const next = afterRefusal ?? onward;
  const afterDoctor = afterRefusal?.kind === 'doctor' ? onward : null;
  const sandbox = await isOnSandbox(run.id, ledger.runs);
  const toDo = atWork ? 0 : open;
  const left = await ledger.portfolios.departed(list.id);
  return { name, lastSuccessAt, troubles, toDo, left, next, afterDoctor, sandbox, given };
}

/** The free command that shows what has to be corrected. Null: the same command again, when that is corrected. */
export function stepAfterRefusal(
  refused: Pick<RefusedAttempt, 'code' | 'exit'> | null,
  run: RunRecord,
): ContinueStep | null {
  if (refused === null || CORRECT_FIRST.has(refused.code)) return null;
  if (refused.exit === ExitCode.credentials || REFUSED_AGAIN.has(refused.code)) return { kind: 'doctor' };
  return refused.exit === ExitCode.usage ? { kind: 'plan', ...jobOf(run) } : null;
}

/** `plan` would be refused, too, or it would not show the mistyped name. */
const CORRECT_FIRST: ReadonlySet<string> = new Set([
  ...['FILE_UNREADABLE', 'FILE_EMPTY', 'EMPTY_INPUT', 'FILE_CHANGED'],
  'PIPELINE_NOT_FOUND',
]);

/** Guards and configuration that refuse the same command again, until something is corrected. */
const REFUSED_AGAIN: ReadonlySet<string> = new Set([
  ...(['new_provider', 'clock'] satisfies GuardName[]).map((name) => name.toUpperCase()),
  ...['API_NOT_CONFIGURED', 'FALLBACK_NOT_CONFIGURED', 'BASE_URL_MISSING', 'BASE_URL_INVALID', 'BASE_URL_NOT_HTTPS'],
  ...['KEY_MISSING', 'KEY_INVALID', 'ROUTE_MISSING', 'PROXY_INVALID', 'VARIABLE_TWICE'],
]);

/** Rows that were not begun wait for the same reason as those that were. */
function waitsOf({ byOutcome, waiting, parked, parkedReasons }: Progress): readonly Waiting[] {
  const found = (['allowance', 'budget', 'unanswered'] as const).map((kind) => ({
    kind,
    count: parkedReasons[kind] ?? 0,
  }));
  const [first, ...others] = [...found, { kind: 'waiting' as const, count: waiting }].filter(({ count }) => count > 0);
  if (first === undefined) return [];
  const notBegun = first.kind === 'allowance' || first.kind === 'budget' ? byOutcome.pending - parked - waiting : 0;
  return [{ ...first, count: first.count + notBegun }, ...others];
}

/** Rows that only wait for the next run come last, so that an open review question is suggested first. */
const peopleFirst = (steps: readonly ContinueStep[]): readonly ContinueStep[] => [
  ...steps.filter((step) => !continuesRows(step)),
  ...steps.filter(continuesRows),
];

/** The cause may be gone by now: the same command again shows it. */
const refusalOf = ({ refused }: PortfolioRecord): readonly Trouble[] =>
  refused === null ? [] : [{ kind: 'refused', ...refused }];

/** A time in the future comes from a clock that was ahead, and proves nothing. */
function ageOf(lastSuccessAt: number | null, maxAgeMs: number, at: number): readonly Trouble[] {
  if (lastSuccessAt === null) return [{ kind: 'never' }];
  return Math.abs(at - lastSuccessAt) > maxAgeMs ? [{ kind: 'too_old' }] : [];
}

/** The troubles of the last attempt, if its run is not finished. A spent allowance is none: the next run continues. */
function troublesOfWork(
  { outages, ending, endedAt }: AttemptActivity,
  atWork: boolean,
  run: RunRecord,
  toDo: number,
  { parkedReasons }: Progress,
): readonly Trouble[] {
  if (run.state !== 'open') return [];
  const [outage] = outages.filter(({ row }) => row === undefined);
  if (atWork) return outage === undefined ? [] : [{ kind: 'outage', outage }];
  const ended = readEnding(ending);
  if (ended === null) return endedAt === null ? [{ kind: 'died', count: toDo }] : [];
  const { stopped, interrupted, finished } = ended;
  if (stopped !== null)
    return stopped.exit === ExitCode.allowance ? [] : [{ kind: 'stopped', stop: stopped, count: toDo }];
  const isSpent = (parkedReasons.allowance ?? 0) > 0;
  return interrupted && !finished && !isSpent ? [{ kind: 'interrupted', count: toDo }] : [];
}
