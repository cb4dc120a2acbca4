import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { type Id, idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { type ReportOptions, reportOptions } from './credit-report-options.js';
import { type PastReport, ReportHistory } from './report-history.js';
import {
  type Company,
  identified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  withoutAnswer,
} from './stage.js';

const { creditReportHistory, creditReportGenerate, creditReportStatus, creditReportFetch } = v2Operations;

/**
 * A credit report: history → generate → wait → fetch (V2-6). Generating is what costs. So what we own comes first, then
 * the account's history (re-opening is free), and a generate call that failed, answered or not, is never repeated
 * without another look there (V2-17). A waiting report holds no slot.
 */
export const creditReportStage = stage({
  name: 'credit-report',
  summary: 'A credit report (v2): from the account’s history where there is one, otherwise generated',
  space: 'credit',
  finds: ['report'],
  calls: [
    { operation: creditReportHistory, atMost: 1 },
    { operation: creditReportGenerate, atMost: 1 },
    { operation: creditReportStatus, atMost: 1 },
    { operation: creditReportFetch, atMost: 1 },
  ],
  options: reportOptions,
  shared: () => new ReportHistory(),
  run: buyReport,
});

type Context = StageContext<ReportOptions, ReportHistory>;

async function buyReport(company: Company, context: Context): Promise<StageOutcome> {
  const report = await obtainReport(company, context);
  if ('kind' in report) return report;
  const ids = { report: { id: report.id, grade: null, matchedOn: null, candidate: null } };
  const ready = await isReady(report, context);
  if (ready !== true) return { ...ready, ids };
  const fetched = await context.call(creditReportFetch, { report_id: report.id });
  return { ...(fetched.kind === 'answer' ? { kind: 'done' } : withoutAnswer(fetched)), ids };
}

interface Report {
  readonly id: string;
  readonly finished: boolean;
  /** When we first knew of it: the patience counts from there. */
  readonly since: number;
  /** It was generated a moment ago. */
  readonly fresh: boolean;
}

async function obtainReport(company: Company, context: Context): Promise<Report | StageOutcome> {
  const source = identified(company, 'credit').id;
  const params = { source_id: source, country: company.enquiry.subject.countryCode };
  const owned = await context.owned(creditReportGenerate, params, company.ids.report !== undefined);
  if (owned !== undefined) return readGenerated(owned.body, owned.fetchedAt, false);
  for (let lookedSince = 0; ; ) {
    const past = await context.shared.find(source, lookedSince, context);
    if (past !== undefined && 'kind' in past) return past;
    if (past !== undefined && (!past.expired || context.options.reuseExpired)) {
      // A call that failed, if there was one, is what made it.
      await context.settleLost(creditReportGenerate, params, 'charged', `found in the history as ${past.reportId}`);
      return fromHistory(past);
    }
    const outcome = await context.call(creditReportGenerate, params, lookedSince);
    if (outcome.kind === 'answer') return readGenerated(outcome.body, outcome.fetchedAt, !outcome.owned);
    if (outcome.kind !== 'in_doubt') return withoutAnswer(outcome);
    // The provider may still be at work on what failed: it is given the time of a first poll before the look.
    lookedSince = outcome.endedAt + context.options.firstPollMs;
    if (lookedSince > context.now()) return { kind: 'waiting', until: lookedSince };
  }
}

const fromHistory = ({ reportId, finished, since }: PastReport): Report => ({
  id: reportId,
  finished,
  since,
  fresh: false,
});

function readGenerated(body: Buffer, since: number, fresh: boolean): Report | StageOutcome {
  try {
    const { id, status } = readAnswer(creditReportGenerate, body) as { id: Id; status?: unknown };
    return { id: idText(id), finished: status === FINISHED, since, fresh };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', error: toStageError(error, 1) };
    throw error;
  }
}

/** The only status whose meaning is known. */
const FINISHED = 'finish';

async function isReady(report: Report, context: Context): Promise<true | StageOutcome> {
  const { firstPollMs, pollAtMostMs, giveUpAfterMs } = context.options;
  if (report.finished) return true;
  const now = context.now();
  if (report.fresh) return { kind: 'waiting', until: now + firstPollMs };
  const outcome = await context.call(creditReportStatus, { report_id: report.id });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  if (outcome.body.toString('utf8').trim() === 'true') return true;
  const waited = now - report.since;
  if (waited > giveUpAfterMs) return { kind: 'failed', error: tooLate(report.id, waited) };
  // The waits grow with the time already waited, so that a slow report is not asked for a hundred times.
  return { kind: 'waiting', until: now + Math.min(pollAtMostMs, Math.max(firstPollMs, Math.round(waited / 4))) };
}

const tooLate = (id: string, waited: number) => ({
  class: 'fail_row',
  code: 'REPORT_NOT_READY',
  message: `report ${id} was not ready after ${Math.round(waited / 1000)} s; it is paid for, and a retry asks for it again`,
  requestId: null,
  attempts: 1,
});
