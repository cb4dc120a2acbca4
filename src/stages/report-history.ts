// The account's history of credit reports.

import { eachPage, readAnswer } from '../api/answer.js';
import { type Id, idText, readable } from '../api/schema.js';
import { isPlainObject } from '../api/v2/fields.js';
import { historyItem, REPORT_FINISHED } from '../api/v2/operations/credit-report.js';
import { v2Operations } from '../api/v2/operations.js';
import { anyText, ExactNumber } from '../util/exact-json.js';
import { paramsFlag } from '../util/message-parts.js';
import {
  noteOf,
  orUnanswered,
  type Params,
  parkUnanswered,
  type StageContext,
  type StageError,
  type StageOutcome,
  toStageError,
  withoutAnswer,
} from './stage.js';

const { creditReportHistory } = v2Operations;

type Asking = Pick<StageContext, 'call' | 'now'>;

/**
 * The account's earlier reports. It is not documented what the history's `search` matches, so the whole list is read
 * once per attempt, and again after a failed generate call. Opening a listed report is free (V2-6). The list belongs to
 * no row: if it cannot be read, no row fails for it.
 */
export class ReportHistory {
  #listing: { readonly at: number; readonly reports: Promise<PastReports | StageOutcome> } | undefined;

  /** The list as of `since` or later, or an outcome if it could not be read. */
  async list(since: number, asking: Asking): Promise<PastReports | StageOutcome> {
    if (this.#listing === undefined || this.#listing.at < since)
      this.#listing = { at: asking.now(), reports: orUnanswered(() => readAll(asking)) };
    const listing = this.#listing;
    const reports = await listing.reports;
    if (reports instanceof PastReports) return reports;
    // A history that could not be read is read again by the next row that needs it.
    if (this.#listing === listing) this.#listing = undefined;
    return reports;
  }
}

/** Whatever page count it claims: a list without new entries is over, and an endless one is incomplete. */
const PAGES_AT_MOST = 5_000;

/** While other reports are generated, a page may repeat because entries have moved down, but not three times. */
const STALE_PAGES = 3;

/** An old account has thousands of reports. The largest page size is not published, so the provider may refuse it. */
const LARGE_PAGES = { per_page: 100 };

async function readAll(asking: Asking, size: { per_page?: number } = LARGE_PAGES): Promise<PastReports | StageOutcome> {
  const { call, now } = asking;
  const reports = new PastReports(now());
  let asked = 0;
  let pages = 1;
  let total = 0;
  let totalAtFirst: number | undefined;
  let listed = 0;
  let stale = 0;
  const ask = (page: number) => {
    asked = page;
    return call(creditReportHistory, { page, ...size });
  };
  // Of the two counts the larger is believed (V2-12).
  const goesOn = () => (asked < pages || listed < total) && stale < STALE_PAGES && asked < PAGES_AT_MOST;
  for await (const one of eachPage(creditReportHistory, ask, goesOn)) {
    if (one.kind !== 'page') {
      const isRefused = one.kind === 'failed' || (one.kind === 'parked' && one.reason === 'ask_provider');
      if (isRefused && asked > pages) break;
      if (one.kind === 'failed' && one.error.class === 'fail_row' && size === LARGE_PAGES)
        return await readAll(asking, {});
      return one.kind === 'failed' ? parkUnanswered(toStageError(one.error, one.attempts)) : withoutAnswer(one);
    }
    const answer = readAnswer(creditReportHistory, one.answer.body);
    pages = Math.max(Number(answer.pages ?? 1), answer.data.length === 0 ? pages : 1);
    total = Math.max(Number(answer.total_results ?? 0), answer.data.length === 0 ? total : 0);
    totalAtFirst ??= total;
    if (answer.data.length === 0) break;
    listed += answer.data.length;
    const items = readable(answer.data, historyItem);
    const added = items.map((item) => reports.add(item as HistoryItem)).includes(true);
    const legible = new Set<unknown>(items);
    for (const item of answer.data) if (!legible.has(item)) reports.addUnreadable(item);
    stale = added ? 0 : stale + 1;
  }
  // Entries that were added while it was read move others down: those are listed twice, and the total grows.
  const claimed = totalAtFirst || total;
  reports.isComplete = claimed > 0 ? reports.count >= claimed : asked >= pages;
  return reports;
}

export interface PastReport {
  readonly reportId: string;
  readonly finished: boolean;
  readonly expired: boolean;
  readonly item: HistoryItem;
}

/** An item of the history, with the fields that are read here. */
export interface HistoryItem {
  readonly id: Id;
  readonly name?: string | null;
  readonly source_id?: Id | null;
  readonly expired?: boolean | null;
  readonly status?: unknown;
  readonly date_created?: unknown;
}

/** The fields that say whose report it is. */
const identityOf = (item: HistoryItem): readonly (string | null)[] => {
  const { source_id, name, registration_number, vat_number, country_code, country } = item as HistoryItem &
    Readonly<Record<string, unknown>>;
  return [source_id, name, registration_number, vat_number, country_code, country].map((said) =>
    said == null || said === '' ? null : anyText(said),
  );
};

export class PastReports {
  /** More than one item only if they say different things about whose report it is. */
  readonly #items = new Map<string, HistoryItem[]>();
  #unreadableItems = 0;
  /** False: the provider claims more reports than it listed, and any of them may be the one. */
  isComplete = true;
  readonly #expired = new Set<string>();
  readonly #unreadable = new Set<string>();
  readonly #bySource = new Map<string, PastReport[]>();

  constructor(readonly at: number) {}

  add(item: HistoryItem): boolean {
    const reportId = idText(item.id);
    const items = this.#items.get(reportId) ?? [];
    const identity = String(identityOf(item));
    if (items.some((one) => String(identityOf(one)) === identity)) return false;
    this.#items.set(reportId, [...items, item]);
    const expired = item.expired === true;
    if (expired) this.#expired.add(reportId);
    if (item.source_id == null) return true;
    const source = idText(item.source_id);
    const report = { reportId, finished: item.status === REPORT_FINISHED, expired, item };
    this.#bySource.set(source, [...(this.#bySource.get(source) ?? []), report]);
    return true;
  }

  /** An unreadable item, whose company may still be known. */
  addUnreadable(item: unknown): void {
    this.#unreadableItems++;
    const source = isPlainObject(item) ? item.source_id : undefined;
    if (typeof source === 'string' || source instanceof ExactNumber) this.#unreadable.add(idText(source));
  }

  get count(): number {
    return this.#items.size + this.#unreadableItems;
  }

  /** Another item with this ID that contradicts the company's own one. An absent field contradicts nothing. */
  contradiction(reportId: string, sourceId: string): HistoryItem | undefined {
    const items = this.#items.get(reportId) ?? [];
    const isOwn = ({ source_id }: HistoryItem) => source_id == null || idText(source_id) === sourceId;
    const stranger = items.find((item) => !isOwn(item));
    if (stranger !== undefined) return stranger;
    const [own, ...others] = items.map(identityOf);
    const at = others.findIndex((other) => other.some((said, field) => differs(said, own?.[field] ?? null)));
    return at < 0 ? undefined : items[at + 1];
  }

  /** The company has a report whose entry cannot be read. */
  hasUnreadable(sourceId: string): boolean {
    return this.#unreadable.has(sourceId);
  }

  isExpired(reportId: string): boolean {
    return this.#expired.has(reportId);
  }

  /** The best report of a company: a valid one before an expired one, then the newest. */
  ofSource(sourceId: string, except?: string): PastReport | undefined {
    const reports = this.#bySource.get(sourceId)?.filter(({ reportId }) => reportId !== except) ?? [];
    return reports.sort((a, b) => Number(a.expired) - Number(b.expired) || createdAt(b) - createdAt(a))[0];
  }
}

const differs = (a: string | null, b: string | null): boolean => a !== null && b !== null && a !== b;

/**
 * Neither the order of the list nor the form of a timestamp is published: text, or a number of seconds or milliseconds.
 */
function createdAt({ item: { date_created: said } }: PastReport): number {
  if (said instanceof ExactNumber) return Number(said.text) || 0;
  return Date.parse(String(said ?? '')) || 0;
}

/** Generating another report would be paid for although one may exist. */
const nothingGenerated = (kind: 'fail_row' | 'retry', code: string, why: string, params: Params): StageError =>
  noteOf(
    code,
    `${why}, so kybatch generated none. kybatch resume reads it again, free. ` +
      `If the provider does not repair it, buy another report: kybatch call v2 creditReportGenerate --rebuy ${paramsFlag(params)}, then kybatch resume`,
    kind,
  );

export const historyUnreadable = (params: Params): StageError =>
  nothingGenerated(
    'fail_row',
    'HISTORY_UNREADABLE',
    `the history of the account has an unreadable report of ${String(params.source_id)}. It may be the right one`,
    params,
  );

export const historyIncomplete = (params: Params): StageError =>
  nothingGenerated(
    'retry',
    'HISTORY_INCOMPLETE',
    'the history of reports claims more reports than it lists. The report may be one of the others',
    params,
  );
