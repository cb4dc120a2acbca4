import { basename, resolve } from 'node:path';
import { type AttemptOverview, type ListOverview, type OverviewView, overview } from '../../app/portfolio/overview.js';
import { amountsInWords, moneyInWords, stopInWords } from '../../cli/terminal/run-words.js';
import { type Html, html, sparkBars, type Tone } from '../../util/html.js';
import type { MessageState } from '../../util/message-parts.js';
import { count, iso, listed, moment, withCommas } from '../../util/words.js';
import { aged, card, cards, chip, dataTable, dim, heading, numeric, time } from '../layout.js';
import { csvOf, screen } from '../site.js';

const dueRows = ({ due }: Pick<ListOverview, 'due'>): number =>
  Object.values(due ?? {}).reduce((sum, rows) => sum + rows, 0);

export const portfoliosScreen = screen<OverviewView>({
  path: '/',
  nothing: {
    portfolios: [],
    spending: { unitsLeft: null, unitsThisMonth: 0, reportsThisMonth: 0, callsThisMonth: 0 },
  },
  load: (_, { options, environment }) => overview(options, environment),
  show(view, _, { options }) {
    const { portfolios, spending, at } = view;
    const isUnknown = portfolios.some(({ due }) => due === null);
    const questions = portfolios.reduce((sum, { outcomes }) => sum + outcomes.needs_review, 0);
    const due = portfolios.reduce((sum, list) => sum + dueRows(list), 0);
    const total = (of: 'units' | 'reports') => portfolios.reduce((sum, { costs }) => sum + (costs?.[of] ?? 0), 0);
    const costs = { units: total('units'), reports: total('reports') };
    const sub = listed([
      count(portfolios.length, 'list'),
      questions > 0 && `${count(questions, 'row needs', 'rows need')} review`,
    ]);
    return {
      title: 'Portfolios',
      isLive: isUnknown,
      body: html`<div class="stack">${heading('Portfolios', sub, html`<a class="btn primary" href="/plan">New list…</a>`)}
${
  portfolios.length > 0 &&
  cards(
    card(
      'Due now',
      isUnknown ? '…' : count(due, 'company', 'companies'),
      isUnknown ? 'being calculated' : due === 0 ? 'everything is up to date' : `at most ${amountsInWords(costs)}`,
    ),
    card(
      'Need review',
      withCommas(questions),
      questions === 0 ? 'no question is open' : html`<a href="/review">Answer them</a>`,
    ),
    spending.unitsLeft !== null && card('Units left', withCommas(spending.unitsLeft), 'as the provider last reported'),
    card(
      'Spent this month',
      count(spending.unitsThisMonth, 'unit'),
      listed([
        spending.reportsThisMonth > 0 && count(spending.reportsThisMonth, 'credit report'),
        spending.money === undefined ? count(spending.callsThisMonth, 'call') : moneyInWords(spending.money),
      ]),
    ),
  )
}
${dataTable(
  [
    'Portfolio',
    numeric('Rows'),
    'State',
    numeric('Due'),
    aged('Oldest answer'),
    'Last attempts',
    aged('Last success'),
    '',
  ],
  portfolios.map((list) => [
    html`<b title="${list.input}">${basename(list.name)}</b><br><span class="dim">${list.pipeline && `pipeline ${list.pipeline}`}</span>`,
    withCommas(list.members),
    stateChip(list),
    dueRows(list) === 0
      ? nextDue(list)
      : html`${withCommas(dueRows(list))}<br><span class="dim">at most ${amountsInWords(list.costs ?? NOTHING)}</span>`,
    list.due === null ? NOT_YET : timeOrNone(list.oldestFetchedAt, at),
    lastAttempts(list.attempts),
    timeOrNone(list.lastSuccessAt, at),
    nextStep(list),
  ]),
  html`No list yet. “New list…” reads a file and shows what it would cost. Nothing is bought before you agree.${options.sandbox && html`<br><a href="/plan?${new URLSearchParams({ path: DEMO_LIST }).toString()}">Try it with the list of the demo</a>`}`,
)}${portfolios.length > 0 && html`<p class="sub">Last attempts: the taller a bar, the more was bought. Green finished, amber needs you, red failed.</p>`}</div>`,
    };
  },
  csv: csvOf(({ portfolios }) => portfolios, {
    portfolio: ({ name }) => name,
    input: ({ input }) => input,
    members: ({ members }) => members,
    due: dueRows,
    units_at_most: ({ costs }) => costs?.units,
    credit_reports_at_most: ({ costs }) => costs?.reports,
    oldest_fetched_at: ({ oldestFetchedAt }) => isoOrNull(oldestFetchedAt),
    last_success_at: ({ lastSuccessAt }) => isoOrNull(lastSuccessAt),
  }),
});

