import { ExitCode, KybatchError } from '../domain/errors.js';
import { sanitizeText } from '../util/sanitize-text.js';
import type { ColumnChoice, ColumnDoubt } from './types.js';

/** The column of a field is unclear, and no user could be asked. */
export class ColumnsUnclearError extends KybatchError {
  override readonly name = 'ColumnsUnclearError';

  constructor(
    path: string,
    readonly doubts: readonly ColumnDoubt[],
    /** The first line, which is a company instead of a header. The columns are then named by their places. */
    readonly noHeader?: { readonly line: number; readonly text: string },
  ) {
    const said = doubts.map(inWords);
    const which = doubts.length === 0 ? '' : ` Choose one: ${doubts.map(waysOut).join('; ')}.`;
    super(`${path}${noHeader === undefined ? ': ' : aCompany(noHeader)}${said.join('\n')}`, {
      code: 'COLUMNS_UNCLEAR',
      hint: `Nothing was spent.${noHeader === undefined ? '' : withoutHeader(noHeader)}${which}`,
      exit: ExitCode.usage,
    });
  }

  /**
   * The `--map` flags that would settle it. One list if every doubt has one likely column. Otherwise one list for each
   * choice of the first doubt with several, because none is likelier. Further doubts with several choices are left out.
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

/** If the columns are unlikely, having no column is as good. */
const flagsOf = ({ field, choices, isUnlikely = false }: ColumnDoubt): readonly string[] => [
  ...choices.map(({ flag }) => flag),
  ...(isUnlikely ? [`${field}=`] : []),
];

/** Each doubt is about the columns of the other: their contents are swapped. */
const areSwapped = (a: ColumnDoubt, b: ColumnDoubt): boolean =>
  a.choices.length === 2 &&
  b.choices.length === 2 &&
  a.choices.every(({ header }, index) => header === b.choices[1 - index]?.header);

const aCompany = ({ line, text }: { readonly line: number; readonly text: string }): string =>
  `, line ${line}: ${JSON.stringify(sanitizeText(text, 80))} looks like a company, not a header\n`;

const withoutHeader = ({ line }: { readonly line: number }): string =>
  ` If the list has no header, add --header-line 0. Its columns are then called #1, #2. If line ${line} is the header, add --header-line ${line}.`;

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
