import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { probeV1Key, type V1KeyReport } from '../api/v1/probe.js';
import { v2Operations } from '../api/v2/operations.js';
import { probeV2Key, type V2KeyReport } from '../api/v2/probe.js';
import { missingRoutes } from '../api/v2/routes.js';
import { ExitCode } from '../domain/exit-codes.js';
import { checkDatabase } from '../ledger/sqlite/check.js';
import { freeSpace, megabytes, SPACE } from './free-space.js';
import type { Io } from './io.js';
import { type Provider, type ProviderArgs, sandboxOption, withProvider } from './provider.js';
import type { Verb } from './verb.js';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'fail';
  readonly detail: string;
  /** What a failure means for the exit code. */
  readonly code?: ExitCode;
}

export const doctorVerb: Verb<ProviderArgs> = {
  command: 'doctor',
  describe: 'Check configuration, keys (for 0 units), data directory, disk space and database',
  builder: (yargs) =>
    yargs
      .option('sandbox', sandboxOption)
      .epilogue(
        'Exit code: 0 well, 1 a full disk or a damaged database, 2 configuration, 5 a key is refused, 6 a provider cannot be reached.',
      ),
  async run(args, io) {
    return await withProvider(args, io, async (provider) => {
      const findings = [
        ...(await checkV1(provider, io.clock.now())),
        ...(await checkV2(provider)),
        checkDataDir(provider.environment.dataDir),
        ...checkSpace(provider.environment.dataDir, io),
        checkLedger(provider.environment.dataDir),
      ];
      if (args.json)
        io.stdout(
          `${JSON.stringify({ findings: findings.map(({ check, state, detail }) => ({ check, state, detail })) })}\n`,
        );
      else
        for (const finding of findings)
          io.stderr(`${finding.state.padEnd(4)}  ${finding.check.padEnd(16)} ${finding.detail}\n`);
      return worst(findings);
    });
  },
};

/** A refused key before a configuration fault, and both before a provider that does not answer. */
function worst(findings: readonly Finding[]): ExitCode {
  const codes = findings.filter((finding) => finding.state === 'fail').map((finding) => finding.code);
  const order = [ExitCode.credentials, ExitCode.usage, ExitCode.unavailable, ExitCode.internal];
  return order.find((code) => codes.includes(code)) ?? ExitCode.ok;
}

async function checkV1({ v1, v2, environment }: Provider, nowMs: number): Promise<readonly Finding[]> {
  if (v1 === null) return [notConfigured('v1', v2 === null)];
  const report = await probeV1Key(v1, nowMs);
  const findings = [v1KeyFinding(report, environment.v1?.baseUrl ?? '')];
  if (report.state !== 'works') return findings;
  findings.push({ check: 'v1 scopes', state: 'note', detail: scopesText(report) });
  if (report.quota !== null) {
    const { dailyLimit, dailyRemaining, resetAtMs } = report.quota;
    const detail = `free workspace: ${dailyRemaining ?? '?'} of ${dailyLimit ?? '?'} left today, more at ${new Date(resetAtMs).toISOString()}`;
    findings.push({ check: 'v1 allowance', state: 'note', detail });
  }
  if (report.unitsCharged > 0)
    findings.push({
      check: 'v1 probe',
      state: 'note',
      detail: `the check itself was charged ${report.unitsCharged} unit(s)`,
    });
  return findings;
}

function v1KeyFinding(report: V1KeyReport, baseUrl: string): Finding {
  switch (report.state) {
    case 'works':
      return {
        check: 'v1 key',
        state: 'ok',
        detail: `accepted and live at ${baseUrl}; checked for ${report.unitsCharged} units`,
      };
    case 'not_live':
      return { check: 'v1 key', state: 'fail', detail: 'a test key: a live key is needed', code: ExitCode.credentials };
    case 'refused':
      return { check: 'v1 key', state: 'fail', detail: explain(report), code: ExitCode.credentials };
    case 'wrong_route':
      return { check: 'v1 base URL', state: 'fail', detail: explain(report), code: ExitCode.usage };
    case 'unreachable':
      return { check: 'v1 provider', state: 'fail', detail: explain(report), code: ExitCode.unavailable };
  }
}

function scopesText(report: V1KeyReport): string {
  const words = { granted: 'granted', not_refused: 'not refused', missing: 'MISSING' } as const;
  return Object.entries(report.scopes)
    .map(([scope, state]) => `${scope} ${words[state]}`)
    .join(', ');
}

