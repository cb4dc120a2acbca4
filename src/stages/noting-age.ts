import type { Operation } from '../api/operation.js';
import type { StageContext, StageOutcome } from './stage.js';

/**
 * A context that notes how old the answers are by which its stage goes stale. What the stage only looks up on the way (a list
 * of names, a profile, a vocabulary) may keep longer, and does not make it older than what it has bought.
 */
export function notingAge<Context extends Pick<StageContext, 'call' | 'now'>>(
  context: Context,
  operations: readonly Operation[],
): { readonly context: Context; readonly dated: (outcome: StageOutcome) => StageOutcome } {
  let oldest: number | undefined;
  const call: StageContext['call'] = async (operation, params, terms) => {
    const outcome = await context.call(operation, params, terms);
    if (outcome.kind === 'answer' && operations.includes(operation))
      oldest = Math.min(oldest ?? outcome.fetchedAt, outcome.fetchedAt);
    return outcome;
  };
  const dated = (outcome: StageOutcome): StageOutcome =>
    outcome.kind === 'done' || outcome.kind === 'not_available'
      ? { ...outcome, asOf: oldest ?? context.now() }
      : outcome;
  return { context: { ...context, call }, dated };
}
