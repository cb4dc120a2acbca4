import type { ApiError } from '../api/errors.js';
import { type CostlyCheck, probeV1Key, type V1KeyReport } from '../api/v1/probe.js';
import { v2Operations } from '../api/v2/operations.js';
import { permissionUseOf } from '../api/v2/permission-use.js';
import { probeV2Key, type V2KeyReport } from '../api/v2/probe.js';
import { missingRoutes, type Routes } from '../api/v2/routes.js';
import { type LoadedPipeline, operationsOf } from '../config/pipeline.js';
import type { ApiName } from '../domain/api-name.js';
import { ExitCode } from '../domain/exit-codes.js';
import { stages } from '../stages/list.js';
import { sentence } from '../util/sentence.js';
import { lookAtContacts, permissionFindings, type V2Counts } from './doctor-permissions.js';
import type { Finding } from './finding.js';
import type { Provider } from './provider.js';

/** What is found of v1, and the checks that were not free. */
export async function checkV1(
  provider: Provider,
  now: number,
): Promise<{ readonly findings: readonly Finding[]; readonly costly: readonly CostlyCheck[] }> {
  if (provider.v1 === null) return { findings: [notConfigured('v1', provider.v2 === null)], costly: [] };
  const report = await probeV1Key(provider.v1, now);
  return { findings: v1Findings(report, provider), costly: report.costly };
}

function v1Findings(report: V1KeyReport, { environment }: Provider): readonly Finding[] {
  const findings = [v1KeyFinding(report, environment.v1?.baseUrl ?? '')];
  if (report.state !== 'works') return findings;
  findings.push({ check: 'v1 scopes', state: 'note', detail: scopesText(report) });
  if (report.quota !== null) {
    const { dailyLimit, dailyRemaining, resetAtMs } = report.quota;
    const detail = `free workspace: ${dailyRemaining ?? '?'} of ${dailyLimit ?? '?'} left today, more at ${new Date(resetAtMs).toISOString()}`;
    findings.push({ check: 'v1 allowance', state: 'note', detail });
  }
  return findings;
}

function v1KeyFinding(report: V1KeyReport, baseUrl: string): Finding {
  switch (report.state) {
    case 'works': {
      const detail = `accepted and live at ${baseUrl}${report.costly.length === 0 ? '; checked for 0 units' : ''}`;
      return { check: 'v1 key', state: 'ok', detail };
    }
    case 'not_live':
      return { check: 'v1 key', state: 'fail', detail: 'a test key: a live key is needed', exit: ExitCode.credentials };
    default:
      return keyFailure('v1', report.state, report);
  }
}

function scopesText(report: V1KeyReport): string {
  const words = { granted: 'granted', not_refused: 'not refused', missing: 'MISSING' } as const;
  return Object.entries(report.scopes)
    .map(([scope, state]) => `${scope} ${words[state]}`)
    .join(', ');
}

/** What is found of v2, and what it counts. */
export async function checkV2(
  provider: Provider,
  pipeline: Pick<LoadedPipeline, 'name' | 'permissions'>,
  now: number,
): Promise<V2Counts & { readonly findings: readonly Finding[] }> {
  const { v1, v2, environment } = provider;
  if (v2 === null) {
    const findings = v1 === null ? [] : [notConfigured('v2', false)];
    return { findings, use: null, contacts: null };
  }
  const report = await probeV2Key(v2);
  const use = report.metrics && permissionUseOf(report.metrics);
  const { counts, finding } = use === null ? NOT_ASKED : await lookAtContacts(provider, now);
  const findings = [
    v2KeyFinding(report, environment.v2?.baseUrl ?? ''),
    ...permissionFindings(use ?? [], use === null ? { ...pipeline, permissions: {} } : pipeline),
    ...(finding === null ? [] : [finding]),
    routesFinding(environment),
    ...stageFindings(environment.routes),
  ];
  return { findings, use, contacts: counts };
}

const NOT_ASKED = { counts: null, finding: null };

function v2KeyFinding(report: V2KeyReport, baseUrl: string): Finding {
  if (report.state !== 'works') return keyFailure('v2', report.state, report);
  const permissions = report.metrics?.length ?? 0;
  const detail = `accepted at ${baseUrl}; ${permissions} ${permissions === 1 ? 'permission' : 'permissions'}`;
  return { check: 'v2 key', state: 'ok', detail };
}

function routesFinding({ routes, routesFile }: Provider['environment']): Finding {
  const unpublished = Object.values(v2Operations)
    .filter((operation) => operation.route === null)
    .map((operation) => operation.name);
  const missing = missingRoutes(unpublished, routes);
  const from = routesFile === null ? 'no routes file (KYBATCH_V2_ROUTES)' : routesFile;
  const detail = `${from}: ${unpublished.length - missing.length} of ${unpublished.length} unpublished operations have a route`;
  return missing.length === 0
    ? { check: 'v2 routes', state: 'ok', detail }
    : { check: 'v2 routes', state: 'note', detail: `${detail}; without: ${missing.join(' ')}` };
}

/** A run with such a stage would be refused before its first call (V2-15). */
const stageFindings = (routes: Routes): readonly Finding[] =>
  stages.flatMap(({ name }) => {
    const needed = operationsOf({ stages: [name] }).map((operation) => operation.name);
    const missing = missingRoutes(needed, routes);
    if (missing.length === 0) return [];
    const detail = `${name} cannot run without a route for ${missing.join(', ')}`;
    return [{ check: 'v2 stages', state: 'note', detail }];
  });

export function keyFailure(
  api: ApiName,
  state: 'refused' | 'wrong_route' | 'unreachable',
  { error }: { readonly error: ApiError | undefined },
): Finding {
  const { subject, exit } = FAILURES[state];
  const detail =
    error === undefined ? 'no answer' : `${error.code}: ${sentence(error.message)} ${error.hint ?? ''}`.trimEnd();
  return { check: `${api} ${subject}`, state: 'fail', detail, exit };
}

const FAILURES = {
  refused: { subject: 'key', exit: ExitCode.credentials },
  wrong_route: { subject: 'base URL', exit: ExitCode.usage },
  unreachable: { subject: 'provider', exit: ExitCode.unavailable },
} as const;

const notConfigured = (api: 'v1' | 'v2', alone: boolean): Finding =>
  alone
    ? {
        check: 'configuration',
        state: 'fail',
        detail:
          'no provider: set KYBATCH_V1_BASE_URL and KYBATCH_V1_API_KEY, or the two of KYBATCH_V2 where the account has that API alone, or add --sandbox',
        exit: ExitCode.usage,
      }
    : { check: `${api} key`, state: 'note', detail: `${api} is not configured` };
