import { basename } from 'node:path';
import { type CompanyListView, type CompanyView, company, type StoredAnswerView } from '../../app/portfolio/company.js';
import type { CreditReportView, FigureLine, FigureTable } from '../../app/portfolio/company-facts.js';
import { moneyInWords } from '../../cli/terminal/run-words.js';
import { GRAPH_LIMITS } from '../../domain/ownership-graph.js';
import { barChart, type Html, html, joined, lineChart, type Markup, type Series } from '../../util/html.js';
import { count, decimalWithCommas, listed, moment } from '../../util/words.js';
import {
  aged,
  box,
  capitalized,
  chip,
  dataTable,
  dim,
  facts,
  heading,
  NOT_RETURNED,
  numeric,
  panel,
  returned,
  type TableColumn,
  tablePanel,
  time,
} from '../layout.js';
import { ownershipDrawing } from '../ownership-drawing.js';
import { type PageRequest, screen } from '../site.js';
import { changedFields, changeInWords, fieldInWords } from './changes.js';
import { companyAddress, outcomeChip } from './companies.js';

/** "All of the graph" is drawn up to this size: the layout of 200 nodes takes 0.3 s. */
const WIDE_GRAPH = { hops: 6, neighbours: 40, nodes: 120 };

export const companyScreen = screen<CompanyView>({
  path: '/companies/:space/:id',
  load({ params: { space = '', id = '' }, query }, { options, environment }) {
    const graph = query.has('graph') ? WIDE_GRAPH : GRAPH_LIMITS;
    return company({ ...options, space, id, includeContacts: query.has('contacts'), graph }, environment);
  },
  show(view, request) {
    const { name, at, figures, reports, changes, decisions, rows, answers, damagedAnswers } = view;
    const title = name ?? `${view.space} ${view.id}`;
    return {
      title,
      body: html`${heading(title, subtitle(view), contactsLink(request))}
${damagedAnswers > 0 && html`<p class="notice bad">${count(damagedAnswers, 'stored answer is', 'stored answers are')} damaged and not shown.</p>`}
<div class="grid">
${panel('Company', companyPanel(view))}
${panel(reports.length > 1 ? `Credit reports (${reports.length})` : 'Credit report', reportsPanel(reports, at))}
${figurePanels(figures)}
</div>
${ownershipPanel(view, request)}
${view.lists.map(listPanel)}
<div class="grid">
${panel(
  'Changes',
  dataTable(
    ['When', 'Field', 'Before → now'],
    changedFields(changes).map(({ change, field }) => [
      html`<time>${moment(change.changedAt).slice(0, 10)}</time>`,
      fieldInWords(field),
      changeInWords(field),
    ]),
    'No change was recorded.',
  ),
)}
${tablePanel(
  'Listed in',
  ['List', numeric('Row'), 'Outcome', 'Reason'],
  rows.map((row) => [
    html`<span title="${row.portfolio}">${row.portfolio === null ? `run ${row.runId}` : basename(row.portfolio)}</span>${row.leftAt !== null && html`<br><span class="dim">left the list ${time(row.leftAt, at)}</span>`}`,
    row.row,
    outcomeChip(row.outcome),
    row.reason,
  ]),
)}
${tablePanel(
  'Decisions',
  ['Decision', 'By', 'When'],
  decisions.map((one) => [
    html`${one.summary}${one.note && html`<br><span class="dim">${one.note}</span>`}${one.withdrawnAt !== null && chip('detail', 'withdrawn')}${one.held && chip('attention', 'waits for a second person')}`,
    listed([one.decidedBy, one.secondBy], ' and '),
    time(one.decidedAt, at),
  ]),
)}
</div>
${panel('Stored answers', answersTable(answers, at))}`,
    };
  },
});

function subtitle({ countryCode, registrationNumber, register, status, state, rows }: CompanyView): Markup {
  const [first] = rows;
  return joined(
    [
      joined([countryCode, registrationNumber, register], ' · '),
      status !== null && chip(state === null ? 'detail' : state === 'dormant' ? 'attention' : 'failed', status),
      rows.every(({ reason }) => reason === first?.reason) && first?.reason,
    ],
    ' · ',
  );
}

