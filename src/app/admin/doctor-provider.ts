// The checks of `doctor` for v1, v2 and the MCP server.

import {
  type CostlyCheck,
  probeV1Key,
  probeV2Key,
  readContactCounts,
  type V1KeyReport,
  type V2KeyReport,
} from '../../api/account.js';
import { ApiError } from '../../api/errors.js';
import { permissionUseOf } from '../../api/v2/operations/metrics-watch.js';
import { v2Operations } from '../../api/v2/operations.js';
import { missingRoutes, type Routes } from '../../api/v2/routes.js';
import { type LoadedPipeline, operationsOf } from '../../config/pipeline.js';
import {
  byPermission,
  type ContactCounts,
  isUsedUp,
  type PermissionUse,
  remainingUse,
  wholeDays,
} from '../../domain/account-usage.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import type { DatabaseHealth } from '../../ledger/health.js';
import { stages } from '../../stages/list.js';
import { didYouMean, sentence } from '../../util/message-parts.js';
import { moment } from '../../util/words.js';
import { type AppEnvironment, withLedger } from '../environment.js';
import { keyRefusal, type Provider, type ProviderOptions, refusedKeyInWords } from '../provider/provider.js';
import { withRecordedProbes } from '../run/preflight.js';
import { type Finding, fail, note, ok } from './doctor-ledger.js';

/** A check need not wait as long as a paid call. */
export const CHECK_SETUP = { deadlineMs: 10_000 };

interface ApiCheck {
  readonly findings: readonly Finding[];
  /** Checks that were not free. */
  readonly costly: readonly CostlyCheck[];
}

/** The same for one API at its base URL, whatever a pipeline needs. */
export async function checkApi(api: ApiName, provider: Provider, now: number): Promise<ApiCheck> {
  if (api === 'v1') return await checkV1(provider, now);
  const findings =
    api === 'mcp' ? await checkMcp(provider) : (await checkV2(provider, { name: '', permissions: {} }, now)).findings;
  return { findings, costly: [] };
}

export async function checkV1(provider: Provider, now: number): Promise<ApiCheck> {
  if (provider.v1 === null) return { findings: [notConfigured('v1', provider.v2 === null)], costly: [] };
  const report = await probeV1Key(provider.v1, now);
  return { findings: v1Findings(report, provider), costly: report.costly };
}

function v1Findings(report: V1KeyReport, { configuration }: Provider): readonly Finding[] {
  const findings = [v1KeyFinding(report, configuration)];
  if (report.state !== 'works') return findings;
  const missing = Object.entries(report.scopes).flatMap(([scope, state]) => (state === 'missing' ? [scope] : []));
  const short = missing.length === 0 ? '' : `refused: ${missing.join(', ')}`;
  const scopes = scopesText(report);
  findings.push(short === '' ? ok('v1 scopes', scopes, short) : note('v1 scopes', scopes, { short }));
  if (report.quota !== null) {
    const { dailyLimit, dailyRemaining, resetAtMs } = report.quota;
    const detail = `free workspace: ${dailyRemaining ?? '?'} of ${dailyLimit ?? '?'} units left today, reset at ${moment(resetAtMs)}`;
    findings.push(note('v1 allowance', detail));
  }
  return findings;
}

function v1KeyFinding(report: V1KeyReport, environment: Provider['configuration']): Finding {
  const baseUrl = environment.v1?.baseUrl ?? '';
  switch (report.state) {
    case 'works': {
      const detail = `accepted at ${baseUrl}${report.costly.length === 0 ? ', checked free of charge' : ''}`;
      const isWhole = !Object.values(report.scopes).includes('missing');
      return ok('v1 key', detail, `accepted${isWhole ? ', no scope refused' : ''}`);
    }
    case 'not_live':
      return fail('v1 key', 'KYBATCH_V1_API_KEY is a test key. kybatch needs a live key.', {
        short: 'not accepted: test key',
        exit: ExitCode.credentials,
        code: 'KEY_NOT_LIVE',
      });
    default:
      return keyFailure('v1', report.state, report, environment);
  }
}

