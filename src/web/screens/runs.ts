import { basename, join } from 'node:path';
import { lastStarted, pauseRun } from '../../app/run/process.js';
import { type RunStanding, runs } from '../../app/run/runs.js';
import type { Amounts } from '../../app/run/spending.js';
import { continueCost, type RunPageView, resultFiles, runPage, status } from '../../app/run/status.js';
import { statusJson } from '../../cli/commands/status.js';
import {
  amountsInWords,
  moneyAfterAmounts,
  pendingInWords,
  standing,
  stateInWords,
} from '../../cli/terminal/run-words.js';
import { OUTCOME_WORDS, ROW_OUTCOMES, type RowOutcome, STAGE_WORDS } from '../../domain/outcomes.js';
import { type Html, html, type Share, shareBar } from '../../util/html.js';
import { type MessageState, message } from '../../util/message-parts.js';
import { count, durationInWords, iso, listed, moment, rowInWords, shortRun, withCommas } from '../../util/words.js';
import {
  aged,
  button,
  card,
  cards,
  chip,
  dataTable,
  dim,
  facts,
  firstItem,
  heading,
  numeric,
  pager,
  panel,
  someOf,
  tablePanel,
  time,
} from '../layout.js';
import { type Action, csvOf, type FileScreen, mayDo, type PageRequest, type Site, screen } from '../site.js';
import { limitFlags, readLimit, startAndShow } from './plan.js';

export const runsScreen = screen<{ readonly runs: readonly RunStanding[] }>({
  path: '/runs',
  nothing: { runs: [] },
  async load(_, { options, environment }) {
    return { runs: await runs(options, environment) };
  },
  show({ runs, at }, request, { options, environment }) {
    const from = firstItem(request);
    const started = lastStarted(options, environment);
    const isReading = started?.run === null && started.ended === null;
    return {
      title: 'Runs',
      isLive: isReading || runs.some(({ condition }) => isMoving(condition)),
      body: html`${heading('Runs', count(runs.length, 'run'), html`<a class="btn primary" href="/plan">New list…</a>`)}
${isReading && html`<p class="notice warn">The list is being read. Its run appears below.</p>`}
${started?.run === null && started.ended !== null && html`<p class="notice bad">The run you started did not begin (exit ${started.ended.exit ?? 'unknown'})${started.ended.said && `: ${started.ended.said.replace(/^error: /, '')}`}</p>`}
${dataTable(
  ['Run', 'List', 'State', numeric('Rows'), 'Outcomes', numeric('Units'), aged('Started')],
  runs
    .slice(from, from + request.pageSize)
    .map(({ run, progress, condition }) => [
      html`<a href="/runs/${encodeURIComponent(run.id)}">${shortRun(run.id)}</a>`,
      html`<span title="${run.inputPath}">${basename(run.inputPath)}</span><br><span class="dim">pipeline ${run.pipelineName}</span>`,
      chip(CONDITION_TONES[condition], stateInWords({ run, condition })),
      withCommas(run.rowCount),
      rowsHere(progress.byOutcome) < run.rowCount ? dim('continued in a later run') : outcomeBar(progress.byOutcome),
      withCommas(progress.unitsCharged),
      time(run.createdAt, at),
    ]),
  'No run yet.',
)}${pager(request, from, runs.length)}`,
    };
  },
  csv: csvOf(({ runs }) => runs, {
    run: ({ run }) => run.id,
    state: ({ run }) => run.state,
    input: ({ run }) => run.inputPath,
    pipeline: ({ run }) => run.pipelineName,
    rows: ({ run }) => run.rowCount,
    ...Object.fromEntries(
      ROW_OUTCOMES.map((outcome) => [outcome, ({ progress }: RunStanding) => progress.byOutcome[outcome]]),
    ),
    units_charged: ({ progress }) => progress.unitsCharged,
    created_at: ({ run }) => iso(run.createdAt),
  }),
});

