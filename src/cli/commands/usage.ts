import type { UsageView } from '../../app/admin/usage.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import type { CommonArgs, Verb } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { allowancesJson, contactsInWords, permissionsInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, iso, moment, sentFor, withCommas, withPlace } from '../terminal/text.js';
import { textTable } from '../terminal/view.js';

const UNKNOWN_SHOWN = 20;

export const usageVerb: Verb<CommonArgs> = {
  command: 'usage',
  describe: 'Units and allowance by day, operation and run; calls with unknown charge; drift from the provider',
  builder: (yargs) =>
    yargs
      .example('$0 usage --json', 'for scripts')
      .epilogue(
        'v1 counts in units, one for each success. v2 does not: its calls are counted, and what it counts itself is shown as the last start, or `kybatch doctor`, was told. Nothing is sent. An owned answer costs nothing.',
      ),
  async run({ dataDir, json }, io) {
    const { usage } = await import('../../app/admin/usage.js');
    const view = await usage({ dataDir, unknownAtMost: json ? undefined : UNKNOWN_SHOWN }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => usageToJson(view),
      () => mapTexts(usageInWords(view), (text) => withPlace(text, placeFlags({ dataDir }))),
    );
    return ExitCode.ok;
  },
};

export function usageInWords(view: UsageView): readonly Message[] {
  const { byDay, byOperation, byRun, environments, permissions, contacts, unknownCalls, underWay } = view;
  const toldByV2 = [
    ...permissionsInWords(permissions),
    ...contacts.map((counts) => message('CONTACTS_REVEALED', contactsInWords(counts))),
  ];
  if (byDay.length === 0 && underWay === 0) return [message('NO_CALL_YET', 'No call yet.'), ...toldByV2];
  // v2 does not count in units: what it has told stands in a table of its own.
  const told = new Set([...permissions, ...contacts].map(({ environment }) => environment));
  const all = environments.reduce((sum, { unknownCalls }) => sum + unknownCalls, 0);
  return [
    message('USAGE_BY_DAY', usageTable('day (UTC)', byDay)),
    message('USAGE_BY_OPERATION', usageTable('operation', byOperation)),
    message('USAGE_BY_RUN', usageTable('run', byRun)),
    ...toldByV2,
    ...environments
      .filter(({ api, name }) => api === 'v1' || !told.has(name))
      .map((environment) => message('ALLOWANCE', environmentInWords(environment))),
    ...(underWay === 0
      ? []
      : [
          message(
            'CALLS_UNDER_WAY',
            `${count(underWay, 'call')} under way, or lost with a process that died: what became of ${underWay === 1 ? 'it' : 'them'} is booked by the next start.`,
          ),
        ]),
    ...(all === 0
      ? underWay === 0
        ? [message('EVERY_CHARGE_KNOWN', 'Every charge is known.')]
        : []
      : [
          message(
            'CHARGES_UNKNOWN',
            `${count(all, 'call')} with unknown charge: the answer was lost, or was a failure that v2 does not call free. The provider may have charged for it. \`kybatch doubt\` settles it.`,
          ),
          ...unknownCalls.map((call) =>
            message(
              'CHARGE_UNKNOWN',
              `  call ${call.id}: ${call.api} ${call.operation}, ${sentFor(call)}, ${moment(call.startedAt)}, ${call.errorCode ?? 'lost'}`,
            ),
          ),
          ...(all > unknownCalls.length
            ? [
                message(
                  'CHARGES_UNKNOWN_MORE',
                  `  … and ${withCommas(all - unknownCalls.length)} more (--json lists all)`,
                ),
              ]
            : []),
        ]),
  ];
}

const usageTable = (key: string, lines: UsageView['byDay']): string =>
  textTable(
    [key, 'api', 'calls', 'owned', 'units', 'unknown'],
    lines.map((line) => [line.key, line.api, line.calls, line.owned, line.unitsCharged, line.unknown]),
  );

function environmentInWords(environment: Environment): string {
  const { api, name, remainingUnits, dailyLimit, dailyRemaining, resetAt, observedAt } = environment;
  if (observedAt === null) return `${api} at ${name}: no allowance seen`;
  const left = dailyLimit === null ? remainingUnits : (dailyRemaining ?? remainingUnits);
  return [
    `${api} at ${name}: ${left === null ? 'units left not told' : `${count(left, 'unit')} left`}`,
    ...(dailyLimit === null ? [] : [`${withCommas(dailyLimit)} a day`]),
    ...(resetAt === null ? [] : [`more at ${moment(resetAt)}`]),
    `seen ${moment(observedAt)}`,
    driftInWords(environment),
  ].join(', ');
}

type Environment = UsageView['environments'][number];

/** Nobody says that the two agree who has not compared them; and calls of unknown charge may be what they differ by. */
function driftInWords(environment: Environment): string {
  const { driftUnits, unknownCalls, notCompared } = environment;
  const why =
    unknownCalls === 0 ? 'others may share the account' : 'calls of unknown charge, or others who share the account';
  const drift = `the provider counts ${withCommas(Math.abs(driftUnits))} ${driftUnits > 0 ? 'more' : 'fewer'} than we do (${why})`;
  if (notCompared !== null) {
    const before = driftUnits === 0 ? '' : `; before that ${drift}`;
    return `our count and the provider's are not compared: ${NOT_COMPARED[notCompared]}${before}`;
  }
  const but = unknownCalls === 0 ? '' : `, but for ${count(unknownCalls, 'call')} of unknown charge`;
  return `${driftUnits === 0 ? `our count and the provider's agree${but}` : `drift: ${drift}`}${openInWords(environment)}`;
}

const NOT_COMPARED: Readonly<Record<NonNullable<Environment['notCompared']>, string>> = {
  never_told: 'it has not told how many units are left while nothing else was under way',
  under_way: 'calls are under way, or were when a process died; the first answer after them compares',
  renewed: 'the units were renewed since; the next answer begins anew',
  spent:
    'it has refused for want of allowance since, and not told how many units others have used; the next answer compares',
};

/** The provider may still be at work on the call, so nothing is booked before the next answer. */
const openInWords = ({ api, waitsFor }: Environment): string =>
  waitsFor === null
    ? ''
    : `; call ${waitsFor.call} is not settled yet: the first answer of ${api} after ${moment(waitsFor.until + 59_999)} compares for good`;

const lineToJson = ({ key, api, calls, owned, unitsCharged, unknown }: UsageView['byDay'][number]) => ({
  key,
  api,
  calls,
  owned,
  units_charged: unitsCharged,
  unknown,
});

export const usageToJson = (view: UsageView) => ({
  under_way: view.underWay,
  by_day: view.byDay.map(lineToJson),
  by_operation: view.byOperation.map(lineToJson),
  by_run: view.byRun.map(lineToJson),
  ...allowancesJson(view),
  unknown_calls: view.unknownCalls.map(({ id, api, operation, runId, row, line, startedAt, errorCode }) => ({
    call: id,
    api,
    operation,
    run: runId,
    row,
    line,
    started_at: iso(startedAt),
    error_code: errorCode,
  })),
});
