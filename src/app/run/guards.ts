// Guards that refuse an attempt before anything is spent, and the evidence they look for. The guard `clock` is in
// preflight.ts, `new_provider` of a list in run.ts.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadedPipeline, loadPipeline } from '../../config/pipeline.js';
import { pipelineNames } from '../../config/user-files.js';
import { FileError, UsageError } from '../../domain/errors.js';
import { GUARDS, type GuardName } from '../../domain/outcomes.js';
import { readMarker } from '../../export/export-folders.js';
import type { Ledger, LedgerPlace } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { KnownRun } from '../../ledger/queries.js';
import { firstBytes, freeBytes, namesIn, SPACE } from '../../util/files.js';
import { bytesInWords, didYouMean, type Message, message, sentence } from '../../util/message-parts.js';
import { labelsInText } from '../../util/prometheus.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { count, moment, withCommas } from '../../util/words.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, pathIn, type Workplace } from '../environment.js';
import { type ListOptions, type OpenList, portfolioName } from '../portfolio/open-list.js';
import { isSandboxName, type ProviderNames, urlVariable } from '../provider/provider.js';
import type { TableOptions } from './export.js';
import { GuardRefusal } from './next-step.js';

export interface GuardFinding {
  readonly guard: GuardName;
  /** The finding, as a sentence without a full stop. */
  readonly message: string;
  /** The remedy, other than accepting it. */
  readonly hint: string;
}

export interface GuardOptions {
  /** Guards to skip in this attempt. */
  readonly accept?: readonly string[] | undefined;
}

type Asking = GuardOptions & { readonly yes?: boolean | undefined; readonly agree?: unknown };

const isGuard = (name: string): name is GuardName => Object.hasOwn(GUARDS, name);

/** Refuses an unknown guard name, because a mistyped name would leave the attempt unprotected. */
export function mustNameGuards({ accept = [] }: GuardOptions): void {
  const names = Object.keys(GUARDS);
  for (const name of accept)
    if (!isGuard(name))
      throw new UsageError(
        'GUARD_NOT_FOUND',
        `--accept ${JSON.stringify(name)}: unknown guard`,
        `${didYouMean(name, names)} Guards: ${names.join(', ')}.`.trim(),
      );
}

const isAccepted = (guard: GuardName, { accept = [] }: GuardOptions): boolean => accept.includes(guard);

/** Throws the first finding that is neither accepted nor can be asked about. Returns the findings to ask about. */
export function refuseOrAsk(
  findings: readonly GuardFinding[],
  options: Asking,
  environment: Noting,
): readonly GuardFinding[] {
  for (const { guard, message } of findings) if (isAccepted(guard, options)) noteAccepted(guard, message, environment);
  const open = findings.filter(({ guard }) => !isAccepted(guard, options));
  const isAsked = options.agree !== undefined && options.yes !== true;
  const refusing = open.find(({ guard }) => !(GUARDS[guard].asks && isAsked));
  if (refusing === undefined) return open;
  const { guard, message, hint } = refusing;
  throw new GuardRefusal(message, guard, hint);
}

type Noting = Pick<AppEnvironment, 'onNote'>;

/** Confirms that `--accept` let the attempt pass. */
const noteAccepted = (guard: GuardName, found: string, { onNote }: Noting): void =>
  onNote?.(message('GUARD_ACCEPTED', `accepted (--accept ${guard}): ${sentence(found)}`));

/** The newest are enough: anything older than the ledger's own runs proves nothing. */
const LOOKED_AT = 50;
const LOG_BYTES = 65_536;

/** Where evidence is looked for. The metrics file may be outside of a data folder that is gone. */
interface EvidencePlaces {
  readonly dataDir: string;
  readonly out?: string | undefined;
  readonly metrics?: { readonly path: string; readonly portfolio?: string } | undefined;
}

/**
 * Guard `new_ledger`: a log or an export shows work with this provider that the ledger does not know. It is a run newer
 * than all its runs, or work on a known run after its last known attempt. Pruned and dropped runs are known by their
 * calls. A ledger without any attempt is also refused if the metrics file shows answers of the list. `ledger`: null if
 * there is none yet.
 */
