import { type DailySeries, type DailyUsage, dailyUsage, type UsageView, usage } from '../../app/admin/usage.js';
import { recordCharges } from '../../app/review/unknown-charges.js';
import { moneyInWords } from '../../cli/terminal/run-words.js';
import { unitsLeft } from '../../domain/account-usage.js';
import { barChart, type Html, html, SHADES } from '../../util/html.js';
import { message } from '../../util/message-parts.js';
import { count, moment, shortRun, withCommas } from '../../util/words.js';
import {
  button,
  card,
  cards,
  dataTable,
  heading,
  NOT_RETURNED,
  numeric,
  panel,
  someOf,
  tablePanel,
  time,
} from '../layout.js';
import { type Action, csvOf, mayDo, screen } from '../site.js';

interface UsageScreenView extends UsageView {
  readonly daily: Readonly<Record<string, DailyUsage>>;
}

const CHARTED = ['operation', 'pipeline'] as const;
const UNKNOWN_SHOWN = 100;

export const usageScreen = screen<UsageScreenView>({
  path: '/usage',
  async load(_, { options, environment }) {
    const read = CHARTED.map(async (by) => [by, await dailyUsage({ ...options, by }, environment)] as const);
    const daily = Object.fromEntries(await Promise.all(read));
    return { ...(await usage({ ...options, unknownAtMost: UNKNOWN_SHOWN }, environment)), daily };
  },
  show(view, _, { user }) {
    const { byDay, byOperation, byRun, daily, environments, permissions, unknownCalls, money, at } = view;
    const sum = (of: 'unitsCharged' | 'reports' | 'calls' | 'owned') => byDay.reduce((all, line) => all + line[of], 0);
    const [reports, owned] = [sum('reports'), sum('owned')];
    const unknown = environments.reduce((all, line) => all + line.unknownCalls, 0);
    return {
      title: 'Usage',
      body: html`${heading('Usage', 'All that this ledger has bought')}
${cards(
  card('Units', withCommas(sum('unitsCharged')), money === undefined ? 'spent in all' : moneyInWords(money)),
  reports > 0 && card('Credit reports', withCommas(reports), 'bought in all'),
  card(
    'Calls',
    withCommas(sum('calls')),
    owned === 0 ? 'sent in all, free ones too' : `free ones too · ${withCommas(owned)} answers reused`,
  ),
  unknown > 0 && card('Unknown charge', count(unknown, 'call'), 'the answer was lost'),
  environments
    .filter(({ api, observedAt }) => api === 'v1' && observedAt !== null)
    .map((one) =>
      card('Units left', withCommas(unitsLeft(one) ?? 0), html`reported ${time(one.observedAt ?? at, at)}`),
    ),
)}
<div class="grid">${MEASURES.map((measure) => Object.entries(daily).map(([by, of]) => chart(of, by, measure)))}</div>
${tablePanel(
  'Calls with unknown charge',
  ['Call', 'Sent', 'Row', ''],
  unknownCalls.map(({ id, api, operation, startedAt, runId, row }) => [
    html`${operation} <span class="dim">${api} · call ${id}</span>`,
    moment(startedAt),
    runId === null ? 'by hand' : `run ${shortRun(runId)}, row ${row ?? 'none'}`,
    mayDo(user.role, 'spend') &&
      html`<div class="row">${VERDICTS.map(([verdict, words]) => button('/usage/charge', words, { call: String(id), verdict }))}</div>`,
  ]),
  html`<p class="sub">Their answers were lost. Look them up in the provider's usage list, then record what you found.</p>`,
)}
${usageTable('Operation', byOperation)}
${usageTable('Run', byRun)}
${tablePanel(
  'Permissions of v2 in use',
  ['Permission', numeric('Used'), numeric('Of'), 'Reported'],
  permissions
    .filter(({ used }) => used !== 0)
    .map(({ name, used, total, observedAt }) => [
      name,
      ...[used, total].map((figure) => (figure === null ? NOT_RETURNED : withCommas(figure))),
      time(observedAt, at),
    ]),
)}`,
    };
  },
  csv: csvOf(({ byDay }) => byDay, {
    day: ({ key }) => key,
    api: ({ api }) => api,
    calls: ({ calls }) => calls,
    owned: ({ owned }) => owned,
    units_charged: ({ unitsCharged }) => unitsCharged,
    credit_reports: (line) => line.reports,
    unknown: (line) => line.unknown,
  }),
});

/** A value for each day. Money has its own words. */
const MEASURES: readonly (readonly [name: string, values: (series: DailySeries) => readonly number[]])[] = [
  ['Units', ({ units }) => units],
  ['Credit reports', ({ reports }) => reports],
  ['v2 calls', ({ calls }) => calls],
  ['Money', ({ money = [] }) => money.map(({ amount }) => Number(amount))],
];

function chart({ days, series }: DailyUsage, by: string, [name, valuesOf]: (typeof MEASURES)[number]): Html | false {
  const drawn = series.filter((one) => valuesOf(one).some((value) => value > 0));
  if (drawn.length === 0) return false;
  const title = `${name} a day (UTC) by ${by}`;
  const bars = drawn.map((one, nth) => {
    const values = valuesOf(one);
    const texts = (name === 'Money' && one.money?.map(moneyInWords)) || values.map(withCommas);
    return { name: one.name ?? 'others', tone: SHADES[nth] ?? 'shade6', values, texts };
  });
  const dates = days.map((day) => day.slice(5));
  return panel(title, barChart(dates, bars, title, true));
}

function usageTable(first: string, lines: UsageView['byDay']): Html {
  return panel(
    `By ${first.toLowerCase()}`,
    dataTable(
      [first, ...['Calls', 'Reused', 'Units', 'Credit reports', 'Unknown charge', 'Money'].map(numeric)],
      lines.map((line) => [
        html`${line.key || 'by hand'} <span class="dim">${line.api}</span>`,
        ...[line.calls, line.owned, line.unitsCharged, line.reports, line.unknown].map(someOf),
        line.money && moneyInWords(line.money),
      ]),
      'No call yet.',
    ),
  );
}

const VERDICTS = [
  ['charged', 'It was charged'],
  ['free', 'It was free'],
  ['resend', 'Ask again'],
] as const;

export const chargeAction: Action = {
  path: '/usage/charge',
  needs: 'spend',
  async run(form, _, { options, environment, user }) {
    const call = form.get('call') ?? '';
    const [verdict = 'resend'] = VERDICTS.find(([known]) => known === form.get('verdict')) ?? [];
    const asked = { ...options, which: [call], verdict, by: user.name };
    const { outcome, contradictions } = await recordCharges(asked, environment);
    if (outcome !== 'settled')
      return { message: message('CHARGE_KEPT', `The charge of call ${call} is known already.`, 'attention') };
    const done =
      contradictions.length > 0
        ? message('CHARGE_CONTRADICTED', "Recorded, but the provider's counter contradicts it.", 'attention')
        : message('CHARGE_RECORDED', verdict === 'resend' ? 'The next run asks again.' : 'Recorded.');
    return { message: done };
  },
};
