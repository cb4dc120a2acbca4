import { checkV1Operations, type SendCheck, type V1Check } from '../../api/account.js';
import type { AddressedCall } from '../../api/client.js';
import { ApiError } from '../../api/errors.js';
import type { Exchange } from '../../api/http.js';
import { statedCharge } from '../../api/v1/allowance.js';
import type { KybV1Client } from '../../api/v1/client.js';
import { v1Operations } from '../../api/v1/operations.js';
import { requestKey } from '../../calls/request.js';
import { isIntermediaryDenial } from '../../calls/retry.js';
import { refusalOf, settlementOf } from '../../calls/settlement.js';
import { operationsOf, type Pipeline, stagesOf } from '../../config/pipeline.js';
import { KybatchError } from '../../domain/errors.js';
import { KEY_CHECK } from '../../domain/outcomes.js';
import { type RemainingCost, within } from '../../engine/row-cost.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { NewAttempt, Settlement } from '../../ledger/money/calls.js';
import { type Intent, type Limits, possibleCost } from '../../ledger/money/intent.js';
import { type AttemptSpending, NO_SPENDING } from '../../ledger/queries.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { searchesOf } from '../../stages/identity/space-search.js';
import { message } from '../../util/message-parts.js';
import { count, moment } from '../../util/words.js';
import type { Workplace } from '../environment.js';
import type { MetricsReader } from '../provider/permissions.js';
import { keyRefusal, type Provider, refusedKeyInWords } from '../provider/provider.js';
import { type GuardFinding, type GuardOptions, refuseOrAsk } from './guards.js';
import { type AttemptOptions, storeAttemptOptions, withKeptFormats } from './progress.js';

interface CheckedAttempt {
  /** Null before `--rebuy` has begun one. */
  readonly run: RunRecord | null;
  readonly pipeline: Pipeline;
  readonly rest: RemainingCost;
  readonly limits: Limits;
  readonly permissions: MetricsReader | undefined;
  readonly options: GuardOptions & AttemptOptions;
}

/**
 * Checks before the first paid call that the keys allow all that the pipeline needs (V1-8). Otherwise searches would be
 * paid for records that can never be bought. Only a refusal stops the attempt: the run itself waits for a provider that
 * is down. Returns the cost of the checks, which counts against the limits.
 */
export async function checkKeyAccess(
  { run, pipeline, rest, limits, permissions, options }: CheckedAttempt,
  provider: Provider,
  workplace: Workplace,
): Promise<AttemptSpending> {
  const { v1, names } = provider;
  const { ledger } = workplace;
  // This attempt passed the guards, so an earlier refusal is over, even if the process dies now.
  if (run?.portfolioId != null) await ledger.portfolios.forgetRefusal(run.portfolioId);
  const given = run === null ? options : await withKeptFormats(options, run.id, ledger);
  const attempt = { runId: run?.id ?? null, given: storeAttemptOptions(given, workplace, provider.sandbox?.port) };
  const { units, reports, v2Calls } = within(rest, limits);
  const ofV1 = [...new Set(operationsOf(pipeline))].filter(({ api }) => api === 'v1');
  let refusedV1: ApiError | null = null;
  const mustGrant = async (send: SendCheck) => {
    const check = await checkV1Operations(ofV1, send);
    if (check.kind !== 'refused' || (await isIntermediaryPage(check.error, provider, ledger))) return;
    // The v2 key is checked, too, so that both are named.
    if (check.error.stop !== 'credentials') throw refusedBy(check, pipeline);
    refusedV1 = check.error;
  };
  const enough = AbortSignal.timeout(PATIENCE_MS);
  // In parallel, because each takes as long as the provider takes.
  const [cost, refusal = null] = await Promise.all([
    v1 !== null && units > 0 && ofV1.length > 0
      ? withRecordedProbes(attempt, v1, names.v1, limits, enough, workplace, mustGrant)
      : NO_SPENDING,
    reports + v2Calls > 0 ? permissions?.refusal() : null,
  ]);
  const refusedV2 = refusal === null || (await isIntermediaryPage(refusal, provider, ledger)) ? null : refusal;
  const [first, second] = [refusedV1, refusedV2].flatMap((error: ApiError | null) => error ?? []);
  if (first !== undefined) throw keyRefused(first, second, provider);
  refuseOrAsk(checkClock(provider), options, workplace);
  return cost;
}

/** Guard `clock`: years ahead of the provider's `Date` header, all answers are stale and bought again. */
export const checkClock = ({ v1, v2 }: Provider): readonly GuardFinding[] =>
  [v1, v2].flatMap((client): GuardFinding[] => {
    const told = client?.serverTime;
    if (told === undefined || Math.abs(told.ours - told.theirs) <= CLOCKS_DIFFER_MS) return [];
    const message = `the clock of this machine shows ${moment(told.ours)}, the provider's ${moment(told.theirs)}`;
    return [{ guard: 'clock', message, hint: 'Set the clock. kybatch uses it to see which answers are out of date.' }];
  });

const CLOCKS_DIFFER_MS = 86_400_000;

