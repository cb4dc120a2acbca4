import { UsageError } from '../domain/errors.js';

const NAMES: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  tabulator: '\t',
  '\\t': '\t',
  pipe: '|',
  bar: '|',
  colon: ':',
  caret: '^',
  space: ' ',
};

/** The delimiter a user names: the character itself, or a word for one that a shell makes hard to write. */
export function delimiterNamed(given: string): string {
  const delimiter = NAMES[given.toLowerCase()] ?? given;
  // Of a character outside the basic plane the scanner would see one half only.
  if (delimiter.length === 1 && /^[^"\r\n\p{L}\p{N}]$/u.test(delimiter)) return delimiter;
  throw new UsageError(
    `the delimiter must be one character that is no letter, digit or quotation mark, or its name (comma, semicolon, tab, pipe): ${JSON.stringify(given)}`,
    'Comma, semicolon, tab and pipe are found without asking.',
  );
}
