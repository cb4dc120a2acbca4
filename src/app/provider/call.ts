// `call`: makes one direct call, and gets credit reports without paying twice.

import { readAnswer } from '../../api/answer.js';
import type { McpClient } from '../../api/mcp/client.js';
import { type Tool, toolOperation } from '../../api/mcp/tools.js';
import type { ApiName, Operation } from '../../api/operation.js';
import { idText } from '../../api/schema.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { CallEvent } from '../../calls/options.js';
import {
  type Answer,
  type AnswerSource,
  type AnyClient,
  type CallOutcome,
  type ChargeUnknown,
  type DoorRequest,
  requestKey,
} from '../../calls/request.js';
import { freshnessMs } from '../../config/pipeline.js';
import { type Charge, UsageError } from '../../domain/errors.js';
import { reusableSince } from '../../domain/freshness.js';
import type { Settlement, StoredAnswerUse } from '../../ledger/money/calls.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import { type ReportOptions, reportOptions } from '../../stages/credit-report.js';
import { type PastReport, PastReports, ReportHistory } from '../../stages/report-history.js';
import type { StageOutcome } from '../../stages/stage.js';
import type { Clock } from '../../util/clock.js';
import type { ExactJson } from '../../util/exact-json.js';
import { didYouMean } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { type AppEnvironment, ledgerOf, processEnvironment, type Workplace, withLedger } from '../environment.js';
import { otherProviderNotes } from '../run/guards.js';
import {
  CHARGE_UNKNOWN,
  directCallError,
  ParkedError,
  type UnitLimit,
  UnknownChargeError,
  withDirectDoors,
} from './direct-calls.js';
import { type JsonSchema, type OperationView, operationNamed, parametersIn } from './operations.js';
import {
  type Provider,
  type ProviderNames,
  type ProviderOptions,
  required,
  withLedgerAndProvider,
  withProvider,
} from './provider.js';

export interface DirectCallOptions extends ProviderOptions {
  readonly api: ApiName;
  /** A name that `operations` lists. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** Ask again although the answer is stored. */
  readonly fresh?: boolean | undefined;
  /** The units that may be spent. Default: no limit, because a person has agreed. */
  readonly unitLimit?: UnitLimit | undefined;
  /** Cancels the call, which may be charged all the same. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallView {
  readonly api: ApiName;
  readonly operation: string;
  /** The answer was stored, and nothing was bought. */
  readonly owned: boolean;
  /** The report had been generated before and was found in the account's history. */
  readonly inHistory: boolean;
  /** The report that was opened again, free. Null if this is the answer to the same request. */
  readonly reportId: string | null;
  readonly fetchedAt: number;
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  /** Null if the provider does not count in units. */
  readonly unitsCharged: number | null;
  readonly unitsRemaining: number | null;
  readonly durationMs: number | null;
  /** Numbers keep all their digits. */
  readonly body: ExactJson;
}

/** Takes the path of every paid call: a stored answer is not bought again, and a bought answer is stored. */
export async function call(options: DirectCallOptions, environment = processEnvironment()): Promise<CallView> {
  const { api, params = {} } = options;
  const operation = api === 'mcp' ? await toolToCall(options, environment) : operationNamed(api, options.operation);
  const clientOf = (provider: Provider) => clientFor(operation, provider);
  // A bad request is refused before the ledger or the sandbox account is opened or created.
  await withProvider(options, environment, async (provider) => clientOf(provider).prepare(operation.name, params));
  const { unitLimit, fresh = false, signal } = options;
  const buy = () =>
    withLedgerAndProvider('write', options, environment, async (provider, workplace) => {
      const { ledger, onNote } = workplace;
      for (const note of await otherProviderNotes(only(api, provider.names), ledger)) onNote?.(note);
      const environmentId = await ledger.calls.environment(api, provider.names[api]);
      const client = unitLimit?.counting(clientOf(provider)) ?? clientOf(provider);
      const hand = { operation, params, client, environmentId, fresh, unitLimit };
      return viewOf(operation, await send(hand, workplace, signal));
    });
  return await (unitLimit?.inTurn(buy) ?? buy());
}

