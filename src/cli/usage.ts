import { loadDataDir } from '../config/environment.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { UnknownCharge, UsageLine, UsageReport } from '../ledger/ledger.js';
import { openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { count, grouped, moment, table } from './text.js';
import type { CommonArgs, Verb } from './verb.js';

const UNKNOWN_SHOWN = 20;

export const usageVerb: Verb<CommonArgs> = {
  command: 'usage',
  describe: 'Units and allowance by day, operation and run; calls with unknown charge; drift from the provider',
  builder: (yargs) =>
    yargs
      .example('$0 usage --json', 'for scripts')
      .epilogue(
        'v1 counts in units, one for each success. v2 does not: its calls are counted. An owned answer costs nothing.',
      ),
  async run(args, io) {
    const ledger = openLedgerForReading(loadDataDir(io, args));
    try {
      const report = await ledger.usage();
      const unknown = await ledger.unknownChargesEverywhere(args.json ? -1 : UNKNOWN_SHOWN);
      if (args.json) io.stdout(`${JSON.stringify(toJson(report, unknown))}\n`);
      else io.stderr(inWords(report, unknown));
      return ExitCode.ok;
    } finally {
      await ledger.close();
    }
  },
};

type Environment = UsageReport['environments'][number];

function inWords({ byDay, byOperation, byRun, environments }: UsageReport, unknown: readonly UnknownCharge[]): string {
  if (byDay.length === 0) return 'No call yet.\n';
  const all = environments.reduce((sum, { unknownCalls }) => sum + unknownCalls, 0);
  return [
    usageTable('day (UTC)', byDay),
    usageTable('operation', byOperation),
    usageTable('run', byRun),
    ...environments.map((environment) => `${environmentInWords(environment)}\n`),
    ...(all === 0
      ? ['Every charge is known.\n']
      : [
          `${count(all, 'call')} with unknown charge: the answer was lost, or was a failure that v2 does not call free. The provider may have charged for it.\n`,
          ...unknown.map(
            ({ id, api, operation, runId, row, startedAt, errorCode }) =>
              `  call ${id}: ${api} ${operation}, ${runId === null ? 'by hand' : `run ${runId}, row ${row ?? '-'}`}, ${moment(startedAt)}, ${errorCode ?? 'lost'}\n`,
          ),
          ...(all > unknown.length ? [`  … and ${grouped(all - unknown.length)} more (--json lists all)\n`] : []),
        ]),
  ].join('');
}

const usageTable = (key: string, lines: readonly UsageLine[]): string =>
  `${table(
    [key, 'api', 'calls', 'owned', 'units', 'unknown'],
    lines.map((line) => [line.key, line.api, line.calls, line.owned, line.unitsCharged, line.unknown]),
  )}\n`;

function environmentInWords(environment: Environment): string {
  const { api, name, remainingUnits, dailyLimit, dailyRemaining, resetAt, observedAt, driftUnits } = environment;
  if (observedAt === null) return `${api} at ${name}: no allowance seen`;
  const left = dailyLimit === null ? remainingUnits : (dailyRemaining ?? remainingUnits);
  return [
    `${api} at ${name}: ${left === null ? 'units left not told' : `${count(left, 'unit')} left`}`,
    ...(dailyLimit === null ? [] : [`${grouped(dailyLimit)} a day`]),
    ...(resetAt === null ? [] : [`more at ${moment(resetAt)}`]),
    `seen ${moment(observedAt)}`,
    driftUnits === 0
      ? "our count and the provider's agree"
      : `drift: the provider counts ${grouped(Math.abs(driftUnits))} ${driftUnits > 0 ? 'more' : 'fewer'} than we do (others may share the account)`,
  ].join(', ');
}

const lineToJson = ({ key, api, calls, owned, unitsCharged, unknown }: UsageLine) => ({
  key,
  api,
  calls,
  owned,
  units_charged: unitsCharged,
  unknown,
});

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

const toJson = (report: UsageReport, unknown: readonly UnknownCharge[]) => ({
  by_day: report.byDay.map(lineToJson),
  by_operation: report.byOperation.map(lineToJson),
  by_run: report.byRun.map(lineToJson),
  environments: report.environments.map((environment) => ({
    api: environment.api,
    name: environment.name,
    units_left: environment.remainingUnits,
    daily_limit: environment.dailyLimit,
    daily_remaining: environment.dailyRemaining,
    reset_at: iso(environment.resetAt),
    observed_at: iso(environment.observedAt),
    drift_units: environment.driftUnits,
    unknown_calls: environment.unknownCalls,
  })),
  unknown_calls: unknown.map(({ id, api, operation, runId, row, startedAt, errorCode }) => ({
    call: id,
    api,
    operation,
    run: runId,
    row,
    started_at: iso(startedAt),
    error_code: errorCode,
  })),
});
