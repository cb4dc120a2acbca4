import { UsageError } from '../domain/errors.js';
import { LEADS, type Lead } from '../domain/leads.js';
import { outsideText } from '../util/outside-text.js';
import { didYouMean } from '../util/suggest.js';
import type { ColumnNames } from './column-words.js';
import { fold } from './fold.js';
import { wouldFollow } from './judge-row.js';
import { type ColumnSource, INPUT_FIELDS, type InputField } from './types.js';

/** Where fields are as somebody said it; null: nowhere. */
export type GivenColumns = ReadonlyMap<InputField, ColumnSource | null>;

/** Reads `FIELD=HEADER`, as often as it is given. */
export function readGivenColumns(flags: readonly string[], names: ColumnNames, leads: readonly Lead[]): GivenColumns {
  const given = new Map<InputField, ColumnSource | null>();
  for (const flag of flags) {
    const said = `--map ${outsideText(flag, 100)}`;
    const at = flag.indexOf('=');
    if (at === -1)
      throw new UsageError(`${said}: the column is missing`, 'Write FIELD=HEADER: --map name="Company name".');
    const field = readField(flag.slice(0, at), said);
    if (given.has(field)) throw new UsageError(`${said}: ${field} is given twice`, 'Keep one of them.');
    const words = flag.slice(at + 1).trim();
    const lead = LEADS.find((one) => one === field);
    if (lead !== undefined && words !== '' && !leads.includes(lead))
      throw new UsageError(
        `${said}: this pipeline does nothing with the ${field} of a row`,
        `It is followed with ${wouldFollow(lead)} in the pipeline file.`,
      );
    const source = words === '' ? null : names.readSource(words, said);
    const [other] = [...given].find(([one, its]) => isOneColumn(its, source) && one !== 'id' && field !== 'id') ?? [];
    if (other !== undefined)
      throw new UsageError(`${said}: this column is given as ${other} already`, 'One column cannot be both: keep one.');
    given.set(field, source);
  }
  return given;
}

/** A register's number may be somebody's own key as well, and a piece of a number a city. */
const isOneColumn = (a: ColumnSource | null, b: ColumnSource | null): boolean => typeof a === 'number' && a === b;

function readField(word: string, said: string): InputField {
  const field = INPUT_FIELDS.find((known) => fold(known) === fold(word));
  if (field !== undefined) return field;
  throw new UsageError(
    `${said}: there is no field ${JSON.stringify(outsideText(word.trim(), 40))}.${didYouMean(word, INPUT_FIELDS)}`,
    `The fields are ${INPUT_FIELDS.join(', ')}.`,
  );
}