/** The rows that no later run has taken over. */
const rowsHere = (outcomes: Readonly<Record<RowOutcome, number>>): number =>
  ROW_OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0);

const CONDITION_TONES: Readonly<Record<RunStanding['condition'], MessageState>> = {
  reading: 'detail',
  not_started: 'attention',
  running: 'detail',
  paused: 'attention',
  stopped: 'failed',
  interrupted: 'attention',
  writing_tables: 'detail',
  finished: 'done',
  superseded: 'detail',
};

const isMoving = (condition: RunStanding['condition']): boolean =>
  condition === 'reading' || condition === 'running' || condition === 'writing_tables';

/** In the order of the bar. */
const TONES = {
  complete: 'ok',
  no_match: 'bar',
  needs_review: 'warn',
  failed: 'bad',
  invalid: 'bad',
  pending: 'line',
} as const satisfies Readonly<Record<RowOutcome, Share['tone']>>;

const SHOWN = Object.keys(TONES) as readonly RowOutcome[];

type Named<Value> = Readonly<Record<string, Value | undefined>>;

function countsBar(names: readonly string[], counts: Named<number>, tones: Named<Share['tone']>, words: Named<string>) {
  const shares = names.flatMap((name) => {
    const value = counts[name] ?? 0;
    return value === 0 ? [] : [{ value, tone: tones[name] ?? 'bar', title: `${withCommas(value)} ${words[name]}` }];
  });
  return shareBar(shares, shares.map(({ title }) => title).join(', '));
}

const outcomeBar = (outcomes: Named<number>): Html => countsBar(SHOWN, outcomes, TONES, OUTCOME_WORDS);

const load = ({ params }: Pick<PageRequest, 'params'>, { options, environment }: Site) =>
  runPage({ ...options, run: params.run ?? '' }, environment);

interface RunScreenView extends Awaited<ReturnType<typeof load>> {
  /** The most that the rest costs, if a person is about to continue. */
  readonly rest: Amounts | null;
}

const hasFailedRows = ({ activity, progress }: RunPageView): boolean =>
  activity.failures.length > 0 && progress.byOutcome.pending === 0;

export const runScreen = screen<RunScreenView>({
  path: '/runs/:run',
  async load(request, site) {
    const { options, environment } = site;
    const view = await load(request, site);
    const run = view.run.id;
    const isAsked = request.query.has('confirm') && !isMoving(view.condition);
    const rest = isAsked ? await continueCost({ ...options, run, failed: hasFailedRows(view) }, environment) : null;
    return { ...view, rest };
  },
  async json({ run }, { options, environment }) {
    return statusJson(await status({ ...options, run: run.id }, environment));
  },
  show(view, request, site) {
    const { run, progress, activity, portfolio, at, condition } = view;
    const { options, environment } = site;
    // A process that was just started has a run before it has an attempt.
    const isBeginning = condition === 'not_started' && lastStarted(options, environment)?.ended === null;
    return {
      title: `Run ${shortRun(run.id)}`,
      isLive: isMoving(condition) || isBeginning,
      body: html`${heading(
        html`Run ${shortRun(run.id)} ${chip(CONDITION_TONES[condition], standing(view))}`,
        html`${basename(run.inputPath)} · pipeline ${run.pipelineName} · started ${time(run.createdAt, at)}`,
        runForms(view, request, site),
      )}
${outcomeBar(progress.byOutcome)}
${cards(
  SHOWN.filter((outcome) => progress.byOutcome[outcome] > 0 || (isMoving(condition) && outcome === 'complete')).map(
    (outcome) =>
      card(
        OUTCOME_WORDS[outcome],
        html`<a href="${rowsAddress(view, { outcome })}">${withCommas(progress.byOutcome[outcome])}</a>`,
        outcome === 'pending'
          ? pendingInWords(progress)
          : outcome === 'needs_review' && html`<a href="/review">Answer them</a>`,
      ),
  ),
)}
<div class="grid">
${panel(
  'Money',
  facts([
    ['Spent', spentInWords(view)],
    ['Limits', limitsInWords(view)],
    ['Reused', activity.owned > 0 && count(activity.owned, 'stored answer')],
    [
      'Unknown charge',
      progress.unknownCalls > 0 && html`${count(progress.unknownCalls, 'call')} · <a href="/usage">see usage</a>`,
    ],
  ]),
)}
${panel(
  'Progress',
  facts([
    ['List', portfolio !== null && `${count(view.listed, 'row')} in all, ${withCommas(run.rowCount)} in this run`],
    ['Speed', condition === 'running' && speedInWords(view)],
    ['Ended', run.finishedAt !== null && moment(run.finishedAt)],
    ['Tables', view.results !== null && html`<code>${view.results}</code>`],
  ]),
)}
</div>
${filesPanel(view)}
${stageTable(view)}
${tablePanel(
  'Outages',
  ['Operation', 'Since', 'Next try'],
  (view.atWork?.outages ?? []).map((one) => [
    `${one.api} ${one.operation}`,
    time(one.since, at),
    moment(one.nextTryAt),
  ]),
)}
${tablePanel(
  'Failed rows',
  ['Error', numeric('Rows'), 'First'],
  activity.failures.map(({ code, count: rows, row, line }) => [
    html`<a href="${rowsAddress(view, { outcome: 'failed', reason: code })}"><code>${code}</code></a>`,
    withCommas(rows),
    rowInWords(row, line),
  ]),
)}
${tablePanel(
  'Workers',
  ['Process', 'Role', numeric('Calls'), numeric('In flight'), 'Lease'],
  view.workers.map(({ worker, leads, calls, underWay, leaseUntil }) => [
    worker || 'unnamed',
    leads ? 'leads' : 'helps',
    withCommas(calls),
    withCommas(underWay),
    leaseUntil > at ? `ends in ${durationInWords(leaseUntil - at)}` : 'ended',
  ]),
)}
`,
    };
  },
});