export async function checkNewLedger(
  { dataDir, out, metrics }: EvidencePlaces,
  names: ProviderNames,
  ledger: Pick<Ledger, 'reading' | 'lostCommits'> | null,
): Promise<readonly GuardFinding[]> {
  if (ledger !== null && ledger.lostCommits > 0)
    return [
      {
        guard: 'new_ledger',
        message: `the ledger in ${dataDir} is ${ledger.lostCommits} changes behind the last one here. It is an older copy, or its kybatch.db-wal was removed. kybatch would buy the missing answers again`,
        hint: 'Restore the newest copy.',
      },
    ];
  const newest = (await ledger?.reading.lastAttemptAt()) ?? null;
  for (const { run, where, trace } of tracesIn(dataDir, out)) {
    const known = await ledger?.reading.knownOf(run);
    const found = trace(names, known);
    // A removed run only has to be known. An attempt after the trace got past this guard.
    const heardAt = known === undefined ? null : (known.heardAt ?? Number.POSITIVE_INFINITY);
    if (found === undefined || found <= Math.max(newest ?? Number.NEGATIVE_INFINITY, heardAt ?? 0)) continue;
    const none = known === undefined ? 'has no run' : 'has nothing of it';
    const since = newest === null ? 'has no run' : `${none} after ${moment(heardAt ?? newest)}`;
    return [
      {
        guard: 'new_ledger',
        message: `${where} names run ${run} (${moment(found)}), but the ledger ${since}. kybatch would buy its answers again`,
        hint: NAME_THE_LEDGER,
      },
    ];
  }
  const usedAt = newest !== null || metrics === undefined || isSandboxName(names.v1) ? undefined : answersIn(metrics);
  if (metrics === undefined || usedAt === undefined) return [];
  return [
    {
      guard: 'new_ledger',
      message: `${metrics.path} shows answers of ${metrics.portfolio === undefined ? 'a' : 'this'} list (${usedAt}), but the ledger in ${dataDir} has no run. kybatch would buy them again`,
      hint: NAME_THE_LEDGER,
    },
  ];
}

const NAME_THE_LEDGER =
  'Name the data directory or database (--data-dir, KYBATCH_LEDGER_URL) that holds it, or restore the newest backup.';

export const metricsOf = (job: ListOptions, environment: AppEnvironment): EvidencePlaces['metrics'] => {
  const { metrics } = job.pipeline;
  return metrics === null ? undefined : { path: pathIn(environment, metrics.file), portfolio: portfolioName(job) };
};

/** When the metrics file was written, if the list used answers then. Without a list: any. */
function answersIn({ path, portfolio }: NonNullable<EvidencePlaces['metrics']>): string | undefined {
  const text = firstBytes(path, METRICS_BYTES);
  const labels = portfolio === undefined ? '{' : `${labelsInText({ portfolio: sanitizeText(portfolio) })} `;
  if (!text.includes(`kybatch_oldest_answer_age_seconds${labels}`)) return undefined;
  return moment(Number(/^kybatch_written_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? 0) * 1000);
}

const METRICS_BYTES = 1_000_000;

/** The same without a ledger. The metrics files may be outside of a data folder that is not mounted. */
export async function findLostLedger(
  { dataDir }: Pick<LedgerPlace, 'dataDir'>,
  names: ProviderNames,
  environment: AppEnvironment,
  named: readonly LoadedPipeline[] = [],
): Promise<readonly GuardFinding[]> {
  const { cwd } = environment;
  const pipelines = [...named, ...pipelineNames(cwd).flatMap((name) => loaded(name, cwd))];
  const files = new Set(pipelines.flatMap(({ metrics }) => metrics?.file ?? []));
  for (const metrics of [undefined, ...[...files].map((file) => ({ path: pathIn(environment, file) }))]) {
    const found = await checkNewLedger({ dataDir, metrics }, names, null);
    if (found.length > 0) return found;
  }
  return [];
}