const contactsLink = ({ path, query }: PageRequest): Html =>
  query.has('contacts')
    ? html`<a class="btn" href="${path}">Hide contacts</a>`
    : html`<a class="btn" href="${path}?contacts=1">Show contacts</a>`;

/** Other facts have the name of their column. */
const FACT_WORDS: Readonly<Record<string, string>> = {
  vat_number: 'VAT number',
  incorporation_date: 'Incorporated',
  country_code: 'Country',
  jurisdiction: 'Register',
};

function companyPanel({ facts: all, lists }: CompanyView): Html {
  const counted = (name: string): Markup => {
    const list = lists.find((one) => one.name === name);
    return list?.state === 'returned' ? `${list.items.length} returned` : missing(list?.state);
  };
  return facts([
    ...all.map(({ name, state, value, others }): readonly [string, Markup] => [
      FACT_WORDS[name] ?? capitalized(name.replaceAll('_', ' ')),
      state === 'returned'
        ? html`${value}${others.map((other) => html`<br>${dim(`${other.value} (${other.operation})`)}`)}`
        : missing(state),
    ]),
    ['Officers', counted('officers')],
    ['Shareholders', counted('shareholders')],
    ['Group links', counted('group_links')],
  ]);
}

const missing = (state = 'not_bought'): Markup => (state === 'not_returned' ? NOT_RETURNED : dim('not bought'));

function reportsPanel(reports: readonly CreditReportView[], at: number): Html {
  const [newest] = reports;
  if (newest === undefined) return html`<p class="dim">No credit report is stored.</p>`;
  const remarks = (wanted: string) =>
    newest.remarks.filter(({ kind }) => kind === wanted).map(({ text }) => html`<p>${text}</p>`);
  return html`${facts([
    ['Risk', returned(newest.risk, (risk) => html`<b>${risk}</b> ${newest.riskWords}`)],
    ['Credit limit', moneyOf(newest.creditLimit, newest.creditLimitCurrency)],
    ['Probability of default', returned(newest.probabilityOfDefault, amount)],
    // The summary has no currency of its own.
    ['Turnover, by this report', moneyOf(newest.turnover, null)],
    ['Employees', returned(newest.employees, amount)],
    ['Court judgements', returned(newest.courtJudgements, amount)],
    ['Charges', returned(newest.charges, amount)],
    ['Mortgages', returned(newest.mortgages, amount)],
    ['Generated', returned(newest.dateCreated, dayOf)],
    ['Opened', newest.fetchedAt === null ? dim('not yet') : time(Date.parse(newest.fetchedAt), at)],
    ['In favour', remarks('positive')],
    ['Caution', remarks('caution')],
  ])}${reports.length > 1 && reportHistory(reports)}`;
}

function reportHistory(reports: readonly CreditReportView[]): Html {
  const limits = reports.toReversed();
  const [currency, ...others] = new Set(limits.map(({ creditLimitCurrency }) => creditLimitCurrency));
  const dates = limits.map(({ dateCreated }) => dayOf(dateCreated ?? ''));
  const values = limits.map(({ creditLimit }) => creditLimit);
  const words = `Credit limit over time, ${currency ?? 'currency not returned'}`;
  return html`${others.length === 0 && lineChart(dates, [seriesOf('Credit limit', 'accent', values)], words)}${dataTable(
    ['Generated', 'Risk', numeric('Credit limit')],
    reports.map(({ dateCreated, risk, riskWords, creditLimit, creditLimitCurrency }) => [
      dayOf(dateCreated ?? ''),
      html`${risk} ${riskWords}`,
      moneyOf(creditLimit, creditLimitCurrency),
    ]),
  )}`;
}

const dayOf = (text: string): string => text.slice(0, 10);

const moneyOf = (value: string | null | undefined, currency: string | null | undefined): Markup =>
  returned(value, (text) => html`${amount(text)} ${currency ?? dim('currency not returned')}`);

/** Exact, with commas and a real minus. */
const amount = (text: string): string =>
  text.startsWith('-') ? `−${decimalWithCommas(text.slice(1))}` : decimalWithCommas(text);

