import { draw } from '../draw.js';
import type { Journal, ReportEntry } from '../journal.js';
import type { Json } from '../json.js';
import type { Settings } from '../options.js';
import type { Company } from '../registry/types.js';

const firstId = 700_001;
const validMs = 30 * 86_400_000;

/** Generated reports. A report is `processing` until its time on the sandbox's clock, then `finish` for good. */
export class Reports {
  readonly #reports: ReportEntry[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly journal: Journal,
  ) {
    for (const entry of journal.past) {
      if (entry.type === 'report') this.#reports.push(entry.report);
    }
  }

  generate(company: Company, country: string, format: 'json' | 'html'): ReportEntry {
    const createdAt = this.settings.clock.now();
    const report: ReportEntry = {
      id: firstId + this.#reports.length,
      sourceId: company.sourceId,
      name: company.name,
      registrationNumber: company.registrationNumber,
      country,
      format,
      createdAt,
      readyAt: createdAt + this.#delayMs(company),
    };
    this.journal.append({ type: 'report', report });
    this.#reports.push(report);
    return report;
  }

  all(): readonly ReportEntry[] {
    return this.#reports;
  }

  byId(id: string): ReportEntry | undefined {
    return /^\d{1,15}$/.test(id) ? this.#reports[Number(id) - firstId] : undefined;
  }

  ready(report: ReportEntry): boolean {
    return this.settings.clock.now() >= report.readyAt;
  }

  record(report: ReportEntry): { readonly [key: string]: Json } {
    return {
      id: report.id,
      name: report.name,
      source_id: report.sourceId,
      expired: this.settings.clock.now() - report.createdAt > validMs,
      date_created: new Date(report.createdAt).toISOString(),
      status: this.ready(report) ? 'finish' : 'processing',
      registration_number: report.registrationNumber,
    };
  }

  /** Newest first. */
  history(search: string): readonly ReportEntry[] {
    const wanted = search.toLowerCase();
    const fits = (text: string | null) => text?.toLowerCase().includes(wanted) ?? false;
    return this.#reports
      .filter((report) => this.#isListed(report))
      .filter((report) => fits(report.name) || fits(report.sourceId) || fits(report.registrationNumber))
      .reverse();
  }

  /** A history may list a report only once it is finished, or later: the document does not say. */
  #isListed(report: ReportEntry): boolean {
    const { clock, historyLagMs } = this.settings;
    return historyLagMs === undefined || clock.now() >= report.readyAt + historyLagMs;
  }

  #delayMs(company: Company): number {
    const delay = this.settings.reportDelayMs;
    const point = draw(this.settings.seed, 'report', company.sourceId);
    if (typeof delay === 'number') return delay;
    if (typeof delay === 'function') return delay(company.index);
    if (delay) return Math.round(delay.min + point * (delay.max - delay.min));
    return point < 0.4 ? 0 : Math.round(((point - 0.4) / 0.6) * 180_000);
  }
}
