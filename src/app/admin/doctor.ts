// `doctor`: checks configuration, keys, disk, ledger and pipeline.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { loadPrices } from '../../config/environment.js';
import { type LoadedPipeline, loadPipeline } from '../../config/pipeline.js';
import { unitsLeft } from '../../domain/account-usage.js';
import { ExitCode, KybatchError, systemFailure, UsageError } from '../../domain/errors.js';
import { GUARDS } from '../../domain/outcomes.js';
import { aheadInWords } from '../../ledger/clock-ahead.js';
import type { DamagedAnswer, ServerHealth } from '../../ledger/health.js';
import type { Ledger } from '../../ledger/ledger.js';
import { bytesInWords, type Message, type MessageCode, sentence } from '../../util/message-parts.js';
import { moment } from '../../util/words.js';
import {
  type AppEnvironment,
  ledgerOf,
  pathIn,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { currentPortfolios } from '../monitoring/figures.js';
import { metricsTarget } from '../monitoring/metrics.js';
import {
  checkProvider,
  type Provider,
  type ProviderNames,
  type ProviderOptions,
  withProvider,
} from '../provider/provider.js';
import { diskNeedOfUpdate, shortage } from '../run/disk-estimate.js';
import {
  checkListProviders,
  checkNewLedger,
  findLostLedger,
  type GuardFinding,
  otherProviderNotes,
} from '../run/guards.js';
import { checkClock } from '../run/preflight.js';
import {
  checkContents,
  checkDataDir,
  checkSpace,
  detailOf,
  type Finding,
  fail,
  lookAtLedger,
  note,
  ok,
} from './doctor-ledger.js';
import {
  CHECK_SETUP,
  checkMcp,
  checkV1,
  checkV2,
  saveCostlyChecks,
  saveV2Counts,
  type V2Counts,
} from './doctor-provider.js';

export type CodedFinding = Finding & { readonly code: MessageCode };

export interface DoctorView {
  readonly findings: readonly CodedFinding[];
  /** The counters of v2. Null if it did not report them. */
  readonly v2: V2Counts;
  /** The server of the ledger. Null for a file, or if it did not answer. */
  readonly server: ServerHealth | null;
  readonly exit: ExitCode;
  readonly pipeline: string;
  readonly urls: readonly string[];
}

export interface DoctorOptions extends ProviderOptions {
  /** Also unpacks every stored answer, compares it with its digest, and reads every record. */
  readonly deep?: boolean | undefined;
  /** As for `run`: anything missing is a failure. Default: the default pipeline, which only gets a note. */
  readonly pipeline?: string | undefined;
  /** Words the command that buys an answer again. */
  readonly callAgain?: ((answer: DamagedAnswer) => string) | undefined;
}

export function doctor(options: DoctorOptions = {}, environment = processEnvironment()): Promise<DoctorView> {
  const look = async (provider: Provider): Promise<DoctorView> => {
    const place = ledgerOf(options, environment);
    const { dataDir } = place;
    const { callAgain = ({ operation, params }) => `call ${operation} with ${params}` } = options;
    const { health, server, findings: ofLedger } = await lookAtLedger(place, environment);
    const notes: Message[] = [];
    const pipeline = loadPipeline(options.pipeline ?? 'analyst', environment.cwd, (remark) => notes.push(remark));
    const now = environment.clock.now();
    // At once: a provider that hangs is waited for once.
    const [{ findings: ofV1, costly }, { findings: ofV2, ...v2 }, ofMcp] = await Promise.all([
      checkV1(provider, now),
      checkV2(provider, pipeline, now),
      checkMcp(provider),
    ]);
    const findings = [
      ...ofV1,
      ...(await saveCostlyChecks(costly, provider.names.v1, health, options, environment)),
      ...ofV2,
      ...ofMcp,
      ...checkPipeline(pipeline, options.pipeline !== undefined, provider),
      ...notes.map(({ code, text }) => note('pipeline', text, { code })),
      ...checkPrices(environment),
      ...checkMonitoring(pipeline, options.pipeline !== undefined, dataDir, environment),
      checkDataDir(place),
      ...checkSpace(dataDir, environment),
      ...ofLedger,
      ...checkClock(provider).slice(0, 1).map(refusing),
      ...(health.state === 'absent'
        ? (await findLostLedger(place, provider.names, environment, [pipeline])).map(refusing)
        : []),
      ...(health.state === 'sound' ? await checkStoredAnswers(provider, options, environment) : []),
      ...(options.deep ? await checkContents(place, health, environment, callAgain) : []),
      ...(await saveV2Counts(v2, provider.names.v2, health, options, environment)),
    ];
    const urls = [provider.configuration.v1, provider.configuration.v2].flatMap((api) => api?.baseUrl ?? []);
    return { findings: findings.map(withCode), v2, server, exit: worst(findings), pipeline: pipeline.name, urls };
  };
  return withProvider(options, environment, look, CHECK_SETUP);
}

const withCode = (finding: Finding): CodedFinding => ({
  ...finding,
  code: finding.code ?? (`${finding.check} ${finding.state}`.replaceAll(/\W+/g, '_').toUpperCase() as MessageCode),
});

/** A run would end with the same exit code. If a person can be asked at a terminal, cron still cannot run. */
function refusing({ guard, message, hint }: GuardFinding): Finding {
  const who = GUARDS[guard].asks ? 'Without a terminal kybatch' : 'kybatch';
  return fail(`guard ${guard}`, `${sentence(message)} ${who} refuses to run. ${hint}`);
}

function checkStoredAnswers(
  { names }: Provider,
  options: DoctorOptions,
  environment: AppEnvironment,
): Promise<readonly Finding[]> {
  return withLedger('read', options, environment, async (ledger, workplace) => {
    const ahead = await ledger.reading.clockAhead();
    const lost = await checkNewLedger(workplace, names, ledger);
    const moved = await checkListProviders(names, ledger);
    const elsewhere = moved.length === 0 ? await otherProviderNotes(names, ledger) : [];
    return [
      ...[...lost, ...moved].map(refusing),
      ...elsewhere.map(({ text, code }) => note('owned answers', text, { code })),
      ...(ahead === undefined ? [] : [note('clock', aheadInWords(ahead, environment.clock.now()))]),
      ...(await checkAllowance(names, ledger, environment.clock.now())),
      ...(await checkDiskNeed(workplace)),
    ];
  });
}

/** What the lists write in a night, if their runs are known. */
async function checkDiskNeed(workplace: Workplace): Promise<readonly Finding[]> {
  const need = await diskNeedOfUpdate(await currentPortfolios(workplace.ledger), workplace);
  const check = 'disk need';
  const short = shortage(need);
  if (short !== null) return [note(check, short.message, { code: short.code })];
  return need.bytes === 0 ? [] : [ok(check, `a run writes about ${bytesInWords(need.bytes)}`)];
}

/** The units that v1 last reported, if none are left. */
async function checkAllowance({ v1 }: ProviderNames, { calls }: Ledger, now: number): Promise<readonly Finding[]> {
  const environment = await calls.findEnvironment('v1', v1);
  const told = environment === undefined ? undefined : await calls.allowance(environment);
  if (told === undefined || ((told.spentUntil ?? 0) <= now && unitsLeft(told) !== 0)) return [];
  const renewal = Math.min(told.spentUntil ?? FOR_EVER, told.resetAt ?? FOR_EVER);
  if (renewal <= now) return [];
  const when = renewal === FOR_EVER ? 'v1 does not report when it renews them.' : `They renew ${moment(renewal)}.`;
  const detail = `no units left, as v1 reported ${moment(told.observedAt)}. ${when}`;
  return [note('v1 units', detail, { code: 'ALLOWANCE_SPENT' })];
}

const FOR_EVER = Number.MAX_SAFE_INTEGER;

/** A refused key ranks before a configuration fault, and both before a provider that does not answer. */
function worst(findings: readonly Finding[]): ExitCode {
  const exits = findings.filter(({ state }) => state === 'fail').map(({ exit }) => exit);
  const order = [ExitCode.credentials, ExitCode.usage, ExitCode.unavailable, ExitCode.internal];
  return order.find((exit) => exits.includes(exit)) ?? ExitCode.ok;
}

/** Whether a run would reach its first call. A missing part is only a note for the default pipeline. */
function checkPipeline(pipeline: LoadedPipeline, isNamed: boolean, provider: Provider): readonly Finding[] {
  const which = isNamed ? pipeline.name : `${pipeline.name} (default)`;
  try {
    checkProvider(pipeline, provider);
    const well = 'has everything it needs';
    return [ok('pipeline', `${which} ${well}`, `${pipeline.name} ${well}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const code = error.code as MessageCode;
    const detail = `${which} cannot run: ${detailOf(error)}`;
    if (isNamed) return [fail('pipeline', detail, { code })];
    // A missing provider is already reported.
    if (provider.v1 === null && provider.v2 === null) return [];
    return [note('pipeline', `${detail} To check another pipeline: \`kybatch doctor --pipeline NAME\``, { code })];
  }
}

/** A run with unreadable prices is refused before its first call. */
function checkPrices(environment: AppEnvironment): readonly Finding[] {
  try {
    const prices = loadPrices(environment);
    return prices === null ? [] : [ok('prices', `set, in ${prices.currency}`)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const detail = `${sentence(error.message)}\n${error.hint ?? ''}`.trimEnd();
    return [fail('prices', detail, { short: 'cannot be read', code: error.code as MessageCode })];
  }
}

/** Whether metrics can be written and the notification program exists: at night a run only warns. */
function checkMonitoring(
  { metrics, notify, file, guards }: LoadedPipeline,
  isNamed: boolean,
  dataDir: string,
  environment: AppEnvironment,
): readonly Finding[] {
  const look = (check: string, place: string, mustBeWell: () => string): Finding => {
    try {
      return ok(check, mustBeWell());
    } catch (error) {
      return (isNamed ? fail : note)(check, `${place}: ${whyNot(error)}`);
    }
  };
  // The webhook is not called, because there is nothing to report.
  const program = notify?.to.kind === 'command' ? notify.to.argv[0] : undefined;
  return [
    ...(metrics === null
      ? isNamed && guards.rowsLost !== null
        ? [note('metrics', NO_EVIDENCE)]
        : []
      : [look('metrics', metrics.file, () => mustBeWritable(metrics.file, file, dataDir, environment))]),
    ...(program === undefined ? [] : [look('notify', program, () => mustBeProgram(program, environment))]),
  ];
}

/** A guarded pipeline runs unattended. The guard `new_ledger` has no other evidence outside of the data folder. */
const NO_EVIDENCE =
  'the pipeline names no metrics file. If the data folder is not mounted, a run begins a new ledger and buys everything again. Set `metrics` to a file outside of the data folder.';

function whyNot(error: unknown): string {
  const failure = systemFailure(error);
  if (failure !== undefined) return `${sentence(failure.what)} ${failure.hint}`;
  if (!(error instanceof KybatchError)) throw error;
  return detailOf(error);
}

function mustBeWritable(named: string, pipelineFile: string, dataDir: string, environment: AppEnvironment): string {
  const path = metricsTarget(named, dataDir, environment, [pipelineFile]);
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError('FOLDER_MISSING', `the folder ${folder} does not exist`, 'Create it, or choose another file.');
  accessSync(folder, constants.W_OK | constants.X_OK);
  return `${path}: writable`;
}

/** Finds a program as the system does: by its path, or in the folders of PATH. */
function mustBeProgram(program: string, environment: AppEnvironment): string {
  const places = program.includes('/')
    ? [pathIn(environment, program)]
    : (environment.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  const found = places.find(isProgram);
  if (found === undefined)
    throw new UsageError(
      'NOTIFY_COMMAND_MISSING',
      'there is no such program, or this user may not run it',
      'Give its full path in notify.command.',
    );
  return `${found}: found`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
