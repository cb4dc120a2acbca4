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
   * The `--map` flags that would settle it: one list for each choice, because none is likelier. Doubts that would make
   * more than four lists are left out, and asked about next.
   */
  get ways(): readonly [readonly string[], ...(readonly string[])[]] {
    let ways: string[][] = [[]];
    const settled: ColumnDoubt[] = [];
    for (const doubt of this.doubts) {
      const flags = flagsOf(doubt);
      const partner = settled.find((other) => areSwapped(doubt, other));
      if (partner !== undefined) {
        // The second of two swapped columns follows the choice of the first.
        const chosen = flagsOf(partner);
        ways = ways.map((way) => [...way, flags[chosen.findIndex((flag) => way.includes(flag))] ?? `${doubt.field}=`]);
      } else if (flags.length === 0) ways = ways.map((way) => [...way, `${doubt.field}=`]);
      else if (settled.length === 0 || ways.length * flags.length <= WAYS_AT_MOST)
        ways = ways.flatMap((way) => flags.map((flag) => [...way, flag]));
      else continue;
      settled.push(doubt);
    }
    const [first = [], ...others] = ways;
    return [first, ...others];
  }
}

const WAYS_AT_MOST = 4;

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
