import type { ExportView } from '../../app/export.js';
import { sentence } from '../../util/sentence.js';
import { count, shellWord, withCommas } from './text.js';

/** What the tables are without, a line each; nothing where they are whole. */
export function lackInWords(lack: ExportView['lack']): string {
  if (lack === null) return '';
  const { answersNotExported: answers, cellsNotExported: cells, notWritten } = lack;
  return [
    ...(answers === 0
      ? []
      : [
          `The tables are without ${count(answers, 'stored answer')} that cannot be read: errors.csv names each (class not_exported), and how to get it again.\n`,
        ]),
    ...(cells === 0
      ? []
      : [
          `${count(cells, 'cell')} of the ledger ${cells === 1 ? 'is' : 'are'} damaged and empty in the tables: errors.csv names each (ROW_DAMAGED), and what leads on.\n`,
        ]),
    ...notWritten.map(
      ({ table, format, reason }) =>
        `The table ${table} could not be written as ${format}: ${sentence(reason)} The other files are there.\n`,
    ),
  ].join('');
}

/** What a reader of the tables must know before all else; nothing where every row is settled. */
export const partialInWords = ({ partial, rows, open }: { partial: boolean; rows: number; open: number }): string =>
  partial
    ? `The tables are partial: the run is not finished, ${withCommas(open)} of its ${count(rows, 'row')} ${open === 1 ? 'is' : 'are'} not settled yet.\n`
    : '';

/** Somebody's work: it must not seem lost, nor read. */
export const keptInWords = (kept: string | null, place: string): readonly string[] =>
  kept === null
    ? []
    : [
        `The results.xlsx before it had been worked in, and is kept as ${kept}`,
        `Answers in it that were not applied yet count only after: kybatch review apply ${shellWord(kept)}${place}`,
      ];
