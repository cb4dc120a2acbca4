import { basename, resolve } from 'node:path';
import type { PipelineView } from '../../app/admin/pipelines.js';
import type { PreviewView } from '../../app/run/preview.js';
import { planJson } from '../../cli/commands/plan.js';
import { amountsInWords, moneyInWords, retriesInWords } from '../../cli/terminal/run-words.js';
import { UsageError } from '../../domain/errors.js';
import { type Html, html, type Markup } from '../../util/html.js';
import { message } from '../../util/message-parts.js';
import { count, withCommas } from '../../util/words.js';
import { card, cards, chip, dataTable, facts, heading, numeric, panel } from '../layout.js';
import { type Action, mayDo, type PageRequest, type Site, screen } from '../site.js';

interface PlanScreenView {
  readonly pipelines: readonly PipelineView[];
  /** Null: no list is chosen yet. */
  readonly preview: PreviewView | null;
}

/** The fields that a person can choose for a column. */
const FIELDS = ['name', 'country', 'registration_number', 'vat_number', 'ticker', 'city', 'state', 'id'] as const;

const text = ({ query }: Pick<PageRequest, 'query'>, name: string): string | undefined =>
  query.get(name)?.trim() || undefined;

/** The options in the address. `as`: the field of each column, in their order. `kept`: fields of several columns. */
function optionsOf(request: Pick<PageRequest, 'query'>) {
  const { query } = request;
  const chosen = query.getAll('as');
  const given = chosen.flatMap((field, at) => (field === '' ? [] : [`${field}=#${at + 1}`]));
  const known = [...chosen, ...query.getAll('kept')];
  const unused = FIELDS.filter((field) => !known.includes(field)).map((field) => `${field}=`);
  const reading = {
    ...(chosen.length === 0 ? {} : { map: [...given, ...unused] }),
    country: text(request, 'country'),
    sheet: text(request, 'sheet'),
  };
  return {
    input: text(request, 'path') ?? text(request, 'portfolio') ?? '',
    pipeline: text(request, 'pipeline'),
    portfolio: text(request, 'name'),
    reading,
  };
}

export const planScreen = screen<PlanScreenView>({
  path: '/plan',
  async load(request, { options, around }) {
    const { pipelines } = await import('../../app/admin/pipelines.js');
    const { preview } = await import('../../app/run/preview.js');
    const asked = optionsOf(request);
    return {
      pipelines: pipelines(around),
      preview: asked.input === '' ? null : await preview({ ...options, ...asked }, around),
    };
  },
  json: ({ preview }) => (preview === null ? {} : planJson(preview.plan)),
  show({ pipelines, preview }, request, site) {
    return {
      title: 'Plan',
      body:
        preview === null
          ? html`${heading('New list', 'kybatch reads it and shows what it would cost. Nothing is bought before you agree.')}${choose(pipelines, request, site)}`
          : html`${heading(
              basename(preview.plan.input),
              html`${count(preview.plan.rows, 'row')} · nothing was spent`,
              html`<a class="btn" href="/plan">Another list…</a>`,
            )}${planned(preview, pipelines, request, site)}`,
    };
  },
});

const pipelineChoice = (pipelines: readonly PipelineView[], chosen: string | undefined): Html =>
  html`<label>What to buy <select name="pipeline">${pipelines
    .filter(({ problem }) => problem === undefined)
    .map(
      ({ name, description }) =>
        html`<option value="${name}"${name === (chosen ?? 'analyst') && html` selected`}>${name}: ${description}</option>`,
    )}</select></label>`;

const choose = (pipelines: readonly PipelineView[], request: PageRequest, { user }: Site): Html =>
  html`<div class="grid">
${panel('A file on this machine', html`<form class="stack" method="get" action="/plan"><p><label>Path <input name="path" size="40" required placeholder="suppliers.xlsx"></label></p><p>${pipelineChoice(pipelines, text(request, 'pipeline'))}</p><button class="primary">Show the plan</button></form>`)}
${mayDo(user.role, 'spend') && panel('Upload a file', html`<form class="stack" method="post" action="/plan/upload" enctype="multipart/form-data"><p><input type="file" name="file" aria-label="File" required accept=".csv,.tsv,.txt,.xlsx,.gz"></p><p>${pipelineChoice(pipelines, text(request, 'pipeline'))}</p><button class="primary">Upload and show the plan</button></form>`)}
</div>`;

