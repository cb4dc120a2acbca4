// The frame of every page, and the parts that pages share.

import { Html, html, joined, type Markup } from '../util/html.js';
import { type Message, type MessageState, sentence } from '../util/message-parts.js';
import { count, moment, withCommas } from '../util/words.js';
import type { PageContent, PageRequest, Site } from './site.js';

const NAVIGATION = [
  ['/', 'Portfolios'],
  ['/review', 'Review'],
  ['/runs', 'Runs'],
  ['/companies', 'Companies'],
  ['/changes', 'Changes'],
  ['/usage', 'Usage'],
  ['/decisions', 'Decisions'],
] as const;

interface Extras {
  readonly message: Message | undefined;
  readonly hasCsv: boolean;
  readonly questions: number;
}

export function frame(
  { title, body, isLive = false }: PageContent,
  { path, query }: Pick<PageRequest, 'path' | 'query'>,
  site: Site,
  { message, hasCsv, questions }: Extras,
): Html {
  return document(
    title,
    html`${navigation(path, site, questions)}
<main id="main"${isLive && html` data-live`}>${message && notice(message)}${body}${hasCsv && html`<p class="sub"><a href="${addressWith(path, query, { format: 'csv' })}">Download as CSV</a></p>`}</main>`,
    isLive,
  );
}

function navigation(path: string, { user, options }: Site, questions: number): Html {
  const isHere = (address: string) =>
    address === '/' ? path === '/' || path === '/plan' : `${path}/`.startsWith(`${address}/`);
  return html`<nav aria-label="Pages"><b>kybatch</b>${NAVIGATION.map(
    ([address, name]) =>
      html`<a href="${address}"${isHere(address) && html` class="on" aria-current="page"`}>${name}${address === '/review' && questions > 0 && html` <span class="chip warn" title="${count(questions, 'open question')}">${withCommas(questions)}</span>`}</a>`,
  )}<p><small>${joined([user.name, options.sandbox && 'sandbox', user.role !== 'spend' && `may ${user.role}`], ' · ')}</small></p></nav>`;
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly hint: string | undefined;
  readonly path: string;
}

const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'This did not work',
  401: 'You are not signed in',
  403: 'This is not allowed',
  404: 'Not found',
  409: 'A run is using the ledger',
  413: 'The file is too large',
  421: 'Wrong address',
};

/** Without a site the person is not known, and there is nothing to navigate to. */
export function problemPage({ status, code, text, hint, path }: Problem, site: Site | undefined): Html {
  if (site !== undefined && code === 'NO_LEDGER_YET') {
    const body = html`<h1>No list yet</h1><p>Companies, calls and costs appear here after the first list.</p><p class="row"><a class="btn primary" href="/plan">New list…</a></p>`;
    return frame({ title: 'No list yet', body }, { path, query: NO_QUERY }, site, NO_EXTRAS);
  }
  const title = PROBLEMS[status] ?? 'Something went wrong';
  const body = html`<h1>${title}</h1><p>${sentence(capitalized(text))}</p>${hint && !isForTerminal(hint, status) && html`<p class="sub">${hint}</p>`}${site && html`<p class="row"><a class="btn" href="/">To the portfolios</a></p>`}`;
  return site === undefined
    ? document(title, html`<nav><b>kybatch</b></nav><main id="main">${body}</main>`)
    : frame({ title, body }, { path, query: NO_QUERY }, site, NO_EXTRAS);
}

const NO_QUERY = new URLSearchParams();
const NO_EXTRAS = { message: undefined, hasCsv: false, questions: 0 };

/** A hint that names commands or flags helps at a terminal, and to start the page again. */
const isForTerminal = (hint: string, status: number): boolean =>
  status !== 401 && status !== 403 && /`|(?:^|\s)--\w/.test(hint);

/** The bundler rewrites templates that have this closing tag. */
const SCRIPT = new Html('<script src="/script.js" defer></script>');

/** Without script a live page is loaded again. */
const RELOAD = html`<noscript><meta http-equiv="refresh" content="5"></noscript>`;

const document = (title: string, body: Html, isLive = false): Html =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} · kybatch</title><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/style.css">${SCRIPT}${isLive && RELOAD}</head>
<body><a class="skip" href="#main">To the content</a>${body}</body></html>
`;

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The title of a page, a line below it, and buttons beside it. */
export const heading = (title: Markup, sub: Markup, beside?: Markup): Html =>
  html`<header class="row between"><div><h1>${title}</h1><p class="sub">${sub}</p></div>${beside && html`<div class="row">${beside}</div>`}</header>`;

const STATES: Readonly<Record<MessageState, string>> = { done: 'ok', attention: 'warn', failed: 'bad', detail: 'dim' };

const notice = ({ text, state = 'done' }: Message): Html =>
  html`<p class="notice ${STATES[state]}" role="status">${sentence(capitalized(text))}</p>`;

/** A state in a word. The colour says the same. */
export const chip = (state: MessageState, words: Markup): Html =>
  html`<span class="chip ${STATES[state]}">${words}</span>`;

/** A figure with its name above and a line below. */
export const card = (name: Markup, figure: Markup, below: Markup): Html =>
  html`<div class="card"><span>${name}</span><strong>${figure}</strong><span>${below}</span></div>`;

export const cards = (...all: readonly Markup[]): Html => html`<section class="cards">${all}</section>`;

/** A column of a table. */
export type TableColumn = string | { readonly name: string; readonly kind: 'number' | 'time' };

/**
 * Numbers go to the right. Columns without a value are left out. On a narrow screen each line is a block, and a table of
 * numbers scrolls in its box.
 */