function scopesText(report: V1KeyReport): string {
  const words = { granted: 'granted', not_refused: 'not refused', missing: 'MISSING' } as const;
  return Object.entries(report.scopes)
    .map(([scope, state]) => `${scope} ${words[state]}`)
    .join(', ');
}

export async function checkV2(
  provider: Provider,
  pipeline: Pick<LoadedPipeline, 'name' | 'permissions'>,
  now: number,
): Promise<V2Counts & { readonly findings: readonly Finding[] }> {
  const { v1, v2, configuration } = provider;
  if (v2 === null) {
    const findings = v1 === null ? [] : [notConfigured('v2', false)];
    return { findings, use: null, contacts: null };
  }
  const report = await probeV2Key(v2);
  const use = report.metrics && permissionUseOf(report.metrics);
  const { counts, finding } = use === null ? NOT_ASKED : await lookAtContacts(provider, now);
  const findings = [
    v2KeyFinding(report, configuration),
    ...permissionFindings(use ?? [], use === null ? { ...pipeline, permissions: {} } : pipeline),
    ...(finding === null ? [] : [finding]),
    routesFinding(configuration),
    ...stageFindings(configuration.routes),
  ];
  return { findings, use, contacts: counts };
}

const NOT_ASKED = { counts: null, finding: null };

function v2KeyFinding(report: V2KeyReport, environment: Provider['configuration']): Finding {
  if (report.state !== 'works') return keyFailure('v2', report.state, report, environment);
  const baseUrl = environment.v2?.baseUrl ?? '';
  const permissions = report.metrics?.length ?? 0;
  const counted = `${permissions} ${permissions === 1 ? 'permission' : 'permissions'}`;
  const isUsed = permissionUseOf(report.metrics ?? []).some(isUsedUp);
  const short = `accepted, ${counted}${permissions === 0 || isUsed ? '' : ', none used up'}`;
  return ok('v2 key', `accepted at ${baseUrl}, ${counted}`, short);
}

function routesFinding({ routes, routesFile }: Provider['configuration']): Finding {
  const unpublished = Object.values(v2Operations)
    .filter((operation) => operation.route === null)
    .map((operation) => operation.name);
  const missing = missingRoutes(unpublished, routes);
  const from = routesFile === null ? 'no routes file (KYBATCH_V2_ROUTES)' : routesFile;
  const found = `${unpublished.length - missing.length} of ${unpublished.length}`;
  const detail = `${from}: ${found} unpublished operations have a route`;
  return missing.length === 0
    ? ok('v2 routes', detail, found)
    : note('v2 routes', `${detail}; without: ${missing.join(' ')}`, { short: `${found} (${from})` });
}

/** A run with such a stage would be refused before its first call (V2-15). */
const stageFindings = (routes: Routes): readonly Finding[] =>
  stages.flatMap(({ name }) => {
    const needed = operationsOf({ stages: [name] }).map((operation) => operation.name);
    const missing = missingRoutes(needed, routes);
    if (missing.length === 0) return [];
    return [note('v2 stages', `${name} cannot run: no route for ${missing.join(', ')}`)];
  });

function keyFailure(
  api: ApiName,
  state: 'refused' | 'wrong_route' | 'unreachable',
  { error }: { readonly error: ApiError | undefined },
  environment: Provider['configuration'],
): Finding {
  const { subject, exit, ...failure } = FAILURES[state];
  const status = error?.httpStatus;
  const short = state === 'unreachable' && status !== undefined ? `answers with an error (${status})` : failure.short;
  const detail = error === undefined ? 'The provider did not answer.' : failureInWords(state, error, environment);
  return fail(`${api} ${subject}`, detail, { short, exit });
}