async function checkV2({ v1, v2, environment }: Provider): Promise<readonly Finding[]> {
  if (v2 === null) return v1 === null ? [] : [notConfigured('v2', false)];
  const report = await probeV2Key(v2);
  return [v2KeyFinding(report, environment.v2?.baseUrl ?? ''), routesFinding(environment)];
}

function v2KeyFinding(report: V2KeyReport, baseUrl: string): Finding {
  switch (report.state) {
    case 'works':
      return {
        check: 'v2 key',
        state: 'ok',
        detail: `accepted at ${baseUrl}; ${report.metrics?.length ?? 0} permissions`,
      };
    case 'refused':
      return { check: 'v2 key', state: 'fail', detail: explain(report), code: ExitCode.credentials };
    case 'wrong_route':
      return { check: 'v2 base URL', state: 'fail', detail: explain(report), code: ExitCode.usage };
    case 'unreachable':
      return { check: 'v2 provider', state: 'fail', detail: explain(report), code: ExitCode.unavailable };
  }
}

function routesFinding({ routes, routesFile }: Provider['environment']): Finding {
  const unpublished = Object.values(v2Operations)
    .filter((operation) => operation.route === null)
    .map((operation) => operation.name);
  const missing = missingRoutes(unpublished, routes);
  const from = routesFile === null ? 'no routes file (KYBATCH_V2_ROUTES)' : routesFile;
  const detail = `${from}: ${unpublished.length - missing.length} of ${unpublished.length} unpublished operations have a route`;
  return {
    check: 'v2 routes',
    state: missing.length === 0 ? 'ok' : 'note',
    detail: missing.length === 0 ? detail : `${detail}; without: ${missing.join(' ')}`,
  };
}

const explain = ({ error }: V1KeyReport | V2KeyReport) =>
  error === undefined ? 'no answer' : `${error.code}: ${error.message}. ${error.hint}`;

const notConfigured = (api: 'v1' | 'v2', alone: boolean): Finding =>
  alone
    ? {
        check: 'configuration',
        state: 'fail',
        detail: 'no provider: set KYBATCH_V1_BASE_URL and KYBATCH_V1_API_KEY, or add --sandbox',
        code: ExitCode.usage,
      }
    : { check: `${api} key`, state: 'note', detail: `${api} is not configured` };

function checkDataDir(dataDir: string): Finding {
  const existing = existsSync(dataDir) ? dataDir : dirname(dataDir);
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return {
      check: 'data directory',
      state: 'fail',
      detail: `${existing} is not there, or not readable and writable`,
      code: ExitCode.usage,
    };
  }
  const open = existing === dataDir && (statSync(dataDir).mode & 0o077) !== 0;
  const detail = existing === dataDir ? `${dataDir} is writable` : `${dataDir} will be created`;
  return {
    check: 'data directory',
    state: open ? 'note' : 'ok',
    detail: open ? `${detail}; other users can read it (chmod 700)` : detail,
  };
}

/** Says nothing where the file system does not. */
function checkSpace(dataDir: string, io: Io): readonly Finding[] {
  const free = freeSpace(dataDir, io);
  if (free === undefined) return [];
  const check = 'disk space';
  const detail = `${megabytes(free)} left in ${dataDir}`;
  if (free >= SPACE.noted) return [{ check, state: 'ok', detail }];
  if (free >= SPACE.little) return [{ check, state: 'note', detail: `${detail}; a large run may need more` }];
  const then = `${detail}; free some: below ${megabytes(SPACE.floor)} no run starts`;
  return [{ check, state: 'fail', detail: then, code: ExitCode.internal }];
}

function checkLedger(dataDir: string): Finding {
  const health = checkDatabase(dataDir);
  if (health.state === 'absent') return { check: 'database', state: 'ok', detail: 'none yet' };
  if (health.state === 'sound') return { check: 'database', state: 'ok', detail: 'sound' };
  if (health.state === 'no_driver')
    return { check: 'database', state: 'fail', detail: health.detail, code: ExitCode.usage };
  return {
    check: 'database',
    state: 'fail',
    detail: `damaged: ${health.detail}. Restore a copy; do not delete it: it says what was paid for.`,
    code: ExitCode.internal,
  };
}