const seriesOf = (name: string, tone: Series['tone'] = 'bar', values: readonly (string | null)[]): Series => ({
  name,
  tone,
  values: values.map((value) => {
    const figure = value === null || value.trim() === '' ? Number.NaN : Number(value);
    return Number.isFinite(figure) ? figure : null;
  }),
  texts: values.map((value) => (value === null ? null : amount(value))),
});

const PERIODS_SHOWN = 10;

/** Bars and lines of the flat financials, one chart for each currency, and all figures below. */
function figurePanels(figures: readonly FigureTable[]): Markup {
  if (figures.length === 0)
    return panel('Figures', html`<p class="dim">No figures were bought, or none were returned.</p>`);
  return figures.map((of) => {
    const title = of.group === null ? 'Flat financials' : `Filed accounts: ${of.group}`;
    const key = of.lines.filter(({ isKey }) => isKey);
    const rest = of.lines.filter(({ isKey }) => !isKey);
    return html`${of.group === null && charts(of)}${panel(
      `${title} · ${of.operation}`,
      html`${key.length > 0 && figuresTable({ ...of, lines: key })}${rest.length > 0 && html`<details><summary>${count(rest.length, key.length > 0 ? 'further figure' : 'figure')}</summary>${figuresTable({ ...of, lines: rest })}</details>`}`,
    )}`;
  });
}

const CHARTS: readonly (readonly [title: string, names: readonly string[], draw: typeof lineChart])[] = [
  ['Turnover and profit', ['Turnover', 'Profit-after-Tax'], barChart],
  ['Assets and funds', ['Total-Assets', 'Shareholder-Funds'], lineChart],
];
const TONES = ['bar', 'accent'] as const;

function charts({ periods, currencies, lines }: FigureTable): Markup {
  const used = [...new Set(currencies)];
  return CHARTS.flatMap(([title, names, draw]) =>
    used.map((currency) => {
      const at = periods.flatMap((_, index) => (currencies[index] === currency ? [index] : [])).slice(-PERIODS_SHOWN);
      const pick = <Value>(all: readonly Value[]) => at.map((index) => all[index] ?? null);
      const series = names.flatMap((name, nth) => {
        const found = lines.filter((line) => line.name === name);
        return found.map(({ values }) => seriesOf(name.replaceAll('-', ' '), TONES[nth], pick(values)));
      });
      if (!series.some(({ values }) => values.some((value) => value !== null))) return false;
      const words = `${title}, ${currency ?? 'currency not returned'}`;
      return panel(words, draw(pick(periods).map(String), series, words));
    }),
  );
}

function figuresTable({ periods, currencies, lines, group }: FigureTable): Html {
  const shown = periods.map((_, index) => index).slice(-PERIODS_SHOWN);
  const notReturned = html`<span class="dim" title="not returned">n/r</span>`;
  const cells = (values: FigureLine['values'], show = amount) =>
    shown.map((index): Markup => (values[index] == null ? notReturned : show(values[index])));
  const currency = currencies.every((one) => one === null)
    ? [dim('Currency'), dim(group === null ? 'not returned' : 'filed accounts have none')]
    : ['Currency', ...cells(currencies, String)];
  return dataTable(
    ['Figure', ...shown.map((index) => numeric(periods[index] ?? ''))],
    [currency, ...lines.map(({ name, values }) => [name.replaceAll('-', ' '), ...cells(values)])],
  );
}

function ownershipPanel({ graph, lists, listedNodes }: CompanyView, { path, query }: PageRequest): Html {
  const told = ['shareholders', 'group_links'].map((name) => {
    const { state = 'not_bought', items = [] } = lists.find((list) => list.name === name) ?? {};
    const words = name.replace('_', ' ');
    if (state !== 'returned') return `${words}: ${state.replace('_', ' ')}`;
    return items.length === 0 && `${words}: the list is empty, which does not prove that there are none`;
  });
  const isWide = query.has('graph');
  const hidden = graph.linked - graph.nodes.length;
  return panel(
    'Ownership · direct shareholdings and group links, no beneficial owner is implied',
    html`${
      graph.nodes.length > 1 &&
      box(
        'Ownership graph',
        ownershipDrawing(
          graph,
          `${count(graph.nodes.length, 'node')} of the ownership graph`,
          (key) => listedNodes[key] && companyAddress(listedNodes[key]),
        ),
      )
    }
<p class="dim">${joined([...told, graph.notLinked > 0 && `${count(graph.notLinked, 'further company is', 'further companies are')} named without a link to this one`, graph.nodes.length > 1 && 'Chains end where the data ends', Object.keys(listedNodes).length > 0 && 'A node that leads to a page is in your lists'], ' · ')}</p>
${!isWide && hidden > 0 && html`<p><a class="btn" href="${path}?graph=1">Show more of ${graph.linked}</a></p>`}`,
  );
}

