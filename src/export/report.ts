// What people read first about a run: `report.html`, which has no script and asks for nothing, and the sheet Summary.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fieldsOf, isImportant } from '../domain/change.js';
import { OUTCOME_WORDS, ROW_OUTCOMES, type RowOutcome, STAGE_WORDS } from '../domain/outcomes.js';
import { addDecimals } from '../domain/prices.js';
import type { RunSnapshot, SnapshotRow } from '../ledger/answers/snapshot.js';
import type { ChargedCalls } from '../ledger/money/usage.js';
import type { MemberChange } from '../ledger/portfolio/changes.js';
import type { Progress } from '../ledger/rows/runs.js';
import type { SheetCell } from '../sheets/xlsx/write-sheet.js';
import type { SheetChart } from '../sheets/xlsx/write-workbook.js';
import { plainDecimal } from '../util/exact-json.js';
import { barChart, Html, html, type Markup, SHADES, shareBar, type Tone } from '../util/html.js';
import { isContactName, sanitizeText, withoutEmails } from '../util/sanitize-text.js';
import { decimalWithCommas, moment, shortRun, withCommas } from '../util/words.js';
import { type CompanyFacts, hasEnded, stateOfStatus } from './company-at-a-glance.js';
import type { SummarySheet } from './formats/format.js';
import { SUMMARY_FILLS } from './formats/xlsx.js';
import { REASON_WORDS } from './reasons.js';
import type { ExportSummary } from './summary.js';

/** A reason with its rows. Its words hold for all of them. */
interface Cause {
  readonly words: string;
  rows: number;
  /** The first of them, each with what is particular to it. */
  readonly first: string[];
}

interface ImportantChange {
  readonly at: number;
  readonly company: string;
  readonly field: string;
  readonly old: string | null;
  readonly new: string | null;
}

interface TroubledCompany {
  readonly row: number;
  readonly name: string;
  readonly status: string;
  readonly hasEnded: boolean;
}

const TROUBLED_SHOWN = 50;
const FIRST_ROWS = 5;
const CHANGES_SHOWN = 40;
const CURRENCIES_SHOWN = 4;

/** Counts what the report shows while the tables are written. It keeps no contacts. */
export class ReportTally {
  readonly causes: Readonly<Record<'needs_review' | 'failed' | 'invalid', Map<string, Cause>>> = {
    needs_review: new Map(),
    failed: new Map(),
    invalid: new Map(),
  };
  readonly risks = new Map<string, number>();
  readonly turnovers = new Map<string, number[]>();
  readonly statuses = new Map<string, number>();
  readonly years = new Map<string, number>();
  /** The exact sum of credit limits, by currency. */
  readonly exposures = new Map<string, string>();
  /** The first companies that have ended or are in trouble, according to the register. */
  readonly troubled: TroubledCompany[] = [];
  troubledInAll = 0;
  readonly changes: ImportantChange[] = [];
  changesInAll = 0;

  add(row: SnapshotRow, company: CompanyFacts): void {
    const causes = this.causes[row.outcome as keyof ReportTally['causes']] as Map<string, Cause> | undefined;
    if (causes !== undefined) {
      const code = row.errorCode ?? '';
      const cause = causes.get(code) ?? {
        words: REASON_WORDS[code] ?? (code || 'Something went wrong'),
        rows: 0,
        first: [],
      };
      cause.rows += 1;
      if (cause.first.length < FIRST_ROWS)
        cause.first.push(`row ${row.row}: ${withoutEmails(sanitizeText(row.errorMessage ?? '', 160))}`);
      causes.set(code, cause);
    }
    // A company counts once, whatever number of rows name it.
    if (row.firstRow !== null || row.outcome !== 'complete') return;
    addOne(this.statuses, company.status ?? '');
    this.#addTrouble(row, company);
    const year = company.cell('turnover_year');
    if (year !== null) addOne(this.years, year);
    const limit = plainDecimal(company.cell('credit_limit') ?? '');
    if (limit !== null) {
      const unit = company.cell('credit_limit_currency') ?? 'no currency returned';
      this.exposures.set(unit, addDecimals(this.exposures.get(unit) ?? '0', limit));
    }
    const risk = company.cell('credit_risk');
    if (risk !== null) addOne(this.risks, risk);
    const turnover = plainDecimal(company.cell('turnover') ?? '');
    if (turnover === null) return;
    const currency = company.cell('turnover_currency') ?? 'no currency returned';
    const bins = this.turnovers.get(currency) ?? BINS.map(() => 0);
    const bin = BINS.findLastIndex(([from]) => Number(turnover) >= from);
    bins[Math.max(0, bin)] = (bins[Math.max(0, bin)] ?? 0) + 1;
    this.turnovers.set(currency, bins);
  }

