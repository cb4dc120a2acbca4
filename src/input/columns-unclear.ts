import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { outsideText } from '../util/outside-text.js';
import type { ColumnChoice, ColumnDoubt } from './types.js';

/** Nobody can tell which column is meant, and nobody could be asked. */
export class ColumnsUnclearError extends KybatchError {
  override readonly name = 'ColumnsUnclearError';

  constructor(
    path: string,
    readonly doubts: readonly ColumnDoubt[],
  ) {
    super(`${path}: ${doubts.map(inWords).join('\n')}`, {
      code: 'COLUMNS_UNCLEAR',
      hint: `Nothing was spent. Say which is meant: ${doubts.map(waysOut).join('; ')}.`,
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

const inWords = ({ reason, choices }: ColumnDoubt): string =>
  choices.length === 0 ? reason : `${reason}: ${choices.map(choiceInWords).join(', ')}`;

/** `"Company" (Acme GmbH, Beta AG)` */
const choiceInWords = ({ header, samples }: ColumnChoice): string => {
  const some = samples.map((sample) => outsideText(sample, 60)).join(', ');
  return `${JSON.stringify(outsideText(header, 40))}${some === '' ? '' : ` (${some})`}`;
};

const waysOut = ({ field, choices }: ColumnDoubt): string =>
  [...choices.map(({ flag }) => flag), `${field}=`]
    .map((flag, index) => `--map ${quoted(flag)}${index === choices.length ? ' for none' : ''}`)
    .join(', or ');

const quoted = (flag: string): string => (/^[\w#.=-]+$/.test(flag) ? flag : flag.replace(/=(.*)$/, '="$1"'));