export function dataTable(
  columns: readonly TableColumn[],
  lines: readonly (readonly Markup[])[],
  empty: Markup = 'Nothing yet.',
): Html {
  if (lines.length === 0) return html`<p class="empty">${empty}</p>`;
  const used = columns.flatMap((column, at) => {
    if (at > 0 && !lines.some((line) => hasValue(line[at]))) return [];
    const { name, kind } = typeof column === 'object' ? column : { name: column, kind: undefined };
    return [{ at, name, kind, css: kind === 'number' && html` class="n"`, of: kind && html` data-of="${name}"` }];
  });
  const isBlocks = !used.slice(1).every(({ kind }) => kind === 'number');
  return box(
    'Table',
    html`<table${isBlocks && html` class="blocks"`}><thead><tr>${used.map(
      ({ name, css }) => html`<th scope="col"${css}>${name}</th>`,
    )}</tr></thead><tbody>${lines.map(
      (line) => html`<tr>${used.map(({ at, css, of }) => html`<td${css}${of}>${line[at]}</td>`)}</tr>`,
    )}</tbody></table>`,
  );
}

/** A part that scrolls by itself, also with keys, if it is too wide. */
export const box = (label: string, body: Html): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">${body}</div>`;

const hasValue = (part: Markup): boolean =>
  Array.isArray(part) ? part.some(hasValue) : part !== false && part !== null && part !== undefined && part !== '';

/** A figure, if there is any. */
export const someOf = (figure: number | undefined): string | false =>
  figure !== undefined && figure > 0 && withCommas(figure);

export const numeric = (name: string): TableColumn => ({ name, kind: 'number' });

/** An age says nothing without its name. */
export const aged = (name: string): TableColumn => ({ name, kind: 'time' });

/** Names and values. Values that are missing are left out. */
export const facts = (lines: readonly (readonly [name: string, value: Markup])[]): Html =>
  html`<dl>${lines
    .filter(([, value]) => hasValue(value))
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** What is less important. */
export const dim = (words: Markup): Html => html`<span class="dim">${words}</span>`;

/** A value that the provider did not send. It is never shown as none. */
export const NOT_RETURNED = dim('not returned');

export const returned = <Value>(value: Value | null | undefined, show: (value: Value) => Markup): Markup =>
  value == null ? NOT_RETURNED : show(value);

export const panel = (title: Markup, body: Markup): Html =>
  html`<section class="card"><h2>${title}</h2>${body}</section>`;

/** A table with a title. Without a line it is left out. */
export const tablePanel = (
  title: Markup,
  columns: readonly TableColumn[],
  lines: readonly (readonly Markup[])[],
  above?: Markup,
): Html | false => lines.length > 0 && panel(title, [above, dataTable(columns, lines)]);

/** A time, exact in the title. */
export const time = (at: number, now: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}" title="${moment(at)}">${ageInWords(at, now)}</time>`;

/** "4 h ago": one unit is enough to judge an age. */
function ageInWords(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return count(Math.floor(minutes / 1440), 'day ago', 'days ago');
}

/** The first item of the page of a list that is asked for, from 0. */
export const firstItem = ({ query }: PageRequest): number =>
  Math.max(0, Number.parseInt(query.get('from') ?? '0', 10) || 0);

/** Links to the pages of a list. `at`: the first item of this page, from 0. */
export function pager({ path, query, pageSize: size }: PageRequest, at: number, total: number): Html | false {
  if (total <= size) return false;
  const to = (from: number, words: string) =>
    html`<a class="btn" href="${addressWith(path, query, { from: String(from) })}">${words}</a>`;
  return html`<p class="row pager">${at > 0 && to(Math.max(0, at - size), 'Back')}<span class="dim">${withCommas(at + 1)} to ${withCommas(Math.min(total, at + size))} of ${withCommas(total)}</span>${at + size < total && to(at + size, 'More')}</p>`;
}

/** Names and values that a form sends along. */
export const hiddenFields = (fields: Iterable<readonly [name: string, value: string]>): Markup =>
  [...fields].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

/** A form with one button, that changes something. Users who may not do it do not see it. */
export const button = (address: string, words: Markup, fields: Readonly<Record<string, string>> = {}, kind = '') =>
  html`<form method="post" action="${address}">${hiddenFields(Object.entries(fields))}<button class="${kind}">${words}</button></form>`;

/** A value, and how many things have it. Null: none. It is no choice. */
type FacetValue = { readonly value: string | null } & ({ readonly count: number } | { readonly questions: number });

const FACET_VALUES = 12;

/** The values of a facet as links. The chosen one leads back to all. */
export function facetRow(
  title: string,
  name: string,
  values: readonly FacetValue[],
  { path, query }: Pick<PageRequest, 'path' | 'query'>,
  inWords = (value: string) => value,
): Html | false {
  const chosen = query.get(name);
  if (values.length < 2 && !chosen) return false;
  const links = values.slice(0, FACET_VALUES).map(({ value, ...many }) => {
    const words = html`${value === null ? 'none' : inWords(value)} <b>${withCommas('count' in many ? many.count : many.questions)}</b>`;
    if (value === null) return html`<span class="chip dim">${words}</span>`;
    const isOn = value === chosen;
    const address = addressWith(path, query, { [name]: isOn ? null : value, from: null });
    return html`<a class="chip${isOn && ' on'}" href="${address}"${isOn && html` aria-current="true"`}>${words}</a>`;
  });
  const more = values.length - links.length;
  return html`<p class="row facets"><span class="dim">${title}</span>${links}${more > 0 && html`<span class="dim">and ${more} more</span>`}</p>`;
}

/** The same address with other parts. Null leaves one out. */
export function addressWith(path: string, query: URLSearchParams, change: Readonly<Record<string, string | null>>) {
  const other = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change)) value === null ? other.delete(name) : other.set(name, value);
  return other.size === 0 ? path : `${path}?${other}`;
}
