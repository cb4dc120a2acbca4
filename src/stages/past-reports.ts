import { type Id, idText } from '../api/schema.js';
import { FINISHED } from '../api/v2/report-status.js';

export interface PastReport {
  readonly reportId: string;
  readonly finished: boolean;
  readonly expired: boolean;
}

/** An item of the history, as far as it is read here. */
export interface HistoryItem {
  readonly id: Id;
  readonly source_id?: Id | null;
  readonly expired?: boolean | null;
  readonly status?: string | null;
  readonly date_created?: string | null;
}

/** What the history listed, by report and by company. */
export class PastReports {
  readonly #seen = new Set<string>();
  readonly #expired = new Set<string>();
  readonly #best = new Map<string, PastReport & { readonly created: number }>();

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
    const created = Date.parse(String(item.date_created ?? '')) || 0;
    const source = idText(item.source_id);
    const other = this.#best.get(source);
    // One that still holds beats one that expired, and a newer one an older. The order of the list is not shown.
    const better = other === undefined || (expired === other.expired ? created > other.created : other.expired);
    if (better) this.#best.set(source, { reportId, finished: item.status === FINISHED, expired, created });
    return true;
  }

  isExpired(reportId: string): boolean {
    return this.#expired.has(reportId);
  }

  /** The best report of a company. */
  ofSource(sourceId: string): PastReport | undefined {
    return this.#best.get(sourceId);
  }
}