function failureInWords(state: keyof typeof FAILURES, error: ApiError, environment: Provider['configuration']): string {
  if (state !== 'refused') {
    // The operation of the check means nothing to a user. One address that is down is one problem, whatever was asked.
    const { baseUrl } = environment[error.api] ?? {};
    const at = baseUrl === undefined ? '' : ` at ${new URL(baseUrl).host}`;
    const what = error.message.replace(`${error.operation}: `, '');
    // A hint about the charge of a call does not apply: a check asks for nothing that is charged.
    const hint = state === 'unreachable' && error.charge === 'unknown' ? '' : (error.hint ?? '');
    return `${error.code}${at}: ${sentence(what)} ${hint}`.trimEnd();
  }
  const fact = keyRefusal(error);
  return `${fact.charAt(0).toUpperCase()}${fact.slice(1)}.\n${refusedKeyInWords(error, environment)}`;
}

const FAILURES = {
  refused: { subject: 'key', exit: ExitCode.credentials, short: 'not accepted' },
  wrong_route: { subject: 'base URL', exit: ExitCode.usage, short: 'wrong' },
  unreachable: { subject: 'provider', exit: ExitCode.unavailable, short: 'cannot be reached' },
} as const;

const notConfigured = (api: 'v1' | 'v2', alone: boolean): Finding =>
  alone
    ? fail('configuration', NO_PROVIDER, { short: 'not configured', code: 'NO_PROVIDER' })
    : note(`${api} key`, `${api} is not configured`, { short: 'not configured', code: 'API_NOT_CONFIGURED' });

const NO_PROVIDER = `No provider is configured. Put these into .env in this folder:
  KYBATCH_V1_BASE_URL=https://…
  KYBATCH_V1_API_KEY=…
Accounts with v2 only: KYBATCH_V2_BASE_URL and KYBATCH_V2_API_KEY.
No account yet? \`kybatch doctor --sandbox\``;

/** The counters of v2. Null if it did not report them. */
export interface V2Counts {
  readonly use: readonly PermissionUse[] | null;
  readonly contacts: ContactCounts | null;
}

/** Each permission with its use and its rest, and pipeline entries for permissions that v2 does not count. */
function permissionFindings(
  use: readonly PermissionUse[],
  { name, permissions }: Pick<LoadedPipeline, 'name' | 'permissions'>,
): readonly Finding[] {
  const known = byPermission(use);
  const codenames = known.map(([codename]) => codename);
  const strangers = Object.keys(permissions).filter((codename) => !codenames.includes(codename));
  return [
    ...known.map(([codename, counts]): Finding => {
      const spent = counts.filter(isUsedUp).map(({ metric }) => metric);
      const verdict = spent.length === 0 ? '' : `; used up: ${spent.join(', ')}`;
      const detail = `${codename}: ${counts.map(countInWords).join('; ')}${verdict}`;
      return spent.length === 0
        ? ok('v2 permission', detail, '')
        : note('v2 permission', detail, { short: `used up: ${spent.join(', ')}`, code: 'PERMISSION_USED_UP' });
    }),
    ...strangers.map((codename): Finding => {
      const detail = `The pipeline ${name} names the permission ${codename}, which v2 does not have. It has no effect.${didYouMean(codename, codenames)}`;
      return note('v2 permission', detail, { code: 'PERMISSION_UNKNOWN' });
    }),
  ];
}

function countInWords(count: PermissionUse): string {
  const { metric, used, total } = count;
  const left = remainingUse(count);
  const figures = `${figure(used)} of ${figure(total)} used`;
  return `${metric} ${figures}${left === null ? '' : `, ${figure(left)} left`}`;
}

const figure = (value: number | null): string => value?.toLocaleString('en-US') ?? 'unknown';

const RANGE_MS = 30 * 86_400_000;

