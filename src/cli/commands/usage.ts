import type { UsageView } from '../../app/admin/usage.js';
import { unexplainedUnits, unitsLeft } from '../../domain/account-usage.js';
import type { Money } from '../../domain/prices.js';
import { type Message, message, sentence } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, decimalWithCommas, listed, moment, NONE, shortRun, withCommas } from '../../util/words.js';
import { register } from '../command.js';
import { allowancesJson, contactsInWords, permissionsInWords, providerInWords } from '../terminal/allowance-words.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { moneyInWords, unpricedInWords } from '../terminal/run-words.js';
import { compactTable, view } from '../terminal/view.js';

export const usageCommand = register({
  command: 'usage',
  describe: 'Show units, reports, allowances and unknown charges',
  async run({ dataDir }, io) {
    const { usage } = await import('../../app/admin/usage.js');
    const used = await usage({ dataDir, unknownAtMost: io.json ? undefined : 0 }, appEnvironment(io));
    printResult(io, usageJson(used), usageInWords(used));
  },
});

export function usageInWords(used: UsageView): readonly Message[] {
  const { byDay, byOperation, byRun, environments, permissions, contacts, underWay } = used;
  const v2Counts = [
    permissionsInWords(permissions),
    contacts
      .filter(({ emailCount, phoneCount }) => (emailCount ?? 0) + (phoneCount ?? 0) > 0)
      .map((counts) => message('CONTACTS_REVEALED', contactsInWords(counts))),
  ];
  if (byDay.length === 0 && underWay === 0) return view(message('NO_CALL_YET', 'No calls yet.'), v2Counts);
  // v2 does not count in units. Its own counts have a table.
  const inTable = new Set([...permissions, ...contacts].map(({ environment }) => environment));
  const unknown = environments.reduce((sum, environment) => sum + environment.unknownCalls, 0);
  return view(
    message('USAGE_BY_DAY', usageTable('day (UTC)', byDay)),
    message('USAGE_BY_OPERATION', usageTable('operation', byOperation)),
    message('USAGE_BY_RUN', usageTable('run', byRun)),
    used.money !== undefined && message('MONEY_SPENT', totalInWords(used.money)),
    v2Counts,
    environments
      .filter(({ api, name }) => api === 'v1' || !inTable.has(name))
      .map((environment) => message('ALLOWANCE', environmentInWords(environment, used.olderCopy !== null))),
    used.olderCopy !== null &&
      message('NEW_LEDGER', `! This is an older ledger: ${sentence(used.olderCopy)} \`kybatch doctor\``, 'attention'),
    underWay > 0 && message('CALLS_UNDER_WAY', `${count(underWay, 'call')} in flight.`),
    unknown + underWay === 0 && message('EVERY_CHARGE_KNOWN', 'Every charge is known.', 'done'),
    unknown > 0 &&
      message(
        'CHARGES_UNKNOWN',
        `! ${count(unknown, 'call has', 'calls have')} an unknown charge. The provider may have charged for ${unknown === 1 ? 'it' : 'them'}. To record it: \`kybatch charges\``,
        'attention',
      ),
  );
}

const totalInWords = (money: Money): string =>
  `Total: ${moneyInWords(money)}${money.without === undefined ? '' : ` without ${unpricedInWords(money)}: no price is set`}`;

/** A line without any price has no amount. */
const amountInWords = (money: Money | undefined): string =>
  money === undefined || (money.without !== undefined && !/[1-9]/.test(money.amount))
    ? NONE
    : decimalWithCommas(money.amount);

function usageTable(key: string, lines: UsageView['byDay']): string {
  const amounts = lines.map(({ money }) => amountInWords(money));
  const width = Math.max(...amounts.map(({ length }) => length));
  // 80 columns have no room for the long heading beside the reports.
  const hasReports = lines.some(({ reports }) => reports > 0);
  return compactTable(
    [
      key,
      'api',
      'calls',
      'reused',
      'v1 units',
      'reports',
      hasReports ? 'unknown' : 'unknown charge',
      (lines[0]?.money?.currency ?? '').padStart(width),
    ],
    lines.map((line, index) => [
      shortRun(line.key ?? 'manual'),
      line.api,
      line.calls,
      line.owned,
      line.api === 'v1' ? line.unitsCharged : NONE,
      line.reports,
      line.unknown,
      line.money === undefined ? '' : (amounts[index]?.padStart(width) ?? ''),
    ]),
  );
}

type Environment = UsageView['environments'][number];

function environmentInWords(environment: Environment, isOlderCopy: boolean): string {
  const { api, name, dailyLimit, resetAt, observedAt } = environment;
  if (observedAt === null) return `${api} ${providerInWords(name)}: allowance unknown`;
  const left = unitsLeft(environment);
  const units = listed([
    left === null ? 'units left unknown' : `${count(left, 'unit')} left`,
    dailyLimit !== null && `${withCommas(dailyLimit)} a day`,
    resetAt !== null && `reset ${moment(resetAt)}`,
  ]);
  const compared = isOlderCopy ? '' : `\n  ${driftInWords(environment)}`;
  return `${api} ${providerInWords(name)}: ${units} (${moment(observedAt)})${compared}`;
}

/** Calls of unknown charge may explain a difference. Counts that cannot be compared now are not said to agree. */
function driftInWords(environment: Environment): string {
  const { api, driftUnits, unknownCalls, notCompared, waitsFor } = environment;
  const others = unexplainedUnits(environment);
  const why = listed(
    [
      others > 0 &&
        `${withCommas(others)} not in the ledger: others may use the account, or it was renewed to fewer units`,
      driftUnits > others && `up to ${withCommas(driftUnits - others)} for calls with unknown charge`,
    ],
    ', ',
  );
  const drift = `the provider counts ${count(Math.abs(driftUnits), 'unit')} ${driftUnits > 0 ? `more (${why})` : 'less'}`;
  if (notCompared !== null) {
    const before = driftUnits === 0 ? '' : `. Before that, ${drift}`;
    return `Not compared with the provider's counter yet: ${NOT_COMPARED[notCompared]}${before}.`;
  }
  const but = unknownCalls === 0 ? '' : `, apart from ${count(unknownCalls, 'call')} with unknown charge`;
  // The provider may still be working on the last call, so its next answer decides.
  const open =
    waitsFor === null
      ? ''
      : ` Call ${waitsFor.call} has no result yet: the first answer of ${api} after ${moment(waitsFor.until + 59_999)} decides.`;
  return `${driftUnits === 0 ? `The ledger and the provider's counter agree${but}.` : `Drift: ${drift}.`}${open}`;
}

const NOT_COMPARED: Readonly<Record<NonNullable<Environment['notCompared']>, string>> = {
  never_told: 'it has not reported the units left while no other call was in flight',
  under_way: 'calls are in flight. The first answer after them compares',
  renewed:
    'the allowance was renewed, or a charge was recorded that the provider did not make. The next answer starts again',
  spent: 'the allowance was used up. The next answer compares',
};

export const usageJson = (used: UsageView) => ({
  ...pick(used, 'underWay', 'byDay', 'byOperation', 'byRun'),
  money: used.money,
  ...allowancesJson(used),
  olderCopy: used.olderCopy ?? undefined,
  unknownCalls: used.unknownCalls.map((call) => ({
    call: call.id,
    ...pick(call, 'api', 'operation'),
    run: call.runId,
    ...pick(call, 'row', 'line', 'startedAt', 'errorCode'),
  })),
});
