import type { Operation } from '../api/operation.js';
import { freshUntil } from '../domain/freshness.js';
import type { StageContext, StageError, StageOutcome } from './stage.js';

/**
 * A context for a stage of many calls. It tracks when the first answer becomes stale that decides the age of the stage.
 * Answers that are only looked up (a list of names, a profile, a vocabulary) do not count. Notes are kept until the
 * stage ends: a row that is held asks again and would note them twice.
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
      firstOver = Math.min(firstOver, freshUntil(outcome.fetchedAt, context.freshnessMs(operation)));
    return outcome;
  };
  const ended = (outcome: StageOutcome): StageOutcome => {
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') return outcome;
    for (const note of notes) context.keepError(note);
    // The stage stays fresh as long as its shortest operation. Counted from the oldest answer, one with a longer
    // freshness would leave the stage stale with nothing to buy.
    const shortest = Math.min(...operations.map((operation) => context.freshnessMs(operation)));
    return { ...outcome, asOf: Math.min(context.now(), firstOver - shortest) };
  };
  return { context: { ...context, call, keepError: (note: StageError) => void notes.push(note) }, ended };
}
