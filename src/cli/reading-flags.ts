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

/** The heading of the help under which the flags about the input stand. */
export const INPUT = { group: 'Input:' } as const;

/** The flags of every command that reads an input. */
export const readingOptions = {
  map: {
    ...INPUT,
    type: 'string',
    // One word each: an array would take the input for one of them.
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: 'FIELD=HEADER: which column is what (name="Company name"), as often as needed; FIELD= for none',
  },
  country: {
    ...INPUT,
    type: 'string',
    requiresArg: true,
    describe: 'The country of rows that name none: a code or a name',
  },
  encoding: { ...INPUT, type: 'string', requiresArg: true, describe: 'How its text is encoded (default: found)' },
  delimiter: { ...INPUT, type: 'string', requiresArg: true, describe: 'What stands between cells (default: found)' },
  'header-line': {
    ...INPUT,
    ...numberFlag('--header-line', 'The line that names the columns; 0 for none (default: found)'),
  },
  sheet: { ...INPUT, type: 'string', requiresArg: true, describe: 'The worksheet of a workbook, by name or number' },
} as const;

/** Undefined where nothing is said. */
export function readReadingFlags(args: ReadingArgs): ReadingOptions | undefined {
  const { map, country, encoding, delimiter, headerLine, sheet } = args;
  const said = { map: map === undefined ? undefined : [map].flat(), country, encoding, delimiter, headerLine, sheet };
  const given = Object.entries(said).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