type Row = CompanyListView['items'][number];

type ListColumn = readonly [TableColumn, (row: Row) => Markup];

const source = ['Source', (row: Row) => dim(row.operation)] as const;
const contacts = [
  ['E-mail', (row: Row) => row.email],
  ['Phone', (row: Row) => row.phone],
] as const;

/** By the name of their table. */
const LISTS: Readonly<Record<string, readonly ListColumn[]>> = {
  officers: [
    ['Name', (row) => listed([row.first_name, row.last_name], ' ')],
    ['Role', (row) => row.job_title],
    ['Appointed', (row) => row.appointed_at],
    ['Resigned', (row) => row.resigned_at],
    ['Status', (row) => row.work_status],
    ['Born', (row) => listed([row.date_of_birth_year, row.date_of_birth_month?.padStart(2, '0')], '-')],
    ...contacts,
    source,
  ],
  shareholders: [
    ['Holder', (row) => row.name ?? NOT_RETURNED],
    [numeric('Percent'), (row) => returned(row.percentage, (percentage) => `${amount(percentage)} %`)],
    [numeric('Shares'), (row) => row.quantity && amount(row.quantity)],
    ['Class', (row) => row.share_type],
    [numeric('Value'), (row) => row.total_value && moneyOf(row.total_value, row.currency)],
    ['Status', (row) => row.status],
    source,
  ],
  people: [
    ['Name', (row) => row.full_name ?? row.name],
    ['Role', (row) => row.job_title],
    ['Country', (row) => row.country],
    ...contacts,
    source,
  ],
};

const ITEMS_SHOWN = 100;

/** A list that was not bought has no panel. One that did not come says so. */
function listPanel({ name, state, items }: CompanyListView): Markup {
  const [columns, title] = [LISTS[name], capitalized(name)];
  if (columns === undefined || state === 'not_bought') return false;
  if (state === 'not_returned') return panel(title, NOT_RETURNED);
  const lines = items.slice(0, ITEMS_SHOWN).map((row) => columns.map(([, cell]) => cell(row)));
  const names = columns.map(([column]) => column);
  return panel(`${title} (${items.length})`, [
    dataTable(names, lines, 'The list is empty. That does not prove that there are none.'),
    items.length > ITEMS_SHOWN &&
      html`<p class="dim">and ${items.length - ITEMS_SHOWN} more in the JSON of this page</p>`,
  ]);
}

const answersTable = (answers: readonly StoredAnswerView[], at: number): Html =>
  dataTable(
    ['Answer', aged('Bought'), 'Price', 'Digest', ''],
    answers.map((answer) => [
      html`${answer.operation} <span class="dim">${listed([answer.api, answer.stage], ' · ')}</span>`,
      time(answer.fetchedAt, at),
      priceInWords(answer),
      html`<code title="${answer.rawSha256}">${answer.rawSha256.slice(0, 12)}…</code>`,
      answer.shown ? chip('done', 'shown here') : chip('detail', answer.replaced ? 'replaced' : 'search or not shown'),
    ]),
    'No answer is stored.',
  );

function priceInWords({ meter, charge, unitsCharged, money }: StoredAnswerView): Markup {
  const priced =
    money !== undefined && money.without === undefined && charge === 'charged' ? ` · ${moneyInWords(money)}` : '';
  if (charge === 'unknown') return 'unknown charge';
  if (charge !== 'charged' || meter === 'free') return 'free';
  if (meter === 'unit') return `${count(unitsCharged ?? 0, 'unit')}${priced}`;
  if (meter === 'report') return `1 credit report${priced}`;
  return html`1 call${priced || html` <span class="dim">price not published</span>`}`;
}
