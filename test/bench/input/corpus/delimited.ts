import { type Page, shownIn } from './page.js';

export interface Dialect {
  readonly delimiter?: string;
  readonly eol?: '\n' | '\r\n' | '\r';
  /** Every cell in quotes, as databases export. */
  readonly quoted?: boolean;
  /** A line before everything else, such as `sep=;`. */
  readonly first?: string;
  /** Other quotes than ours, or none at all: how a cell is written. */
  readonly write?: (text: string) => string;
}

/** The text of a page, and the physical line that each of its lines begins on. */
export function delimited({ lines }: Page, dialect: Dialect = {}): { text: string; numbers: number[] } {
  const { delimiter = ',', eol = '\n', quoted = false, first } = dialect;
  const write = dialect.write ?? ((text: string) => (quoted || needsQuotes(text, delimiter) ? quote(text) : text));
  let text = first === undefined ? '' : first + eol;
  let number = first === undefined ? 1 : 2;
  const numbers = lines.map(({ cells }) => {
    const record = cells.map((cell) => write(shownIn(cell))).join(delimiter);
    const begins = number;
    text += record + eol;
    number += 1 + (record.match(/\r\n|\r|\n/g)?.length ?? 0);
    return begins;
  });
  return { text, numbers };
}

const needsQuotes = (text: string, delimiter: string): boolean => text.includes(delimiter) || /["\r\n]/.test(text);
const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