/** If the provider has answered in any attempt before, a block page of a proxy or firewall is not its refusal. */
async function isIntermediaryPage(error: ApiError, provider: Provider, { calls }: Ledger): Promise<boolean> {
  const { api } = error;
  return await isIntermediaryDenial(error, provider[api], await calls.findEnvironment(api, provider.names[api]), calls);
}

/** A free check must not delay the attempt: a provider that takes longer has not refused. */
const PATIENCE_MS = 5_000;

function refusedBy({ operation, error }: Extract<V1Check, { kind: 'refused' }>, pipeline: Pipeline): KybatchError {
  if (error.class !== 'block_operation') return nothingSpent(error, error.message);
  const users = stagesOf(pipeline).filter(
    ({ space, calls }) =>
      searchesOf(space).some((search) => search === operation) || calls.some((call) => call.operation === operation),
  );
  const stages = users.map(({ name }) => name).join(', ');
  const message = `the v1 key lacks a scope: ${operation.name} needs ${operation.scopes.join(', ')} (for ${stages}). The provider: ${error.message}`;
  return new KybatchError(message, {
    code: error.code,
    hint: `Add the scopes in the workspace dashboard, or remove the stages from the pipeline${operation === v1Operations.fullKyb ? ', or list in record.modules what the key may buy' : ''}.\nNothing was spent.\n\nWhat the key may do: \`kybatch doctor\``,
    exit: error.exit,
    cause: error,
  });
}

const nothingSpent = ({ code, hint, exit }: KybatchError, message: string): KybatchError =>
  new KybatchError(`${message.replace(/\.$/, '')} (${code})`, {
    code,
    hint: `${hint ?? ''}\nNothing was spent.`.trim(),
    exit,
  });

/** `second`: the refusal of the other key. */
function keyRefused(first: ApiError, second: ApiError | undefined, { configuration }: Provider): KybatchError {
  const hint = [
    refusedKeyInWords(first, configuration),
    ...(second === undefined ? [] : ['The v2 key is not accepted either (KYBATCH_V2_API_KEY).']),
    'Nothing was spent.',
    '',
    'Check again, free of charge: `kybatch doctor`',
  ];
  return new KybatchError(keyRefusal(first), { code: first.code, hint: hint.join('\n'), exit: first.exit });
}

/** A check may take this long before its process counts as dead. */
const LEASE_MS = 30_000;

/**
 * Checks of the v1 key are recorded like every call: intent, request, settlement. A check has to fail, so it is
 * free (V1-8) and leaves no record, even if its answer is lost. Only a charge that the provider reports stays in the
 * ledger. If the process dies meanwhile, `attempt` is the last attempt on its run.
 */
export async function withRecordedProbes(
  attempt: Pick<NewAttempt, 'runId' | 'given'>,
  client: Pick<KybV1Client, 'send'>,
  environment: string,
  limits: Limits,
  signal: AbortSignal,
  { ledger: { calls }, clock, onNote }: Workplace,
  use: (send: SendCheck) => Promise<void>,
): Promise<AttemptSpending> {
  const begunAt = clock.now();
  const environmentId = await calls.environment('v1', environment);
  const attemptId = await calls.begin({ ...attempt, begunAt, leaseUntil: begunAt + LEASE_MS });
  let cost = NO_SPENDING;
  const settle = async (intent: Intent, settlement: Settlement) => {
    if (settlement.charge !== 'charged') return await calls.withdraw(intent);
    // No row needs its answer and it is never sent again.
    await calls.settle(intent, { ...settlement, inDoubt: false });
    const { units } = possibleCost('unit', settlement);
    cost = { ...cost, units: cost.units + units };
    onNote?.(message('KEY_CHECK_CHARGED', `the check of the v1 key cost ${count(units, 'unit')}: ${intent.operation}`));
  };
  const send = async (check: AddressedCall): Promise<Exchange | null> => {
    const { name, meter } = check.operation;
    const free = { meter: 'free', subject: null } as const;
    const context = { environmentId, runId: null, row: null, stage: KEY_CHECK, operation: name, ...free };
    // Its own key, so that no check waits for that of another process.
    const key = requestKey(name, { check: attemptId });
    const never = { reusableSince: Number.POSITIVE_INFINITY, lookedSince: 0, lostAtMost: Number.POSITIVE_INFINITY };
    const intended = await calls.intend(
      { ...context, requestKey: key, attemptId, attempt: 1, startedAt: clock.now(), ...never },
      limits,
    );
    if (intended.kind !== 'intent') return null;
    try {
      const exchange = await client.send(check, { signal });
      const settlement = settlementOf(check.operation, '{}', exchange, clock.now());
      const isFree = statedCharge(exchange.headers) === 'free';
      await settle(intended.intent, { ...settlement, answer: null, ...(isFree ? { charge: 'free' } : {}) });
      return exchange;
    } catch (error) {
      if (error instanceof ApiError) await settle(intended.intent, refusalOf(error, meter, clock.now()));
      throw error;
    }
  };
  try {
    await use(send);
  } finally {
    await calls.end(attemptId, clock.now());
    if (cost === NO_SPENDING) await calls.forgetAttempt(attemptId);
  }
  return cost;
}
