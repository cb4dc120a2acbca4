import { type FacetCount, type ListedRow, type RowFacet, type RowsView, rows } from '../../app/portfolio/rows.js';
import { reasonName } from '../../cli/terminal/review-words.js';
import { OUTCOME_WORDS, ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import { type Html, html, joined, type Markup } from '../../util/html.js';
import type { MessageState } from '../../util/message-parts.js';
import { count, withCommas } from '../../util/words.js';
import { aged, chip, dataTable, firstItem, heading, numeric, pager, time } from '../layout.js';
import { csvLines, type PageRequest, screen } from '../site.js';

const PAGE = 50;

export const companiesScreen = screen<RowsView & { readonly at: number }>({
  path: '/companies',
  async load(request, { options, environment }) {
    const { query } = request;
    const given = (name: string) => query.get(name) || undefined;
    const view = await rows(
      {
        ...options,
        search: given('q'),
        portfolio: given('portfolio'),
        run: given('run'),
        outcome: given('outcome'),
        stage: given('stage'),
        reason: given('reason'),
        sort: given('sort'),
        descending: query.has('desc'),
        page: Math.floor(firstItem(request) / PAGE) + 1,
        perPage: PAGE,
      },
      environment,
    );
    return { ...view, at: environment.clock.now() };
  },
  show(view, request) {
    const { query } = request;
    const { total, page, rows, facets, at } = view;
    const scope = query.get('portfolio') ?? query.get('run');
    const isMixed = rows.some(({ portfolio }) => portfolio !== rows[0]?.portfolio);
    return {
      title: 'Companies',
      body: html`${heading('Companies', html`${isFiltered(query) ? count(total, 'row fits', 'rows fit') : count(total, 'row')}${scope && html` · ${scope}`}`)}
${searchForm(query)}
${facetLine('Outcome', 'outcome', facets.outcome, request, outcomeInWords)}
${facetLine('Stage', 'stage', facets.stage, request, stageInWords)}
${facetLine('Reason', 'reason', facets.reason, request, reasonName)}
${dataTable(
  [numeric('Row'), 'Your list', 'Company', 'Outcome', 'Reason', aged('Updated')],
  rows.map((row) => [
    html`${row.row}<br><span class="dim">${joined([row.inputId, isMixed && row.portfolio?.split('/').at(-1)], ' · ')}</span>`,
    html`${row.name ?? html`<span class="dim">${row.written ?? 'no name'}</span>`}<br><span class="dim">${placeInWords(row.country, row.registrationNumber)}</span>`,
    companyCell(row),
    chip(outcomeState(row.outcome), outcomeInWords(row.outcome)),
    row.reason,
    row.updatedAt === null
      ? row.outcome === 'pending' && html`<span class="dim">to do</span>`
      : time(row.updatedAt, at),
  ]),
  'No row fits. Take a filter away, or search for a part of the name.',
)}${pager(request, (page - 1) * PAGE, PAGE, total)}`,
    };
  },
  csv: ({ rows }) =>
    csvLines(rows, {
      portfolio: (row) => row.portfolio,
      row: (row) => row.row,
      input_id: (row) => row.inputId,
      name: (row) => row.name,
      country: (row) => row.country,
      registration_number: (row) => row.registrationNumber,
      matched_name: (row) => row.matchedName,
      outcome: (row) => row.outcome,
      stage: (row) => row.stage,
      reason_code: (row) => row.reasonCode,
      reason: (row) => row.reason,
      match_grade: (row) => row.matchGrade,
      units_charged: (row) => row.unitsCharged,
    }),
});

const isFiltered = (query: URLSearchParams): boolean =>
  ['q', 'outcome', 'stage', 'reason'].some((name) => query.get(name));

const SORTS = [
  ['row', 'Row'],
  ['name', 'Name'],
  ['outcome', 'Outcome'],
  ['updated', 'Updated'],
  ['units', 'Units'],
] as const;

/** The filters stay in force for another search. */
const searchForm = (query: URLSearchParams): Html =>
  html`<form class="row" method="get" action="/companies" role="search"><input type="search" name="q" data-key="/" aria-label="Name, number or ID" placeholder="Name, number or ID" size="32" value="${query.get('q') ?? ''}">${[
    'portfolio',
    'run',
    'outcome',
    'stage',
    'reason',
  ].map(
    (name) => query.get(name) && html`<input type="hidden" name="${name}" value="${query.get(name)}">`,
  )}<label>Sort by <select name="sort">${SORTS.map(
    ([value, words]) =>
      html`<option value="${value}"${query.get('sort') === value && html` selected`}>${words}</option>`,
  )}</select></label><label><input type="checkbox" name="desc" value="1"${query.has('desc') && html` checked`}> last first</label><button class="primary">Search</button></form>`;

const FACETS_SHOWN = 8;

/** Every choice is a link. The chosen one takes the filter away. */
function facetLine(
  title: string,
  name: RowFacet,
  facets: readonly FacetCount[],
  { path, query }: PageRequest,
  words: (value: string) => string,
): Html | false {
  const chosen = query.get(name);
  if (facets.length === 0 || (facets.length === 1 && chosen === null)) return false;
  return html`<p class="row facets"><span class="dim">${title}</span>${facets
    .slice(0, FACETS_SHOWN)
    .map(({ value, count: rows }) => {
      const other = new URLSearchParams(query);
      other.delete('from');
      if (value === chosen) other.delete(name);
      else other.set(name, value);
      return html`<a class="chip${value === chosen && ' on'}" href="${path}?${other.toString()}"${value === chosen && html` aria-current="true"`}>${words(value)} <b>${withCommas(rows)}</b></a>`;
    })}</p>`;
}

const isOutcome = (text: string): text is RowOutcome => ROW_OUTCOMES.some((known) => known === text);

export const outcomeInWords = (outcome: string): string => (isOutcome(outcome) ? OUTCOME_WORDS[outcome] : outcome);

const stageInWords = (stage: string): string => stage.replaceAll('-', ' ');

export function outcomeState(outcome: string): MessageState {
  if (outcome === 'complete') return 'done';
  if (outcome === 'needs_review') return 'attention';
  return outcome === 'failed' || outcome === 'invalid' ? 'failed' : 'detail';
}

export const companyAddress = ({ space, id }: { readonly space: string; readonly id: string }): string =>
  `/companies/${encodeURIComponent(space)}/${encodeURIComponent(id)}`;

function companyCell({ company, matchedName, matchedRegistrationNumber, matchedCountry }: ListedRow): Markup {
  if (company === null) return html`<span class="dim">not confirmed</span>`;
  return html`<a href="${companyAddress(company)}">${matchedName ?? 'Open'}</a><br><span class="dim">${placeInWords(matchedCountry, matchedRegistrationNumber)}</span>`;
}

const placeInWords = (country: string | null, number: string | null): string =>
  [country, number].filter((part) => part !== null && part !== '').join(' · ');