/** A pipeline that cannot be read is reported by the commands that use it. */
function loaded(name: string, cwd: string): readonly LoadedPipeline[] {
  try {
    return [loadPipeline(name, cwd)];
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** The same for commands without a configuration: the lists name their providers. */
export async function checkOlderCopy(
  lists: readonly PortfolioRecord[],
  { dataDir, ledger }: Workplace,
): Promise<readonly GuardFinding[]> {
  for (const name of new Set(lists.flatMap(({ providers }) => providers.split(',')))) {
    const found = await checkNewLedger({ dataDir }, { v1: name, v2: name }, ledger);
    if (found.length > 0) return found;
  }
  return [];
}

/** Evidence of a run outside the ledger. */
interface RunEvidence {
  readonly run: string;
  readonly where: string;
  /** When the run worked with one of these providers. For a known run, the newest time that may be missing. */
  readonly trace: (names: ProviderNames, known: KnownRun | undefined) => number | undefined;
}

/** An unreadable folder gives no evidence. Writing to it reports the error. */
function tracesIn(dataDir: string, out: string | undefined): readonly RunEvidence[] {
  const logs = namesIn(join(dataDir, 'logs')).flatMap((name): RunEvidence[] => {
    const [, run] = /^(\d{4}-\d{2}-\d{2}-[0-9a-f]+)\.log$/.exec(name) ?? [];
    const where = join(dataDir, 'logs', name);
    return run === undefined ? [] : [{ run, where, trace: (names, known) => traceOfLog(where, names, known) }];
  });
  const folders = namesIn(join(dataDir, 'exports')).map((name) => join(dataDir, 'exports', name));
  const exports = [...folders, ...(out === undefined ? [] : [out])].flatMap((where): RunEvidence[] => {
    const marker = readMarker(where);
    if (marker === undefined) return [];
    const { run, at, calls, providers } = marker;
    const isOurs = ({ v1, v2 }: ProviderNames) => providers.some((name) => name !== '' && (name === v1 || name === v2));
    // An export may be written at any time. Only calls that the ledger lacks show unknown work.
    const trace: RunEvidence['trace'] = (names, known) =>
      calls > (known?.calls ?? 0) && isOurs(names) ? Date.parse(at) : undefined;
    return [{ run, where, trace }];
  });
  return [...logs, ...exports].toSorted((a, b) => (a.run < b.run ? 1 : -1)).slice(0, LOOKED_AT);
}

/** A log proves work if it names our provider and a row that moved: only a recorded attempt moves rows. */
function traceOfLog(path: string, names: ProviderNames, known: KnownRun | undefined): number | undefined {
  const { head, tail } = headAndTail(path);
  const [first = '', ...rest] = head.split('\n');
  const isRow = (line: string) => line.includes('"event":"row"');
  try {
    const { time, v1, v2, event } = JSON.parse(first) as Readonly<Record<string, unknown>>;
    const isOurs = event === 'start' && [v1, v2].some((name) => name && (name === names.v1 || name === names.v2));
    if (!isOurs || !rest.some(isRow)) return undefined;
    const [, last] = /"time":"([^"]+)"/.exec(tail.split('\n').findLast(isRow) ?? '') ?? [];
    const at = Date.parse(known === undefined ? String(time) : String(last));
    return Number.isNaN(at) ? undefined : at;
  } catch {
    return undefined;
  }
}

function headAndTail(path: string): { readonly head: string; readonly tail: string } {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LOG_BYTES);
    const from = (at: number) => bytes.toString('utf8', 0, readSync(file, bytes, 0, LOG_BYTES, at));
    return { head: from(0), tail: from(Math.max(0, fstatSync(file).size - LOG_BYTES)) };
  } finally {
    closeSync(file);
  }
}

/** Refuses an input that has lost too many rows since it was last read, or all companies of its portfolio. */
export async function mustHaveKeptRows(
  list: OpenList,
  options: ListOptions,
  guards: GuardOptions,
  environment: Noting,
): Promise<void> {
  const refusal = await rowsLost(list, options);
  if (refusal === undefined) return;
  if (!isAccepted('rows_lost', guards)) throw refusal;
  noteAccepted('rows_lost', refusal.message, environment);
}

/**
 * A delivery that broke off must not look like a list that shrank. An input that ends in mid-line, or loses a larger
 * share than the pipeline allows, is refused. Only valid rows count, because a column that moved makes all of them invalid. New and departed
 * companies are normal, but if none is left, the IDs changed or it is another file. A row with the ID, but another name
 * and number, is another company.
 */
export async function rowsLost(
  { known, file, ledger }: Pick<OpenList, 'known' | 'file' | 'ledger'>,
  { table, pipeline, limit }: ListOptions,
): Promise<GuardRefusal | undefined> {
  const allowed = pipeline.guards.rowsLost;
  if (allowed === null || limit !== null || known === undefined || !file.laid) return undefined;
  const { now, before, kept, replaced, broken } = await ledger.portfolios.usable(known.id);
  const lost = before - now + replaced;
  const isAnother = before > 0 && kept === 0;
  if (!isAnother && lost * 100 <= allowed * before)
    return broken === null || kept === before || hasLineEnd(table.path)
      ? undefined
      : new GuardRefusal(
          `${table.path} breaks off in line ${broken}, and ${count(before - kept, 'usable row')} of the last run ${before - kept === 1 ? 'is' : 'are'} missing`,
          'rows_lost',
          'Deliver the whole file.',
        );
  const usable = count(now, 'usable row');
  const why = isAnother
    ? `all ${withCommas(before)} usable rows of the last run are missing (guards.rows_lost)`
    : `the last run had ${withCommas(before)}, so ${Math.floor((lost / before) * 100)}% are missing, more than the ${allowed}% of guards.rows_lost`;
  const others = `${count(replaced, 'row has its ID', 'rows have their IDs')} as before, but another name and number`;
  return new GuardRefusal(
    `${table.path} has ${usable}: ${why}${replaced > 0 ? `. ${others}` : ''}`,
    'rows_lost',
    'Check that the file is complete and its IDs are unchanged.',
  );
}

