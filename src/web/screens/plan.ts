import { basename, resolve } from 'node:path';
import { type PipelineView, pipelines } from '../../app/admin/pipelines.js';
import { previewForPage } from '../../app/page-thread.js';
import { isKnownInput, keepUpload, type PreviewView, type UnreadTable } from '../../app/run/preview.js';
import { isLedgerHeld, startProcess } from '../../app/run/process.js';
import { planJson } from '../../cli/terminal/plan-words.js';
import { amountsInWords, moneyInWords, retriesInWords } from '../../cli/terminal/run-words.js';
import { UsageError } from '../../domain/errors.js';
import { type Html, html, type Markup } from '../../util/html.js';
import { message } from '../../util/message-parts.js';
import { count, rowInWords, withCommas } from '../../util/words.js';
import { Refused } from '../access.js';
import {
  addressWith,
  box,
  card,
  cards,
  chip,
  facts,
  heading,
  hiddenFields,
  numeric,
  panel,
  someOf,
  tablePanel,
} from '../layout.js';
import { type Action, mayDo, type PageRequest, type Site, screen } from '../site.js';

interface PlanScreenView {
  readonly pipelines: readonly PipelineView[];
  /** Null: no list is chosen yet, or it cannot be read. */
  readonly preview: PreviewView | null;
  readonly unread: UnreadTable | null;
  /** Another process has the ledger. Known before a start alone. */
  readonly isHeld: boolean;
}

/** The fields that a person can choose for a column. */
const FIELDS = ['name', 'country', 'registration_number', 'vat_number', 'ticker', 'city', 'state', 'id'] as const;

const text = ({ query }: Pick<PageRequest, 'query'>, name: string): string | undefined =>
  query.get(name)?.trim() || undefined;

/** The options in the address. `as`: the field of each column, in their order. Columns of one field are joined. `kept`: fields with other sources. */
function optionsOf(request: Pick<PageRequest, 'query'>) {
  const { query } = request;
  const chosen = query.getAll('as');
  const kept = query.getAll('kept');
  const given = FIELDS.flatMap((field) => {
    const places = chosen.flatMap((one, at) => (one === field ? [`#${at + 1}`] : []));
    return places.length === 0 && kept.includes(field) ? [] : [`${field}=${places.join(' + ')}`];
  });
  const reading = {
    ...(chosen.length === 0 ? {} : { map: given }),
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
  async load(request, site) {
    const { options, environment } = site;
    const asked = optionsOf(request);
    await mustBeOffered(asked.input, site);
    return {
      pipelines: pipelines(environment),
      ...{ preview: null, unread: null },
      ...(asked.input === '' ? {} : await previewForPage({ ...options, ...asked }, environment)),
      isHeld: text(request, 'confirm') !== undefined && (await isLedgerHeld(options, environment)),
    };
  },
  json: ({ preview, unread }) => {
    if (unread !== null) throw new UsageError('NO_USABLE_COLUMN', unread.problem);
    return preview === null ? {} : planJson(preview.plan);
  },
  show(view, request, site) {
    const { pipelines, preview, unread } = view;
    if (preview === null && unread === null)
      return {
        title: 'New list',
        body: html`${heading('New list', 'kybatch reads it and shows what it would cost. Nothing is bought before you agree.')}${choose(pipelines, request, site)}`,
      };
    const another = html`<a class="btn" href="/plan">Another list…</a>`;
    return {
      title: 'Plan',
      body:
        preview === null
          ? html`${heading(basename(optionsOf(request).input), 'nothing was spent', another)}${unread && html`<p class="notice warn">Choose what the columns are: ${unread.problem}</p>${columnsForm({ ...unread, pipeline: text(request, 'pipeline') }, pipelines, request)}`}`
          : html`${heading(basename(preview.plan.input), html`${count(preview.plan.rows, 'row')} · nothing was spent`, another)}
${updates(preview.plan, request)}${planned(view, preview, request, site)}`,
    };
  },
});

/** Any path would let people who may not start runs, or who come through a proxy, read each file of this machine. */
const mayNamePath = ({ isVerified, role }: Site['user']): boolean => !isVerified && mayDo(role, 'spend');

async function mustBeOffered(input: string, { options, environment, user }: Site): Promise<void> {
  if (mayNamePath(user) || input === '' || (await isKnownInput(input, options, environment))) return;
  throw new Refused(
    403,
    'FILE_NOT_OFFERED',
    'Only uploaded files and the files of lists are read here.',
    'Upload the file.',
  );
}