/** `src/web/screens` and `dist/web/screens` are at the same depth. */
const DEMO_LIST = resolve(import.meta.dirname, '../../../fixtures/portfolio.csv');

/** A long list is worked out in a thread. The page is shown again when that is done. */
const NOT_YET = dim('being calculated…');

const timeOrNone = (then: number | null, now: number): Html => (then === null ? dim('none yet') : time(then, now));

const NOTHING = { units: 0, reports: 0 };

const isoOrNull = (at: number | null | undefined): string | null => (at == null ? null : iso(at));

const nextDue = ({ due, nextDueAt }: ListOverview): Html =>
  due === null
    ? NOT_YET
    : html`0${nextDueAt !== null && html`<br>${dim(`next on ${moment(nextDueAt).slice(0, 10)}`)}`}`;

/** The most urgent fact about a list. */
function stateOf({ refusedCode, attempts, outcomes, lastRun, ...list }: ListOverview): readonly [MessageState, string] {
  const last = attempts.at(-1);
  if (refusedCode !== null) return ['failed', `refused: ${refusedCode}`];
  if (last?.stoppedCode != null) return ['failed', `stopped: ${stopInWords({ code: last.stoppedCode })}`];
  if (outcomes.failed > 0) return ['failed', `${withCommas(outcomes.failed)} failed`];
  if (outcomes.needs_review > 0) return ['attention', `${withCommas(outcomes.needs_review)} need review`];
  if (lastRun?.state === 'open') return ['attention', `${withCommas(outcomes.pending)} to do`];
  return dueRows(list) > 0 ? ['attention', 'due'] : ['done', 'up to date'];
}

const stateChip = (list: ListOverview): Html => chip(...stateOf(list));

function nextStep({ name, input, lastRun, outcomes }: ListOverview): Html {
  if (lastRun?.state === 'open')
    return html`<a class="btn" href="/runs/${encodeURIComponent(lastRun.id)}">Continue…</a>`;
  if (outcomes.needs_review > 0) return html`<a class="btn" href="/review">Review</a>`;
  const list = new URLSearchParams({ path: input, ...(name === input ? {} : { name }) });
  return html`<a class="btn" href="/plan?${list.toString()}">Update…</a>`;
}

/** Green: all settled. Yellow: a person, a limit or an interrupt. Red: an error. */
const TONES: Readonly<Record<number, Tone>> = { 0: 'ok', 3: 'warn', 4: 'warn', 129: 'warn', 130: 'warn', 143: 'warn' };

const lastAttempts = (attempts: readonly AttemptOverview[]): Html =>
  sparkBars(
    attempts.map(({ begunAt, exit, units, reports }) => ({
      value: units + reports,
      tone: exit === null ? 'bar' : (TONES[exit] ?? 'bad'),
      title: `${moment(begunAt)}: ${exit === null ? 'no exit code' : `exit ${exit}`}, ${amountsInWords({ units, reports })}`,
    })),
    `The last ${count(attempts.length, 'attempt')}`,
  );
