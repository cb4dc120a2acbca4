import { UsageError } from '../domain/errors.js';
import { spool } from '../sheets/spool.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** How standard input is named on a command line, and in the books. */
const STDIN = '-';
const NAMES: ReadonlySet<string> = new Set([STDIN, '/dev/stdin']);
/** What its portfolio is called where nobody names it. */
const STDIN_PORTFOLIO = 'stdin';

/** The file with the companies, or a copy of what came through standard input. */
export interface InputFile {
  /** Where it is read. */
  readonly path: string;
  /** What the books know it by. */
  readonly input: string;
  /** What messages call it. */
  readonly shownAs: string;
}

/** What an input is called in the books: its path, or `-`. */
export const nameOfInput = (input: string, around: Surroundings): string =>
  NAMES.has(input) ? STDIN : pathIn(around, input);

/** The name of a list that was given none. */
export const defaultPortfolio = (input: string): string => (input === STDIN ? STDIN_PORTFOLIO : input);

/** What is said where lists that are piped in would be taken for one. */
export const pipedNotes = ({ input }: InputFile, portfolio: string | undefined): readonly string[] =>
  input !== STDIN || portfolio !== undefined
    ? []
    : [`what is piped in is the list of the portfolio "${STDIN_PORTFOLIO}"; --portfolio NAME keeps lists apart`];

/** The input for the length of `use`: it is read more than once, which a pipe cannot be, so a private copy is made of one. */
export async function withInputFile<T>(
  input: string,
  around: Surroundings,
  use: (file: InputFile) => Promise<T>,
): Promise<T> {
  if (!NAMES.has(input)) {
    const path = pathIn(around, input);
    return await use({ path, input: path, shownAs: path });
  }
  if (around.stdin === undefined) {
    throw new UsageError(
      'nothing is piped into kybatch: - reads standard input',
      'Pipe a file into it, or name one in the place of -.',
    );
  }
  const copy = await spool(around.stdin(), 'standard input');
  try {
    return await use({ path: copy.path, input: STDIN, shownAs: 'standard input' });
  } finally {
    copy.remove();
  }
}
