import type { Operation } from '../api/operation.js';
import type { StageContext, StageError, StageOutcome } from './stage.js';

/**
 * A context for a stage of many calls. It notes when the first of the answers by which the stage goes stale is over: what is
 * only looked up on the way (a list of names, a profile, a vocabulary) may keep longer, and makes it no older. And what a
 * person should know is kept when the stage has come to its end: a row that is held up on the way asks the same again, and
 * would say it twice.
 */
export function deferNotes<Context extends Pick<StageContext, 'call' | 'now' | 'keepError' | 'freshnessMs'>>(
  context: Context,
  operations: readonly Operation[],
): { readonly context: Context; readonly ended: (outcome: StageOutcome) => StageOutcome } {
  let firstOver = Number.POSITIVE_INFINITY;
  const notes: StageError[] = [];
  const call: StageContext['call'] = async (operation, params, terms) => {
    const outcome = await context.call(operation, params, terms);
    if (outcome.kind === 'answer' && operations.includes(operation))
      firstOver = Math.min(firstOver, outcome.fetchedAt + context.freshnessMs(operation));
    return outcome;
  };
  const ended = (outcome: StageOutcome): StageOutcome => {
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') return outcome;
    for (const note of notes) context.keepError(note);
    // The stage is good for as long as the shortest of its operations: counted from the oldest answer, one that keeps longer
    // would leave the stage stale with nothing to buy.
    const shortest = Math.min(...operations.map((operation) => context.freshnessMs(operation)));
    return { ...outcome, asOf: Math.min(context.now(), firstOver - shortest) };
  };
  return { context: { ...context, call, keepError: (note: StageError) => void notes.push(note) }, ended };
}
