import { readAnswer } from '../api/answer.js';
import { idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import type { Answer, CallOutcome } from '../calls/outcome.js';
import type { Answering, DoorRequest } from '../calls/request.js';
import type { OwnedUse } from '../ledger/calls.js';
import { type ReportOptions, reportOptions } from '../stages/credit-report-options.js';
import { type PastReport, PastReports } from '../stages/past-reports.js';
import { ReportHistory } from '../stages/report-history.js';
import type { StageOutcome } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';
import type { ExactJson } from '../util/exact-json.js';
import { InDoubtError } from './in-doubt-error.js';

const { creditReportGenerate, creditReportCombined, creditReportFetch } = v2Operations;

/** No pipeline has a say in a call by hand. */
const { lookForMs } = reportOptions.schema.parse(undefined) as ReportOptions;

/** From when on a report that nobody lists may be asked for again. */
export const sendableFrom = (endedAt: number): number => endedAt + lookForMs + 1;

/** A report that was there already, opened again for nothing. */
export interface PaidBefore {
  readonly kind: 'paid_before';
  readonly reportId: string;
  /** Where its ID came from: an answer that we own, or the account's history. */
  readonly from: 'owned' | 'history';
  readonly at: number;
  readonly body: ExactJson;
  /** What is to be written down about the use of an owned body. */
  readonly use: OwnedUse | null;
}

/**
 * A report by hand comes the same way as in a run: what we own, else what the account's history has, else a new one (V2-6).
 * Who asks anew gets a new one, but not while one may be there that a call which failed has generated (V2-17).
 */
export async function reportByHand(
  request: DoorRequest,
  door: Answering,
  clock: Pick<Clock, 'now'>,
): Promise<CallOutcome | PaidBefore> {
  const asked: Asked = { request, door, clock, history: new ReportHistory() };
  if (request.ownedSince !== Infinity) {
    const there = (await inAnyForm(request, door)) ?? (await openAgain(asked));
    if (there !== undefined) return there;
  }
  const outcome = await door.call(request);
  if (outcome.kind !== 'in_doubt' || outcome.met !== undefined) return outcome;
  return (
    (await findLost(asked, outcome.endedAt)) ?? (await door.call({ ...request, lookedSince: outcome.endedAt + 1 }))
  );
}

interface Asked {
  readonly request: DoorRequest;
  readonly door: Answering;
  readonly clock: Pick<Clock, 'now'>;
  readonly history: ReportHistory;
}

/** A report of the company that is paid for, however it was asked for; undefined where there is none, or it has expired. */
async function openAgain(asked: Asked): Promise<PaidBefore | undefined> {
  const { request, door } = asked;
  const { operation, params } = request;
  const combined = operation.name === creditReportCombined.name;
  const otherwise = await inAnyForm(
    { ...request, operation: combined ? creditReportGenerate : creditReportCombined },
    door,
  );
  if (combined && otherwise !== undefined) {
    const reportId = idText(readAnswer(creditReportGenerate, otherwise.body).id);
    return { ...(await bodyOf(reportId, asked)), from: 'owned', at: otherwise.fetchedAt };
  }
  const past = await look(asked);
  const found = past.ofSource(String(params.source_id));
  if (found !== undefined && !found.expired) return await open(found, asked);
  if (past.hasUnreadable(String(params.source_id))) throw InDoubtError.notLegible(operation.name, params);
  if (otherwise !== undefined) throw InDoubtError.ownedWithoutId(operation.name, params);
  return undefined;
}

/** A call for this report failed before, at `endedAt`. Undefined where what it was to bring is not there, and cannot come. */
async function findLost(asked: Asked, endedAt: number): Promise<PaidBefore | undefined> {
  const { request, door, clock } = asked;
  const found = (await look(asked)).ofSource(String(request.params.source_id), await ownedId(request, door));
  if (found !== undefined && !found.expired) return await open(found, asked);
  const again = sendableFrom(endedAt);
  if (clock.now() < again) throw InDoubtError.notListed(request.operation.name, again);
  return undefined;
}

/** A call that failed, if there was one, is what made it; unless it is one that we know. */
async function open({ reportId, item }: PastReport, asked: Asked): Promise<PaidBefore> {
  const { request, door, clock } = asked;
  if (reportId !== (await ownedId(request, door)))
    await door.settleLost(request, 'charged', `found in the history as ${reportId}`);
  const listed = { from: 'history', at: clock.now() } as const;
  if (request.operation.name === creditReportCombined.name) return { ...(await bodyOf(reportId, asked)), ...listed };
  return { kind: 'paid_before', reportId, ...listed, body: item as unknown as ExactJson, use: null };
}

async function look({ request, door, clock, history }: Asked): Promise<PastReports> {
  const past = await history.list(0, {
    now: () => clock.now(),
    call: (operation, params) => door.call({ ...request, operation, params, ownedSince: Infinity }),
  });
  if (past instanceof PastReports) return past;
  throw InDoubtError.notReadable(request.operation.name, reasonOf(past));
}

/** As JSON or as HTML, it is the report of the same company. */
async function inAnyForm(request: DoorRequest, door: Answering): Promise<Answer | undefined> {
  for (const format of [request.params.format, 'json', 'html']) {
    const owned = await door.owned({ ...request, params: { ...request.params, format } });
    if (owned !== undefined) return owned;
  }
  return undefined;
}

/** A report that we know is not the one that was lost. */
async function ownedId(request: DoorRequest, door: Answering): Promise<string | undefined> {
  const owned = await inAnyForm({ ...request, operation: creditReportGenerate, ownedSince: 0 }, door);
  return owned && idText(readAnswer(creditReportGenerate, owned.body).id);
}

async function bodyOf(reportId: string, { request, door }: Asked): Promise<Omit<PaidBefore, 'from' | 'at'>> {
  const { operation } = request;
  const fetched = await door.call({ ...request, operation: creditReportFetch, params: { report_id: reportId } });
  if (fetched.kind !== 'answer') throw InDoubtError.notFinished(operation.name, reportId);
  const body = readAnswer(creditReportFetch, fetched.body) as ExactJson;
  return { kind: 'paid_before', reportId, body, use: fetched.use };
}

const reasonOf = (outcome: StageOutcome): string => ('message' in outcome ? outcome.message : outcome.kind);