/** Contacts that the account revealed in the last month. The question is free. */
async function lookAtContacts(
  { v2 }: Pick<Provider, 'v2'>,
  now: number,
): Promise<{ readonly counts: ContactCounts | null; readonly finding: Finding | null }> {
  if (v2 === null) return { counts: null, finding: null };
  const range = wholeDays(now - RANGE_MS, now);
  const counts = await readContactCounts(v2, range);
  const asked = `from ${range.dateFrom} to ${range.dateTo} (time zone not documented)`;
  const check = 'v2 contacts';
  if (counts instanceof ApiError) {
    const detail = `unknown ${asked}: ${counts.code}: ${sentence(counts.message)}`;
    return { counts: null, finding: note(check, detail, { short: '' }) };
  }
  const { emailCount, phoneCount } = counts;
  const detail = `revealed ${asked}: e-mail addresses ${figure(emailCount)}, phone numbers ${figure(phoneCount)}`;
  return { counts, finding: ok(check, detail, '') };
}

/** Asks the MCP server for its tools, free of charge. Only `kybatch call mcp` needs it: its absence is no failure. */
export async function checkMcp({ v1, v2, mcp, configuration }: Provider): Promise<readonly Finding[]> {
  if (mcp === null && v1 === null && v2 === null) return [];
  if (mcp === null) return [note('mcp', 'KYBATCH_MCP_URL is not set', { short: '' })];
  try {
    const { length } = await mcp.tools();
    const tools = `${length} ${length === 1 ? 'tool' : 'tools'}`;
    return [ok('mcp', `${tools} at ${configuration.mcp?.url}`, tools)];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const state = error.stop === 'credentials' ? 'refused' : error.stop === 'route' ? 'wrong_route' : 'unreachable';
    return [keyFailure('mcp', state, { error }, configuration)];
  }
}

/** Stores the v2 counters if a healthy ledger exists. The embedded sandbox of a check has its own account. */
export async function saveV2Counts(
  { use, contacts }: V2Counts,
  providerName: string,
  health: DatabaseHealth,
  options: ProviderOptions,
  environment: AppEnvironment,
): Promise<readonly Finding[]> {
  // Looking at a backup must not change it.
  if (
    options.sandbox === true ||
    health.state !== 'sound' ||
    health.isUnused === true ||
    (use === null && contacts === null)
  )
    return [];
  try {
    await withLedger('annotate', options, environment, async ({ calls }) => {
      const environmentId = await calls.environment('v2', providerName);
      if (use !== null) await calls.keepPermissions(environmentId, use, environment.clock.now());
      if (contacts !== null) await calls.keepContacts(environmentId, contacts, environment.clock.now());
    });
    return [];
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    return [note('v2 counts', `The counters of v2 were not stored for \`kybatch usage\`: ${sentence(error.message)}`)];
  }
}

/** Records the checks of the v1 key that were not free like those of a run (X-8), if there is a ledger. */
export async function saveCostlyChecks(
  costly: readonly CostlyCheck[],
  providerName: string,
  health: DatabaseHealth,
  options: ProviderOptions,
  environment: AppEnvironment,
): Promise<readonly Finding[]> {
  if (costly.length === 0) return [];
  const charged = costly.length === 1 ? '1 check was' : `${costly.length} checks were`;
  const finding = (more: string) => note('v1 probe', `${charged} charged. ${more}`);
  if (options.sandbox === true || health.state !== 'sound') return [finding('There is no ledger to record it.')];
  try {
    await withLedger('annotate', options, environment, async (_, workplace) => {
      for (const { check, answer } of costly) {
        const client = { send: () => (answer instanceof ApiError ? Promise.reject(answer) : Promise.resolve(answer)) };
        const sent = async (send: (check: CostlyCheck['check']) => Promise<unknown>) => {
          await send(check).catch(() => {});
        };
        await withRecordedProbes({ runId: null }, client, providerName, NO_LIMITS, NEVER, workplace, sent);
      }
    });
    return [finding('`kybatch usage` counts it.')];
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    return [finding(`It could not be recorded: ${sentence(error.message)}`)];
  }
}

const NO_LIMITS = { units: null, reports: null };
const NEVER = new AbortController().signal;