function planned(
  { plan, rows, leftOut, doubts, notes }: PreviewView,
  pipelines: readonly PipelineView[],
  request: PageRequest,
  site: Site,
): Html {
  const { units, creditReportsAtMost: reports, v2Calls, money } = plan;
  const free = plan.owned - plan.repeated - plan.upToDate;
  return html`${plan.refusedBy !== null && html`<p class="notice warn">A run would be refused (${plan.refusedBy.code}): ${plan.refusedBy.message}. ${plan.refusedBy.hint}</p>`}
${doubts.map(({ reason, field }) => html`<p class="notice warn">Choose the column of <b>${field}</b> below: ${reason}.</p>`)}
${cards(
  plan.asksV1 &&
    card(
      'Units',
      units.atMost === 0 ? 'none' : `about ${withCommas(units.likely)}`,
      units.atMost === 0 ? 'everything is stored' : `at most ${withCommas(units.atMost)}`,
    ),
  reports > 0 && card('Credit reports', `at most ${withCommas(reports)}`, ''),
  v2Calls.atMost > 0 &&
    card('v2 calls', `at most ${withCommas(v2Calls.atMost)}`, money === undefined ? 'price not published' : ''),
  money !== undefined && card('Money', `about ${moneyInWords(money.likely)}`, `at most ${moneyInWords(money.atMost)}`),
)}
${startForm(plan, doubts.length > 0, request, site)}
<div class="grid">
${panel(
  'Rows',
  facts([
    ['To search and buy', plan.toSearch > 0 && withCommas(plan.toSearch)],
    ['Known, with data to buy', plan.toBuy > 0 && withCommas(plan.toBuy)],
    ['The same as an earlier row', plan.repeated > 0 && withCommas(plan.repeated)],
    ['With stored answers, free', free > 0 && withCommas(free)],
    ['Up to date', plan.upToDate > 0 && withCommas(plan.upToDate)],
    ['May need review', plan.toPerson > 0 && withCommas(plan.toPerson)],
    ['Invalid, skipped at no cost', plan.invalid > 0 && withCommas(plan.invalid)],
  ]),
)}
${
  plan.invalid > 0 &&
  panel(
    'Invalid rows',
    dataTable(
      ['Reason', numeric('Rows'), 'First'],
      plan.invalidReasons.map(({ message: why, rows: many, row, line }) => [
        why,
        withCommas(many),
        `row ${row}, line ${line}`,
      ]),
    ),
  )
}
</div>
<form class="stack" method="get" action="/plan">${hidden(request, ['path', 'portfolio', 'name'])}
${panel('The first rows, and what each column is', html`${preview(plan, rows, leftOut)}<p class="row">${pipelineChoice(pipelines, plan.pipeline)}<label>Country of rows that have none <input name="country" size="4" maxlength="60" value="${text(request, 'country') ?? ''}" placeholder="DE"></label><button>Plan again</button></p>`)}
</form>
${notes.length > 0 && panel('Notes', html`<ul>${notes.map(({ text: words }) => html`<li>${words}</li>`)}</ul>`)}`;
}

/** The choice over each column, the cells as written, and the lines that are no companies. */
function preview({ columns }: PreviewView['plan'], rows: PreviewView['rows'], leftOut: PreviewView['leftOut']): Html {
  const fieldOf = (at: number) => columns.read.find(({ source }) => source === at)?.field;
  const choice = (name: string, at: number): Html =>
    html`<select name="as" aria-label="${name} is"><option value="">not used</option>${FIELDS.map(
      (field) =>
        html`<option value="${field}"${fieldOf(at) === field && html` selected`}>${field.replaceAll('_', ' ')}</option>`,
    )}</select>`;
  const kept = columns.read.filter(({ source }) => typeof source !== 'number');
  return html`${kept.map(({ field }) => html`<input type="hidden" name="kept" value="${field}">`)}<div class="scroll" tabindex="0" role="group" aria-label="The first rows"><table><thead><tr><th></th>${columns.all.map((name, at) => html`<th scope="col">${name}<br>${choice(name, at)}</th>`)}</tr></thead><tbody>${rows.map(
    ({ line, values, problem }) =>
      html`<tr><td class="dim">line ${line}${problem && html` ${chip('failed', 'invalid')}`}</td>${columns.all.map((_, at) => html`<td>${values[at]}</td>`)}</tr>`,
  )}${leftOut.map(
    ({ line, text: words, kind }) =>
      html`<tr><td class="dim">line ${line}</td><td colspan="${columns.all.length}"><s>${words}</s> <span class="dim">left out: ${kind}</span></td></tr>`,
  )}</tbody></table></div>`;
}

const hidden = ({ query }: PageRequest, names: readonly string[]): Markup =>
  names.flatMap((name) =>
    query.getAll(name).map((value) => html`<input type="hidden" name="${name}" value="${value}">`),
  );

const JOB = ['path', 'portfolio', 'name', 'pipeline', 'country', 'sheet', 'as', 'kept'];