const REPORT = 'report.html';
const WORKBOOK = 'results.xlsx';

/** The rows of the run with an outcome or a reason. */
const rowsAddress = ({ run }: RunPageView, filter: Readonly<Record<string, string>>): string =>
  `/companies?${new URLSearchParams({ run: run.id, ...filter })}`;

/** The workbook and the report for people, and the tables for programs. */
function filesPanel({ run, files }: RunScreenView): Html | false {
  if (files.length === 0) return false;
  const link = (name: string, kind = '') =>
    html`<a class="${kind}" href="/runs/${encodeURIComponent(run.id)}/files/${encodeURIComponent(name)}">${name}</a>`;
  const first = [WORKBOOK, REPORT].filter((name) => files.includes(name));
  const others = files.filter((name) => !first.includes(name)).toSorted();
  return panel(
    'Results',
    html`<p class="row">${first.map((name) => link(name, name === WORKBOOK ? 'btn primary' : 'btn'))}</p><details><summary>${count(others.length, 'further file')}</summary><p class="row">${others.map((name) => link(name))}</p></details>`,
  );
}

/** Files that the export lists, and no others. The report is shown without any rights. */
export const runFile: FileScreen = {
  path: '/runs/:run/files/:name',
  async file({ params }, { options, environment }) {
    const { folder, names } = await resultFiles({ ...options, run: params.run ?? '' }, environment);
    const name = names.find((known) => known === params.name);
    if (name === undefined) return undefined;
    const policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    return { path: join(folder, name), name, ...(name === REPORT ? { policy } : {}) };
  },
};

const spentInWords = ({ progress, activity, money }: RunPageView): string =>
  `${amountsInWords({ units: progress.unitsCharged, reports: activity.reports }, ', ')}${moneyAfterAmounts(money)}`;

function limitsInWords({ given: { budget: units, maxReports: reports } }: RunPageView): string | false {
  const words = listed([
    units !== undefined && count(units, 'unit'),
    reports !== undefined && count(reports, 'credit report'),
  ]);
  return words !== '' && `${words} for the last attempt`;
}

