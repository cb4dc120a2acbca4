import { ExitCode, KybatchError } from '../domain/errors.js';
import { sanitizeText } from '../util/sanitize-text.js';
import type { ColumnChoice, ColumnDoubt } from './types.js';

/** Nobody can tell which column is meant, and nobody could be asked. */
export class ColumnsUnclearError extends KybatchError {
  override readonly name = 'ColumnsUnclearError';

  constructor(
    path: string,
    readonly doubts: readonly ColumnDoubt[],
    /** The line that would be the header, and is a company; the columns are then named by their places. */
    readonly noHeader?: { readonly line: number; readonly text: string },
  ) {
    const said = doubts.map(inWords);
    const which = doubts.length === 0 ? '' : ` Say which is meant: ${doubts.map(waysOut).join('; ')}.`;
    super(`${path}${noHeader === undefined ? ': ' : aCompany(noHeader)}${said.join('\n')}`, {
      code: 'COLUMNS_UNCLEAR',
      hint: `Nothing was spent.${noHeader === undefined ? '' : withoutHeader(noHeader)}${which}`,
      exit: ExitCode.usage,
    });
  }

  /**
   * What would settle it, as `--map` takes it: one list where each doubt has one likely column, else one for each choice of
   * the first that has several, as none of them is likelier. Of further ones that have several nothing is said yet.
   */
  get ways(): readonly [readonly string[], ...(readonly string[])[]] {
    const open = this.doubts.find((doubt) => flagsOf(doubt).length > 1);
    const flagOf = (doubt: ColumnDoubt, at: number): string => flagsOf(doubt)[at] ?? `${doubt.field}=`;
    const way = (at: number) =>
      this.doubts.flatMap((doubt) => {
        if (doubt === open || (open !== undefined && areSwapped(doubt, open))) return [flagOf(doubt, at)];
        return flagsOf(doubt).length > 1 ? [] : [flagOf(doubt, 0)];
      });
    const [, ...others] = open === undefined ? [] : flagsOf(open);
    return [way(0), ...others.map((_, index) => way(index + 1))];
  }
}

/** Where the columns are unlikely, none of them is as good a way. */
const flagsOf = ({ field, choices, isUnlikely = false }: ColumnDoubt): readonly string[] => [
  ...choices.map(({ flag }) => flag),
  ...(isUnlikely ? [`${field}=`] : []),
];

/** Each is about the columns of the other: what one has, the other has not. */
const areSwapped = (a: ColumnDoubt, b: ColumnDoubt): boolean =>
  a.choices.length === 2 &&
  b.choices.length === 2 &&
  a.choices.every(({ header }, index) => header === b.choices[1 - index]?.header);

const aCompany = ({ line, text }: { readonly line: number; readonly text: string }): string =>
  `, line ${line}: ${JSON.stringify(sanitizeText(text, 80))} looks like a company, not a header\n`;

const withoutHeader = ({ line }: { readonly line: number }): string =>
  ` --header-line 0 reads a list that has none, whose columns are named by their place (#1, #2); --header-line ${line} says that this is the header.`;

const inWords = ({ reason, choices }: ColumnDoubt): string =>
  choices.length === 0 ? reason : `${reason}: ${choices.map(choiceInWords).join(', ')}`;

/** `"Company" (Acme GmbH, Beta AG)` */
const choiceInWords = ({ header, samples }: ColumnChoice): string => {
  const some = samples.map((sample) => sanitizeText(sample, 60)).join(', ');
  return `${JSON.stringify(sanitizeText(header, 40))}${some === '' ? '' : ` (${some})`}`;
};

const waysOut = ({ field, choices }: ColumnDoubt): string =>
  [
    ...(choices.length === 0 ? [`--map ${field}=HEADER`] : choices.map(({ flag }) => `--map ${quoted(flag)}`)),
    `--map ${field}= for none`,
  ].join(', or ');

const quoted = (flag: string): string => (/^[\w#.=-]+$/.test(flag) ? flag : flag.replace(/=(.*)$/, '="$1"'));