const only = (api: ApiName, names: ProviderNames): ProviderNames => ({ v1: '', v2: '', [api]: names[api] });

function clientFor(operation: Operation, { v1, v2, mcp }: Provider): AnyClient {
  if (operation.api !== 'mcp') return required(operation.api === 'v1' ? v1 : v2, operation.api) as unknown as AnyClient;
  const client = required(mcp, 'mcp');
  client.knows(operation);
  return client;
}

interface Hand {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly client: AnyClient;
  readonly environmentId: number;
  readonly fresh: boolean;
  readonly unitLimit: UnitLimit | undefined;
}

type Sent =
  | {
      readonly answer: Answer;
      /** The record of the call. Undefined if none was made. */
      readonly settlement: Settlement | undefined;
    }
  | ReopenedReport;

function send(hand: Hand, workplace: Workplace, signal?: AbortSignal): Promise<Sent> {
  const { ledger, clock } = workplace;
  const { operation, params, client, environmentId, fresh, unitLimit } = hand;
  const apis = { v1: null, v2: null, [operation.api]: { client, environmentId } };
  return withDirectDoors(apis, { abort: signal }, workplace, async (open, broken) => {
    const settlements: Settlement[] = [];
    const within = unitLimit?.policy();
    const listen = (event: CallEvent) => {
      within?.listen(event);
      if (event.kind === 'call_settled') settlements.push(event.settlement);
    };
    const door = open({ ...BY_HAND, ...within, listen });
    const reasonToStop = (): unknown => (broken.aborted ? broken.reason : signal?.aborted ? signal.reason : undefined);
    const none = { runId: null, row: null, stage: null };
    const since = reusableSince(clock.now(), fresh ? 0 : ownFreshness(operation));
    const request: DoorRequest = { operation, params, ...none, reusableSince: since, lookedSince: 0 };
    const asked = operation.meter === 'report' ? directReport(request, door, clock) : door.call(request);
    const outcome = await asked.catch((error: unknown) => {
      // The reason why the lookup failed.
      throw reasonToStop() ?? door.stopped ?? error;
    });
    if (outcome.kind === 'paid_before') {
      if (outcome.use !== null) await ledger.calls.recordUse(outcome.use);
      return outcome;
    }
    const stop = outcome.kind === 'answer' ? undefined : reasonToStop();
    if (stop !== undefined) throw stop;
    const answer = answerOf(outcome, operation, settlements.at(-1)?.charge);
    if (answer.use !== null) await ledger.calls.recordUse(answer.use);
    return { answer, settlement: settlements.at(-1) };
  });
}

/** One try: the person at the terminal decides whether to try again. */
const BY_HAND = { retry: { attempts: 1, baseMs: 0, capMs: 0, once: true }, concurrency: 1, breaker: null } as const;

/** There is no pipeline here. */
const ownFreshness = (operation: Operation): number => freshnessMs({ freshnessMs: {} }, operation);

function answerOf(outcome: CallOutcome, operation: Operation, charge: Charge | undefined): Answer {
  if (outcome.kind === 'answer') return outcome;
  if (outcome.kind === 'parked') throw new ParkedError(outcome, charge === 'unknown' ? CHARGE_UNKNOWN : undefined);
  if (outcome.kind === 'in_doubt')
    throw UnknownChargeError.justFailed(operation.name, failureOf(outcome), sendableFrom(outcome.endedAt));
  throw directCallError(outcome.error, operation);
}

const failureOf = ({ met }: ChargeUnknown): string | undefined =>
  met?.error.httpStatus === undefined ? undefined : `${met.error.code}: ${met.error.message}`;

