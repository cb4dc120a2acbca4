import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import type { StatusView } from '../../app/run/status.js';
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
import { count, durationInWords, moment, shortRun, withCommas } from '../../util/words.js';
import {
  button,
  card,
  cards,
  chip,
  dataTable,
  facts,
  firstItem,
  heading,
  numeric,
  pager,
  panel,
  time,
} from '../layout.js';
import { type Action, type LiveValues, mayDo, type PageRequest, type Site, screen } from '../site.js';
import { limitFlags, startAndShow } from './plan.js';

const PAGE = 50;

export const runsScreen = screen<{ readonly at: number; readonly runs: readonly RunStanding[] }>({
  path: '/runs',
  nothing: { at: 0, runs: [] },
  async load(_, { options, around }) {
    const { runs } = await import('../../app/run/runs.js');
    return { at: around.clock.now(), runs: await runs(options, around) };
  },
  show({ runs, at }, request) {
    const from = firstItem(request);
    return {
      title: 'Runs',
      body: html`${heading('Runs', count(runs.length, 'run'), html`<a class="btn primary" href="/plan">New list…</a>`)}
${dataTable(
  ['Run', 'List', 'State', numeric('Rows'), 'Outcomes', numeric('Units'), 'Started'],
  runs
    .slice(from, from + PAGE)
    .map(({ run, progress }) => [
      html`<a href="/runs/${encodeURIComponent(run.id)}">${shortRun(run.id)}</a>`,
      html`<span title="${run.inputPath}">${basename(run.inputPath)}</span><br><span class="dim">pipeline ${run.pipelineName}</span>`,
      chip(run.state === 'finished' ? 'done' : run.state === 'open' ? 'attention' : 'detail', stateInWords(run)),
      withCommas(run.rowCount),
      html`<div class="outcomes">${outcomeBar(progress.byOutcome)}</div>`,
      withCommas(progress.unitsCharged),
      time(run.createdAt, at),
    ]),
  'No run yet.',
)}${pager(request, from, PAGE, runs.length)}`,
    };
  },
  csv: ({ runs }) => ({
    header: ['run', 'state', 'input', 'pipeline', 'rows', ...ROW_OUTCOMES, 'units_charged', 'created_at'],
    lines: runs.map(({ run, progress }) => [
      run.id,
      run.state,
      run.inputPath,
      run.pipelineName,
      run.rowCount,
      ...ROW_OUTCOMES.map((outcome) => progress.byOutcome[outcome]),
      progress.unitsCharged,
      new Date(run.createdAt).toISOString(),
    ]),
  }),
});

const TONES: Readonly<Record<RowOutcome, Share['tone']>> = {
  complete: 'ok',
  no_match: 'bar',
  needs_review: 'warn',
  failed: 'bad',
  invalid: 'bad',
  pending: 'line',
};

const SHOWN = ['complete', 'no_match', 'needs_review', 'failed', 'invalid', 'pending'] as const;

const outcomeBar = (outcomes: Readonly<Record<RowOutcome, number>>): Html =>
  shareBar(
    SHOWN.map((outcome) => ({
      value: outcomes[outcome],
      tone: TONES[outcome],
      title: `${withCommas(outcomes[outcome])} ${OUTCOME_WORDS[outcome]}`,
      live: `bar-${outcome}`,
    })),
    SHOWN.filter((outcome) => outcomes[outcome] > 0)
      .map((outcome) => `${withCommas(outcomes[outcome])} ${OUTCOME_WORDS[outcome]}`)
      .join(', '),
  );

const load = async ({ params }: Pick<PageRequest, 'params'>, { options, around }: Site): Promise<StatusView> => {
  const { status } = await import('../../app/run/status.js');
  return await status({ ...options, run: params.run ?? '' }, around);
};

const isAtWork = ({ atWork, workers }: StatusView): boolean => atWork?.alive === true || workers.length > 0;

