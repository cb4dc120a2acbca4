import type { ColumnChoice, ColumnDoubt } from '../../app/how-to-read.js';
import { outsideText } from '../../util/outside-text.js';
import { columnTable } from './column-words.js';
import type { Io } from './io.js';

/**
 * Shows the columns that could be meant, each with some of its cells, and asks which it is; null: none of them. Undefined
 * where there is no answer, or three that are none.
 */
export function asksColumns({ ask, alert, columns }: Pick<Io, 'ask' | 'alert' | 'columns'>) {
  return (
    ask &&
    (async ({ field, reason, choices }: ColumnDoubt): Promise<ColumnChoice | null | undefined> => {
      const numbered = choices.map(({ header, samples }, index) => [`${index + 1}`, header, samples] as const);
      alert(`${outsideText(reason)}.\n${columnTable(numbered, columns)}  0  none: it goes without ${field}\n`);
      const numbers = choices.map((_, index) => index + 1);
      for (let tries = 0; tries < 3; tries++) {
        const answer = await ask(`Which column is the ${field}? [${[...numbers, 0].join('/')}] `);
        if (answer === undefined || answer.trim() === '') return undefined;
        const number = /^\s*\d+\s*$/.test(answer) ? Number(answer) : -1;
        if (number === 0) return null;
        const choice = choices[number - 1];
        if (choice !== undefined) return choice;
      }
      return undefined;
    })
  );
}
