import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { type Id, idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { resolve } from './resolve.js';
import {
  type CallResult,
  type Company,
  type StageContext,
  type StageOutcome,
  toStageError,
  withoutAnswer,
} from './stage.js';

/**
 * A credit report: search → confirm → history → generate → wait → fetch (V2-6). Generating is what costs. So what we
 * own comes first, then the account's history (re-opening is free), and a generate call that failed, answered or not, is
 * never repeated without another look there (V2-17). A waiting report holds no slot.
 */
export async function creditReport(company: Company, context: StageContext): Promise<StageOutcome> {
  const source = await findSource(company, context);
  if (typeof source !== 'string') return source;
  const report = await obtainReport(source, company, context);
  if ('kind' in report) return withFacts(report, { creditSourceId: source });
  const facts = { creditSourceId: source, creditReportId: report.id };
  const ready = await isReady(report, context);
  if (ready !== true) return withFacts(ready, facts);
  const fetched = await context.call({ api: 'v2', operation: 'creditReportFetch', params: { report_id: report.id } });
  return withFacts(fetched.kind === 'answer' ? { kind: 'done' } : withoutAnswer(fetched), facts);
}

interface Report {
  readonly id: string;
  readonly finished: boolean;
  /** When we first knew of it: the patience counts from there. */
  readonly since: number;
  readonly fresh: boolean;
}

async function findSource(company: Company, context: StageContext): Promise<string | StageOutcome> {
  if (company.creditSourceId !== null) return company.creditSourceId;
  const resolved = await resolve('credit', company, context);
  if (resolved.kind === 'no_match')
    return { kind: 'not_available', message: 'no credit report is offered for this company' };
  return resolved.facts?.creditSourceId ?? resolved;
}

async function obtainReport(source: string, company: Company, context: StageContext): Promise<Report | StageOutcome> {
  const request = {
    api: 'v2',
    operation: 'creditReportGenerate',
    params: { source_id: source, country: company.question.subject.countryCode },
  } as const;
  const owned = await context.call({ ...request, ownedOnly: company.creditReportId === null ? 'first' : 'again' });
  if (owned.kind === 'answer') return readGenerated(owned.body, owned.fetchedAt, false);
  // Who was put off for a look takes it first: what failed may have used up the budget, and be there.
  for (let lookedSince = company.waitedUntil ?? 0; ; ) {
    const past = await context.reportHistory(source, lookedSince);
    if (past !== undefined && 'kind' in past) return past;
    if (past !== undefined && (!past.expired || context.policy.report.reuseExpired)) {
      return { id: past.reportId, finished: past.finished, since: past.since, fresh: false };
    }
    const spent = context.spendCreditReport();
    if (spent === undefined)
      return { kind: 'parked', reason: 'budget', until: null, message: 'the budget of credit reports is spent' };
    const begun = context.now();
    const outcome = await context.call({ ...request, lookedSince });
    if (!maybeCharged(outcome, begun)) spent.giveBack();
    if (outcome.kind === 'answer') return readGenerated(outcome.body, outcome.fetchedAt, !outcome.owned);
    if (outcome.kind !== 'in_doubt') return withoutAnswer(outcome);
    // The provider may still be at work on what failed: it is given the time of a first poll before the look.
    lookedSince = outcome.endedAt + context.policy.report.firstPollMs;
    if (lookedSince > context.now()) return { kind: 'waiting', until: lookedSince };
  }
}

/** A call that failed just now may have been charged; one that was not sent because of an earlier failure was not. */
const maybeCharged = (outcome: CallResult, begun: number): boolean =>
  (outcome.kind === 'answer' && !outcome.owned) ||
  (outcome.kind === 'in_doubt' && outcome.lostAt >= begun) ||
  (outcome.kind === 'failed' && outcome.error.charge === 'unknown');

function readGenerated(body: Buffer, since: number, fresh: boolean): Report | StageOutcome {
  try {
    const { id, status } = readAnswer(v2Operations.creditReportGenerate, body) as { id: Id; status?: unknown };
    return { id: idText(id), finished: status === FINISHED, since, fresh };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', error: toStageError(error, 1) };
    throw error;
  }
}

/** The only status whose meaning is known. */
const FINISHED = 'finish';

async function isReady(report: Report, context: StageContext): Promise<true | StageOutcome> {
  const { firstPollMs, pollAtMostMs, giveUpAfterMs } = context.policy.report;
  if (report.finished) return true;
  const now = context.now();
  if (report.fresh) return { kind: 'waiting', until: now + firstPollMs };
  const outcome = await context.call({ api: 'v2', operation: 'creditReportStatus', params: { report_id: report.id } });
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

const withFacts = (outcome: StageOutcome, facts: NonNullable<StageOutcome['facts']>): StageOutcome => ({
  ...outcome,
  facts: { ...outcome.facts, ...facts },
});