export const runScreen = screen<StatusView>({
  path: '/runs/:run',
  load,
  json: statusJson,
  show(view, request, site) {
    const { run, progress, activity, portfolio, at } = view;
    const words = standing(view);
    return {
      title: `Run ${shortRun(run.id)}`,
      body: html`${heading(
        html`Run ${shortRun(run.id)} ${chip(stateTone(view), html`<span data-live="state">${words}</span>`)}`,
        html`${basename(run.inputPath)} · pipeline ${run.pipelineName} · started ${time(run.createdAt, at)}`,
        runForms(view, request, site),
      )}
<div class="stack"${isAtWork(view) && html` data-stream="/runs/${encodeURIComponent(run.id)}"`}>
<div class="outcomes wide">${outcomeBar(progress.byOutcome)}</div>
${cards(
  SHOWN.filter((outcome) => progress.byOutcome[outcome] > 0 || (isAtWork(view) && outcome === 'complete')).map(
    (outcome) =>
      card(
        OUTCOME_WORDS[outcome],
        withCommas(progress.byOutcome[outcome]),
        outcome === 'pending' ? pendingInWords(progress) : '',
        `count-${outcome}`,
      ),
  ),
)}
<div class="grid">
${panel(
  'Money',
  facts([
    ['Spent', html`<span data-live="spent">${spentInWords(view)}</span>`],
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
    ['Speed', isAtWork(view) && html`<span data-live="speed">${speedInWords(view)}</span>`],
    ['Ended', run.finishedAt !== null && moment(run.finishedAt)],
    ['Results', view.results !== null && html`<code>${view.results}</code>`],
  ]),
)}
</div>
${stageTable(view)}
${outageList(view)}
${
  activity.failures.length > 0 &&
  panel(
    'Failed rows',
    dataTable(
      ['Error', numeric('Rows'), 'First'],
      activity.failures.map(({ code, count: rows, row, line }) => [
        html`<code>${code}</code>`,
        withCommas(rows),
        `row ${row}, line ${line}`,
      ]),
    ),
  )
}
${
  view.workers.length > 0 &&
  panel(
    'Workers',
    dataTable(
      ['Process', 'Role', numeric('Calls'), numeric('In flight'), 'Lease'],
      view.workers.map(({ worker, leads, calls, underWay, leaseUntil }) => [
        worker || 'unnamed',
        leads ? 'leads' : 'helps',
        withCommas(calls),
        withCommas(underWay),
        leaseUntil > at ? `ends in ${durationInWords(leaseUntil - at)}` : 'ended',
      ]),
    ),
  )
}
</div>`,
    };
  },
  async live(request, site) {
    const view = await load(request, site);
    if (!isAtWork(view)) return null;
    return { state: standing(view), spent: spentInWords(view), speed: speedInWords(view), ...outcomeValues(view) };
  },
});

/** The counts, and the places of the bar. */
function outcomeValues({ progress: { byOutcome } }: StatusView): LiveValues {
  const total = SHOWN.reduce((sum, outcome) => sum + byOutcome[outcome], 0) || 1;
  const values: Record<string, LiveValues[string]> = {};
  let x = 0;
  for (const outcome of SHOWN) {
    const width = (byOutcome[outcome] / total) * 1000;
    values[`count-${outcome}`] = withCommas(byOutcome[outcome]);
    values[`bar-${outcome}`] = { x: x.toFixed(2), width: width.toFixed(2) };
    x += width;
  }
  return values;
}

function stateTone({ run, atWork }: StatusView): MessageState {
  if (run.state === 'finished') return 'done';
  if (atWork?.ending?.stopped != null) return 'failed';
  return run.state === 'superseded' ? 'detail' : 'attention';
}

const spentInWords = ({ progress, activity, money }: StatusView): string =>
  `${amountsInWords({ units: progress.unitsCharged, reports: activity.reports }, ', ')}${moneyAfterAmounts(money)}`;

function limitsInWords({ given: { budget, maxReports } }: StatusView): string | false {
  const limits = [
    budget !== undefined && count(budget, 'unit'),
    maxReports !== undefined && count(maxReports, 'credit report'),
  ];
  return limits.some(Boolean) && `${limits.filter(Boolean).join(', ')} for the last attempt`;
}

