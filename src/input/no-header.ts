import { hasLegalForm } from '../domain/names.js';
import { openSheet } from '../sheets/open-sheet.js';
import type { RecogniseHeader, Sheet } from '../sheets/sheet.js';
import { countriesIn, isFilled, legalForms } from './column-content.js';
import { samplesOf } from './column-samples.js';
import { ColumnNames } from './column-words.js';
import { ColumnsUnclearError } from './columns-unclear.js';
import type { SampledColumns } from './decide-columns.js';
import { type HeaderLookup, meaningOf } from './header-claims.js';
import { indicesIn } from './join-cells.js';
import { mapColumns } from './map-columns.js';
import { likelyNames } from './not-a-list.js';
import { sampleLines } from './sample-lines.js';
import { type ColumnDoubt, IDENTIFIERS, type InputField, type InputOptions } from './types.js';

/**
 * Refuses a list whose first line is a company: read as the header it would be lost. Nothing is refused where somebody has
 * said on which line the header is. The refusal has what reads the list as it is, with all that its columns give away.
 */
export async function refuseWithoutHeader(
  { path, headers, headerLine }: Sheet,
  sample: SampledColumns,
  lookup: HeaderLookup,
  reopen: { readonly path: string; readonly recognises: RecogniseHeader; readonly options: InputOptions },
): Promise<void> {
  const { options } = reopen;
  if (options.headerLine !== undefined || !isCompany(headers, sample, lookup)) return;
  const bare = await openSheet(reopen.path, reopen.recognises, { ...options, headerLine: 0 });
  const { columns } = await sampleLines(bare);
  const names = new ColumnNames(bare.headers);
  const isStill = (words: string) => words === '' || names.findSource(words) !== undefined;
  const map = options.map?.filter((flag) => isStill(flag.slice(flag.indexOf('=') + 1).trim()));
  const file = { headers: bare.headers, written: bare.headers, lookup, sample: columns };
  const { doubts: found, fields } = mapColumns(file, { ...options, map, agreed: undefined });
  const isFound = [...fields.keys(), ...found.map(({ field }) => field)].some((field) => isIdentifier(field));
  const doubts = isFound ? found : [...found, ...nameDoubt(columns, found)];
  // Without any column that identifies a company --header-line 0 would lead to the next refusal.
  if (!isFound && doubts.length === found.length) return;
  const text = headers.filter(isFilled).join(', ');
  throw new ColumnsUnclearError(path, doubts, { line: headerLine, text });
}

const isIdentifier = (field: InputField): boolean => IDENTIFIERS.some((one) => one === field);

/** Nothing tells which column is the name: each column of words that nothing else is asked about is offered. */
function nameDoubt(columns: SampledColumns, others: readonly ColumnDoubt[]): readonly ColumnDoubt[] {
  const taken = others.flatMap(({ choices }) => choices.flatMap(({ source }) => indicesIn(source)));
  const choices = likelyNames(columns)
    .filter((index) => !taken.includes(index))
    .map((index) => ({
      source: index,
      header: `#${index + 1}`,
      samples: samplesOf(columns, index, 'name'),
      flag: `name=#${index + 1}`,
    }));
  return choices.length === 0 ? [] : [{ field: 'name', reason: 'no column tells that it is the name', choices }];
}

/** No cell is a known header, and one is what its column holds: a country, a long number, a name with a legal form. */
function isCompany(headers: readonly string[], sample: SampledColumns, lookup: HeaderLookup): boolean {
  if (headers.some((header) => (meaningOf(header, lookup)?.claims.length ?? 0) > 0)) return false;
  return headers.some((header, index) => {
    const cells = (sample[index] ?? []).filter(isFilled);
    const areMost = (is: (cell: string) => boolean) =>
      cells.length > 0 && cells.filter(is).length >= cells.length * MOST;
    if (isLongNumber(header)) return areMost(isLongNumber);
    if (countriesIn([header])[0] !== null) return areMost((cell) => countriesIn([cell])[0] !== null);
    return hasLegalForm(header) && /\s/.test(header.trim()) && legalForms(cells) >= 0.5;
  });
}

const MOST = 0.8;

/** As registers give them, with a court or a prefix beside it. */
const isLongNumber = (text: string): boolean => text.replace(/\D/g, '').length >= 5 && !/[@/]/.test(text);
