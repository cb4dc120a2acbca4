import type { ApiError } from '../api/errors.js';
import { v1Operations } from '../api/v1/operations.js';
import { checkV1Operations, type SendCheck, type V1Check } from '../api/v1/probe.js';
import { isForeignDenial } from '../calls/foreign.js';
import { operationsOf, type Pipeline, stagesOf } from '../config/pipeline.js';
import { KybatchError } from '../domain/errors.js';
import { type Rest, within } from '../engine/row-cost.js';
import type { Limits } from '../ledger/intended.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StartSpending } from '../ledger/reading.js';
import { searchesOf } from '../stages/identity/space-search.js';
import { isoTime } from '../util/iso-time.js';
import { COST_NOTHING, withBookedChecks } from './book-check.js';
import { type GuardFinding, type GuardOptions, mustPass } from './guards.js';
import type { MetricsReader } from './permission-reader.js';
import type { Provider } from './provider.js';
import type { Surroundings } from './surroundings.js';

/**
 * Asks for 0 units, before the first paid call, whether the keys may do all that the pipeline needs (V1-8): searches are
 * not bought for records that can never be. Only who has something to buy is asked, and only a refusal stops the start; a
 * provider that does not answer is met with the patience of the run itself. Resolves with what the checks have cost, which
 * is out of the limits of the start.
 */
export async function mustBeAllowed(
  pipeline: Pipeline,
  rest: Rest,
  limits: Limits,
  provider: Provider,
  permissions: MetricsReader | undefined,
  ledger: Ledger,
  around: Surroundings,
  guards: GuardOptions,
): Promise<StartSpending> {
  const { v1, names } = provider;
  const { units, reports, v2Calls } = within(rest, limits);
  const ofV1 = [...new Set(operationsOf(pipeline))].filter(({ api }) => api === 'v1');
  const mustGrant = async (send: SendCheck) => {
    // Each that is under way holds a unit of the limit: where there are few, one waits for the other.
    const isTight = limits.units !== null && limits.units < ofV1.length;
    const check = await checkV1Operations(ofV1, isTight ? inTurn(send) : send);
    if (check.kind === 'refused' && !(await isOnTheWay(check.error, provider, ledger)))
      throw refusedBy(check, pipeline);
  };
  const enough = AbortSignal.timeout(PATIENCE_MS);
  // Side by side: each takes as long as the provider takes.
  const [cost, refusal = null] = await Promise.all([
    v1 !== null && units > 0 && ofV1.length > 0
      ? withBookedChecks(v1, names.v1, limits, enough, ledger, around, mustGrant)
      : COST_NOTHING,
    reports + v2Calls > 0 ? permissions?.refusal() : null,
  ]);
  if (refusal !== null && !(await isOnTheWay(refusal, provider, ledger))) throw nothingSpent(refusal, refusal.message);
  mustPass(clockOff(provider), guards);
  return cost;
}

/**
 * Guard `clock`: our clock beside the one that came with the answers to the checks. What is stored ages by ours: years ahead
 * it is all stale, and bought again.
 */
export const clockOff = ({ v1, v2 }: Provider): readonly GuardFinding[] =>
  [v1, v2].flatMap((client): GuardFinding[] => {
    const told = client?.told;
    if (told === undefined || Math.abs(told.ours - told.theirs) <= CLOCKS_DIFFER_MS) return [];
    const message = `the clock of this machine says ${isoTime(told.ours)}, and ${client?.api} says ${isoTime(told.theirs)}`;
    return [{ guard: 'clock', message, hint: 'Set the clock right: stored answers age by it.' }];
  });

const CLOCKS_DIFFER_MS = 86_400_000;

function inTurn(send: SendCheck): SendCheck {
  let last: Promise<unknown> = Promise.resolve();
  return (check) => {
    const next = last.then(() => send(check));
    last = next.catch(() => {});
    return next;
  };
}

/** A page of something between here and a provider that has answered before, in whichever start, is no verdict of its. */
async function isOnTheWay(error: ApiError, provider: Provider, { calls }: Ledger): Promise<boolean> {
  const { api } = error;
  return await isForeignDenial(error, provider[api], await calls.findEnvironment(api, provider.names[api]), calls);
}

/** Nobody is kept waiting by a question that costs nothing: who takes longer has not refused. */
const PATIENCE_MS = 5_000;

function refusedBy({ operation, error }: Extract<V1Check, { kind: 'refused' }>, pipeline: Pipeline): KybatchError {
  if (error.class !== 'block_operation') return nothingSpent(error, error.message);
  const users = stagesOf(pipeline).filter(
    ({ space, calls }) =>
      searchesOf(space).some((search) => search === operation) || calls.some((call) => call.operation === operation),
  );
  const stages = users.map(({ name }) => name).join(', ');
  const message = `the v1 key lacks a scope: ${operation.name} needs ${operation.scopes.join(', ')} (for ${stages}), and the provider says: ${error.message}`;
  return new KybatchError(message, {
    code: error.code,
    hint: `Nothing was spent. Give the key these scopes in the workspace dashboard, or take what needs them out of the pipeline's stages${operation === v1Operations.fullKyb ? ', or list in its record.modules what the key may buy: each needs its own scope alone' : ''}. \`kybatch doctor\` shows what the key may do.`,
    exit: error.exit,
    cause: error,
  });
}

const nothingSpent = ({ code, hint, exit }: KybatchError, message: string): KybatchError =>
  new KybatchError(`${code}: ${message}`, { code, hint: `${hint ?? ''} Nothing was spent.`.trim(), exit });
