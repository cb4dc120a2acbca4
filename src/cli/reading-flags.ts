import type { ReadingOptions } from '../app/how-to-read.js';
import { numberFlag } from './number-flag.js';

/** How a file is to be read, as the flags say it. */
export interface ReadingArgs {
  readonly map?: string | readonly string[] | undefined;
  readonly country?: string | undefined;
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly headerLine?: number | undefined;
  readonly sheet?: string | undefined;
}

const READING = { group: 'How the input is read:' } as const;

/** The flags of every command that reads an input. */
export const readingOptions = {
  map: {
    ...READING,
    type: 'string',
    array: true,
    // Else it would take every word that follows.
    nargs: 1,
    describe: 'FIELD=HEADER: which column is what (name="Company name"), as often as needed; FIELD= for none',
  },
  country: {
    ...READING,
    type: 'string',
    requiresArg: true,
    describe: 'The country of rows that name none: a code or a name',
  },
  encoding: { ...READING, type: 'string', requiresArg: true, describe: 'How its text is encoded (default: found)' },
  delimiter: { ...READING, type: 'string', requiresArg: true, describe: 'What stands between cells (default: found)' },
  'header-line': { ...READING, ...numberFlag('--header-line', 'The line that names the columns (default: found)') },
  sheet: { ...READING, type: 'string', requiresArg: true, describe: 'The worksheet of a workbook, by name or number' },
} as const;

/** Undefined where nothing is said. */
export function readReadingFlags(args: ReadingArgs): ReadingOptions | undefined {
  const { map, country, encoding, delimiter, headerLine, sheet } = args;
  const said = { map: map === undefined ? undefined : [map].flat(), country, encoding, delimiter, headerLine, sheet };
  const given = Object.entries(said).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
