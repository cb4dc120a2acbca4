import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { type Id, idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import type { CallOutcome } from '../calls/outcome.js';
import { type PastReport, type StageOutcome, toStageError, withoutAnswer } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';

type AskPage = (params: Readonly<Record<string, unknown>>) => Promise<CallOutcome>;

/**
 * The reports the account has generated before. What the history's `search` matches is not shown, so the whole list
 * is read, once per process, and again after a generate call has failed. Re-opening a report from it is free (V2-6).
 */
export class ReportHistory {
  readonly #clock: Clock;
  readonly #ask: AskPage;
  #listing:
    | { readonly since: number; readonly reports: Promise<ReadonlyMap<string, PastReport> | StageOutcome> }
    | undefined;

  constructor(clock: Clock, ask: AskPage) {
    this.#clock = clock;
    this.#ask = ask;
  }

  async find(sourceId: string, since: number): Promise<PastReport | undefined | StageOutcome> {
    if (this.#listing === undefined || this.#listing.since < since)
      this.#listing = { since: this.#clock.now(), reports: this.#readAll() };
    const listing = this.#listing;
    const reports = await listing.reports;
    if (reports instanceof Map) return reports.get(sourceId) as PastReport | undefined;
    // A history that could not be read is read again by the next row that needs it.
    if (this.#listing === listing) this.#listing = undefined;
    return reports as StageOutcome;
  }

  async #readAll(): Promise<ReadonlyMap<string, PastReport> | StageOutcome> {
    const reports = new Map<string, PastReport>();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const outcome = await this.#ask({ page });
      if (outcome.kind !== 'answer') return withoutAnswer(outcome);
      try {
        const answer = readAnswer(v2Operations.creditReportHistory, outcome.body);
        for (const item of answer.data) keepNewest(reports, item as HistoryItem, this.#clock.now());
        pages = Number(answer.pages ?? 1);
      } catch (error) {
        if (error instanceof ApiError) return { kind: 'failed', error: toStageError(error, 1) };
        throw error;
      }
    }
    return reports;
  }
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
