import type { Operation } from '../api/operation.js';
import type { StageContext, StageError, StageOutcome } from './stage.js';

/**
 * A context for a stage of many calls. It notes how old the answers are by which the stage goes stale: what is only looked up
 * on the way (a list of names, a profile, a vocabulary) may keep longer, and makes it no older. And what a person should know
 * is kept when the stage has come to its end: a row that is held up on the way asks the same again, and would say it twice.
 */
export function notingOnce<Context extends Pick<StageContext, 'call' | 'now' | 'keepError'>>(
  context: Context,
  operations: readonly Operation[],
): { readonly context: Context; readonly ended: (outcome: StageOutcome) => StageOutcome } {
  let oldest: number | undefined;
  const notes: StageError[] = [];
  const call: StageContext['call'] = async (operation, params, terms) => {
    const outcome = await context.call(operation, params, terms);
    if (outcome.kind === 'answer' && operations.includes(operation))
      oldest = Math.min(oldest ?? outcome.fetchedAt, outcome.fetchedAt);
    return outcome;
  };
  const ended = (outcome: StageOutcome): StageOutcome => {
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') return outcome;
    for (const note of notes) context.keepError(note);
    return { ...outcome, asOf: oldest ?? context.now() };
  };
  return { context: { ...context, call, keepError: (note: StageError) => void notes.push(note) }, ended };
}