function viewOf(operation: Operation, sent: Sent): CallView {
  const nothingSent = { httpStatus: null, requestId: null, unitsCharged: 0, unitsRemaining: null, durationMs: null };
  const asked = { api: operation.api, operation: operation.name };
  if ('kind' in sent) {
    const { reportId, from, at, body } = sent;
    const isStored = from === 'owned';
    return { ...asked, owned: isStored, inHistory: !isStored, reportId, fetchedAt: at, ...nothingSent, body };
  }
  const { answer, settlement } = sent;
  return {
    ...asked,
    owned: answer.owned,
    inHistory: false,
    reportId: null,
    fetchedAt: answer.fetchedAt,
    ...(settlement === undefined || answer.owned
      ? nothingSent
      : {
          httpStatus: settlement.httpStatus,
          requestId: settlement.requestId,
          unitsCharged: settlement.unitsCharged,
          unitsRemaining: settlement.remainingUnits,
          durationMs: settlement.durationMs,
        }),
    body: readAnswer(operation, answer.body) as ExactJson,
  };
}

const { creditReportGenerate, creditReportCombined, creditReportFetch } = v2Operations;

/** There is no pipeline here, so the stage's defaults apply. */
const { lookForMs } = reportOptions.schema.parse(undefined) as ReportOptions;

/** When a report that the history does not list may be asked for again. */
const sendableFrom = (endedAt: number): number => endedAt + lookForMs + 1;

/** A report that existed already and was opened again, free. */
interface ReopenedReport {
  readonly kind: 'paid_before';
  readonly reportId: string;
  /** Where its ID came from: a stored answer or the account's history. */
  readonly from: 'owned' | 'history';
  readonly at: number;
  readonly body: ExactJson;
  /** The use of a stored answer to record. */
  readonly use: StoredAnswerUse | null;
}

/**
 * Gets a report as a run does: stored, else from the account's history, else a new one (V2-6). `--rebuy` gets a new
 * one, but not while a failed call may have generated one (V2-17).
 */