const speedInWords = ({ atWork }: RunPageView): string =>
  atWork === null
    ? ''
    : `${atWork.rowsPerSecond.toFixed(1)} rows a second${atWork.msToGo === null ? '' : `, about ${durationInWords(atWork.msToGo)} left`}`;

function stageTable({ progress: { stages, heldByReview } }: RunPageView): Html | false {
  const rows = Object.entries(stages).map(([stage, { skipped: _, pending = 0, ...counts }]) => {
    const held = heldByReview[stage] ?? 0;
    return { stage, counts: { ...counts, held, notStarted: pending - held } as Named<number> };
  });
  const names = Object.keys(STAGE_WORDS).filter((name) => rows.some(({ counts }) => counts[name]));
  return tablePanel(
    'Stages',
    ['Stage', '', ...names.map((name) => numeric(STAGE_WORDS[name] ?? name))],
    rows.map(({ stage, counts }) => [
      stage.replaceAll('-', '\u00a0'),
      countsBar(names, counts, STAGE_TONES, STAGE_WORDS),
      ...names.map((name) => someOf(counts[name])),
    ]),
  );
}

const STAGE_TONES: Readonly<Record<string, Share['tone']>> = {
  done: 'ok',
  not_available: 'bar',
  waiting: 'accent',
  parked: 'warn',
  failed: 'bad',
  held: 'warn',
  notStarted: 'line',
};

/** Pause while it runs. Continue, after a question that names what the rest costs. */
function runForms(view: RunScreenView, { query }: PageRequest, { user }: Site): Html | false {
  const { run, progress, rest, condition } = view;
  if (!mayDo(user.role, 'spend')) return false;
  const address = `/runs/${encodeURIComponent(run.id)}`;
  if (condition === 'running') return button(`${address}/pause`, 'Pause');
  const failed = hasFailedRows(view);
  if (run.state !== 'open' && !failed) return false;
  if (rest === null)
    return html`<a class="btn primary" href="${address}?confirm=1">${failed ? 'Try failed rows again…' : 'Continue…'}</a>`;
  const atMost = {
    units: Math.min(rest.units, readLimit(query.get('max_units') ?? undefined) ?? rest.units),
    reports: Math.min(rest.reports, readLimit(query.get('max_reports') ?? undefined) ?? rest.reports),
  };
  const rows = failed ? progress.byOutcome.failed : progress.byOutcome.pending;
  const isFree = atMost.units + atMost.reports === 0;
  const words = isFree ? 'Continue' : `Buy up to ${amountsInWords(atMost)}`;
  return html`${button(`${address}/resume`, `${words} for ${count(rows, 'row')}`, { max_units: String(atMost.units), max_reports: String(atMost.reports), ...(failed ? { failed: '1' } : {}) }, 'primary')}<a class="btn" href="${address}">Back</a>
${rest.units + rest.reports > 0 && html`<form class="row" method="get" action="${address}"><input type="hidden" name="confirm" value="1"><label>At most <input type="number" min="0" name="max_units" value="${atMost.units}"> units</label><label><input type="number" min="0" name="max_reports" value="${atMost.reports}"> credit reports</label><button>Change the limits</button></form>`}`;
}

export const pauseAction: Action = {
  path: '/runs/:run/pause',
  needs: 'spend',
  async run(_, { params }, { options, environment }) {
    const run = await pauseRun({ ...options, run: params.run ?? '' }, environment);
    return {
      to: `/runs/${encodeURIComponent(run)}`,
      message: message('RUN_PAUSING', 'The run finishes its calls and stops.'),
    };
  },
};

export const resumeAction: Action = {
  path: '/runs/:run/resume',
  needs: 'spend',
  async run(form, { params }, site) {
    // The address may hold any text. A flag in it would be read as one.
    const { run } = await load({ params }, site);
    const failed = form.get('failed') === null ? [] : ['--failed'];
    return await startAndShow(['resume', run.id, ...failed, ...limitFlags(form)], site);
  },
};
