import { type ListedRow, type RowsView, rows } from '../../app/portfolio/rows.js';
import { reasonName } from '../../cli/terminal/review-words.js';
import { OUTCOME_WORDS } from '../../domain/outcomes.js';
import { type Html, html, joined, type Markup } from '../../util/html.js';
import type { MessageState } from '../../util/message-parts.js';
import { count } from '../../util/words.js';
import {
  aged,
  capitalized,
  chip,
  dataTable,
  dim,
  facetRow,
  firstItem,
  heading,
  hiddenFields,
  numeric,
  pager,
  time,
} from '../layout.js';
import { csvOf, screen } from '../site.js';

export const companiesScreen = screen<RowsView>({
  path: '/companies',
  load(request, { options, environment }) {
    const { query, pageSize: perPage } = request;
    const given = (name: string) => query.get(name) || undefined;
    const chosen = ['portfolio', 'run', 'outcome', 'stage', 'reason', 'sort'].map((name) => [name, given(name)]);
    const page = Math.floor(firstItem(request) / perPage) + 1;
    const asked = { ...Object.fromEntries(chosen), search: given('q'), descending: query.has('desc'), page, perPage };
    return rows({ ...options, ...asked }, environment);
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
${facetRow('Outcome', 'outcome', facets.outcome, request, outcomeInWords)}
${facetRow('Stage', 'stage', facets.stage, request, stageInWords)}
${facetRow('Reason', 'reason', facets.reason, request, reasonName)}
${dataTable(
  [numeric('Row'), 'Your list', 'Company', 'Outcome', 'Reason', aged('Updated')],
  rows.map((row) => [
    html`${row.row}<br><span class="dim">${joined([row.inputId, isMixed && row.portfolio?.split('/').at(-1)], ' · ')}</span>`,
    html`${row.name ?? dim(row.written ?? 'no name')}<br><span class="dim">${placeInWords(row.country, row.registrationNumber)}</span>`,
    companyCell(row),
    outcomeChip(row.outcome),
    row.question === null ? row.reason : html`<a href="/review/${encodeURIComponent(row.question)}">${row.reason}</a>`,
    row.updatedAt === null ? row.outcome === 'pending' && dim('to do') : time(row.updatedAt, at),
  ]),
  'No row fits. Take a filter away, or search for a part of the name.',
)}${pager(request, (page - 1) * request.pageSize, total)}`,
    };
  },
  csv: csvOf(({ rows }) => rows, {
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

const SORTS = ['row', 'name', 'outcome', 'updated', 'units'] as const;

/** The filters stay in force for another search. */
function searchForm(query: URLSearchParams): Html {
  const kept = [...query].filter(([name]) => !['q', 'sort', 'desc', 'from'].includes(name));
  const sorts = SORTS.map((name) => {
    const isOn = query.get('sort') === name;
    return html`<option value="${name}"${isOn && html` selected`}>${capitalized(name)}</option>`;
  });
  return html`<form class="row" method="get" action="/companies" role="search"><input type="search" name="q" data-key="/" aria-label="Name, number or ID" placeholder="Name, number or ID" size="32" value="${query.get('q') ?? ''}">${hiddenFields(kept)}<label>Sort by <select name="sort">${sorts}</select></label><label><input type="checkbox" name="desc" value="1"${query.has('desc') && html` checked`}> last first</label><button class="primary">Search</button></form>`;
}

const STATES: Readonly<Record<string, MessageState>> = {
  complete: 'done',
  needs_review: 'attention',
  failed: 'failed',
  invalid: 'failed',
};

const outcomeInWords = (outcome: string): string =>
  (OUTCOME_WORDS as Readonly<Record<string, string>>)[outcome] ?? outcome;

export const outcomeChip = (outcome: string): Html =>
  chip(STATES[outcome] ?? 'detail', outcome === 'needs_review' ? 'needs review' : outcomeInWords(outcome));

const stageInWords = (stage: string): string => stage.replaceAll('-', ' ');

export const companyAddress = ({ space, id }: { readonly space: string; readonly id: string }): string =>
  `/companies/${encodeURIComponent(space)}/${encodeURIComponent(id)}`;

function companyCell({ company, matchedName, matchedRegistrationNumber, matchedCountry }: ListedRow): Markup {
  if (company === null) return dim('not confirmed');
  return html`<a href="${companyAddress(company)}">${matchedName ?? 'Open'}</a><br><span class="dim">${placeInWords(matchedCountry, matchedRegistrationNumber)}</span>`;
}

const placeInWords = (country: string | null, number: string | null): string =>
  [country, number].filter((part) => part !== null && part !== '').join(' · ');