async function directReport(
  request: DoorRequest,
  door: AnswerSource,
  clock: Pick<Clock, 'now'>,
): Promise<CallOutcome | ReopenedReport> {
  const asked: Asked = { request, door, clock, history: new ReportHistory() };
  if (request.reusableSince !== Infinity) {
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
  readonly door: AnswerSource;
  readonly clock: Pick<Clock, 'now'>;
  readonly history: ReportHistory;
}

/** A paid report of the company, however it was asked for. Undefined if there is none or it has expired. */
async function openAgain(asked: Asked): Promise<ReopenedReport | undefined> {
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
  const source = String(params.source_id);
  const found = past.ofSource(source);
  const isOfAnother = found !== undefined && past.contradiction(found.reportId, source) !== undefined;
  if (found !== undefined && !found.expired && !isOfAnother) return await open(found, asked);
  if (past.hasUnreadable(source) || isOfAnother || !past.isComplete)
    throw UnknownChargeError.notLegible(operation.name, params);
  if (otherwise !== undefined) throw UnknownChargeError.ownedWithoutId(operation.name, params);
  return undefined;
}

/** A call for this report failed at `endedAt`. Undefined if its report is not listed and cannot appear any more. */
async function findLost(asked: Asked, endedAt: number): Promise<ReopenedReport | undefined> {
  const { request, door, clock } = asked;
  const past = await look(asked);
  const found = past.ofSource(String(request.params.source_id), await storedId(request, door));
  if (found !== undefined && !found.expired) return await open(found, asked);
  if (!past.isComplete) throw UnknownChargeError.notLegible(request.operation.name, request.params);
  const again = sendableFrom(endedAt);
  if (clock.now() < again) throw UnknownChargeError.notListed(request.operation.name, again);
  return undefined;
}

/** A failed call, if there was one, generated this report, unless the report is already known. */
async function open({ reportId, item }: PastReport, asked: Asked): Promise<ReopenedReport> {
  const { request, door, clock } = asked;
  if (reportId !== (await storedId(request, door)))
    await door.settleLost(request, 'charged', `found in the history as ${reportId}`);
  const listed = { from: 'history', at: clock.now() } as const;
  if (request.operation.name === creditReportCombined.name) return { ...(await bodyOf(reportId, asked)), ...listed };
  return { kind: 'paid_before', reportId, ...listed, body: item as unknown as ExactJson, use: null };
}

async function look({ request, door, clock, history }: Asked): Promise<PastReports> {
  const past = await history.list(0, {
    now: () => clock.now(),
    call: (operation, params) => door.call({ ...request, operation, params, reusableSince: Infinity }),
  });
  if (past instanceof PastReports) return past;
  throw UnknownChargeError.notReadable(request.operation.name, reasonOf(past));
}

/** JSON and HTML are the same report of the company. */
async function inAnyForm(request: DoorRequest, door: AnswerSource): Promise<Answer | undefined> {
  for (const format of [request.params.format, 'json', 'html']) {
    const stored = await door.stored({ ...request, params: { ...request.params, format } });
    if (stored !== undefined) return stored;
  }
  return undefined;
}

/** A known report is not the lost one. */
async function storedId(request: DoorRequest, door: AnswerSource): Promise<string | undefined> {
  const stored = await inAnyForm({ ...request, operation: creditReportGenerate, reusableSince: 0 }, door);
  return stored && idText(readAnswer(creditReportGenerate, stored.body).id);
}

async function bodyOf(reportId: string, { request, door }: Asked): Promise<Omit<ReopenedReport, 'from' | 'at'>> {
  const { operation } = request;
  const fetched = await door.call({ ...request, operation: creditReportFetch, params: { report_id: reportId } });
  if (fetched.kind !== 'answer') throw UnknownChargeError.notFinished(operation.name, reportId);
  const body = readAnswer(creditReportFetch, fetched.body) as ExactJson;
  return { kind: 'paid_before', reportId, body, use: fetched.use };
}

const reasonOf = (outcome: StageOutcome): string => ('message' in outcome ? outcome.message : outcome.kind);

export interface ToolsOptions extends ProviderOptions {
  /** Cancels the question. The promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export function tools(
  options: ToolsOptions = {},
  environment = processEnvironment(),
): Promise<readonly OperationView[]> {
  return withProvider(options, environment, async ({ mcp }) => {
    const listed = await list(required(mcp, 'mcp'), options.signal);
    return listed.map(({ name, description, inputSchema }) => ({
      operation: sanitizeText(name, 200),
      summary: sanitizeText(description, 500),
      method: null,
      path: null,
      scopes: [],
      parameters: parametersIn(inputSchema as JsonSchema).map((parameter) => ({
        ...parameter,
        name: sanitizeText(parameter.name, 200),
        type: sanitizeText(parameter.type, 200),
        description: sanitizeText(parameter.description, 500),
      })),
    }));
  });
}

interface ToolToCall extends ToolsOptions {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly fresh?: boolean | undefined;
}

/** The tool with the server's schema. A stored answer needs none, so it is returned even if the server is down. */
function toolToCall(options: ToolToCall, environment: AppEnvironment): Promise<Operation> {
  const { operation: name, params = {}, fresh = false, signal } = options;
  return withProvider(options, environment, async ({ mcp, names }) => {
    const client = required(mcp, 'mcp');
    const unchecked = toolOperation(name);
    const since = reusableSince(environment.clock.now(), ownFreshness(unchecked));
    if (!fresh && (await isStored(names.mcp, requestKey(name, params), since, options, environment))) return unchecked;
    const listed = await list(client, signal);
    const tool = listed.find((one) => one.name === name);
    if (tool !== undefined) return toolOperation(name, tool);
    const hint = didYouMean(
      name,
      listed.map((one) => sanitizeText(one.name, 200)),
    );
    throw new UsageError(
      'TOOL_NOT_FOUND',
      `the MCP server has no tool ${name}.${hint}`,
      'All tools: `kybatch call mcp`',
    );
  });
}

async function list(client: McpClient, signal: AbortSignal | undefined): Promise<readonly Tool[]> {
  try {
    return await client.tools({ signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

async function isStored(
  name: string,
  key: string,
  since: number,
  options: ToolsOptions,
  environment: AppEnvironment,
): Promise<boolean> {
  if (!(await hasLedger(ledgerOf(options, environment)))) return false;
  return await withLedger('read', options, environment, async ({ calls }) => {
    const environment = await calls.findEnvironment('mcp', name);
    return environment !== undefined && (await calls.findAnswer(environment, key, since)) !== undefined;
  });
}
