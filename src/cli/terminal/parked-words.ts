import { count } from './text.js';

/** Rows that cannot go on, a line for each reason. `place` is the flag that names the data directory. */
export const parkedInWords = (parked: Readonly<Record<string, number>>, place: string): readonly string[] =>
  Object.entries(parked).map(([reason, rows]) => {
    const words = PARKED[reason]?.(rows === 1, place) ?? reason;
    return `${count(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} for ${words}`;
  });

export const PARKED: Readonly<Record<string, (one: boolean, place: string) => string>> = {
  allowance: () => 'the allowance: the provider says it is spent',
  budget: () => 'another start: the budget of the last one is spent',
  scope: (_, place) => `a scope that the key lacks (\`kybatch doctor${place}\` names it)`,
  in_doubt: (one, place) =>
    `a person: ${one ? 'a call for it was' : 'calls for them were'} lost, unreadable or failed and may have been charged (\`kybatch doubt${place}\` lists ${one ? 'it' : 'them'})`,
  unanswered: (one) =>
    `the next start: ${one ? 'its answer was' : 'their answers were'} lost, failed or could not be read, while others were answered (\`errors\` has what came)`,
};
