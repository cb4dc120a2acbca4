import type { RunEndView } from '../../app/run-end.js';
import { count, moment } from './text.js';

export interface ParkedRows {
  /** How many, by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** What the provider has refused those that wait for a scope. */
  readonly refusals: RunEndView['refusals'];
  /** When the first of them may go on by itself; null where nobody knows. */
  readonly until: number | null;
  /** Whoever helps on another machine goes on with them then. */
  readonly putOff: boolean;
  /** Calls of the last start whose charge nobody knows, and which count against its budget. */
  readonly unknownInBudget: number;
}

/** Rows that cannot go on, a line for each reason. `place` is the flag that names the data directory. */
export const parkedInWords = (parked: ParkedRows, place: string): readonly string[] =>
  Object.entries(parked.reasons).flatMap(([reason, rows]) => {
    const words = PARKED[reason]?.(rows === 1, place) ?? reason;
    return [
      `${count(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} for ${words}`,
      ...moreInWords(reason, parked, place).map((more) => `  ${more}`),
    ];
  });

/** Rows that are as good as they get, as long as the account may not have more. */
export const refusedInWords = ({ refusedRows: rows }: Pick<RunEndView, 'refusedRows'>): readonly string[] =>
  rows === 0
    ? []
    : [
        `${count(rows, 'row')} ${rows === 1 ? 'has' : 'have'} a stage that the provider has refused, while it answers others: it is not_available, and \`errors\` has FORBIDDEN. Ask the account manager what the account may use; \`--fresh\` asks again`,
      ];

function moreInWords(
  reason: string,
  { refusals, until, putOff, unknownInBudget: unknown }: ParkedRows,
  place: string,
): readonly string[] {
  if (reason === 'scope') return refusals.map((refusal) => refusalInWords(refusal, place));
  if (reason === 'allowance' && until !== null)
    return [
      `more allowance at ${moment(until)}${putOff ? `; workers (\`kybatch work${place}\`) that are there go on then` : ''}`,
    ];
  if (reason !== 'budget' || unknown === 0) return [];
  const [counts, were] = unknown === 1 ? ['counts', 'it was'] : ['count', 'they were'];
  return [
    `${count(unknown, 'call')} of unknown charge ${counts} against it: ${were} lost or failed, and may have been charged`,
  ];
}

/** v1 names the scope, and can be asked for it. v2 refuses by company, and only its words tell what it is about. */
const refusalInWords = ({ stage, code, message }: RunEndView['refusals'][number], place: string): string => {
  const helps =
    code === 'INSUFFICIENT_SCOPE'
      ? `Give the key that scope in the workspace dashboard; \`kybatch doctor${place}\` shows which it has`
      : 'Ask the account manager what the account may use; `kybatch doctor` cannot see it';
  return `${stage ?? 'a call'} was refused with ${code}: ${JSON.stringify(message)}. ${helps}`;
};

export const PARKED: Readonly<Record<string, (one: boolean, place: string) => string>> = {
  allowance: () => 'the allowance: the provider says it is spent',
  budget: () => 'another start: the budget of the last one is spent',
  scope: () => 'a scope or a permission that the key lacks',
  in_doubt: (one, place) =>
    `a person: ${one ? 'a call for it was' : 'calls for them were'} lost, unreadable or failed and may have been charged (\`kybatch doubt${place}\` lists ${one ? 'it' : 'them'})`,
  ask_provider: (one) =>
    `a person: the provider's answer for ${one ? 'it' : 'them'} cannot be used (\`errors\` has what came). Ask the provider; the next start asks again`,
  unanswered: (one) =>
    `the next start: ${one ? 'its answer was' : 'their answers were'} lost, failed or could not be read, while others were answered (\`errors\` has what came)`,
};