/** A file with a name of its own that updates a list of another name. */
function updates({ input, portfolio, run }: PreviewView['plan'], { query }: PageRequest): Html | false {
  if (portfolio === input || !query.has('name')) return false;
  return html`<p class="notice warn">This file ${run === null ? 'belongs to' : 'updates'} the list <b>${basename(portfolio)}</b>. The earlier file is kept. <a href="${addressWith('/plan', query, { name: null, confirm: null })}">Make it a list of its own</a></p>`;
}

const pipelineChoice = (pipelines: readonly PipelineView[], chosen: string | undefined): Html =>
  html`<label>What to buy <select name="pipeline">${pipelines
    .filter(({ problem }) => problem === undefined)
    .map(
      ({ name, description }) =>
        html`<option value="${name}"${name === (chosen ?? 'analyst') && html` selected`}>${name}: ${description}</option>`,
    )}</select></label>`;

const choose = (pipelines: readonly PipelineView[], request: PageRequest, { user }: Site): Html =>
  html`<div class="grid">
${mayNamePath(user) && panel('A file on this machine', html`<form class="stack" method="get" action="/plan"><p><label>Path <input name="path" size="40" required placeholder="suppliers.xlsx"></label></p><p>${pipelineChoice(pipelines, text(request, 'pipeline'))}</p><button class="primary">Show the plan</button></form>`)}
${mayDo(user.role, 'spend') && panel('Upload a file', html`<form class="stack" method="post" action="/plan/upload" enctype="multipart/form-data"><p><input type="file" name="file" aria-label="File" required accept=".csv,.tsv,.txt,.xlsx,.gz"></p><p>${pipelineChoice(pipelines, text(request, 'pipeline'))}</p><button class="primary">Upload and show the plan</button></form>`)}
</div>`;

function planned(
  { pipelines, isHeld }: PlanScreenView,
  { plan, rows, usualCountry, leftOut, doubts, notes }: PreviewView,
  request: PageRequest,
  site: Site,
): Html {
  const { units, creditReportsAtMost: reports, v2Calls, money } = plan;
  const free = plan.owned - plan.repeated - plan.upToDate - plan.held;
  return html`${plan.refusals.map(({ code, message, hint }) => html`<p class="notice warn">A run would be refused (${code}): ${message}. ${hint}</p>`)}
${doubts.map(({ reason, field }) => html`<p class="notice warn">Choose the column of <b>${field}</b> below: ${reason}.</p>`)}
${notes.map(({ text: words, flags }) => html`<p class="notice warn">${words}${flags !== undefined && ' Change it below.'}</p>`)}
${cards(
  plan.asksV1 &&
    card(
      'Units',
      units.atMost === 0 ? 'none' : `about ${withCommas(units.likely)}`,
      units.atMost === 0 ? 'everything is stored' : `at most ${withCommas(units.atMost)}`,
    ),
  reports > 0 && card('Credit reports', `at most ${withCommas(reports)}`, ''),
  v2Calls.atMost > 0 &&
    card(
      'v2 calls',
      `at most ${withCommas(v2Calls.atMost)}`,
      money === undefined ? 'price not published, free calls extra' : 'free calls extra',
    ),
  money !== undefined && card('Money', `about ${moneyInWords(money.likely)}`, `at most ${moneyInWords(money.atMost)}`),
)}
${isHeld ? html`<p class="notice warn">Another run is using the ledger. Start this list when that run has ended.</p>` : startForm(plan, doubts.length > 0, request, site)}
<div class="grid">
${panel(
  'Rows',
  facts([
    ['To search and buy', someOf(plan.toSearch)],
    ['Known, with data to buy', someOf(plan.toBuy)],
    ['With the same requests as an earlier row', someOf(plan.repeated)],
    ['On hold for an unknown charge', someOf(plan.held)],
    ['With stored answers, free', someOf(free)],
    ['Up to date', someOf(plan.upToDate)],
    ['May need review', someOf(plan.toPerson)],
    ['Invalid, skipped at no cost', someOf(plan.invalid)],
  ]),
)}
${tablePanel(
  'Invalid rows',
  ['Reason', numeric('Rows'), 'First'],
  plan.invalidReasons.map((one) => [one.message, withCommas(one.rows), rowInWords(one.row, one.line)]),
)}
</div>
${usualCountry !== null && text(request, 'confirm') === undefined && html`<p class="row"><button name="country" value="${usualCountry}" form="${JOB_FORM}">Use ${usualCountry} for rows without a country</button></p>`}
${panel('The first rows, and what each column is', columnsForm({ columns: plan.columns.all, read: plan.columns.read, rows, leftOut, pipeline: plan.pipeline }, pipelines, request))}`;
}