const speedInWords = ({ atWork }: StatusView): string =>
  atWork === null
    ? ''
    : `${atWork.rowsPerSecond.toFixed(1)} rows a second${atWork.msToGo === null ? '' : `, about ${durationInWords(atWork.msToGo)} left`}`;

function stageTable({ progress: { stages, heldByReview } }: StatusView): Html | false {
  const rows = Object.entries(stages).map(([stage, { skipped: _, pending = 0, ...counts }]) => {
    const held = heldByReview[stage] ?? 0;
    return {
      stage,
      counts: { ...counts, held, notStarted: pending - held } as Readonly<Record<string, number | undefined>>,
    };
  });
  if (rows.length === 0) return false;
  const columns = Object.entries(STAGE_WORDS).filter(([name]) => rows.some(({ counts }) => (counts[name] ?? 0) > 0));
  return panel(
    'Stages',
    dataTable(
      ['Stage', '', ...columns.map(([, words]) => numeric(words))],
      rows.map(({ stage, counts }) => [
        stage.replaceAll('-', ' '),
        html`<div class="outcomes">${shareBar(
          columns.map(([name, words]) => ({
            value: counts[name] ?? 0,
            tone: STAGE_TONES[name] ?? 'bar',
            title: `${withCommas(counts[name] ?? 0)} ${words}`,
          })),
          stage,
        )}</div>`,
        ...columns.map(([name]) => ((counts[name] ?? 0) === 0 ? '' : withCommas(counts[name] ?? 0))),
      ]),
    ),
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

const outageList = ({ atWork, at }: StatusView): Html | false =>
  (atWork?.outages.length ?? 0) > 0 &&
  panel(
    'Outages',
    dataTable(
      ['Operation', 'Since', 'Next try'],
      atWork?.outages.map(({ api, operation, since, nextTryAt }) => [
        `${api} ${operation}`,
        time(since, at),
        moment(nextTryAt),
      ]) ?? [],
    ),
  );

/** Pause while it runs. Continue, with limits that are named before anything is bought. */
function runForms(view: StatusView, { query }: PageRequest, { user }: Site): Html | false {
  const { run, progress, activity, given } = view;
  if (!mayDo(user.role, 'spend')) return false;
  const address = `/runs/${encodeURIComponent(run.id)}`;
  if (isAtWork(view)) return button(`${address}/pause`, 'Pause');
  const failed = activity.failures.length > 0 && progress.byOutcome.pending === 0;
  if (run.state !== 'open' && !failed) return false;
  const limits = {
    units: query.get('max_units') ?? String(given.budget ?? 0),
    reports: query.get('max_reports') ?? String(given.maxReports ?? 0),
  };
  const rows = failed ? progress.byOutcome.failed : progress.byOutcome.pending;
  if (query.get('confirm') === null)
    return html`<form class="row" method="get" action="${address}"><input type="hidden" name="confirm" value="1"><label>At most <input type="number" min="0" name="max_units" value="${limits.units}"> units</label><label><input type="number" min="0" name="max_reports" value="${limits.reports}"> credit reports</label><button class="primary">${failed ? 'Try failed rows again…' : 'Continue…'}</button></form>`;
  const words = `Buy up to ${amountsInWords({ units: Number(limits.units), reports: Number(limits.reports) })} for ${count(rows, 'row')}`;
  return html`${button(`${address}/resume`, words, { max_units: limits.units, max_reports: limits.reports, ...(failed ? { failed: '1' } : {}) }, 'primary')}<a class="btn" href="${address}">Back</a>`;
}

export const pauseAction: Action = {
  path: '/runs/:run/pause',
  needs: 'spend',
  async run(_, { params }, { options, around }) {
    const { pauseRun } = await import('../../app/run/process.js');
    const run = await pauseRun({ ...options, run: params.run ?? '' }, around);
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