/** The end of a compressed file is unknown. */
const hasLineEnd = (path: string): boolean =>
  !existsSync(path) || /\.gz$/i.test(path) || /[\r\n]\0?$/.test(headAndTail(path).tail);

/** For each API, the provider with more stored answers than the configured one. The sandbox is left out. */
export async function otherProviderNotes(names: ProviderNames, { reading }: Ledger): Promise<readonly Message[]> {
  const environments = (await reading.environments()).filter(({ name }) => !isSandboxName(name));
  return (['v1', 'v2', 'mcp'] as const).flatMap((api) => {
    const name = names[api] ?? '';
    if (name === '' || isSandboxName(name)) return [];
    const ofApi = environments.filter((environment) => environment.api === api);
    const here = ofApi.find((environment) => environment.name === name)?.answers ?? 0;
    const [most] = ofApi.toSorted((a, b) => b.answers - a.answers);
    if (most === undefined || most.answers <= here) return [];
    const { name: other, answers: there } = most;
    return message(
      'OWNED_ELSEWHERE',
      `${api}: ${there} answers are stored from ${other}, ${here} from ${name}. Each base URL counts as another provider, so kybatch buys everything again. If the address is a typo, set ${urlVariable(api)} to ${other}. If the provider has moved, move the answers with \`kybatch ledger provider-moved --from ${other} --to ${name}\``,
    );
  });
}

/** An API whose base URL is another one than before. */
interface MovedAddress {
  readonly api: 'v1' | 'v2';
  readonly from: string;
  readonly to: string;
}

/** The remedies of the guard `new_provider`. The address may be a new one, a typo, or the way back from a typo. */
export const movedHint = (moved: readonly MovedAddress[]): string =>
  moved
    .map(
      ({ api, from, to }) =>
        `If ${urlVariable(api)} is right, move the stored answers to it:\n\`kybatch ledger provider-moved --from ${from} --to ${to}\`\nIf it is a typo, set it to ${from}.`,
    )
    .join('\n');

/** Guard `new_provider`, without costs: the last attempt on a list used another base URL, which has answers. */
export async function checkListProviders(
  names: ProviderNames,
  { portfolios, reading }: Pick<Ledger, 'portfolios' | 'reading'>,
  only?: string,
): Promise<readonly GuardFinding[]> {
  const stored = (await reading.environments()).filter(({ name, answers }) => answers > 0 && !isSandboxName(name));
  const known = (await portfolios.all()).filter(
    ({ name, providers }) => !isSandboxName(providers) && (only === undefined || name === only),
  );
  // The newest is first.
  const lists = known.filter(({ name }, index) => known.findIndex((list) => list.name === name) === index);
  const moved = lists.flatMap(({ providers }) =>
    stored.flatMap(({ api, name: from }): readonly MovedAddress[] => {
      const used = providers.split(',');
      if ((api !== 'v1' && api !== 'v2') || !used.includes(from)) return [];
      const to = names[api] ?? '';
      return to === '' || isSandboxName(to) || used.includes(to) ? [] : [{ api, from, to }];
    }),
  );
  const each = [...new Map(moved.map((one) => [`${one.from} ${one.to}`, one])).values()];
  if (each.length === 0) return [];
  const message = `rows are stored from ${each.map(({ from }) => from).join(' and ')}, and would be bought again from ${each.map(({ to }) => to).join(' and ')}`;
  return [{ guard: 'new_provider', message, hint: movedHint(each) }];
}

export const freeSpace = (dataDir: string, environment: AppEnvironment): number | undefined =>
  (environment.freeBytes ?? freeBytes)(dataDir);

/** Checks the disks of the ledger and of the tables before anything is spent. */
export function mustHaveSpace(options: PlaceOptions & Pick<TableOptions, 'out'>, environment: AppEnvironment): void {
  mustHaveRoom('the data directory', dataDirOf(options, environment), environment);
  if (options.out !== undefined) mustHaveRoom('the tables (--out)', pathIn(environment, options.out), environment);
}

function mustHaveRoom(what: string, path: string, environment: AppEnvironment): void {
  const free = freeSpace(path, environment);
  if (free === undefined || free >= SPACE.floor) return;
  throw new FileError(`the disk of ${what} ${path} is full: ${bytesInWords(free)} left`, {
    code: 'DISK_FULL',
    what: 'the disk is full',
    hint: `Free at least ${bytesInWords(SPACE.floor)}, then run it again. Nothing was spent.`,
  });
}