/** Limits first, then one plain question that names them. */
function startForm(plan: PreviewView['plan'], isUnclear: boolean, request: PageRequest, { user }: Site): Html | false {
  const { units, creditReportsAtMost: reports } = plan;
  if (!mayDo(user.role, 'spend') || plan.valid === 0 || isUnclear || plan.refusedBy !== null) return false;
  if (plan.toSearch + plan.toBuy + reports === 0)
    return html`<p class="notice ok">Everything is up to date. Nothing would be bought.</p>`;
  const limits = {
    units: wholeNumber(text(request, 'max_units')) ?? Math.min(units.atMost, plan.limits.units ?? units.atMost),
    reports: wholeNumber(text(request, 'max_reports')) ?? Math.min(reports, plan.limits.creditReports ?? reports),
  };
  if (text(request, 'confirm') === undefined)
    return panel(
      'Start',
      html`<form class="row" method="get" action="/plan">${hidden(request, JOB)}<input type="hidden" name="confirm" value="1">
<label>At most <input type="number" name="max_units" min="0" value="${limits.units}"> units</label><label>At most <input type="number" name="max_reports" min="0" value="${limits.reports}"> credit reports</label><button class="primary">Start…</button></form>`,
    );
  const atMost = { units: Math.min(limits.units, units.atMost), reports: Math.min(limits.reports, reports) };
  return panel(
    'Start',
    html`<p><b>Buy up to ${amountsInWords(atMost)}${plan.money !== undefined && ` (at most ${moneyInWords(plan.money.atMost)})`}?</b></p>
<p class="sub">${retriesInWords({ atMost: { ...atMost, calls: {}, v2Calls: 0, reveals: { email: 0, phone: 0 } }, limits: { units: limits.units, reports: limits.reports } })}</p>
<form class="row" method="post" action="/plan/start">${hidden(request, JOB)}<input type="hidden" name="max_units" value="${limits.units}"><input type="hidden" name="max_reports" value="${limits.reports}"><button class="primary">Buy up to ${amountsInWords(atMost)}</button><a class="btn" href="/plan?${withoutConfirm(request)}">Back</a></form>`,
  );
}

function withoutConfirm({ query }: PageRequest): string {
  const other = new URLSearchParams(query);
  other.delete('confirm');
  return other.toString();
}

function wholeNumber(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^\d{1,12}$/.test(given))
    throw new UsageError('FLAG_NOT_A_NUMBER', `a limit must be a whole number, got ${given}`);
  return Number(given);
}

/** Both limits are always given, so that nothing more than the agreed amounts can be bought. */
export const limitFlags = (form: URLSearchParams): readonly string[] => [
  '--max-units',
  String(wholeNumber(form.get('max_units') ?? '0') ?? 0),
  '--max-reports',
  String(wholeNumber(form.get('max_reports') ?? '0') ?? 0),
];

/** Goes to the run that a command has begun. A command that ended before says why. */
export async function startAndShow(words: readonly string[], { options, around }: Site) {
  const { startProcess } = await import('../../app/run/process.js');
  const { run, ended } = await startProcess(words, options, around);
  if (run !== null)
    return { to: `/runs/${encodeURIComponent(run)}`, message: message('RUN_STARTED', 'The run has begun.') };
  if (ended === null)
    return { to: '/runs', message: message('RUN_STARTING', 'The list is being read. The run appears here.') };
  return { to: '/runs', message: message('RUN_ENDED', ended.said, ended.exit === 0 ? 'done' : 'failed') };
}

export const startAction: Action = {
  path: '/plan/start',
  needs: 'spend',
  async run(form, _, site) {
    const { input, pipeline, portfolio, reading } = optionsOf({ query: form });
    // A value that looks like a flag stays a value.
    const flags = [
      ...(pipeline === undefined ? [] : [`--pipeline=${pipeline}`]),
      ...(portfolio === undefined ? [] : [`--portfolio=${portfolio}`]),
      ...(reading.map ?? []).map((one) => `--map=${one}`),
      ...(reading.country === undefined ? [] : [`--country=${reading.country}`]),
      ...(reading.sheet === undefined ? [] : [`--sheet=${reading.sheet}`]),
    ];
    return await startAndShow(['run', ...flags, ...limitFlags(form), resolve(site.around.cwd, input)], site);
  },
};

export const uploadAction: Action = {
  path: '/plan/upload',
  needs: 'spend',
  async run(form, _, { options, around }, file) {
    if (file === undefined) throw new UsageError('FILE_MISSING', 'no file was sent');
    const { keepUpload } = await import('../../app/run/preview.js');
    const path = await keepUpload(file, options, around);
    return { to: `/plan?${new URLSearchParams({ path, pipeline: form.get('pipeline') ?? 'analyst' })}` };
  },
};
