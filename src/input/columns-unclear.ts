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

  /** What would settle it, as `--map` takes it: the likeliest of each. */
  get likeliest(): readonly string[] {
    return this.doubts.map(({ field, choices: [first] }) => first?.flag ?? `${field}=`);
  }
}

const inWords = ({ reason, choices }: ColumnDoubt): string =>
  choices.length === 0 ? reason : `${reason}: ${choices.map(choiceInWords).join(', ')}`;

/** `"Company" (Acme GmbH, Beta AG)` */
const choiceInWords = ({ header, samples }: ColumnChoice): string => {
  const some = samples.map((sample) => outsideText(sample, 30)).join(', ');
  return `${JSON.stringify(outsideText(header, 40))}${some === '' ? '' : ` (${some})`}`;
};

const waysOut = ({ field, choices }: ColumnDoubt): string =>
  [...choices.map(({ flag }) => flag), `${field}=`]
    .map((flag, index) => `--map ${quoted(flag)}${index === choices.length ? ' for none' : ''}`)
    .join(', or ');

const quoted = (flag: string): string => (/^[\w#.=-]+$/.test(flag) ? flag : flag.replace(/=(.*)$/, '="$1"'));