/** The form of the columns. The buttons that start belong to it, so that a start is for what it shows. */
const JOB_FORM = 'job';

interface ListBeginning {
  readonly columns: readonly string[];
  readonly read?: PreviewView['plan']['columns']['read'];
  readonly rows: readonly (UnreadTable['rows'][number] & { readonly problem?: unknown })[];
  readonly leftOut?: PreviewView['leftOut'];
  readonly pipeline: string | undefined;
}

/** The choice over each column, the cells as written, and the lines that are no companies. Fixed while it is confirmed. */
function columnsForm(
  { columns, read = [], rows, leftOut = [], pipeline }: ListBeginning,
  pipelines: readonly PipelineView[],
  request: PageRequest,
): Html {
  // Texts and alternatives among the columns cannot be chosen here.
  const isChosen = ({ source }: (typeof read)[number]) => [source].flat().every((piece) => typeof piece === 'number');
  const fieldOf = (at: number) => read.find((column) => isChosen(column) && [column.source].flat().includes(at))?.field;
  const kept = read.filter((column) => !isChosen(column)).map(({ field }) => ['kept', field] as const);
  const isFixed = text(request, 'confirm') !== undefined;
  const choice = (name: string, at: number): Html =>
    isFixed
      ? html`<b>${fieldOf(at)?.replaceAll('_', ' ') ?? 'not used'}</b>`
      : html`<select name="as" aria-label="${name} is"><option value="">not used</option>${FIELDS.map(
          (field) =>
            html`<option value="${field}"${fieldOf(at) === field && html` selected`}>${field.replaceAll('_', ' ')}</option>`,
        )}</select>`;
  const lines = [
    ...rows.map(({ line, values, problem }) => ({
      line,
      shown: html`${problem !== undefined && html` ${chip('failed', 'invalid')}`}</td>${columns.map((_, at) => html`<td>${values[at]}</td>`)}`,
    })),
    ...leftOut.map(({ line, text: words, kind }) => ({
      line,
      shown: html`</td><td colspan="${columns.length}"><s>${words}</s> <span class="dim">left out: ${kind}</span></td>`,
    })),
  ].sort((a, b) => a.line - b.line);
  const table = box(
    'The first rows',
    html`<table><thead><tr><th></th>${columns.map((name, at) => html`<th scope="col">${name}<br>${choice(name, at)}</th>`)}</tr></thead><tbody>${lines.map(
      ({ line, shown }) => html`<tr><td class="dim">line ${line}${shown}</tr>`,
    )}</tbody></table>`,
  );
  if (isFixed) return table;
  return html`<form id="${JOB_FORM}" class="stack" method="get" action="/plan">${hidden(request, ['path', 'portfolio', 'name', 'sheet'])}${hiddenFields(kept)}${table}<p class="dim">If several columns are the same field, their cells are joined from left to right.</p>
<p class="row">${pipelineChoice(pipelines, pipeline)}<label>Country of rows that have none <input name="country" size="4" maxlength="60" value="${text(request, 'country') ?? ''}" placeholder="DE"></label><button>Plan again</button></p></form>`;
}

const hidden = ({ query }: PageRequest, names: readonly string[]): Markup =>
  hiddenFields([...query].filter(([name]) => names.includes(name)));

const JOB = ['path', 'portfolio', 'name', 'pipeline', 'country', 'sheet', 'as', 'kept'];

