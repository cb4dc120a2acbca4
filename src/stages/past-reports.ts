import { type Id, idText } from '../api/schema.js';
import { isPlainObject } from '../api/v2/fields.js';
import { FINISHED } from '../api/v2/report-status.js';
import { ExactNumber } from '../util/exact-json.js';

export interface PastReport {
  readonly reportId: string;
  readonly finished: boolean;
  readonly expired: boolean;
  /** As the history has it. */
  readonly item: HistoryItem;
}

/** An item of the history, as far as it is read here. */
export interface HistoryItem {
  readonly id: Id;
  readonly name?: string | null;
  readonly source_id?: Id | null;
  readonly expired?: boolean | null;
  readonly status?: unknown;
  readonly date_created?: unknown;
}

/** What the history listed, by report and by company. */
export class PastReports {
  readonly #seen = new Set<string>();
  readonly #expired = new Set<string>();
  readonly #unreadable = new Set<string>();
  readonly #bySource = new Map<string, PastReport[]>();

  constructor(
    /** When it was asked for. */
    readonly at: number,
  ) {}

  /** False if it was there already. */
  add(item: HistoryItem): boolean {
    const reportId = idText(item.id);
    if (this.#seen.has(reportId)) return false;
    this.#seen.add(reportId);
    const expired = item.expired === true;
    if (expired) this.#expired.add(reportId);
    if (item.source_id == null) return true;
    const source = idText(item.source_id);
    const report = { reportId, finished: item.status === FINISHED, expired, item };
    this.#bySource.set(source, [...(this.#bySource.get(source) ?? []), report]);
    return true;
  }

  /** An item of the list that is not as it should be; whose report it is may be told all the same. */
  addUnreadable(item: unknown): void {
    const source = isPlainObject(item) ? item.source_id : undefined;
    if (typeof source === 'string' || source instanceof ExactNumber) this.#unreadable.add(idText(source));
  }

  /** There is a report of the company, and nobody can tell which. */
  hasUnreadable(sourceId: string): boolean {
    return this.#unreadable.has(sourceId);
  }

  isExpired(reportId: string): boolean {
    return this.#expired.has(reportId);
  }

  /** The best report of a company: one that still holds before one that expired, then the newest. */
  ofSource(sourceId: string, except?: string): PastReport | undefined {
    const reports = this.#bySource.get(sourceId)?.filter(({ reportId }) => reportId !== except) ?? [];
    return reports.sort((a, b) => Number(a.expired) - Number(b.expired) || createdAt(b) - createdAt(a))[0];
  }
}

/** The order of the list is not shown, nor the form of a timestamp: a text, or a number of seconds or milliseconds. */
function createdAt({ item: { date_created: said } }: PastReport): number {
  if (said instanceof ExactNumber) return Number(said.text) || 0;
  return Date.parse(String(said ?? '')) || 0;
}
