import type { UsageView } from '../../app/admin/usage.js';
import { moneyInWords } from '../../cli/terminal/run-words.js';
import { unitsLeft } from '../../domain/account-usage.js';
import { barChart, html } from '../../util/html.js';
import { count, moment, withCommas } from '../../util/words.js';
import { card, cards, dataTable, heading, numeric, panel, time } from '../layout.js';
import { screen } from '../site.js';

const UNKNOWN_SHOWN = 100;

export const usageScreen = screen<UsageView & { readonly at: number }>({
  path: '/usage',
  async load(_, { options, around }) {
    const { usage } = await import('../../app/admin/usage.js');
    return { ...(await usage({ ...options, unknownAtMost: UNKNOWN_SHOWN }, around)), at: around.clock.now() };
  },
  show(view) {
    const { byDay, byOperation, byRun, environments, permissions, unknownCalls, money, at } = view;
    const units = byDay.reduce((sum, line) => sum + line.unitsCharged, 0);
    const reports = byDay.reduce((sum, line) => sum + line.reports, 0);
    const calls = byDay.reduce((sum, line) => sum + line.calls, 0);
    const owned = byDay.reduce((sum, line) => sum + line.owned, 0);
    const unknown = environments.reduce((sum, line) => sum + line.unknownCalls, 0);
    const days = [...new Set(byDay.map(({ key }) => key))].sort().slice(-30);
    const ofDay = (api: string) =>
      days.map((day) => byDay.find((line) => line.key === day && line.api === api)?.calls ?? 0);
    const hasMoney = money !== undefined;
    const lines = (all: UsageView['byDay']) =>
      all.map((line) => [
        html`${line.key || 'by hand'} <span class="dim">${line.api}</span>`,
        withCommas(line.calls),
        line.owned === 0 ? '' : withCommas(line.owned),
        line.unitsCharged === 0 ? '' : withCommas(line.unitsCharged),
        line.reports === 0 ? '' : withCommas(line.reports),
        line.unknown === 0 ? '' : withCommas(line.unknown),
        ...(hasMoney ? [line.money === undefined ? '' : moneyInWords(line.money)] : []),
      ]);
    const columns = (first: string) => [
      first,
      numeric('Calls'),
      numeric('Reused'),
      numeric('Units'),
      numeric('Credit reports'),
      numeric('Unknown charge'),
      ...(hasMoney ? [numeric('Money')] : []),
    ];
    return {
      title: 'Usage',
      body: html`${heading('Usage', 'All that this ledger has bought')}
${cards(
  card('Units', withCommas(units), money === undefined ? 'spent in all' : moneyInWords(money)),
  reports > 0 && card('Credit reports', withCommas(reports), 'bought in all'),
  card(
    'Calls',
    withCommas(calls),
    owned === 0 ? 'sent in all, free ones too' : `free ones too · ${withCommas(owned)} answers reused`,
  ),
  unknown > 0 && card('Unknown charge', count(unknown, 'call'), 'the answer was lost'),
  environments
    .filter(({ api, observedAt }) => api === 'v1' && observedAt !== null)
    .map((one) =>
      card(
        'Units left',
        unitsLeft(one) === null ? 'unknown' : withCommas(unitsLeft(one) ?? 0),
        html`reported ${time(one.observedAt ?? at, at)}`,
      ),
    ),
)}
${
  days.length > 0 &&
  panel(
    'Calls a day (UTC)',
    barChart(
      days.map((day) => day.slice(5)),
      (
        [
          ['v1', 'accent'],
          ['v2', 'bar'],
        ] as const
      ).map(([api, tone]) => ({
        name: api,
        tone,
        values: ofDay(api),
        texts: ofDay(api).map((value) => withCommas(value)),
      })),
      'Calls a day',
      true,
    ),
  )
}
${panel('By operation', dataTable(columns('Operation'), lines(byOperation), 'No call yet.'))}
${panel('By run', dataTable(columns('Run'), lines(byRun), 'No call yet.'))}
${
  permissions.length > 0 &&
  panel(
    'Permissions of v2 in use',
    dataTable(
      ['Permission', numeric('Used'), numeric('Of'), 'Reported'],
      permissions
        .filter(({ used }) => used !== 0)
        .map(({ name, used, total, observedAt }) => [
          name,
          used === null ? html`<span class="dim">not returned</span>` : withCommas(used),
          total === null ? html`<span class="dim">not returned</span>` : withCommas(total),
          time(observedAt, at),
        ]),
    ),
  )
}
${
  unknownCalls.length > 0 &&
  panel(
    'Calls with unknown charge',
    html`<p class="sub">Their answers were lost. Settle them with <code>kybatch charges</code>.</p>${dataTable(
      ['Call', 'Sent', 'Run', numeric('Row')],
      unknownCalls.map(({ api, operation, startedAt, runId, row }) => [
        `${api} ${operation}`,
        moment(startedAt),
        runId ?? 'by hand',
        row ?? '',
      ]),
    )}`,
  )
}`,
    };
  },
  csv: ({ byDay }) => ({
    header: ['day', 'api', 'calls', 'owned', 'units_charged', 'credit_reports', 'unknown'],
    lines: byDay.map(({ key, api, calls, owned, unitsCharged, reports, unknown }) => [
      key,
      api,
      calls,
      owned,
      unitsCharged,
      reports,
      unknown,
    ]),
  }),
});