/** Limits first, then one plain question that names them. */
function startForm(plan: PreviewView['plan'], isUnclear: boolean, request: PageRequest, { user }: Site): Html | false {
  const { units, creditReportsAtMost: reports } = plan;
  if (!mayDo(user.role, 'spend') || plan.valid === 0 || isUnclear || plan.refusedBy !== null) return false;
  if (plan.toSearch + plan.toBuy + reports === 0)
    return html`<p class="notice ok">Everything is up to date. Nothing would be bought.</p>`;
  const usual = {
    units: Math.min(units.atMost, plan.limits.units ?? units.atMost),
    reports: Math.min(reports, plan.limits.creditReports ?? reports),
  };
  // A limit that nobody changed follows the plan.
  const limitOf = (name: 'units' | 'reports') => {
    const given = readLimit(text(request, `max_${name}`));
    return given === undefined || given === readLimit(text(request, `usual_${name}`)) ? usual[name] : given;
  };
  const limits = { units: limitOf('units'), reports: limitOf('reports') };
  const field = (name: 'units' | 'reports') =>
    html`<input type="hidden" form="${JOB_FORM}" name="usual_${name}" value="${usual[name]}"><input type="number" form="${JOB_FORM}" name="max_${name}" min="0" value="${limits[name]}">`;
  if (text(request, 'confirm') === undefined)
    return panel(
      'Start',
      html`<p class="row"><button form="${JOB_FORM}" hidden>Plan again</button><label>At most ${field('units')} units</label><label>At most ${field('reports')} credit reports</label><button class="primary" form="${JOB_FORM}" name="confirm" value="1">Start…</button></p>`,
    );
  const atMost = { units: Math.min(limits.units, units.atMost), reports: Math.min(limits.reports, reports) };
  const isMore = limits.units > atMost.units || limits.reports > atMost.reports;
  return panel(
    'Start',
    html`<p><b>Buy up to ${amountsInWords(atMost)}${plan.money !== undefined && ` (at most ${moneyInWords(plan.money.atMost)})`}?</b></p>
<p class="sub">Pipeline ${plan.pipeline}, columns as below.${isMore && ` ${retriesInWords({ atMost: { ...atMost, calls: {}, v2Calls: 0, reveals: { email: 0, phone: 0 }, held: 0 }, limits })}`}</p>
<form class="row" method="post" action="/plan/start">${hidden(request, JOB)}<input type="hidden" name="max_units" value="${limits.units}"><input type="hidden" name="max_reports" value="${limits.reports}"><button class="primary">Buy up to ${amountsInWords(atMost)}</button><a class="btn" href="${addressWith('/plan', request.query, { confirm: null })}">Back</a></form>`,
  );
}

export function readLimit(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^\d{1,12}$/.test(given))
    throw new UsageError('FLAG_NOT_A_NUMBER', `a limit must be a whole number, got ${given}`);
  return Number(given);
}

/** Both limits are always given, so that nothing more than the agreed amounts can be bought. */
export const limitFlags = (form: URLSearchParams): readonly string[] => [
  '--max-units',
  String(readLimit(form.get('max_units') ?? '0') ?? 0),
  '--max-reports',
  String(readLimit(form.get('max_reports') ?? '0') ?? 0),
];

/** Goes to the run that a command has begun. A command that ended before says why. */
export async function startAndShow(words: readonly string[], { options, environment }: Site) {
  if (await isLedgerHeld(options, environment))
    return {
      to: '/runs',
      message: message(
        'LEDGER_BUSY',
        'Nothing was started: another run is using the ledger. Try again when it has ended.',
        'attention',
      ),
    };
  const { run, ended } = await startProcess(words, options, environment);
  if (run !== null) return { to: `/runs/${encodeURIComponent(run)}` };
  // The page of runs says how a process without a run stands.
  if (ended === null || ended.exit !== 0) return { to: '/runs' };
  return { to: '/runs', message: message('RUN_ENDED', ended.said) };
}

export const startAction: Action = {
  path: '/plan/start',
  needs: 'spend',
  async run(form, _, site) {
    const { input, pipeline, portfolio, reading } = optionsOf({ query: form });
    await mustBeOffered(input, site);
    // A value that looks like a flag stays a value.
    const flags = [
      ...(pipeline === undefined ? [] : [`--pipeline=${pipeline}`]),
      ...(portfolio === undefined ? [] : [`--portfolio=${portfolio}`]),
      ...(reading.map ?? []).map((one) => `--map=${one}`),
      ...(reading.country === undefined ? [] : [`--country=${reading.country}`]),
      ...(reading.sheet === undefined ? [] : [`--sheet=${reading.sheet}`]),
    ];
    return await startAndShow(['run', ...flags, ...limitFlags(form), resolve(site.environment.cwd, input)], site);
  },
};

export const uploadAction: Action = {
  path: '/plan/upload',
  needs: 'spend',
  async run(form, _, { options, environment }, file) {
    if (file === undefined) throw new UsageError('FILE_MISSING', 'no file was sent');
    const { path, portfolio } = await keepUpload(file, options, environment);
    const pipeline = form.get('pipeline') ?? 'analyst';
    return {
      to: `/plan?${new URLSearchParams({ path, pipeline, ...(portfolio === null ? {} : { name: portfolio }) })}`,
    };
  },
};
