import { readAnswer } from '../api/answer.js';
import type { Operation } from '../api/operation.js';
import { idText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import type { Answering, DoorRequest } from '../calls/request.js';
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

/**
 * A call for this report failed before, at `endedAt`: what it was to bring, from the account's history, for nothing
 * (V2-17). Undefined where it is not there, and cannot come any more.
 */
export async function findInHistory(
  request: DoorRequest,
  endedAt: number,
  door: Answering,
  clock: Pick<Clock, 'now'>,
): Promise<ExactJson | undefined> {
  const { operation, params } = request;
  const past = await new ReportHistory().list(0, {
    now: () => clock.now(),
    call: (asked, sent) => door.call({ ...request, operation: asked, params: sent, ownedSince: Infinity }),
  });
  if (!(past instanceof PastReports)) throw InDoubtError.notReadable(operation.name, reasonOf(past));
  const found = past.ofSource(String(params.source_id), await ownedId(request, door));
  if (found === undefined || found.expired) {
    const again = sendableFrom(endedAt);
    if (clock.now() < again) throw InDoubtError.notListed(operation.name, again);
    return undefined;
  }
  await door.settleLost(request, 'charged', `found in the history as ${found.reportId}`);
  return operation.name === creditReportCombined.name
    ? await fetchBody(operation, found, request, door)
    : (found.item as unknown as ExactJson);
}

/** A report that we know is not the one that was lost. */
async function ownedId(request: DoorRequest, door: Answering): Promise<string | undefined> {
  const owned = await door.owned({ ...request, operation: creditReportGenerate, ownedSince: 0 });
  return owned && idText(readAnswer(creditReportGenerate, owned.body).id);
}

async function fetchBody(
  operation: Operation,
  { reportId }: PastReport,
  request: DoorRequest,
  door: Answering,
): Promise<ExactJson> {
  const fetched = await door.call({ ...request, operation: creditReportFetch, params: { report_id: reportId } });
  if (fetched.kind !== 'answer') throw InDoubtError.notFinished(operation.name, reportId);
  return readAnswer(creditReportFetch, fetched.body) as ExactJson;
}

const reasonOf = (outcome: StageOutcome): string => ('message' in outcome ? outcome.message : outcome.kind);