  #addTrouble({ row }: SnapshotRow, { status, name }: CompanyFacts): void {
    const state = status === null ? undefined : stateOfStatus(status);
    if (status === null || state === undefined) return;
    this.troubledInAll += 1;
    if (this.troubled.length < TROUBLED_SHOWN)
      this.troubled.push({ row, name: name ?? '', status, hasEnded: hasEnded(state) });
  }

  addChange(change: MemberChange, important: ReadonlySet<string>): void {
    for (const item of change.items)
      for (const field of fieldsOf(item)) {
        if (!isImportant(field, important) || isContactName(field.column ?? '')) continue;
        this.changesInAll += 1;
        this.changes.push({
          at: change.changedAt,
          company: `row ${change.row ?? ''}`.trim(),
          field: field.column === null ? `${field.table} ${field.kind}` : `${field.table} ${field.column}`,
          old: field.oldValue && withoutEmails(field.oldValue),
          new: field.newValue && withoutEmails(field.newValue),
        });
        if (this.changes.length > CHANGES_SHOWN) this.changes.shift();
      }
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const addOne = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Turnovers by size, in units of their currency. */
const BINS: readonly (readonly [from: number, words: string])[] = [
  [Number.NEGATIVE_INFINITY, 'below 0'],
  [0, 'to 100 K'],
  [1e5, 'to 1 M'],
  [1e6, 'to 10 M'],
  [1e7, 'to 100 M'],
  [1e8, 'to 1 B'],
  [1e9, '1 B and more'],
];

const TONES: Readonly<Record<RowOutcome, Tone | 'line'>> = {
  complete: 'ok',
  no_match: 'bar',
  needs_review: 'warn',
  failed: 'bad',
  invalid: 'bad',
  pending: 'line',
};

/** The style of the page, so that both look alike. */
const style = (): Html => new Html(readFileSync(join(import.meta.dirname, '../web/static/style.css'), 'utf8'));

export async function reportHtml(
  snapshot: RunSnapshot,
  summary: Omit<ExportSummary, 'files'>,
  tally: ReportTally,
): Promise<string> {
  const { run, progress } = snapshot;
  const { byOutcome } = progress;
  const shown = ROW_OUTCOMES.filter((outcome) => byOutcome[outcome] > 0);
  const charged = await snapshot.charged();
  const reports = charged.reduce((sum, { meter, calls }) => sum + (meter === 'report' ? calls : 0), 0);
  const body = html`<header><h1>${basename(run.inputPath)}</h1><p class="sub">Run ${shortRun(run.id)} · pipeline ${run.pipelineName} · ${moment(Date.parse(summary.exported_at))}${summary.partial && ' · not finished'}</p></header>
<div class="outcomes wide">${shareBar(
    shown.map((outcome) => ({ value: byOutcome[outcome], tone: TONES[outcome], title: OUTCOME_WORDS[outcome] })),
    'Outcomes',
  )}</div>
<section class="cards">${shown.map((outcome) => card(OUTCOME_WORDS[outcome], withCommas(byOutcome[outcome])))}${card('rows', withCommas(summary.input.rows))}</section>
<section class="cards">${card('units spent', withCommas(progress.unitsCharged))}${reports > 0 && card('credit reports', withCommas(reports))}${summary.money !== undefined && card(summary.money.currency, decimalWithCommas(summary.money.amount))}${progress.unknownCalls > 0 && card('calls with unknown charge', withCommas(progress.unknownCalls))}</section>
${causes('Rows that need review', tally.causes.needs_review, 'Answer them in the sheet Questions of results.xlsx, then run kybatch review apply and kybatch resume.')}
${causes('Failed rows', tally.causes.failed, 'Try them again: kybatch resume --failed.')}
${causes('Invalid rows', tally.causes.invalid, 'Correct them in the list and run it again. The other rows are not bought again.')}
<div class="grid">${spending(charged)}${stages(progress)}${counts('Credit risk, as sent', tally.risks)}${counts('Status of companies, as sent', tally.statuses)}${[
    ...tally.turnovers,
  ]
    .sort(([, a], [, b]) => sumOf(b) - sumOf(a))
    .slice(0, CURRENCIES_SHOWN)
    .map(([currency, bins]) =>
      panel(
        `Newest turnover, ${currency}`,
        barChart(
          BINS.map(([, words]) => words),
          [{ name: 'companies', tone: 'accent', values: bins, texts: bins.map(withCommas) }],
          'Companies by turnover',
        ),
      ),
    )}</div>
${
  tally.changes.length > 0 &&
  panel(
    `Important changes${tally.changesInAll > tally.changes.length ? `: the newest ${CHANGES_SHOWN} of ${withCommas(tally.changesInAll)}` : ''}`,
    grid(
      ['When', 'Company', 'Field', 'Old', 'New'],
      tally.changes.toReversed().map(({ at, company, field, old, new: now }) => [moment(at), company, field, old, now]),
    ),
  )
}
${panel(
  'Settings',
  grid(
    ['', ''],
    [
      ['Input', run.inputPath],
      ['SHA-256 of the input', run.inputSha256],
      ['Pipeline', `${run.pipelineName} (${run.pipelineSha256.slice(0, 16)}…)`],
      ['kybatch', summary.versions.kybatch],
    ],
  ),
)}`;
  return String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${basename(run.inputPath)} · kybatch</title><meta name="viewport" content="width=device-width, initial-scale=1"><style>${style()}body{display:block}</style></head><body><main>${body}</main></body></html>
`);
}

const card = (name: string, figure: string): Html =>
  html`<div class="card"><span>${name}</span><strong>${figure}</strong></div>`;

const panel = (title: string, body: Markup): Html => html`<section class="card"><h2>${title}</h2>${body}</section>`;

const grid = (header: readonly string[], lines: readonly (readonly Markup[])[]): Html =>
  html`<div class="scroll"><table><thead><tr>${header.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${lines.map((line) => html`<tr>${line.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;

const causes = (title: string, found: ReadonlyMap<string, Cause>, remedy: string): Html | false =>
  found.size > 0 &&
  panel(
    title,
    html`<p class="sub">${remedy}</p>${grid(
      ['Reason', 'Rows', 'The first rows, as recorded'],
      [...found.values()]
        .sort((a, b) => b.rows - a.rows)
        .map(({ words, rows, first }) => [words, withCommas(rows), first.map((line) => html`${line}<br>`)]),
    )}`,
  );

const counts = (title: string, found: ReadonlyMap<string, number>): Html | false =>
  found.size > 0 &&
  panel(
    title,
    grid(
      ['', 'Companies'],
      [...found]
        .sort(([, a], [, b]) => b - a)
        .slice(0, 20)
        .map(([value, companies]) => [
          value === '' ? html`<span class="dim">not returned</span>` : value,
          withCommas(companies),
        ]),
    ),
  );

function spending(charged: readonly ChargedCalls[]): Html | false {
  const days = [...new Set(charged.map(({ day }) => day))].sort().slice(-31);
  const operations = [...new Set(charged.map(({ api, operation }) => `${api} ${operation}`))].sort();
  if (days.length === 0) return false;
  const series = operations.map((name, at) => {
    const values = days.map((day) =>
      charged.reduce(
        (sum, one) => sum + (one.day === day && `${one.api} ${one.operation}` === name ? one.calls : 0),
        0,
      ),
    );
    return { name, tone: SHADES[at % SHADES.length] ?? 'bar', values, texts: values.map(withCommas) };
  });
  return panel(
    'Charged calls a day (UTC)',
    html`${barChart(
      days.map((day) => day.slice(5)),
      series,
      'Charged calls a day',
      true,
    )}${grid(
      ['Operation', 'Calls'],
      series.map(({ name, values }) => [name, withCommas(sumOf(values))]),
    )}`,
  );
}

function stages({ stages: all, heldByReview }: Progress): Html | false {
  const lines = Object.entries(all).map(([stage, { skipped: _, pending = 0, ...counts }]) => {
    const held = heldByReview[stage] ?? 0;
    const shown = Object.entries({ ...counts, held, notStarted: pending - held }).filter(([, rows]) => rows > 0);
    return [
      stage.replaceAll('-', ' '),
      shown.map(([status, rows]) => `${withCommas(rows)} ${STAGE_WORDS[status] ?? status}`).join(', '),
    ];
  });
  return lines.length > 0 && panel('Stages', grid(['Stage', 'Rows'], lines));
}

const figure = (value: number): SheetCell => ({ text: String(value), as: 'amount' });

/** The first sheet of the results workbook: what a reader wants to know before the rows. */
export async function summarySheet({ run, progress, charged }: RunSnapshot, tally: ReportTally): Promise<SummarySheet> {
  const lines: (readonly SheetCell[])[] = [];
  const charts: SheetChart[] = [];
  const section = (title: string, ...rest: readonly string[]) => {
    if (lines.length > 0) lines.push([]);
    lines.push([title, ...rest].map((text) => ({ text, fill: SUMMARY_FILLS.section })));
  };
  const list = (title: string, counts: readonly (readonly [name: string, number: number])[]) => {
    // The header of the sheet is line 1.
    const from = lines.length + 2;
    for (const [name, number] of counts) lines.push([name, figure(number)]);
    const [names, values] = [counts.map(([name]) => name), counts.map(([, number]) => number)];
    charts.push({ title, from, to: from + counts.length - 1, names, values });
  };
  const counted = (title: string, counts: readonly (readonly [name: string, companies: number])[]) => {
    if (counts.length === 0) return;
    section(title, 'companies');
    list(title, counts);
  };
  lines.push(['List', run.inputPath], ['Run', run.id], ['Pipeline', run.pipelineName]);
  section('Rows');
  const shown = ROW_OUTCOMES.filter((outcome) => progress.byOutcome[outcome] > 0);
  list(
    'Rows by outcome',
    shown.map((outcome) => [OUTCOME_WORDS[outcome], progress.byOutcome[outcome]]),
  );
  section('Spent by this run');
  const reports = (await charged()).reduce((sum, { meter, calls }) => sum + (meter === 'report' ? calls : 0), 0);
  lines.push(['units', figure(progress.unitsCharged)]);
  if (reports > 0) lines.push(['credit reports', figure(reports)]);
  if (progress.unknownCalls > 0) lines.push(['calls with unknown charge', figure(progress.unknownCalls)]);
  if (tally.troubled.length > 0) {
    section('Companies to look at first', 'row', 'status, as sent');
    for (const { name, row, status, hasEnded } of tally.troubled)
      lines.push([
        { text: name, fill: hasEnded ? SUMMARY_FILLS.ended : SUMMARY_FILLS.troubled },
        { text: String(row), as: 'count' },
        status,
      ]);
    if (tally.troubledInAll > tally.troubled.length)
      lines.push([`and ${tally.troubledInAll - tally.troubled.length} more in the sheet Results`]);
  }
  counted('Credit risk, as sent', byName(tally.risks));
  if (tally.exposures.size > 0) {
    section('Sum of credit limits', 'amount');
    for (const [currency, sum] of byName(tally.exposures)) lines.push([currency, { text: sum, as: 'amount' }]);
  }
  counted('Year of the newest turnover', byName(tally.years));
  return { lines, charts };
}

const byName = <T>(values: ReadonlyMap<string, T>): readonly (readonly [string, T])[] =>
  [...values].sort(([a], [b]) => (a < b ? -1 : 1));
