import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { type Id, idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { type StageContext, type StageOutcome, toStageError, withoutAnswer } from './stage.js';

export interface PastReport {
  readonly reportId: string;
  readonly finished: boolean;
  readonly expired: boolean;
  /** When it was generated, or first seen by us. */
  readonly since: number;
}

type Asking = Pick<StageContext, 'call' | 'now'>;
type Reports = ReadonlyMap<string, PastReport>;

/**
 * The reports the account has generated before. What the history's `search` matches is not shown, so the whole list
 * is read, once per start, and again after a generate call has failed. Re-opening a report from it is free (V2-6).
 */
export class ReportHistory {
  #listing: { readonly since: number; readonly reports: Promise<Reports | StageOutcome> } | undefined;

  /** The report of this source, as listed at `since` or later; an outcome where the list could not be read. */
  async find(sourceId: string, since: number, asking: Asking): Promise<PastReport | undefined | StageOutcome> {
    if (this.#listing === undefined || this.#listing.since < since)
      this.#listing = { since: asking.now(), reports: readAll(asking) };
    const listing = this.#listing;
    const reports = await listing.reports;
    if (reports instanceof Map) return reports.get(sourceId) as PastReport | undefined;
    // A history that could not be read is read again by the next row that needs it.
    if (this.#listing === listing) this.#listing = undefined;
    return reports as StageOutcome;
  }
}

async function readAll({ call, now }: Asking): Promise<Reports | StageOutcome> {
  const reports = new Map<string, PastReport>();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const outcome = await call(v2Operations.creditReportHistory, { page });
    if (outcome.kind !== 'answer') return withoutAnswer(outcome);
    try {
      const answer = readAnswer(v2Operations.creditReportHistory, outcome.body);
      for (const item of answer.data) keepNewest(reports, item as HistoryItem, now());
      pages = Number(answer.pages ?? 1);
    } catch (error) {
      if (error instanceof ApiError) return { kind: 'failed', error: toStageError(error, 1) };
      throw error;
    }
  }
  return reports;
}

interface HistoryItem {
  readonly id: Id;
  readonly source_id?: Id | null;
  readonly expired?: boolean | null;
  readonly status?: string | null;
  readonly date_created?: string | null;
}

/** A report that still holds beats one that expired, and a newer one an older. The order of the list is not shown. */
function keepNewest(reports: Map<string, PastReport>, item: HistoryItem, now: number): void {
  if (item.source_id == null) return;
  const created = Date.parse(String(item.date_created ?? ''));
  const report: PastReport = {
    reportId: idText(item.id),
    finished: item.status === 'finish',
    expired: item.expired === true,
    since: Number.isNaN(created) ? now : created,
  };
  const source = idText(item.source_id);
  const other = reports.get(source);
  if (
    other === undefined ||
    (other.expired && !report.expired) ||
    (other.expired === report.expired && report.since > other.since)
  )
    reports.set(source, report);
}
